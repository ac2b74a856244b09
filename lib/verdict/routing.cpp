// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/routing.hpp"

#include "verdict/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check {

namespace {

constexpr unsigned lids_per_block = 64;

using Blocks = std::map<std::pair<std::uint64_t, std::uint16_t>, const LftBlock *>;

Blocks blocks_of(const ScoutSnapshot &scout) {
    Blocks blocks;
    for (const LftBlock &block : scout.lfts) {
        blocks.emplace(std::pair{block.switch_guid, block.block}, &block);
    }
    return blocks;
}

std::map<std::uint16_t, std::string> lids_of(const fabric::Query &query) {
    std::map<std::uint16_t, std::string> lids;
    for (const auto *endpoints : {&query.job, &query.services}) {
        for (const fabric::Endpoint &endpoint : *endpoints) {
            if (endpoint.lid != 0) {
                lids.emplace(endpoint.lid, endpoint.name);
            }
        }
    }
    return lids;
}

std::string port_text(std::uint8_t port) { return port == fabric::no_route ? "no port" : fmt::format("port {}", port); }

std::optional<std::uint64_t> counter_delta(const Deltas &deltas, const char *name) {
    const auto at = deltas.find(name);
    return at == deltas.end() ? std::nullopt : at->second.value;
}

} // namespace

std::vector<std::string> changes_since_map(const JobEvidence &evidence, const fabric::Query &query) {
    std::vector<std::string> texts;
    const auto &scout = evidence.scout.end ? evidence.scout.end : evidence.scout.start;
    if (evidence.map == nullptr || !scout) {
        return texts;
    }
    const std::map<std::uint16_t, std::string> lids = lids_of(query);
    for (const LftBlock &block : scout->lfts) {
        const std::uint32_t node = evidence.map->by_guid(block.switch_guid);
        const auto table = node == fabric::no_node ? std::span<const std::uint8_t>() : evidence.map->nodes()[node].lft();
        const unsigned base = block.block * lids_per_block;
        for (auto lid = lids.lower_bound(static_cast<std::uint16_t>(std::min(base, 0xffffU)));
             !table.empty() && lid != lids.end() && lid->first < base + lids_per_block; ++lid) {
            const std::uint8_t from = lid->first < table.size() ? table[lid->first] : fabric::no_route;
            const std::uint8_t to = block.ports[lid->first - base];
            if (from != to) {
                texts.push_back(fmt::format("since the map was built, {}: LID {} ({}) from {} to {}",
                                            evidence.map->display_name(node), lid->first, lid->second, port_text(from),
                                            port_text(to)));
            }
        }
    }
    return texts;
}

RouteChanges compare_tables(const JobEvidence &evidence, const fabric::Query &query) {
    RouteChanges changes;
    if (evidence.map == nullptr || !evidence.scout.start || !evidence.scout.end) {
        return changes;
    }
    const std::map<std::uint16_t, std::string> lids = lids_of(query);
    const Blocks before = blocks_of(*evidence.scout.start);
    const Blocks after = blocks_of(*evidence.scout.end);
    for (const auto &[key, block] : before) {
        changes.not_compared += after.contains(key) ? 0 : 1;
    }
    for (const auto &[key, block] : after) {
        const auto old = before.find(key);
        if (old == before.end()) {
            ++changes.not_compared;
            continue;
        }
        if (old->second->ports == block->ports) {
            continue;
        }
        const std::uint32_t node = evidence.map->by_guid(key.first);
        const unsigned base = key.second * lids_per_block;
        for (auto lid = lids.lower_bound(static_cast<std::uint16_t>(std::min(base, 0xffffU)));
             lid != lids.end() && lid->first < base + lids_per_block; ++lid) {
            const std::uint8_t from = old->second->ports[lid->first - base];
            const std::uint8_t to = block->ports[lid->first - base];
            if (from == to) {
                continue;
            }
            const std::string at = node == fabric::no_node ? fmt::format("switch 0x{:016x}", key.first)
                                                           : evidence.map->display_name(node);
            changes.texts.push_back(
                fmt::format("{}: LID {} ({}) from {} to {}", at, lid->first, lid->second, port_text(from), port_text(to)));
            changes.ports.insert({node, from});
            changes.ports.insert({node, to});
        }
    }
    return changes;
}

std::vector<GroupMeasure> measure_groups(const fabric::Routes &routes, const PortSet &set, double least_bytes) {
    std::vector<GroupMeasure> measures;
    for (std::size_t g = 0; g < routes.groups.size(); ++g) {
        const fabric::Group &group = routes.groups[g];
        GroupMeasure measure;
        measure.group = static_cast<int>(g);
        double sum = 0;
        double busiest = 0;
        bool complete = !group.ports.empty();
        for (const fabric::GroupPort &port : group.ports) {
            const PortResult *found = set.find({group.node, port.port});
            measure.xmit_bytes.push_back(found != nullptr ? found->xmit_bytes : std::nullopt);
            measure.rcv_bytes.push_back(found != nullptr ? found->rcv_bytes : std::nullopt);
            measure.xmit_wait.push_back(found != nullptr ? counter_delta(found->deltas, "PortXmitWait") : std::nullopt);
            if (!measure.xmit_bytes.back()) {
                complete = false;
                continue;
            }
            const auto bytes = static_cast<double>(*measure.xmit_bytes.back());
            sum += bytes;
            busiest = std::max(busiest, bytes);
        }
        if (complete && busiest > 0 && busiest >= least_bytes) {
            measure.spread = busiest / (sum / static_cast<double>(group.ports.size()));
        }
        measures.push_back(std::move(measure));
    }
    return measures;
}

int worst_group(const fabric::Routes &routes, const std::vector<GroupMeasure> &measures) {
    int worst = routes.worst;
    if (worst < 0) {
        return worst;
    }
    const auto bytes = [&measures](int group) {
        std::uint64_t most = 0;
        for (const auto &port : measures[static_cast<std::size_t>(group)].xmit_bytes) {
            most = std::max(most, port.value_or(0));
        }
        return most;
    };
    const double imbalance = routes.groups[static_cast<std::size_t>(worst)].imbalance;
    for (std::size_t g = 0; g < routes.groups.size() && g < measures.size(); ++g) {
        if (routes.groups[g].imbalance >= imbalance && bytes(static_cast<int>(g)) > bytes(worst)) {
            worst = static_cast<int>(g);
        }
    }
    return worst;
}

AdaptiveRouting adaptive_routing_of(const JobEvidence &evidence, const Config &config) {
    if (config.adaptive_routing == "on") {
        return AdaptiveRouting::on;
    }
    if (config.adaptive_routing == "off") {
        return AdaptiveRouting::off;
    }
    for (const auto *scout : {&evidence.scout.end, &evidence.scout.start}) {
        if (*scout && (*scout)->adaptive_routing != AdaptiveRouting::unknown) {
            return (*scout)->adaptive_routing;
        }
    }
    return evidence.map != nullptr ? evidence.map->adaptive_routing() : AdaptiveRouting::unknown;
}

RouteStatus route_status(const JobEvidence &evidence, const RouteChanges &changes, bool since_map, double bar) {
    const fabric::Routes *routes = job_routes(evidence);
    if (routes == nullptr || evidence.map == nullptr || evidence.routes_unchecked) {
        return RouteStatus::unknown;
    }
    if (!changes.texts.empty() || since_map) {
        return RouteStatus::changed;
    }
    if (routes->imbalance > bar) {
        return RouteStatus::imbalanced;
    }
    return routes->unreachable.empty() ? RouteStatus::ok : RouteStatus::unknown;
}

void annotate_discards(const RouteChanges &changes, const Names &names, std::vector<Finding> &findings) {
    std::set<std::string> ends;
    for (const MapPortId &port : changes.ports) {
        ends.insert(names.end(port));
    }
    for (Finding &finding : findings) {
        if (finding.counter == "PortXmitDiscards" && ends.contains(finding.read_at)) {
            annotate(finding, "route changed: perhaps the subnet manager's re-sweep");
        }
    }
}

} // namespace fabric_check
