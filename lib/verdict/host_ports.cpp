// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/port_use.hpp"
#include "verdict/ports.hpp"
#include "verdict/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

namespace fabric_check {

namespace {

constexpr std::uint16_t no_lid = 0xffff; // what sysfs shows for a port without one

bool has_lid(const HcaPort &port) noexcept { return port.lid != 0 && port.lid != no_lid; }

/// Two subnets give out the same LIDs: a port of one is not a port of the other.
bool differ(std::uint64_t guid, std::uint64_t other) noexcept { return guid != 0 && other != 0 && guid != other; }

/// Does the card's driver count the congestion notifications that the profile requires?
bool has_congestion_counters(const std::string &driver) {
    const auto table = counter_table();
    return std::any_of(table.begin(), table.end(), [&driver](const CounterInfo &row) {
        return row.layer == Layer::congestion && row.source == CounterSource::hw_counters &&
               required(row, Profile::roce, PortKind::hca, driver);
    });
}

class Hosts {
public:
    Hosts(const JobEvidence &evidence, const Grading &grading, PortSet &set)
        : evidence_(evidence), grading_(grading), set_(set), choices_(evidence, grading.ports) {}

    void run() {
        std::unordered_set<std::string> seen;
        for (const NodeEvidence &node : evidence_.nodes) {
            if (!seen.insert(node.node).second) {
                set_.notes.push_back(fmt::format("{} stands twice in the evidence; the first is taken", node.node));
                continue;
            }
            add(node);
        }
        for (const std::string &name : evidence_.job.node_names) {
            if (seen.insert(name).second) {
                NodeEvidence nothing;
                nothing.node = name;
                add(nothing);
            }
        }
        add_notes();
    }

private:
    void add(const NodeEvidence &node) {
        ++set_.cover.nodes_expected;
        const bool both = node.start && node.end;
        if (both) {
            ++set_.cover.nodes_seen;
        } else {
            set_.cover.missing.push_back(node.node);
            set_.unread.push_back({node.node, "", missing_record(node), Layer::physical, true});
        }
        const bool rebooted = both && !node.start->boot_id.empty() && !node.end->boot_id.empty() &&
                              node.start->boot_id != node.end->boot_id;
        if (rebooted) {
            set_.unread.push_back({node.node, "", "rebooted", Layer::physical, true});
        }
        const std::size_t before = set_.ports.size();
        if (node.start) {
            add_ports(node, *node.start, rebooted);
        }
        if (const auto &last = last_reading(node)) {
            add_ports(node, *last, rebooted);
        }
        if (node.start && !node.end && node.mid) {
            PortTimes times;
            times.from_ns = node.start->time_ns;
            times.to_ns = node.mid->time_ns;
            set_.notes.push_back(fmt::format("{} left no END record: it is judged until its last record in mid-job, of {} UTC",
                                             node.node, moment(times, node.mid->time_ns)));
        }
        if (set_.ports.size() == before && both && !rebooted) {
            add_idle_ports(node);
        }
        if (set_.ports.size() == before) {
            if (node.start || node.end) {
                set_.unread.push_back(
                    {node.node, "", no_port_reason(node), Layer::physical, true});
            }
            add_unseen(node);
        }
    }

    static const std::optional<NodeSnapshot> &last_reading(const NodeEvidence &node) {
        return node.end ? node.end : node.mid;
    }

    static std::string missing_record(const NodeEvidence &node) {
        std::string reason;
        const auto say = [&reason](bool there, const char *which, const std::string &problem) {
            if (!there) {
                reason += reason.empty() ? "" : "; ";
                reason += problem.empty() ? fmt::format("no {} record", which) : problem;
            }
        };
        say(node.start.has_value(), "START", node.start_problem);
        say(node.end.has_value(), "END", node.end_problem);
        return node.slurmd_died ? reason + "; the node may have failed during the job" : reason;
    }

    std::string no_port_reason(const NodeEvidence &node) {
        return excluded_.contains(node.node) ? "no active port besides those the configuration excludes"
                                             : "no active RDMA port";
    }

    void add_ports(const NodeEvidence &node, const NodeSnapshot &snapshot, bool rebooted) {
        for (const HcaPort &port : snapshot.ports) {
            const HcaPort *start = find_port(node.start, port);
            const HcaPort *end = find_port(last_reading(node), port);
            const PortChoice *choice = choices_.of(node.node, port);
            if (choice == nullptr) {
                continue;
            }
            if (choice->use == PortUse::excluded) {
                excluded_.insert(node.node);
            } else if (choice->counts && known_.insert(node.node + "/" + port.name()).second) {
                add_port(node, start, end, *choice, rebooted);
            }
        }
    }

    /// A node whose Ethernet ports carried no RDMA moved nothing, which is known and no gap.
    void add_idle_ports(const NodeEvidence &node) {
        for (const HcaPort &port : node.end->ports) {
            const PortChoice *choice = choices_.of(node.node, port);
            const HcaPort *start = find_port(node.start, port);
            if (choice != nullptr && choice->use == PortUse::idle && start != nullptr) {
                add_port(node, start, &port, *choice, false);
            }
        }
    }

    void add_port(const NodeEvidence &node, const HcaPort *start, const HcaPort *end, const PortChoice &choice,
                  bool rebooted) {
        const HcaPort &port = end != nullptr ? *end : *start;
        PortResult result;
        result.node = node.node;
        result.where = node.node + "/" + port.name();
        result.role = "host";
        result.profile = is_infiniband(port) ? Profile::ib : Profile::roce;
        result.use = choice.why;
        result.host_start = start;
        result.host_end = end;
        result.rebooted = rebooted || node.slurmd_died;
        ++set_.cover.ports_expected;
        if (start != nullptr && end != nullptr) {
            const NodeSnapshot &last = *last_reading(node);
            set_.cover.ports_seen += node.end ? 1 : 0;
            result.seconds = seconds_between(node.start->time_ns, last.time_ns);
            result.times = {totals_of(node.intervals, port.name()), node.start->time_ns, last.time_ns, !node.end};
            judge(port, rebooted, result);
            if (choice.use == PortUse::idle) {
                only_faults(result);
            }
        } else {
            result.verdict.outcome = Outcome::incomplete;
            if (node.start && node.end) { // otherwise the node's own entry says it
                set_.cover.missing.push_back(result.where);
                set_.unread.push_back({result.where, "", start != nullptr ? "gone at end" : "not there at start",
                                       Layer::physical, true});
            }
        }
        locate(node.node, port, start, result);
        keep(std::move(result));
    }

    void judge(const HcaPort &port, bool rebooted, PortResult &result) {
        result.deltas = deltas_of(result.host_start->counters, result.host_end->counters);
        if (rebooted) {
            // The counters began again at zero; a larger value afterwards proves as little as a smaller one.
            for (auto &[name, delta] : result.deltas) {
                delta = {std::nullopt, is_missing(delta.why) && !delta.value ? delta.why : NoDelta::reset};
            }
            result.verdict.outcome = Outcome::incomplete;
            return;
        }
        result.deltas = with_intervals(std::move(result.deltas), result.times, grading_.lost_share);
        distrust_data(result.deltas, link_gbps(result), result.seconds);
        result.xmit_bytes = xmit_bytes(result.deltas);
        result.rcv_bytes = rcv_bytes(result.deltas);
        PortRules rules = host_rules(port, result.profile, grading_);
        rules.seconds = result.seconds;
        if (result.xmit_bytes && result.rcv_bytes) {
            rules.bytes = *result.xmit_bytes + *result.rcv_bytes;
        }
        rules.sent = result.xmit_bytes;
        rules.received = result.rcv_bytes;
        result.verdict = judge_port(result.deltas, rules);
        if (!driver_has_retry_counters(port.driver) && !tells_retries(result)) {
            without_retries_.push_back(result.where);
        }
        if (result.profile == Profile::roce && !has_congestion_counters(port.driver)) {
            without_congestion_.push_back(result.where);
        }
        for (const CounterInfo &row : counter_table()) {
            if (row.has(capability) && required(row, result.profile, PortKind::hca, port.driver) && !tells(result, row)) {
                lacking_[std::string(row.name)].push_back(result.where);
            }
        }
    }

    /// Has the card this counter, or one of the family?
    static bool tells(const PortResult &result, const CounterInfo &row) {
        const auto there = [&result](const std::string &name) {
            const auto at = result.deltas.find(name);
            return at != result.deltas.end() && (at->second.value || !is_nowhere(at->second.why));
        };
        bool any = !row.is_family() && there(std::string(row.name));
        for (unsigned priority = 0; row.is_family() && priority < priorities; ++priority) {
            any = any || there(row.of_priority(priority));
        }
        return any;
    }

    /// Drivers that need not have them (mlx4, hfi1) may have them all the same.
    static bool tells_retries(const PortResult &result) {
        return std::any_of(result.deltas.begin(), result.deltas.end(), [&](const auto &delta) {
            const CounterInfo *row = find_counter(delta.first);
            return delta.second.value && row != nullptr && row->layer == Layer::transport_retry &&
                   row->graded(result.profile);
        });
    }

    /// Of a port that carried nothing of the job only a broken link is the job's business, and nothing of it is a gap.
    static void only_faults(PortResult &result) {
        PortVerdict &verdict = result.verdict;
        verdict.outcome = Outcome::no_traffic;
        verdict.unread.clear();
        std::erase_if(verdict.live, [](const LiveCounter &live) { return live.layer != Layer::physical; });
        result.xmit_bytes = result.rcv_bytes = 0;
    }

    /// Where the port is in the map: by its GUID, by what the scout matched, by its name.
    void locate(const std::string &node, const HcaPort &port, const HcaPort *start, PortResult &result) {
        const fabric::Map *map = evidence_.map;
        if (map == nullptr || result.profile != Profile::ib) {
            return;
        }
        const auto take = [&](std::uint32_t map_node, std::uint8_t map_port) {
            if (map_node < map->nodes().size() && map->nodes()[map_node].kind == fabric::NodeKind::host &&
                !set_.index.contains({map_node, map_port})) {
                result.map_node = map_node;
                result.map_port = map_port;
            }
            return result.map_node != fabric::no_node;
        };
        for (const HcaPort *side : {&port, start}) {
            if (side == nullptr || side->guid == 0) {
                continue;
            }
            std::uint8_t number = 0;
            const std::uint32_t at = map->by_port_guid(side->guid, &number);
            if (take(at, number)) {
                return;
            }
        }
        for (const HostMatch *match : matches(node)) {
            std::uint8_t number = 0;
            if ((match->port_guid == port.guid && port.guid != 0) ||
                (has_lid(port) && match->lid == port.lid && !differ(match->port_guid, port.guid))) {
                const std::uint32_t at = map->by_port_guid(match->port_guid, &number);
                if (take(at, number) || take(map->by_lid(match->lid), map->port_of_lid(match->lid))) {
                    return;
                }
            }
        }
        if (has_lid(port)) {
            for (const auto &[map_node, map_port] : map->by_name(node)) {
                const auto there = fabric_check::find_port(*map, {map_node, map_port});
                if (there && there->lid == port.lid && !differ(there->guid, port.guid) &&
                    take(map_node, map_port)) {
                    return;
                }
            }
        }
    }

    std::vector<const HostMatch *> matches(const std::string &node) const {
        std::vector<const HostMatch *> found;
        for (const auto *scout : {&evidence_.scout.end, &evidence_.scout.start}) {
            if (*scout) {
                for (const HostMatch &match : (*scout)->hosts) {
                    if (match.node == node && !match.service) {
                        found.push_back(&match);
                    }
                }
            }
        }
        return found;
    }

    /// A node that told nothing: the map may still know its ports, and the switch is the better witness anyway.
    void add_unseen(const NodeEvidence &node) {
        std::vector<MapPortId> places;
        if (evidence_.map != nullptr) {
            for (const HostMatch *match : matches(node.node)) {
                std::uint8_t number = 0;
                const std::uint32_t at = evidence_.map->by_port_guid(match->port_guid, &number);
                if (at != fabric::no_node) {
                    places.emplace_back(at, number);
                }
            }
            if (places.empty()) {
                places = evidence_.map->by_name(node.node);
            }
        }
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        set_.cover.ports_expected += places.empty() ? 1 : 0;
        for (const MapPortId &place : places) {
            if (set_.index.contains(place)) {
                continue;
            }
            PortResult result;
            result.node = node.node;
            result.where = fmt::format("{}:{}", node.node, place.second);
            result.role = "host";
            result.map_node = place.first;
            result.map_port = place.second;
            result.rebooted = node.slurmd_died;
            result.verdict.outcome = Outcome::incomplete;
            ++set_.cover.ports_expected;
            keep(std::move(result));
        }
    }

    void keep(PortResult result) {
        if (result.map_node != fabric::no_node) {
            const MapPortId place{result.map_node, result.map_port};
            set_.index.emplace(place, static_cast<int>(set_.ports.size()));
            set_.names.learn_host(place, result.where);
        }
        set_.ports.push_back(std::move(result));
    }

    void add_notes() {
        for (std::string &note : choices_.notes()) {
            set_.notes.push_back(std::move(note));
        }
        const auto and_more = [](const std::vector<std::string> &ports) {
            return ports.size() > 1 ? fmt::format(" and {} more", ports.size() - 1) : std::string();
        };
        const auto do_not_exist = [&](const std::vector<std::string> &ports, const char *what) {
            if (!ports.empty()) {
                set_.notes.push_back(fmt::format("The driver of {}{} has no {}: they do not exist there", ports.front(),
                                                 and_more(ports), what));
            }
        };
        do_not_exist(without_retries_, "retry counters");
        do_not_exist(without_congestion_, "counters of congestion notifications");
        for (const auto &[counter, ports] : lacking_) {
            set_.notes.push_back(fmt::format("The card of {}{} has no {}, which is not zero: what it would count is not known",
                                             ports.front(), and_more(ports), counter));
        }
    }

    const JobEvidence &evidence_;
    const Grading &grading_;
    PortSet &set_;
    PortChoices choices_;
    std::unordered_set<std::string> known_, excluded_;
    std::vector<std::string> without_retries_, without_congestion_;
    std::map<std::string, std::vector<std::string>> lacking_; ///< by counter, ports whose card has not the capability
};

} // namespace

PortRules host_rules(const HcaPort &port, Profile profile, const Grading &grading) {
    PortRules rules;
    rules.profile = profile;
    rules.driver = port.driver;
    rules.ungraded = [&grading](const CounterInfo &info) {
        return grading.adaptive_routing == AdaptiveRouting::on && info.name == "out_of_sequence";
    };
    rules.congestion_per_gb = grading.congestion_per_gb;
    rules.bars = grading.bars;
    rules.min_bytes = grading.min_bytes;
    return rules;
}

double seconds_between(std::int64_t a_ns, std::int64_t b_ns) noexcept {
    return b_ns > a_ns ? (static_cast<double>(b_ns) - static_cast<double>(a_ns)) / 1e9 : 0;
}

void add_host_ports(const JobEvidence &evidence, const Grading &grading, PortSet &set) {
    Hosts(evidence, grading, set).run();
}

} // namespace fabric_check
