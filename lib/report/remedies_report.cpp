// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/remedies_report.hpp"

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "report/odd_json.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace fabric_check {

namespace {

using namespace fabric;
using nlohmann::ordered_json;

constexpr std::size_t switches_named = 5;
constexpr std::size_t problems_listed = 20;
constexpr const char *job_owner = "whoever submits the job";
constexpr const char *sm_owner = "the subnet manager's owner";

double rounded(double value) { return std::round(value * 10000) / 10000; }

ordered_json figures_json(const Figures &outcome) {
    ordered_json out = {{"imbalance", rounded(outcome.imbalance)}};
    out["worst"] = nullptr;
    if (!outcome.group.empty())
        out["worst"] = {{"name", outcome.group},
                        {"available", outcome.available},
                        {"used", outcome.used},
                        {"lids", outcome.lids},
                        {"busiest_lids", outcome.busiest_lids},
                        {"imbalance", rounded(outcome.group_imbalance)}};
    out["ceiling_gib_s"] = outcome.group.empty() ? ordered_json() : ordered_json(rounded(outcome.ceiling_gib_s));
    out["unreachable"] = outcome.unreachable;
    return out;
}

/// Of the group that is the worst now; null where the others have none that goes its way.
ordered_json same_group_json(const Figures &group) {
    if (group.group.empty())
        return nullptr;
    ordered_json out = figures_json(group)["worst"];
    out["ceiling_gib_s"] = rounded(group.ceiling_gib_s);
    return out;
}

ordered_json distribution_json(const Distribution &all) {
    return {{"runs", all.runs},  {"min", rounded(all.min)}, {"median", rounded(all.median)},
            {"p90", rounded(all.p90)}, {"max", rounded(all.max)}, {"better_than_now", rounded(all.better)}};
}

/// A remedy's head: whether it was evaluated, what it changes, whose it is.
ordered_json head(const char *name, const std::string &not_evaluated, const std::string &what, const char *needs,
                  const std::vector<std::string> &caveats) {
    ordered_json out = {{"name", name}, {"evaluated", not_evaluated.empty()}};
    out["why_not"] = not_evaluated.empty() ? ordered_json() : ordered_json(not_evaluated);
    out["what"] = what;
    out["needs"] = needs;
    out["caveats"] = caveats;
    return out;
}

std::string classes_of(const Aliasing &alias) {
    std::string out;
    for (std::size_t i = 0; i < alias.residues.size(); ++i)
        out += (i == 0                             ? ""
                : i + 1 == alias.residues.size() ? " or "
                                                  : ", ") +
               std::to_string(alias.residues[i]);
    return out;
}

std::string aliasing_words(const Aliasing &alias) {
    const bool all = alias.lids == alias.of;
    const std::string who = all ? fmt::format("all {} LIDs", alias.of) : fmt::format("{} of the {} LIDs", alias.lids, alias.of);
    const std::string classes = fmt::format("{} mod {}", classes_of(alias), alias.modulus);
    const std::string share = fmt::format("{} {} of the {} links", all ? "they share" : "these share", alias.links, alias.available);
    switch (alias.order) {
    case DealOrder::lid_value:
        return fmt::format("{} are {}: {}", who, classes, share);
    case DealOrder::by_lid:
        return fmt::format("{} stand at places {} in the order of LIDs, in which the links are handed out: {}", who, classes, share);
    case DealOrder::by_guid:
        return fmt::format("{} stand at places {} in the order of port GUIDs, in which the links are handed out: {}", who,
                           classes, share);
    case DealOrder::by_leaf_port:
        return fmt::format("{} stand at places {} in the order of switches and their ports, in which the links are handed "
                           "out: {}",
                           who, classes, share);
    }
    return {};
}

ordered_json aliasing_json(const std::optional<Aliasing> &alias) {
    if (!alias)
        return nullptr;
    return {{"order", to_string(alias->order)}, {"modulus", alias->modulus}, {"residues", alias->residues},
            {"lids", alias->lids},              {"of", alias->of},           {"links", alias->links},
            {"available", alias->available},    {"chance", alias->chance},   {"text", aliasing_words(*alias)}};
}

ordered_json other_nodes_json(const OtherNodes &nodes) {
    ordered_json out =
        head("other_nodes", nodes.not_evaluated, "the job runs elsewhere, no table changes", job_owner,
             {"the sets are a sample, and which nodes are idle, or fit otherwise, is not known here"});
    if (!nodes.not_evaluated.empty())
        return out;
    out["then"] = figures_json(nodes.then);
    std::vector<std::string> names;
    for (const std::string &name : nodes.nodes)
        names.push_back(printable(name));
    out["nodes"] = fold_hostlist(names);
    out["compact"] = nodes.compact;
    out["sets"] = distribution_json(nodes.all);
    return out;
}

ordered_json order_json(const RoutingOrder &order) {
    std::vector<std::string> caveats = {
        "minhop and up/down only, and other jobs get what is left",
        "in force when the manager routes anew from nothing, which moves the routes of all jobs"};
    if (order.unknown_guids > 0)
        caveats.push_back(fmt::format("the map lacks the port GUID of {} of them", order.unknown_guids));
    ordered_json out = head("guid_routing_order", order.not_evaluated,
                            "the port GUIDs of the job, then of its services, first in opensm's file of that name, so that "
                            "each group's links are dealt to them in turn",
                            sm_owner, caveats);
    if (!order.not_evaluated.empty())
        return out;
    out["then"] = figures_json(order.then);
    out["same_group"] = same_group_json(order.group);
    out["guids"] = ordered_json::array();
    for (const std::uint64_t guid : order.guids)
        if (guid != 0)
            out["guids"].push_back(fmt::format("0x{:016x}", guid));
    return out;
}

ordered_json scatter_json(const Scatter &scatter) {
    ordered_json out = head("scatter", scatter.not_evaluated,
                            "opensm's scatter_ports, the lot among equal ports", sm_owner,
                            {"a lottery, which the next seed or host draws anew", "moves the routes of all jobs"});
    if (!scatter.not_evaluated.empty())
        return out;
    out["seed"] = scatter.seed;
    out["least_used"] = distribution_json(scatter.least_used);
    out["by_lot"] = distribution_json(scatter.by_lot);
    return out;
}

ordered_json links_json(const Isls &isls) {
    ordered_json out = head("more_links", isls.not_evaluated, "more links like the fastest of the worst group",
                            "cables, and the subnet manager's owner",
                            {"predicted for LIDs spread evenly anew: opensm keeps routes that are still shortest, and a new "
                             "link may stay idle until it routes anew from nothing"});
    if (!isls.not_evaluated.empty())
        return out;
    out["free_ports"] = isls.free_ports;
    out["steps"] = ordered_json::array();
    for (const MoreLinks &step : isls.steps)
        out["steps"].push_back({{"more", step.more},
                                {"available", step.links},
                                {"used", step.used},
                                {"busiest_lids", step.busiest_lids},
                                {"imbalance", 1.0},
                                {"ceiling_gib_s", rounded(step.ceiling_gib_s)}});
    return out;
}

ordered_json lmc_json(const Lmc &lmc) {
    ordered_json out = head("lmc", lmc.not_evaluated, "2^LMC LIDs to a port, hence as many ways", sm_owner,
                            {"only applications that use the alternate LIDs gain, at best as above",
                             "tables grow with the LIDs", "the fat-tree engine does not take LMC above 0",
                             "LIDs change, which running jobs do not survive"});
    out["now"] = lmc.now;
    if (!lmc.not_evaluated.empty())
        return out;
    out["steps"] = ordered_json::array();
    for (const LmcStep &step : lmc.steps)
        out["steps"].push_back({{"lmc", step.lmc},
                                {"used", step.used},
                                {"busiest_lids", step.busiest_lids},
                                {"ceiling_gib_s", rounded(step.ceiling_gib_s)},
                                {"lids_needed", step.lids_needed},
                                {"fits", step.fits},
                                {"table_blocks", step.blocks}});
    return out;
}

/// opensm's other engines take neither an order of GUIDs nor scattered ports.
bool takes_orders(const std::optional<SmLog> &log) {
    return !log || log->used.empty() || log->used == "minhop" || log->used == "updn" || log->used == "dnup";
}

/// What lowers the imbalance of all of it, of what was evaluated, the best first; among equals what changes least.
ordered_json ranking_json(const Remedies &remedies, bool by_orders) {
    std::vector<std::pair<double, const char *>> better;
    const auto add = [&](const char *name, const std::string &not_evaluated, double imbalance, std::size_t unreachable) {
        constexpr double alike = 0.005;
        if (not_evaluated.empty() && imbalance < remedies.now.imbalance - alike && unreachable <= remedies.now.unreachable)
            better.emplace_back(imbalance, name);
    };
    add("other_nodes", remedies.other_nodes.not_evaluated, remedies.other_nodes.then.imbalance, remedies.other_nodes.then.unreachable);
    if (by_orders) {
        add("guid_routing_order", remedies.routing_order.not_evaluated, remedies.routing_order.then.imbalance,
            remedies.routing_order.then.unreachable);
        add("scatter", remedies.scatter.not_evaluated, remedies.scatter.least_used.median, 0);
    }
    std::stable_sort(better.begin(), better.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    ordered_json out = ordered_json::array();
    for (const auto &[imbalance, name] : better)
        out.push_back({{"name", name}, {"imbalance", rounded(imbalance)}});
    return out;
}

ordered_json cause(const char *name, const std::string &words) { return {{"cause", name}, {"text", words}}; }

void add_uplinks(ordered_json &out, const Map &map, const Tier &tier) {
    const std::string which = tier.number == 0 ? std::string("switches with hosts")
                                               : fmt::format("switches {} above those with hosts",
                                                             tier.number == 1 ? "one tier" : fmt::format("{} tiers", tier.number));
    std::string odd;
    std::size_t others = 0;
    for (const auto &[node, links] : tier.uplinks) {
        if (links == tier.usual())
            continue;
        if (++others <= switches_named)
            odd += fmt::format("{}{} {}", others == 1 ? "" : ", ", map.display_name(node), links);
    }
    if (others > switches_named)
        odd += fmt::format(" and {} more", others - switches_named);
    ordered_json one = cause("uplinks", fmt::format("{} {} have {} to {} links upwards{}: {}", tier.uplinks.size(),
                                                    which, tier.fewest(), tier.most(),
                                                    2 * others < tier.uplinks.size() ? fmt::format(", most of them {}", tier.usual())
                                                                                     : std::string(),
                                                    odd));
    one["tier"] = tier.number;
    one["switches"] = ordered_json::array();
    for (const auto &[node, links] : tier.uplinks)
        one["switches"].push_back({{"switch", map.display_name(node)}, {"uplinks", links}});
    out.push_back(std::move(one));
}

/// What up/down starts from decides which links it leaves idle.
void add_roots(ordered_json &out, const SmLog &log) {
    constexpr const char *what_for = "with roots that are not the fabric's real ones it leaves links unused: give it a root_guid_file";
    if (log.updn_without_roots)
        out.push_back(cause("updn_without_roots", "up/down found no root switch: without its root_guid_file it does not route"));
    else if (log.used.find("updn") == std::string::npos && log.used.find("dnup") == std::string::npos)
        return;
    else if (log.updn_roots_guessed)
        out.push_back(cause("updn_without_root_guids", fmt::format("up/down had no root_guid_file that it could read, and guessed its "
                                                                   "roots by hop counts; {}", what_for)));
    else if (!log.updn_roots_given)
        out.push_back(cause("updn_roots_unknown", fmt::format("whether up/down was given its roots the log does not say, as logs below "
                                                              "debug do not; {}", what_for)));
}

void add_engine(ordered_json &out, const Map &map, const std::optional<SmLog> &log) {
    if (log && is_of_another_fabric(*log, map)) {
        out.push_back(cause("other_fabric", fmt::format("{} is not looked at: its manager ran on port {}, which the map does not have; it "
                                                        "is of another fabric, or of a host that has left this one",
                                                        printable(log->name), fabric::guid_text(log->port_guid))));
        return;
    }
    if (!log) {
        out.push_back(cause("engine_unknown", "which engine made the tables is unknown: --sm-log FILE, the subnet manager's "
                                              "log, tells"));
        return;
    }
    add_roots(out, *log);
    if (log->ftree_with_lmc)
        out.push_back(cause("ftree_with_lmc", "the fat-tree engine does not take LMC above 0"));
    std::string failed;
    for (const EngineFailure &one : log->failed)
        failed += fmt::format("{}{} could not route this fabric{}", failed.empty() ? "" : "; ", one.engine,
                              one.reason.empty() ? "" : " (" + one.reason + ")");
    const std::string used = log->no_engine     ? "not one engine could, and the tables are older"
                             : log->used.empty() ? "the log does not say what did; opensm then takes minhop"
                                                 : log->used + " made the tables";
    if (log->fell_back())
        out.push_back(cause("fallback", fmt::format("{}: {}", failed, used)));
    else if (log->used.empty())
        out.push_back(cause("engine_unknown", "which engine made the tables is unknown: the log does not say"));
    else
        out.push_back(cause("engine", used));
    if (!log->state.empty() && log->state != "MASTER")
        out.push_back(cause("not_master", fmt::format("this log's manager was last in state {}: another one routes the fabric",
                                                      log->state)));
}

} // namespace

ordered_json remedies_json(const Map &map, const Remedies &remedies, const std::vector<Tier> &tiers,
                           const std::optional<SmLog> &log) {
    ordered_json out = {{"now", figures_json(remedies.now)}, {"aliasing", aliasing_json(remedies.aliasing)}};
    out["options"] = {other_nodes_json(remedies.other_nodes), order_json(remedies.routing_order),
                      scatter_json(remedies.scatter), links_json(remedies.isls), lmc_json(remedies.lmc)};
    out["ranking"] = ranking_json(remedies, takes_orders(log) || is_of_another_fabric(*log, map));
    out["causes"] = ordered_json::array();
    for (const Tier &tier : tiers)
        if (!tier.uniform())
            add_uplinks(out["causes"], map, tier);
    add_engine(out["causes"], map, log);
    if (remedies.lmc.now > 0 && !(log && log->ftree_with_lmc))
        out["causes"].push_back(cause("lmc", fmt::format("the fabric has LMC {}: where the fat-tree engine is asked for, it "
                                                         "does not run",
                                                         remedies.lmc.now)));
    out["sm_log"] = log ? ordered_json({{"file", log->name}, {"engine", log->used}, {"when", log->when}, {"state", log->state}})
                        : ordered_json();
    out["subnet_manager"] = subnet_manager_json(map);
    add_routes_label(out, map);
    add_routes_label(out["now"], map);
    for (ordered_json &option : out["options"])
        add_routes_label(option, map);
    return out;
}

ordered_json versus_json(const Map &map, const std::vector<Versus> &others) {
    ordered_json out = ordered_json::array();
    for (const Versus &other : others) {
        ordered_json one = figures_json(other.figures);
        one["same_group"] = same_group_json(other.group);
        one["file"] = other.file;
        one["differing_entries"] = other.differing;
        add_routes_label(one, map);
        one["problems"] = ordered_json::array();
        for (std::size_t i = 0; i < other.problems.size() && i < problems_listed; ++i)
            one["problems"].push_back(printable(other.problems[i].where + ": " + other.problems[i].reason));
        out.push_back(std::move(one));
    }
    return out;
}

ordered_json subnet_manager_json(const Map &map) {
    if (!map.subnet_manager())
        return nullptr;
    const SubnetManager &manager = *map.subnet_manager();
    std::uint8_t port = 0;
    std::uint32_t node = map.by_port_guid(manager.guid, &port);
    if (node == no_node)
        node = map.by_guid(manager.guid);
    if (node == no_node)
        node = map.by_lid(manager.lid);
    ordered_json out = {{"guid", fmt::format("0x{:016x}", manager.guid)},
                        {"lid", manager.lid},
                        {"priority", manager.priority},
                        {"state", sm_state_name(manager.state)}};
    out["node"] = node == no_node ? ordered_json() : ordered_json(map.display_name(node));
    out["kind"] = node == no_node                                   ? ordered_json()
                  : map.nodes()[node].kind == NodeKind::switch_node ? ordered_json("switch")
                  : map.nodes()[node].kind == NodeKind::host        ? ordered_json("host")
                                                                    : ordered_json("other");
    return out;
}

std::string subnet_manager_words(const ordered_json &manager) {
    if (!manager.is_object())
        return "unknown";
    const std::string node = odd_json::text(manager, "node"), kind = odd_json::text(manager, "kind");
    return fmt::format("{}GUID {}, LID {:.0f}, priority {:.0f}, {}",
                       node.empty() ? std::string("no node of the map, ") : fmt::format("{} ({}), ", node, kind),
                       odd_json::text(manager, "guid"), odd_json::number(manager, "lid"),
                       odd_json::number(manager, "priority"), odd_json::text(manager, "state"));
}

} // namespace fabric_check
