// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "fabric/switch_use.hpp"
#include "report/report.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <limits>
#include <map>
#include <set>
#include <span>

namespace fabric_check {
namespace {

using nlohmann::ordered_json;
using namespace fabric;

/// Enough digits for everybody, none that only show how the machine divides.
double rounded(double value) { return std::round(value * 10000) / 10000; }

std::string description(const Map &map, std::uint32_t node) {
    if (node >= map.nodes().size())
        return {};
    std::string text = printable(trim(map.nodes()[node].description));
    return text.empty() ? map.display_name(node) : text;
}

std::string guid(const Map &map, std::uint32_t node) {
    return node < map.nodes().size() ? fmt::format("0x{:016x}", map.nodes()[node].guid) : std::string();
}

std::string folded(const std::vector<Endpoint> &endpoints) {
    std::vector<std::string> names;
    names.reserve(endpoints.size());
    for (const Endpoint &endpoint : endpoints)
        names.push_back(printable(endpoint.name));
    return fold_hostlist(names);
}

ordered_json lids_of(const std::vector<Endpoint> &endpoints) {
    std::set<std::uint16_t> lids;
    for (const Endpoint &endpoint : endpoints)
        lids.insert(endpoint.lid);
    return lids;
}

/// What every result is under adaptive routing, or where nobody knows whether it is on.
const char *label_of(const Map &map) {
    return map.adaptive_routing() == AdaptiveRouting::off ? nullptr : "static route; packets may take others";
}

void add_label(ordered_json &result, const Map &map) {
    if (const char *label = label_of(map); label != nullptr && result.is_object())
        result["label"] = label;
}

/// The groups' names; those that go from one switch to the same peers for different destinations are numbered.
std::vector<std::string> group_names(const Map &map, const Routes &routes) {
    std::map<std::tuple<std::string, Direction, unsigned>, unsigned> seen;
    std::vector<std::string> out;
    for (const Group &group : routes.groups) {
        std::string name = group_name(map, group);
        if (const unsigned number = ++seen[{name, group.direction, group.rail}]; number > 1)
            name += fmt::format(" ({})", number);
        out.push_back(std::move(name));
    }
    return out;
}

unsigned busiest_lids(const Group &group) {
    unsigned most = 0;
    for (const GroupPort &port : group.ports)
        most = std::max(most, port.lid_count);
    return most;
}

ordered_json use_json(const Map &map, const SwitchUse &use) {
    return {{"switch", description(map, use.node)}, {"name", map.display_name(use.node)},
            {"available", use.available},           {"used", use.used},
            {"least_lids", use.least},              {"most_lids", use.most}};
}

/// Links between switches over all groups, and the switch with most of them idle; `each`: all switches.
ordered_json links_json(const Map &map, const Routes &routes, bool each) {
    const std::vector<SwitchUse> uses = switch_uses(routes);
    unsigned available = 0, used = 0;
    for (const SwitchUse &use : uses) {
        available += use.available;
        used += use.used;
    }
    ordered_json out = {{"available", available}, {"idle", available - used}};
    out["most_idle"] = uses.empty() || used == available ? ordered_json() : use_json(map, uses[0]);
    for (std::size_t i = 0; each && i < uses.size(); ++i)
        out["switches"].push_back(use_json(map, uses[i]));
    return out;
}

ordered_json group_json(const Map &map, const Group &group, const std::string &name, bool rails) {
    ordered_json peers = ordered_json::array();
    for (const std::uint32_t peer : group.peers)
        peers.push_back(description(map, peer));
    ordered_json out = {{"switch", description(map, group.node)},
                        {"switch_guid", guid(map, group.node)},
                        {"name", name},
                        {"direction", to_string(group.direction)},
                        {"peers", std::move(peers)},
                        {"available", group.available},
                        {"used", group.used},
                        {"lids", group.lids},
                        {"flows", group.flows},
                        {"imbalance", rounded(group.imbalance)},
                        {"ports", ordered_json::array()}};
    if (rails)
        out["rail"] = group.rail;
    add_label(out, map);
    for (const GroupPort &port : group.ports) {
        ordered_json one = {{"port", port.port},
                            {"peer", description(map, port.peer)},
                            {"peer_port", port.peer_port},
                            {"link", link_name(map, group.node, port.port)},
                            {"lids", port.lid_count},
                            {"flows", port.flows},
                            {"minimal", port.minimal}};
        if (port.lids.size() == port.lid_count)
            one["lid_list"] = port.lids;
        one["rate_gbps"] = port.rate.data_gbps > 0 ? ordered_json(rounded(port.rate.data_gbps)) : ordered_json();
        out["ports"].push_back(std::move(one));
    }
    return out;
}

ordered_json shape_json(const Map &map, const ShapeLoad &shape) {
    ordered_json out = {
        {"max_link_flows", shape.max_link_flows},
        {"ideal", shape.ideal},
        {"factor", rounded(shape.factor)},
        {"link", shape.node == no_node ? ordered_json() : ordered_json(link_name(map, shape.node, shape.port))}};
    add_label(out, map);
    return out;
}

/// Of the worst group; the prediction is made for the routes' own worst group only.
ordered_json ceiling_json(const Routes &routes, const Query &query, int worst) {
    unsigned links = 0;
    double carried = 0, all = 0;
    if (worst >= 0)
        for (const GroupPort &port : routes.groups[std::size_t(worst)].ports) {
            const double ceiling = link_ceiling_gib_s(port.rate, query);
            links += port.lid_count == 0 ? 0 : 1;
            carried += port.lid_count == 0 ? 0 : ceiling;
            all += port.minimal ? ceiling : 0;
        }
    ordered_json out = {{"links", links}, {"gib_s", rounded(carried)}};
    const bool asked = query.rate_per_node_gib_s > 0 && worst == routes.worst;
    out["predicted_gib_s"] = asked ? ordered_json(rounded(routes.ceiling.predicted_gib_s)) : ordered_json();
    if (asked)
        out["rate_per_node_gib_s"] = query.rate_per_node_gib_s;
    if (worst >= 0)
        out["all_links_gib_s"] = rounded(all);
    return out;
}

ordered_json map_json(const Map &map) {
    constexpr std::int64_t second_ns = 1000000000;
    ordered_json out = {{"source", printable(map.source())}};
    out["built"] = map.built_ns() > 0 ? ordered_json(map.built_ns() / second_ns) : ordered_json();
    out["id"] = map.id() != 0 ? ordered_json(fmt::format("0x{:016x}", map.id())) : ordered_json();
    return out;
}

} // namespace

ordered_json bisection_json(const Routes &routes) {
    if (!routes.effective_bisection)
        return nullptr;
    const EffectiveBisection &half = *routes.effective_bisection;
    return {{"mean", rounded(half.mean)},   {"low", rounded(half.low)},      {"high", rounded(half.high)},
            {"worst", rounded(half.worst)}, {"bisections", half.bisections}, {"seed", half.seed}};
}

ordered_json shapes_json(const Map &map, const Shapes &shapes) {
    return {{"one_to_many", shape_json(map, shapes.one_to_many)},
            {"many_to_one", shape_json(map, shapes.many_to_one)},
            {"many_to_many", shape_json(map, shapes.many_to_many)}};
}

ordered_json routes_json(const Map &map, const Routes &routes, const Query &query, int worst_group, std::size_t most) {
    const int chosen = worst_group >= 0 && std::size_t(worst_group) < routes.groups.size() ? worst_group : routes.worst;
    ordered_json out = {{"schema", "fabric-check/routes/1"},
                        {"nodes", folded(query.job)},
                        {"lids", lids_of(query.job)},
                        {"from", folded(query.services)},
                        {"from_lids", lids_of(query.services)},
                        {"map", map_json(map)},
                        {"adaptive_routing", to_string(map.adaptive_routing())},
                        {"label", label_of(map) == nullptr ? ordered_json() : ordered_json(label_of(map))},
                        {"warnings", ordered_json::array()},
                        {"unreachable", ordered_json::array()},
                        {"imbalance", rounded(routes.imbalance)},
                        {"groups", ordered_json::array()}};
    for (const std::string &warning : routes.warnings)
        out["warnings"].push_back(printable(warning));
    constexpr std::size_t most_unreachable = 10000; // a switch without a table loses every LID at every other
    if (routes.unreachable.size() > most_unreachable)
        out["unreachable_left_out"] = routes.unreachable.size() - most_unreachable;
    for (const Unreachable &lost : std::span(routes.unreachable).first(std::min(most_unreachable, routes.unreachable.size()))) {
        const std::uint32_t holder = map.by_lid(lost.lid);
        out["unreachable"].push_back({{"lid", lost.lid},
                                      {"node", holder == no_node ? std::string() : map.display_name(holder)},
                                      {"why", printable(lost.why)},
                                      {"switch", description(map, lost.at)}});
    }
    if (routes.groups.empty() && !routes.unreachable.empty())
        out["imbalance"] = nullptr; // nothing arrives, so nothing is even
    out["links"] = links_json(map, routes, most == std::numeric_limits<std::size_t>::max());
    const std::vector<std::string> names = group_names(map, routes);
    const bool rails = std::any_of(routes.groups.begin(), routes.groups.end(), [](const Group &one) { return one.rail != 0; });
    for (std::size_t g = 0; g < std::min(most, routes.groups.size()); ++g)
        out["groups"].push_back(group_json(map, routes.groups[g], names[g], rails));
    if (routes.groups.size() > most)
        out["groups_left_out"] = routes.groups.size() - most;
    out["worst"] = nullptr;
    if (chosen >= 0) {
        const Group &worst = routes.groups[std::size_t(chosen)];
        out["worst"] = {{"switch", description(map, worst.node)},
                        {"switch_guid", guid(map, worst.node)},
                        {"name", names[std::size_t(chosen)]},
                        {"direction", to_string(worst.direction)},
                        {"available", worst.available},
                        {"used", worst.used},
                        {"busiest_lids", busiest_lids(worst)},
                        {"imbalance", rounded(worst.imbalance)}};
        if (rails)
            out["worst"]["rail"] = worst.rail;
    }
    out["ceiling"] = ceiling_json(routes, query, chosen);
    add_label(out["worst"], map);
    add_label(out["ceiling"], map);
    const bool arrives = !routes.groups.empty() || routes.unreachable.empty();
    out["effective_bisection"] = arrives ? bisection_json(routes) : ordered_json();
    if (out["effective_bisection"].is_object())
        add_label(out["effective_bisection"], map);
    if (!arrives)
        out["shapes"] = nullptr;
    else if (routes.shapes)
        out["shapes"] = shapes_json(map, *routes.shapes);
    return out;
}

} // namespace fabric_check
