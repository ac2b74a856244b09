// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map.hpp"
#include "fabric/routes.hpp"
#include "sources/scout.hpp"
#include "verdict/job_verdict.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fabric_check::testing {

inline constexpr std::int64_t second = 1000000000;
inline constexpr std::uint64_t gigabyte = 1000000000;
inline constexpr double gib = 1024.0 * 1024.0 * 1024.0;

inline LinkRate hdr() { return {4, "HDR", 200, 53.125}; }
inline LinkRate narrow_hdr() { return {1, "HDR", 50, 53.125}; }
inline LinkRate edr() { return {4, "EDR", 100, 25.78125}; }

inline auto finding(const std::string &where, const std::string &counter, std::uint64_t delta) {
    using ::testing::Field;
    return ::testing::AllOf(Field(&Finding::where, where), Field(&Finding::counter, counter),
                            Field(&Finding::delta, delta));
}

inline auto unread(const std::string &where, const std::string &counter, const std::string &reason) {
    using ::testing::Field;
    return ::testing::AllOf(Field(&UnreadCounter::where, where), Field(&UnreadCounter::counter, counter),
                            Field(&UnreadCounter::reason, reason));
}

/// One job on the small fabric: SwitchA with node01-12 on ports 1-12, SwitchB with stor01-08 on ports 1-8, eight links
/// A13-20 to B25-32, 4X HDR everywhere. Everything was read at both sides, 100 s apart, and nothing moved.
class SmallJob {
public:
    static constexpr unsigned nodes = 12, servers = 8, links = 8;
    static constexpr std::uint32_t switch_a = 0, switch_b = 1;
    static constexpr double seconds = 100;

    /// `services`: the storage servers take part. `collapsed`: 6, 5 and 1 of the nodes on ports 25, 26, 27 of SwitchB.
    explicit SmallJob(bool with_services = true, bool collapsed = false) : services_(with_services) {
        make_map(collapsed);
        make_job();
        make_nodes();
        make_scouts();
    }
    SmallJob(const SmallJob &) = delete; // evidence points at the map
    SmallJob &operator=(const SmallJob &) = delete;

    static std::string node_name(unsigned i) { return fmt::format("node{:02}", i); }
    static std::string server_name(unsigned i) { return fmt::format("stor{:02}", i); }
    static std::uint16_t node_lid(unsigned i) { return static_cast<std::uint16_t>(2 + i); }
    static std::uint16_t server_lid(unsigned i) { return static_cast<std::uint16_t>(2 + nodes + i); }
    static std::uint32_t node_index(unsigned i) { return 1 + i; }
    static std::uint32_t server_index(unsigned i) { return 1 + nodes + i; }

    NodeEvidence &node(unsigned i) { return evidence.nodes[i - 1]; }
    HcaPort &host_start(unsigned i) { return node(i).start->ports[0]; }
    HcaPort &host_end(unsigned i) { return node(i).end->ports[0]; }

    static SwitchPort &port_of(std::optional<ScoutSnapshot> &scout, std::uint32_t at, unsigned port) {
        const std::uint64_t guid = switch_guid(at);
        return *std::find_if(scout->ports.begin(), scout->ports.end(), [&](const SwitchPort &candidate) {
            return candidate.switch_guid == guid && candidate.port == port;
        });
    }
    SwitchPort &switch_start(std::uint32_t at, unsigned port) { return port_of(evidence.scout.start, at, port); }
    SwitchPort &switch_end(std::uint32_t at, unsigned port) { return port_of(evidence.scout.end, at, port); }

    /// The counter moves by `delta` during the job.
    void host(unsigned i, const std::string &counter, std::uint64_t delta) { add(host_end(i).counters, counter, delta); }
    void switch_port(std::uint32_t at, unsigned port, const std::string &counter, std::uint64_t delta) {
        add(switch_end(at, port).counters, counter, delta);
    }
    void set_both(Counters &start, Counters &end, const std::string &counter, std::uint64_t value) {
        start[counter] = end[counter] = Reading::of(value);
    }

    /// Bytes over the installed tables, on every port on the way. Packets are not counted.
    void traffic(std::uint16_t from, std::uint16_t to, std::uint64_t bytes) {
        const std::uint64_t quads = bytes / 4;
        if (unsigned i = node_of(from)) {
            host(i, "PortXmitData", quads);
        }
        std::uint32_t at = is_node(from) ? switch_a : switch_b;
        move_on(at, entry(from), "PortRcvData", quads);
        while (true) {
            const std::uint8_t out = map.nodes[at].lft[to];
            move_on(at, out, "PortXmitData", quads);
            const fabric::DraftPort &link = map.nodes[at].ports[out];
            if (link.peer > switch_b) {
                break;
            }
            move_on(link.peer, link.peer_port, "PortRcvData", quads);
            at = link.peer;
        }
        if (unsigned i = node_of(to)) {
            host(i, "PortRcvData", quads);
        }
    }
    /// All servers to all nodes, `bytes` to each node altogether.
    void all_servers_to_all_nodes(std::uint64_t bytes) {
        for (unsigned i = 1; i <= nodes; ++i) {
            for (unsigned s = 1; s <= servers; ++s) {
                traffic(server_lid(s), node_lid(i), bytes / servers);
            }
        }
    }
    /// Every node to its neighbour on the same switch.
    void ring(std::uint64_t bytes) {
        for (unsigned i = 1; i <= nodes; ++i) {
            traffic(node_lid(i), node_lid(i % nodes + 1), bytes);
        }
    }

    void analyse() {
        seen_map = map;
        for (auto [scout, routes] : {std::pair{&evidence.scout.start, &evidence.routes_start},
                                     std::pair{&evidence.scout.end, &evidence.routes_end}}) {
            routes->reset();
            if (*scout) {
                *routes = fabric::analyse(fabric::LftView(map, (*scout)->lfts, (*scout)->ports), query_from(map, (*scout)->hosts, config));
            }
        }
    }
    JobVerdict judge() {
        analyse();
        return judge_job(evidence, config);
    }

    static std::uint64_t switch_guid(std::uint32_t at) { return 0x5000 + at; }

    Config config;
    fabric::MapDraft map;
    fabric::Map seen_map; ///< what the evidence has of it
    JobEvidence evidence;

private:
    static bool is_node(std::uint16_t lid) { return lid <= 2 + nodes; }
    static unsigned node_of(std::uint16_t lid) { return is_node(lid) ? lid - 2U : 0; }
    static std::uint8_t entry(std::uint16_t lid) {
        return static_cast<std::uint8_t>(is_node(lid) ? lid - 2 : lid - 2 - nodes);
    }
    static void add(Counters &counters, const std::string &counter, std::uint64_t delta) {
        *counters[counter].value += delta;
    }
    void move_on(std::uint32_t at, unsigned port, const std::string &counter, std::uint64_t delta) {
        const auto found = std::find_if(
            evidence.scout.end->ports.begin(), evidence.scout.end->ports.end(), [&](const SwitchPort &candidate) {
                return candidate.switch_guid == switch_guid(at) && candidate.port == port;
            });
        if (found != evidence.scout.end->ports.end()) {
            add(found->counters, counter, delta);
        }
    }

    void link(std::uint32_t a, std::uint8_t a_port, std::uint32_t b, std::uint8_t b_port) {
        map.nodes[a].ports[a_port].peer = b;
        map.nodes[a].ports[a_port].peer_port = b_port;
        map.nodes[b].ports[b_port].peer = a;
        map.nodes[b].ports[b_port].peer_port = a_port;
        map.nodes[a].ports[a_port].rate = map.nodes[b].ports[b_port].rate = hdr();
    }

    void make_map(bool collapsed) {
        for (std::uint32_t at : {switch_a, switch_b}) {
            fabric::DraftNode node;
            node.guid = switch_guid(at);
            node.description = at == switch_a ? "SwitchA" : "SwitchB";
            node.kind = fabric::NodeKind::switch_node;
            node.ports.resize(41);
            node.lid = static_cast<std::uint16_t>(1 + at);
            node.lft.assign(64, fabric::no_route);
            node.lft[node.lid] = 0;
            map.nodes.push_back(std::move(node));
        }
        for (unsigned i = 1; i <= nodes + servers; ++i) {
            const bool is_server = i > nodes;
            fabric::DraftNode host;
            host.guid = 0x6000 + i;
            host.description = (is_server ? server_name(i - nodes) : node_name(i)) + " mlx5_0";
            host.kind = fabric::NodeKind::host;
            host.ports.resize(2);
            host.ports[1].guid = 0x7000 + i;
            host.ports[1].lid = static_cast<std::uint16_t>(2 + i);
            map.nodes.push_back(std::move(host));
            const auto port = static_cast<std::uint8_t>(is_server ? i - nodes : i);
            link(is_server ? switch_b : switch_a, port, 1 + i, 1);
        }
        for (std::uint8_t i = 0; i < links; ++i) {
            link(switch_a, static_cast<std::uint8_t>(13 + i), switch_b, static_cast<std::uint8_t>(25 + i));
        }
        for (unsigned i = 1; i <= nodes; ++i) {
            map.nodes[switch_a].lft[node_lid(i)] = static_cast<std::uint8_t>(i);
            const unsigned even = 25 + (i - 1) % links;
            const unsigned few = i <= 6 ? 25 : i <= 11 ? 26 : 27;
            map.nodes[switch_b].lft[node_lid(i)] = static_cast<std::uint8_t>(collapsed ? few : even);
        }
        for (unsigned i = 1; i <= servers; ++i) {
            map.nodes[switch_b].lft[server_lid(i)] = static_cast<std::uint8_t>(i);
            map.nodes[switch_a].lft[server_lid(i)] = static_cast<std::uint8_t>(12 + i);
        }
        map.nodes[switch_a].lft[2] = 13;
        map.nodes[switch_b].lft[1] = 25;
        map.adaptive_routing = AdaptiveRouting::off;
        map.index();
        evidence.map = &seen_map;
    }

    void make_job() {
        JobInfo &job = evidence.job;
        job.id = 4711;
        job.cluster = "lab";
        job.user = "alice";
        job.partition = "batch";
        job.name = "train";
        job.uid = 1000;
        job.start = 1700000000;
        job.end = 1700000100;
        job.state = "COMPLETED";
        job.nodes = "node[01-12]";
        for (unsigned i = 1; i <= nodes; ++i) {
            job.node_names.push_back(node_name(i));
        }
    }

    void make_nodes() {
        for (unsigned i = 1; i <= nodes; ++i) {
            NodeSnapshot snapshot;
            snapshot.node = node_name(i);
            snapshot.boot_id = fmt::format("boot-{}", i);
            snapshot.time_ns = 1700000000 * second;
            HcaPort port;
            port.device = "mlx5_0";
            port.driver = "mlx5_core";
            port.guid = 0x7000 + i;
            port.lid = node_lid(i);
            port.link_layer = LinkLayer::infiniband;
            port.state = "ACTIVE";
            port.phys_state = "LinkUp";
            port.rate = hdr();
            for (const CounterInfo &info : counter_table()) {
                if (required(info, Profile::ib, PortKind::hca, "mlx5_core")) {
                    port.counters[std::string(info.name)] = Reading::of(10);
                }
            }
            port.counters["PortXmitData"] = port.counters["PortRcvData"] = Reading::of(1000, 64);
            snapshot.ports.push_back(port);
            NodeEvidence both;
            both.node = snapshot.node;
            both.start = snapshot;
            both.end = snapshot;
            both.end->time_ns += static_cast<std::int64_t>(seconds) * second;
            evidence.nodes.push_back(std::move(both));
        }
    }

    void make_scouts() {
        ScoutSnapshot scout;
        scout.node = node_name(1);
        scout.time_ns = 1700000000 * second;
        scout.adaptive_routing = AdaptiveRouting::off;
        for (unsigned i = 1; i <= nodes; ++i) {
            scout.hosts.push_back({node_name(i), 0x7000 + i, node_lid(i), false, MatchedBy::guid});
        }
        for (unsigned i = 1; i <= servers && services_; ++i) {
            scout.hosts.push_back({server_name(i), 0x7000 + nodes + i, server_lid(i), true, MatchedBy::description});
        }
        for (std::uint8_t port = 1; port <= nodes + links; ++port) {
            scout.ports.push_back(read(switch_a, port));
        }
        for (std::uint8_t port = 1; port <= servers && services_; ++port) {
            scout.ports.push_back(read(switch_b, port));
        }
        for (std::uint8_t port = 25; port < 25 + links; ++port) {
            scout.ports.push_back(read(switch_b, port));
        }
        for (const std::uint32_t at : {switch_a, switch_b}) {
            LftBlock block{switch_guid(at), 0, {}};
            std::copy(map.nodes[at].lft.begin(), map.nodes[at].lft.end(), block.ports.begin());
            scout.lfts.push_back(block);
        }
        evidence.scout.start = scout;
        evidence.scout.end = std::move(scout);
        evidence.scout.end->time_ns += static_cast<std::int64_t>(seconds) * second;
    }

    SwitchPort read(std::uint32_t at, unsigned number) const {
        SwitchPort port;
        port.switch_guid = switch_guid(at);
        port.switch_name = map.nodes[at].description;
        port.switch_lid = map.nodes[at].lid;
        port.port = number;
        port.state = "ACTIVE";
        port.rate = hdr();
        for (const CounterInfo &info : counter_table()) {
            if (required(info, Profile::ib, PortKind::switch_port, {})) {
                port.counters[std::string(info.name)] = Reading::of(10);
            }
        }
        port.counters["PortXmitData"] = port.counters["PortRcvData"] = Reading::of(1000, 64);
        port.counters["PortXmitWait"] = Reading::of(50);
        return port;
    }

    bool services_;
};

/// The small job with even traffic well below every bar.
struct BusyJob : SmallJob {
    explicit BusyJob(bool with_services = true) : SmallJob(with_services) {
        if (with_services) {
            all_servers_to_all_nodes(100 * gigabyte);
        } else {
            ring(100 * gigabyte);
        }
    }
};

} // namespace fabric_check::testing
