// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/routes.hpp"

#include <fmt/format.h>
#include <string>
#include <vector>

/// Small fabrics for tests.
namespace fabric_check::fabric::testing {

inline LinkRate rate_of(unsigned lanes, const std::string &speed, double gbps) { return {lanes, speed, gbps, 0}; }
inline LinkRate hdr() { return {4, "HDR", 200, 53.125}; }

class Builder {
public:
    std::uint32_t add_switch(const std::string &description, unsigned ports, std::uint16_t lid) {
        DraftNode node;
        node.guid = 0xb00 + map.nodes.size();
        node.description = description;
        node.kind = NodeKind::switch_node;
        node.lid = lid;
        node.ports.resize(ports + 1);
        map.nodes.push_back(node);
        return std::uint32_t(map.nodes.size() - 1);
    }
    std::uint32_t add_host(const std::string &description, std::uint16_t lid, unsigned ports = 1) {
        DraftNode node;
        node.guid = 0xa00 + map.nodes.size();
        node.description = description;
        node.kind = NodeKind::host;
        node.ports.resize(ports + 1);
        for (unsigned p = 1; p <= ports; ++p) {
            node.ports[p].lid = std::uint16_t(lid + p - 1);
            node.ports[p].guid = node.guid * 16 + p;
        }
        map.nodes.push_back(node);
        return std::uint32_t(map.nodes.size() - 1);
    }
    void link(std::uint32_t a, unsigned a_port, std::uint32_t b, unsigned b_port, const LinkRate &rate = hdr()) {
        for (const auto &[n, p, m, q] : {std::tuple(a, a_port, b, b_port), std::tuple(b, b_port, a, a_port)}) {
            map.nodes[n].ports[p].peer = m;
            map.nodes[n].ports[p].peer_port = std::uint8_t(q);
            map.nodes[n].ports[p].rate = rate;
        }
    }
    void route(std::uint32_t at, unsigned lid, unsigned port) {
        auto &lft = map.nodes[at].lft;
        if (lft.size() <= lid)
            lft.resize(lid + 1, no_route);
        lft[lid] = std::uint8_t(port);
    }
    /// The host's LID on its own switch.
    void attach(std::uint32_t host, std::uint32_t at, unsigned port, unsigned host_port = 1) {
        link(at, port, host, host_port);
        route(at, map.nodes[host].ports[host_port].lid, port);
    }
    MapDraft map;
};

/// SwitchA with node01-12 (LIDs 1-12) on ports 1-12, SwitchB with stor01-08 (LIDs 21-28) on ports 1-8, eight links from
/// A13-20 to B25-32. At B the clients leave by `client_port[i]`; at A the servers leave by A13-20 one each.
inline MapDraft two_switches(const std::vector<unsigned> &client_ports) {
    Builder b;
    const auto a = b.add_switch("SwitchA", 40, 41), z = b.add_switch("SwitchB", 40, 42);
    for (unsigned i = 0; i < 8; ++i)
        b.link(a, 13 + i, z, 25 + i);
    for (unsigned i = 1; i <= 12; ++i) {
        b.attach(b.add_host(fmt::format("node{:02} mlx5_0", i), std::uint16_t(i)), a, i);
        b.route(z, i, client_ports[(i - 1) % client_ports.size()]);
    }
    for (unsigned i = 1; i <= 8; ++i) {
        b.attach(b.add_host(fmt::format("stor{:02} mlx5_0", i), std::uint16_t(20 + i)), z, i);
        b.route(a, 20 + i, 12 + i);
    }
    b.map.index();
    return std::move(b.map);
}

/// 6, 5 and 1 of the 12 clients on ports 25, 26 and 27 of eight.
inline std::vector<unsigned> collapsed() { return {25, 25, 25, 25, 25, 25, 26, 26, 26, 26, 26, 27}; }
inline std::vector<unsigned> even() { return {25, 26, 27, 28, 29, 30, 31, 32}; }

inline std::vector<std::string> names(const std::string &prefix, unsigned count) {
    std::vector<std::string> out;
    for (unsigned i = 1; i <= count; ++i)
        out.push_back(fmt::format("{}{:02}", prefix, i));
    return out;
}

/// Everybody whose flows pass the group's port of this place.
inline std::vector<std::uint32_t> sources_of(const Routes &routes, const Group &group, std::size_t place) {
    std::vector<std::uint32_t> sources;
    each_source(routes, group, group.ports.at(place), [&](std::uint32_t source) {
        sources.push_back(source);
        return true;
    });
    return sources;
}

inline Query clients_and_servers(const Map &map) {
    std::vector<std::string> missing;
    Query query;
    query.job = endpoints_by_name(map, names("node", 12), missing);
    query.services = endpoints_by_name(map, names("stor", 8), missing);
    return query;
}

} // namespace fabric_check::fabric::testing
