// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "fabric/switch_use.hpp"
#include "report/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <limits>
#include <map>
#include <set>
#include <string_view>

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

std::size_t distinct_names(const std::vector<Endpoint> &endpoints) {
    std::set<std::string_view> names;
    for (const Endpoint &endpoint : endpoints)
        names.insert(endpoint.name);
    return names.size();
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

/// By switch: the LIDs that leave it for others. Those of the job count once, whoever sends to them.
std::map<std::uint32_t, unsigned> leaving_lids(const Routes &routes) {
    std::map<std::uint32_t, std::array<unsigned, 3>> by_direction;
    for (const Group &group : routes.groups)
        by_direction[group.node][std::size_t(group.direction)] += group.lids;
    std::map<std::uint32_t, unsigned> out;
    for (const auto &[node, lids] : by_direction)
        out[node] = std::max(lids[std::size_t(Direction::inside)], lids[std::size_t(Direction::from)]) +
                    lids[std::size_t(Direction::to)];
    return out;
}

/// Links that so many LIDs could use.
unsigned usable_links(const SwitchUse &use, unsigned lids) { return std::max(use.used, std::min(use.available, lids)); }

ordered_json use_json(const Map &map, const SwitchUse &use, unsigned lids) {
    return {{"switch", description(map, use.node)},
            {"name", map.display_name(use.node)},
            {"available", use.available},
            {"usable", usable_links(use, lids)},
            {"used", use.used},
            {"lids", lids},
            {"least_lids", use.least},
            {"most_lids", use.most}};
}

/// Links between switches over all groups, and the switch with most of those idle that its LIDs could use; `each`: all
/// switches.
ordered_json links_json(const Map &map, const Routes &routes, bool each) {
    std::map<std::uint32_t, unsigned> lids = leaving_lids(routes);
    unsigned available = 0, used = 0, usable = 0;
    double most_share = 0;
    const std::vector<SwitchUse> uses = switch_uses(routes);
    const SwitchUse *most_idle = nullptr;
    for (const SwitchUse &use : uses) {
        const unsigned could = usable_links(use, lids[use.node]);
        available += use.available;
        used += use.used;
        usable += could;
        if (const double share = could == 0 ? 0 : double(could - use.used) / could; share > most_share) {
            most_share = share;
            most_idle = &use;
        }
    }
    ordered_json out = {{"available", available}, {"usable", usable}, {"idle", available - used}, {"spare", usable - used}};
    out["most_idle"] = most_idle == nullptr ? ordered_json() : use_json(map, *most_idle, lids[most_idle->node]);
    for (std::size_t i = 0; each && i < uses.size(); ++i)
        out["switches"].push_back(use_json(map, uses[i], lids[uses[i].node]));
    return out;
}

constexpr std::size_t lids_listed = std::size_t{1} << 18; ///< over all ports: a large job's would be most of its report

/// The same for the same LIDs: FNV-1a over them.
std::string digest(const std::vector<std::uint16_t> &lids) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::uint16_t lid : lids)
        hash = (hash ^ lid) * 0x100000001b3;
    return fmt::format("{:016x}", hash);
}

/// `budget`: LIDs that may still be listed; a port whose LIDs are more has their number alone, and counts in
/// `left_out`.
ordered_json group_json(const Map &map, const Group &group, const std::string &name, bool rails, std::size_t &budget,
                        std::size_t &left_out) {
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
    if (rails && group.direction != Direction::to) // services talk to all rails
        out["rail"] = group.rail;
    add_routes_label(out, map);
    for (const GroupPort &port : group.ports) {
        ordered_json one = {{"port", port.port},
                            {"peer", description(map, port.peer)},
                            {"peer_port", port.peer_port},
                            {"link", link_name(map, group.node, port.port)},
                            {"lids", port.lid_count},
                            {"flows", port.flows},
                            {"minimal", port.minimal}};
        const bool listed = port.lids.size() == port.lid_count && port.lids.size() <= budget;
        if (listed) {
            one["lid_list"] = port.lids;
            budget -= port.lids.size();
        }
        if (!listed && port.lids.size() == port.lid_count) {
            one["lid_digest"] = digest(port.lids);
            ++left_out;
        }
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
    add_routes_label(out, map);
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

/// What the cards of each rail are called, by number: "mlx5_0"; the subnets that take their place of a whole fabric; null
/// where the groups have neither.
ordered_json rails_json(const Map &map, const Routes &routes, const Query &query) {
    ordered_json out = ordered_json::array();
    unsigned last = 0;
    for (const Group &group : routes.groups)
        last = std::max(last, group.rail);
    for (unsigned subnet = 0; !query.rails_apart && last > 0 && subnet <= last; ++subnet)
        out.push_back(fmt::format("subnet {}", subnet + 1));
    if (query.rails_apart)
        for (const std::vector<std::string> &names : rail_names(map, query.job)) {
            std::string all;
            for (const std::string &name : names)
                all += (all.empty() ? "" : "/") + printable(name);
            out.push_back(all);
        }
    return out.empty() ? ordered_json() : out;
}

ordered_json imbalance_link_json(const Map &map, const Routes &routes) {
    if (!routes.imbalance_link || routes.imbalance_link->node == no_node)
        return nullptr;
    const ImbalanceLink &link = *routes.imbalance_link;
    return {{"link", link_name(map, link.node, link.port)},
            {"switch", description(map, link.node)},
            {"port", link.port},
            {"flows", rounded(link.flows)},
            {"even", rounded(link.even)}};
}

/// Every LID once, and more of where it is lost as far as there is room.
void add_unreachable(ordered_json &out, const Map &map, const std::vector<Unreachable> &lost) {
    constexpr std::size_t most = 10000; // a switch without a table loses every LID at every other
    const std::size_t lids = unreachable_lids(lost);
    const std::size_t each = lost.size() <= most ? lost.size() : std::max<std::size_t>(1, most / lids);
    std::map<std::uint16_t, std::size_t> listed;
    ordered_json list = ordered_json::array();
    for (const Unreachable &one : lost) {
        if (++listed[one.lid] > each)
            continue;
        const std::uint32_t holder = map.by_lid(one.lid);
        list.push_back({{"lid", one.lid},
                        {"node", holder == no_node ? std::string() : map.display_name(holder)},
                        {"why", printable(one.why)},
                        {"switch", description(map, one.at)}});
    }
    out["unreachable_lids"] = lids;
    if (lost.size() > list.size())
        out["unreachable_left_out"] = lost.size() - list.size();
    out["unreachable"] = std::move(list);
}

ordered_json map_json(const Map &map) {
    constexpr std::int64_t second_ns = 1000000000;
    ordered_json out = {{"source", printable(map.source())}};
    out["built"] = map.built_ns() > 0 ? ordered_json(map.built_ns() / second_ns) : ordered_json();
    out["id"] = map.id() != 0 ? ordered_json(fmt::format("0x{:016x}", map.id())) : ordered_json();
    return out;
}

} // namespace

void add_routes_label(ordered_json &result, const Map &map) {
    if (const char *label = label_of(map); label != nullptr && result.is_object())
        result["label"] = label;
}

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
                        {"node_count", distinct_names(query.job)},
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
    add_unreachable(out, map, routes.unreachable);
    if (routes.groups.empty() && !routes.unreachable.empty())
        out["imbalance"] = nullptr; // nothing arrives, so nothing is even
    out["imbalance_link"] = imbalance_link_json(map, routes);
    out["rails"] = rails_json(map, routes, query);
    out["links"] = links_json(map, routes, most == std::numeric_limits<std::size_t>::max());
    const std::vector<std::string> names = group_names(map, routes);
    const bool rails = std::any_of(routes.groups.begin(), routes.groups.end(), [](const Group &one) { return one.rail != 0; });
    std::size_t budget = lids_listed, lists_left_out = 0;
    for (std::size_t g = 0; g < std::min(most, routes.groups.size()); ++g)
        out["groups"].push_back(group_json(map, routes.groups[g], names[g], rails, budget, lists_left_out));
    if (lists_left_out > 0)
        out["lid_lists_left_out"] = lists_left_out;
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
                        {"lids", worst.lids},
                        {"busiest_lids", busiest_lids(worst)},
                        {"imbalance", rounded(worst.imbalance)}};
        if (rails && worst.direction != Direction::to)
            out["worst"]["rail"] = worst.rail;
    }
    out["ceiling"] = ceiling_json(routes, query, chosen);
    add_routes_label(out["worst"], map);
    add_routes_label(out["ceiling"], map);
    const bool arrives = !routes.groups.empty() || routes.unreachable.empty();
    out["effective_bisection"] = arrives ? bisection_json(routes) : ordered_json();
    if (out["effective_bisection"].is_object())
        add_routes_label(out["effective_bisection"], map);
    if (!arrives)
        out["shapes"] = nullptr;
    else if (routes.shapes)
        out["shapes"] = shapes_json(map, *routes.shapes);
    return out;
}

} // namespace fabric_check
