// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/remedies_report.hpp"

#include "base/text.hpp"
#include "report/odd_json.hpp"
#include "report/outcome_table.hpp"
#include "report/report_words.hpp"
#include "report/routes_headline.hpp"
#include "report/routes_style.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fabric_check {

namespace {

using nlohmann::ordered_json;
using odd_json::at;
using odd_json::flag;
using odd_json::list;
using odd_json::number;
using odd_json::text;

constexpr std::size_t nodes_shown = 60;
constexpr std::size_t file_shown = 27; ///< as much as the table has room for, so that a file is called the same everywhere

const ordered_json &option(const ordered_json &remedies, const char *name) {
    static const ordered_json nothing;
    for (const ordered_json &one : list(remedies, "options"))
        if (text(one, "name") == name)
            return one;
    return nothing;
}

/// The figures of the worst group, with the ceiling that stands beside them.
ordered_json group_of(const ordered_json &outcome) {
    ordered_json group = at(outcome, "worst");
    if (group.is_object())
        group["ceiling_gib_s"] = at(outcome, "ceiling_gib_s");
    return group;
}

std::string ranked_name(const std::string &name) {
    return name == "other_nodes" ? "other nodes" : name == "scatter" ? "scatter_ports" : name;
}

bool evaluated(const ordered_json &one) { return flag(one, "evaluated", false); }

std::string caveats(const ordered_json &one) {
    std::string out;
    for (const ordered_json &caveat : list(one, "caveats"))
        if (caveat.is_string())
            out += "; " + printable(caveat.get<std::string>());
    return out;
}

/// "Name (whose): what it changes; what was found; caveats."
void add_note(std::string &out, const std::string &name, const ordered_json &one, const std::string &found,
              std::size_t columns, const RoutesStyle &style) {
    if (!one.is_object())
        return;
    const std::string result = evaluated(one) ? found : "not evaluated: " + text(one, "why_not");
    const std::string lines =
        wrapped(fmt::format("{} ({}): {}{}{}{}.", name, text(one, "needs"), text(one, "what"), result.empty() ? "" : "; ",
                            result, evaluated(one) ? caveats(one) : std::string()),
                columns, "", "  ");
    out += lines.starts_with(name) ? style.strong + name + style.off + lines.substr(name.size()) : lines;
}

OutcomeTable table_of(const ordered_json &routes, const ordered_json &remedies) {
    OutcomeTable table;
    const ordered_json &now = at(remedies, "now");
    table.row("now", now, group_of(now), double(unreachable_lids(routes)));
    if (const ordered_json &order = option(remedies, "guid_routing_order"); evaluated(order))
        table.row("guid_routing_order", at(order, "then"), at(order, "same_group"), number(at(order, "then"), "unreachable"));
    for (const ordered_json &step : list(option(remedies, "more_links"), "steps")) {
        const double more = number(step, "more");
        table.even_row(more == 0 ? std::string("these links, spread evenly")
                                 : fmt::format("{:.0f} more link{}, likewise", more, more == 1 ? "" : "s"),
                       step);
    }
    const ordered_json &lmc = option(remedies, "lmc");
    const double available = number(at(now, "worst"), "available");
    for (ordered_json step : list(lmc, "steps"))
        if (step.is_object() && flag(step, "fits", true)) {
            step["available"] = available;
            table.even_row(fmt::format("LMC {:.0f}, at best", number(step, "lmc")), step);
        }
    return table;
}

/// Imbalances of many tries; no group of one of them is that of another.
std::string spreads(const ordered_json &remedies) {
    std::string out;
    const auto add = [&out](const std::string &what, const ordered_json &all) {
        if (!all.is_object())
            return;
        if (out.empty())
            out = fmt::format("\n  {:<26}  {:>6}  {:>6}  {:>9}  {:>6}  {:>6}  {:>6}\n", "imbalance of many tries", "tries", "least",
                              "median", "9 of 10", "most", "better");
        out += fmt::format("  {:<26}  {:>6.0f}  {:>6.2f}  {:>9.2f}  {:>6.2f}  {:>6.2f}  {:>5.0f}%\n", what, number(all, "runs"),
                           number(all, "min"), number(all, "median"), number(all, "p90"), number(all, "max"),
                           100 * number(all, "better_than_now"));
    };
    if (const ordered_json &nodes = option(remedies, "other_nodes"); evaluated(nodes))
        add("other nodes", at(nodes, "sets"));
    if (const ordered_json &scatter = option(remedies, "scatter"); evaluated(scatter)) {
        add("scatter_ports", at(scatter, "least_used"));
        add("lot alone, a yardstick", at(scatter, "by_lot"));
    }
    return out;
}

/// What of all evaluated lowers the imbalance, the best first.
std::string conclusion(const ordered_json &routes, const ordered_json &remedies) {
    const double now = number(at(remedies, "now"), "imbalance");
    const std::string bar = bar_words(routes, now);
    const std::size_t lost = unreachable_lids(routes);
    // Under adaptive routing the tables alone never judge.
    const char *first = text(routes, "adaptive_routing") == "on" ? "Adaptive routing is on, and packets may take other ways than these; by "
                                                                    "the tables alone: "
                                                                  : "";
    const std::string gone = lost > 0 ? fmt::format("The {} LID{} above that {} not reached come{} first, and that is none of these remedies; "
                                                    "of the rest: ",
                                                    lost, lost == 1 ? "" : "s", lost == 1 ? "is" : "are", lost == 1 ? "s" : "")
                                      : std::string(first);
    if (now <= as_even)
        return fmt::format("{}{} to mend: the imbalance is {:.2f}.", gone, gone.empty() ? "Nothing" : "nothing", now);
    std::string order;
    for (const ordered_json &one : list(remedies, "ranking"))
        order += fmt::format("{}{}, {:.2f} -> {:.2f}{}", order.empty() ? "" : "; then ", ranked_name(text(one, "name")), now,
                             number(one, "imbalance"), text(one, "name") == "scatter" ? " (the median draw)" : "");
    if (order.empty())
        return fmt::format("{}{} of what could be evaluated for all of it lowers the imbalance, {:.2f}{}.", gone,
                           gone.empty() ? "None" : "none", now, bar);
    return at(routes, "bar").is_number() && now <= number(routes, "bar")
               ? fmt::format("{}{} must be mended: the imbalance is {:.2f}{}. What would help: {}.", gone,
                             gone.empty() ? "Nothing" : "nothing", now, bar, order)
               : fmt::format("{}{} first: {}.", gone, gone.empty() ? "Try" : "try", order);
}

std::string nodes_words(const ordered_json &nodes) {
    std::string names = text(nodes, "nodes");
    if (names.size() > nodes_shown)
        names = names.substr(0, names.find_last_of(',', nodes_shown)) + ",... (--json has all)";
    const ordered_json &sets = at(nodes, "sets");
    const ordered_json &then = at(nodes, "then"), &worst = at(then, "worst");
    const std::string group = worst.is_object()
                                  ? fmt::format("; its worst group {}, imbalance {:.2f}", text(worst, "name"), number(worst, "imbalance"))
                                  : std::string("; no link between switches on its way");
    return fmt::format("the best of {:.0f} sets tried has imbalance {:.2f}: {}, {}{}", number(sets, "runs"), number(then, "imbalance"),
                       names, flag(nodes, "compact", false) ? "neighbours" : "drawn at random", group);
}

std::string lmc_words(const ordered_json &lmc) {
    std::string out;
    bool parts = false;
    for (const ordered_json &step : list(lmc, "steps")) {
        const double lids = number(step, "busiest_lids");
        parts = parts || lids != std::floor(lids);
        out += fmt::format("{}{} LIDs for LMC {:.0f}{}", out.empty() ? "needs " : ", ",
                           with_commas(odd_json::whole(number(step, "lids_needed"))), number(step, "lmc"),
                           flag(step, "fits", true) ? "" : " (more than there are)");
    }
    return out + " of 49,151" + (parts ? "; a part of a LID above is the share of its traffic that takes one of its ways" : "");
}

std::string scatter_words() {
    return "as opensm draws, by lot among the least used of the equal ports; the lot alone, each LID at each switch, is no setting "
           "of opensm but a yardstick";
}

/// How the list becomes the file that opensm reads.
std::string order_words(const ordered_json &order) {
    return fmt::format("{} GUIDs; their file, for guid_routing_order_file: the same command with --json | jq -r "
                       "'.remedies.options[]|select(.name==\"guid_routing_order\").guids[]'",
                       list(order, "guids").size());
}

std::string links_words(const ordered_json &links) {
    const double free = number(links, "free_ports");
    return fmt::format("the sending switch has {:.0f} port{} without a link", free, free == 1 ? "" : "s");
}

} // namespace

std::string remedies_text(const ordered_json &routes, bool colour, std::size_t columns) {
    const ordered_json &remedies = at(routes, "remedies");
    if (!remedies.is_object())
        return {};
    const RoutesStyle style(colour);
    std::string out = fmt::format("\n{}What could be done{}\n", style.strong, style.off);
    if (!at(at(remedies, "now"), "worst").is_object()) {
        out += "Nothing: no link between switches is on the way.\n";
    } else {
        if (const std::string alias = text(at(remedies, "aliasing"), "text"); !alias.empty())
            out += wrapped(fmt::format("Pattern of {}: {}.", text(at(at(remedies, "now"), "worst"), "name"), alias), columns, "",
                           "  ");
        out += wrapped(fmt::format("Imbalance of all of it; links, LIDs and GiB/s of {}, the worst group now, unless another is named.",
                                   text(at(at(remedies, "now"), "worst"), "name")),
                       columns, "", "  ");
        out += table_of(routes, remedies).print(columns) + spreads(remedies) + "\n";
        const ordered_json &nodes = option(remedies, "other_nodes"), &order = option(remedies, "guid_routing_order"),
                           &scatter = option(remedies, "scatter"), &links = option(remedies, "more_links"),
                           &lmc = option(remedies, "lmc");
        add_note(out, "Other nodes", nodes, nodes_words(nodes), columns, style);
        add_note(out, "guid_routing_order", order, order_words(order), columns, style);
        add_note(out, "Scatter", scatter, scatter_words(), columns, style);
        add_note(out, "More links", links, links_words(links), columns, style);
        add_note(out, "LMC", lmc, lmc_words(lmc), columns, style);
    }
    out += fmt::format("\n{}What the spread may come from{}\n", style.strong, style.off);
    for (const ordered_json &one : list(remedies, "causes"))
        out += wrapped("- " + text(one, "text"), columns, "", "  ");
    out += wrapped("- Subnet manager: " + subnet_manager_words(at(remedies, "subnet_manager")), columns, "", "  ");
    if (at(at(remedies, "now"), "worst").is_object())
        out += "\n" + wrapped(conclusion(routes, remedies), columns, "", "  ");
    return out;
}

std::string versus_text(const ordered_json &routes, bool colour, std::size_t columns) {
    const ordered_json &others = list(routes, "versus");
    if (others.empty())
        return {};
    const RoutesStyle style(colour);
    OutcomeTable table;
    const double lost_now = double(unreachable_lids(routes)), imbalance = number(routes, "imbalance");
    ordered_json now = {{"imbalance", at(routes, "imbalance")}};
    now["worst"] = at(routes, "worst");
    now["ceiling_gib_s"] = at(at(routes, "ceiling"), "gib_s");
    table.row("these tables", now, group_of(now), lost_now);
    std::string notes, conclusions;
    for (const ordered_json &other : others) {
        const std::string name = end_of(text(other, "file"), file_shown);
        const double lost = number(other, "unreachable"), then = number(other, "imbalance");
        table.row(name, other, at(other, "same_group"), lost);
        const double differing = number(other, "differing_entries");
        if (lost > lost_now)
            notes += wrapped(fmt::format("By {} {:.0f} LID{} not reached from everywhere: its figures are of the rest.", name, lost,
                                         lost == 1 ? " is" : "s are"),
                             columns, "", "  ");
        notes += wrapped(differing == 0 ? fmt::format("{} has the same entries for these LIDs.", name)
                                        : fmt::format("{} differs in {} entries for these LIDs.", name,
                                                      with_commas(odd_json::whole(differing))),
                         columns, "", "  ");
        if (const auto &problems = list(other, "problems"); !problems.empty() && problems[0].is_string())
            notes += wrapped(fmt::format("warning: {}{}", printable(problems[0].get<std::string>()),
                                         problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : ""),
                             columns, "", "  ");
        if (!at(routes, "worst").is_object() || !at(other, "worst").is_object()) {
            conclusions += wrapped(fmt::format("{}: nothing to compare, as by {} nothing that arrives crosses a link between switches.", name,
                                               at(routes, "worst").is_object() ? "it" : "these tables"),
                                   columns, "", "  ");
            continue;
        }
        const std::string against = fmt::format("{:.2f} against {:.2f}{}", then, imbalance, bar_words(routes, then));
        conclusions += wrapped(lost > lost_now ? fmt::format("{} is worse than these tables, as it does not reach {:.0f} more; else {}.",
                                                             name, lost - lost_now, against)
                               : lost < lost_now
                                   ? fmt::format("{} reaches {:.0f} more than these tables; else {}.", name, lost_now - lost, against)
                               : then > imbalance + same_outcome ? fmt::format("{} is worse than these tables: {}.", name, against)
                               : then < imbalance - same_outcome ? fmt::format("{} is better than these tables: {}.", name, against)
                                                          : fmt::format("{} is as good as these tables: {}.", name, against),
                               columns, "", "  ");
    }
    const std::string head =
        at(routes, "worst").is_object()
            ? wrapped(fmt::format("Imbalance of all of it; links, LIDs and GiB/s of {}, the worst group of these tables, unless "
                                  "another is named.",
                                  text(at(routes, "worst"), "name")),
                      columns, "", "  ")
            : std::string();
    return fmt::format("\n{}These tables and others{}\n{}{}{}\n{}", style.strong, style.off, head, table.print(columns), notes,
                       conclusions);
}

} // namespace fabric_check
