// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/routes.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace fabric_check::fabric {

namespace {

/// "mlx5_0:1"; empty where the description names no card.
std::string port_key(const Map &map, const Endpoint &endpoint) {
    if (endpoint.node >= map.nodes().size())
        return {};
    const std::string_view card = map.nodes()[endpoint.node].card_name();
    return card.empty() ? std::string() : fmt::format("{}:{}", card, endpoint.port);
}

} // namespace

std::vector<unsigned> rails_of(const Map &map, const std::vector<Endpoint> &endpoints) {
    std::vector<unsigned> rails(endpoints.size(), 0);
    std::unordered_map<std::string, std::vector<std::size_t>> hosts;
    for (std::size_t i = 0; i < endpoints.size(); ++i)
        hosts[endpoints[i].name].push_back(i);
    if (hosts.size() == endpoints.size())
        return rails;
    // More cards than any host has are hosts that share a name.
    constexpr std::size_t most_ports = 16;
    std::set<std::string> keys;
    bool named = true, ranked = true;
    for (const auto &[name, ports] : hosts) {
        if (ports.size() < 2)
            continue;
        // Ports of one key are ports of hosts that share a name, or LIDs of one port.
        std::set<std::string> own;
        for (const std::size_t i : ports)
            own.insert(port_key(map, endpoints[i]));
        named = named && !own.contains("");
        ranked = ranked && ports.size() <= most_ports;
        keys.merge(own);
    }
    if (!named && !ranked)
        return rails;
    for (auto &[name, ports] : hosts) {
        std::sort(ports.begin(), ports.end(), [&endpoints](std::size_t a, std::size_t b) {
            return std::pair(endpoints[a].node, endpoints[a].port) < std::pair(endpoints[b].node, endpoints[b].port);
        });
        for (std::size_t rank = 0; rank < ports.size(); ++rank) {
            const auto key = named ? keys.find(port_key(map, endpoints[ports[rank]])) : keys.end();
            rails[ports[rank]] = static_cast<unsigned>(
                !named ? static_cast<std::ptrdiff_t>(rank) : key == keys.end() ? 0 : std::distance(keys.begin(), key));
        }
    }
    return rails;
}

} // namespace fabric_check::fabric
