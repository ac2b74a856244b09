// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/ports.hpp"
#include "verdict/sampled.hpp"
#include "verdict/trust.hpp"

#include "sources/scout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace fabric_check {

namespace {

using Readings = std::map<MapPortId, const SwitchPort *>;

Readings readings_of(const fabric::Map &map, const std::optional<ScoutSnapshot> &scout) {
    Readings readings;
    if (scout) {
        for (const SwitchPort &port : scout->ports) {
            const std::uint32_t node = map.by_guid(port.switch_guid);
            if (node != fabric::no_node && port.port <= UINT8_MAX) {
                readings.emplace(MapPortId{node, static_cast<std::uint8_t>(port.port)}, &port);
            }
        }
    }
    return readings;
}

bool was_read(const SwitchPort *port) {
    return port != nullptr && was_read(*port);
}

class Switches {
public:
    Switches(const JobEvidence &evidence, const fabric::Query &query, const Grading &grading, PortSet &set)
        : evidence_(evidence), map_(*evidence.map), query_(query), grading_(grading), set_(set),
          start_(readings_of(map_, evidence.scout.start)), end_(readings_of(map_, evidence.scout.end)) {}

    void run() {
        sides();
        facing();
        services();
        for (const auto *routes : {&evidence_.routes_start, &evidence_.routes_end}) {
            if (*routes) {
                on_routes(**routes);
            }
        }
        for (const auto *routes : {&evidence_.routes_start, &evidence_.routes_end}) {
            if (*routes) {
                idle_members(**routes);
            }
        }
    }

private:
    /// A whole side without readings is one gap, not one per port.
    void sides() {
        const bool start = side_was_read(evidence_.scout.start, evidence_.scout.start_problem, start_, "start");
        const bool end = side_was_read(evidence_.scout.end, evidence_.scout.end_problem, end_, "end");
        both_sides_ = start && end;
        if (!both_sides_) {
            set_.cover.missing.emplace_back("switches");
        } else if (!evidence_.routes_start && !evidence_.routes_end) {
            set_.unread.push_back({"routes", "", "the job's routes could not be followed", Layer::physical, true});
        }
    }

    bool side_was_read(const std::optional<ScoutSnapshot> &scout, const std::string &problem, const Readings &readings,
                       const char *when) {
        if (!readings.empty()) {
            return true;
        }
        std::string reason;
        if (!scout) {
            reason = problem.empty() ? fmt::format("no scout read them at the {}", when) : problem;
        } else if (!scout->problems.empty()) {
            reason = by_node(scout->node, scout->problems.front().reason);
        } else {
            reason = by_node(scout->node, fmt::format("the scout read no switch port at the {}", when));
        }
        const bool said = std::any_of(set_.unread.begin(), set_.unread.end(), [&](const UnreadCounter &unread) {
            return unread.where == "switches" && unread.reason == reason;
        });
        if (!said) {
            set_.unread.push_back({"switches", "", reason, Layer::physical, true});
        }
        return false;
    }

    void facing() {
        const std::size_t hosts = set_.ports.size(); // add() appends to what is walked here
        for (std::size_t i = 0; i < hosts; ++i) {
            if (set_.ports[i].profile != Profile::ib) {
                continue;
            }
            const MapPortId host{set_.ports[i].map_node, set_.ports[i].map_port};
            const MapPortId at = peer_of(map_, host);
            if (map_.is_switch(at.first)) {
                add(at, "facing", true);
                set_.outputs.insert(at);
            } else if (at.first == fabric::no_node) {
                ++set_.cover.ports_expected;
                const std::string where = set_.ports[i].where;
                set_.cover.missing.push_back("switch port facing " + where);
                set_.unread.push_back({where, "",
                                       host.first == fabric::no_node
                                           ? "not in the fabric map: its switch port was not read"
                                           : "the map knows no link here: its switch port was not read",
                                       Layer::physical, true});
            }
        }
    }

    void services() {
        for (const fabric::Endpoint &service : query_.services) {
            const MapPortId at = peer_of(map_, {service.node, service.port});
            if (map_.is_switch(at.first)) {
                add(at, "service", true);
            }
        }
    }

    void on_routes(const fabric::Routes &routes) {
        for (const auto &[node, ports] : routes.ports_on_routes) {
            for (const std::uint8_t port : ports) {
                const MapPortId sender{node, port};
                const MapPortId receiver = peer_of(map_, sender);
                set_.outputs.insert(sender);
                if (map_.is_switch(receiver.first)) {
                    add(sender, "isl", true);
                    add(receiver, "isl", true); // errors count where they arrive
                } else if (receiver.first != fabric::no_node) {
                    add(sender, set_.index.contains(receiver) ? "facing" : "service", true);
                }
            }
        }
        for (const fabric::Unreachable &lost : routes.unreachable) {
            const std::string where = fmt::format("LID {}", lost.lid);
            const bool said = std::any_of(set_.unread.begin(), set_.unread.end(),
                                          [&](const UnreadCounter &unread) { return unread.where == where; });
            if (!said) {
                set_.unread.push_back({where, "", "not reachable by the tables: " + lost.why, Layer::physical, true});
            }
        }
    }

    void idle_members(const fabric::Routes &routes) {
        for (const fabric::Group &group : routes.groups) {
            for (const fabric::GroupPort &port : group.ports) {
                add({group.node, port.port}, "isl", false);
            }
        }
    }

    void add(MapPortId place, const char *role, bool on_route) {
        if (!find_port(map_, place) || !map_.is_switch(place.first) || set_.index.contains(place)) {
            return;
        }
        PortResult result;
        result.where = set_.names.link(place);
        result.role = role;
        result.on_route = on_route;
        result.map_node = place.first;
        result.map_port = place.second;
        const auto start = start_.find(place);
        const auto end = end_.find(place);
        result.switch_start = start != start_.end() ? start->second : nullptr;
        result.switch_end = end != end_.end() ? end->second : nullptr;
        result.times.from_ns = time_of(result.switch_start, *evidence_.scout.start);
        result.times.to_ns = time_of(result.switch_end, *evidence_.scout.end);
        result.seconds = seconds_between(result.times.from_ns, result.times.to_ns);
        set_.cover.ports_expected += on_route ? 1 : 0;
        if (was_read(result.switch_start) && was_read(result.switch_end)) {
            set_.cover.ports_seen += on_route ? 1 : 0;
            judge(result);
        } else {
            result.verdict.outcome = Outcome::incomplete;
            if (on_route && both_sides_) {
                const std::string here = result.role == "isl" ? set_.names.end(place) : std::string();
                set_.cover.missing.push_back(here.empty() ? result.where : here);
                set_.unread.push_back({result.where, "", unread_reason(place, result), Layer::physical, true, here});
            }
        }
        set_.index.emplace(place, static_cast<int>(set_.ports.size()));
        set_.ports.push_back(std::move(result));
    }

    std::string unread_reason(MapPortId place, const PortResult &result) const {
        const std::string end = set_.names.end(place);
        const std::string_view name = map_.nodes()[place.first].description;
        const std::string shown = map_.display_name(place.first);
        for (const auto *scout : {&evidence_.scout.end, &evidence_.scout.start}) {
            for (const Problem &problem : (*scout)->problems) {
                if (problem.counter.empty() && (problem.where == end || problem.where == name || problem.where == shown)) {
                    return problem.reason;
                }
            }
        }
        if (!was_read(result.switch_start) && !was_read(result.switch_end)) {
            return "not read";
        }
        return was_read(result.switch_start) ? "not read at end" : "not read at start";
    }

    /// Several jobs may have shared a reading: its time is its own.
    static std::int64_t time_of(const SwitchPort *port, const ScoutSnapshot &scout) {
        return port != nullptr && port->time_ns != 0 ? port->time_ns : scout.time_ns;
    }

    void judge(PortResult &result) const {
        result.deltas = deltas_of(result.switch_start->counters, result.switch_end->counters);
        if (evidence_.samples) {
            if (const auto column = column_of(map_, *evidence_.samples, {result.map_node, result.map_port})) {
                result.times.totals = sampled_totals(evidence_.samples->ports[*column], *result.switch_start,
                                                     *result.switch_end, result.times.from_ns, result.times.to_ns);
                result.deltas = with_intervals(std::move(result.deltas), result.times, grading_.lost_share);
            }
        }
        distrust_data(result.deltas, link_gbps(result), result.seconds);
        result.xmit_bytes = xmit_bytes(result.deltas);
        result.rcv_bytes = rcv_bytes(result.deltas);
        PortRules rules;
        rules.kind = PortKind::switch_port;
        rules.congestion_per_gb = grading_.congestion_per_gb;
        rules.bars = grading_.bars;
        rules.seconds = result.seconds;
        rules.min_bytes = grading_.min_bytes;
        if (result.xmit_bytes && result.rcv_bytes) {
            rules.bytes = *result.xmit_bytes + *result.rcv_bytes;
        }
        result.verdict = judge_port(result.deltas, rules);
    }

    const JobEvidence &evidence_;
    const fabric::Map &map_;
    const fabric::Query &query_;
    const Grading &grading_;
    PortSet &set_;
    Readings start_, end_;
    bool both_sides_ = false;
};

} // namespace

void add_switch_ports(const JobEvidence &evidence, const fabric::Query &query, const Grading &grading, PortSet &set) {
    if (evidence.scout.start && evidence.scout.end) {
        set.scout_seconds = seconds_between(evidence.scout.start->time_ns, evidence.scout.end->time_ns);
    }
    if (is_host_scope(set)) {
        return;
    }
    if (evidence.map == nullptr) {
        const auto said = std::find_if(evidence.problems.begin(), evidence.problems.end(),
                                       [](const Problem &problem) { return problem.where == "map"; });
        const std::string reason = said != evidence.problems.end() ? said->reason : "no fabric map";
        set.unread.push_back({"switches", "", reason, Layer::physical, true});
        set.cover.missing.push_back("switches");
        for (const PortResult &port : set.ports) { // each InfiniBand port faces one
            set.cover.ports_expected += port.profile == Profile::ib ? 1 : 0;
        }
        return;
    }
    Switches(evidence, query, grading, set).run();
}

bool is_host_scope(const PortSet &set) noexcept {
    bool any = false;
    for (const PortResult &port : set.ports) {
        if (port.role == "host" && port.profile == Profile::ib) {
            return false;
        }
        any = any || (port.role == "host" && port.profile == Profile::roce);
    }
    return any;
}

void join_links(const JobEvidence &evidence, PortSet &set) {
    if (evidence.map == nullptr) {
        return;
    }
    for (PortResult &port : set.ports) {
        const auto peer = set.index.find(peer_of(*evidence.map, {port.map_node, port.map_port}));
        if (port.map_node != fabric::no_node && peer != set.index.end()) {
            port.peer = peer->second;
        }
    }
    compare_ends(set);
    std::vector<std::pair<std::optional<std::uint64_t>, std::optional<std::uint64_t>>> own;
    own.reserve(set.ports.size());
    for (const PortResult &port : set.ports) {
        own.emplace_back(port.xmit_bytes, port.rcv_bytes);
    }
    for (PortResult &port : set.ports) {
        if (port.peer < 0) {
            continue;
        }
        const auto &[xmit, rcv] = own[static_cast<std::size_t>(port.peer)];
        port.xmit_bytes = port.xmit_bytes ? port.xmit_bytes : rcv;
        port.rcv_bytes = port.rcv_bytes ? port.rcv_bytes : xmit;
        port.rebooted = port.rebooted || set.ports[static_cast<std::size_t>(port.peer)].rebooted;
    }
}

fabric::Query job_query(const JobEvidence &evidence, const Config &config) {
    const std::optional<ScoutSnapshot> &scout =
        evidence.routes_end || !evidence.routes_start ? evidence.scout.end : evidence.scout.start;
    if (!scout || evidence.map == nullptr) {
        return {};
    }
    return query_from(*evidence.map, scout->hosts, config);
}

const fabric::Routes *job_routes(const JobEvidence &evidence) noexcept {
    if (evidence.routes_end) {
        return &*evidence.routes_end;
    }
    return evidence.routes_start ? &*evidence.routes_start : nullptr;
}

} // namespace fabric_check
