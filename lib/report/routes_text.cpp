// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "report/odd_json.hpp"
#include "report/remedies_report.hpp"
#include "report/report.hpp"
#include "report/report_words.hpp"
#include "report/routes_headline.hpp"
#include "report/routes_style.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fabric_check {
namespace {

using nlohmann::ordered_json;
using odd_json::at;
using odd_json::list;
using odd_json::number;
using odd_json::text;
using odd_json::whole;

constexpr std::size_t groups_shown = groups_for_text - 1;
constexpr std::size_t large_job = 100; ///< LIDs from which networks' usual figures are a measure
constexpr std::size_t bar_most = 30, bar_least = 6;
constexpr std::size_t names_shown = 60;

/// A long list of names by its beginning and its size.
std::string shortened(const std::string &names) {
    if (names.size() <= names_shown)
        return names;
    const auto all = expand_hostlist(names);
    const std::string size = all ? fmt::format("{} nodes: ", all->size()) : std::string();
    std::size_t cut = names.find_last_of(',', names_shown);
    // Not inside brackets.
    while (cut != std::string::npos && cut > 0 &&
           std::count(names.begin(), names.begin() + std::ptrdiff_t(cut), '[') !=
               std::count(names.begin(), names.begin() + std::ptrdiff_t(cut), ']'))
        cut = names.find_last_of(',', cut - 1);
    const bool whole = cut == std::string::npos || cut == 0;
    return size + (whole ? names.substr(0, names_shown) : names.substr(0, cut + 1)) + "...";
}

std::size_t bar_room(std::size_t columns, std::size_t taken) {
    return std::clamp(columns > taken ? columns - taken : 0, bar_least, bar_most);
}

void add_group(std::string &out, const ordered_json &routes, const ordered_json &group, const RoutesStyle &style, std::size_t columns, bool of_job) {
    std::size_t width = 0;
    double most = 1;
    for (const ordered_json &port : list(group, "ports")) {
        width = std::max(width, text(port, "link").size());
        most = std::max(most, number(port, "lids"));
    }
    const double imbalance = number(group, "imbalance");
    const std::string name = text(group, "name");
    const std::string heading =
        wrapped(fmt::format("{}{}, {}: {} on {:.0f} of {}, imbalance {:.2f}", name, rail_words(routes, group),
                            direction_words(text(group, "direction"), of_job), counted(number(group, "lids"), "LID"),
                            number(group, "used"), counted(number(group, "available"), "link"), imbalance),
                columns, "", "    ");
    out += "\n" + styled(heading, name, style.strong, style);
    const std::size_t room = bar_room(columns, width + 22);
    for (const ordered_json &port : list(group, "ports")) {
        const double lids = number(port, "lids"), rate = number(port, "rate_gbps");
        const std::string speed = rate > 0 ? fmt::format("{:g} Gb/s", rate) : std::string("rate ?");
        const std::string line = fmt::format("  {:<{}}  {:>9}  {:>4.0f} ", text(port, "link"), width, speed, lids);
        if (lids == 0) {
            out += fmt::format("{}{} idle{}\n", style.dim, line, style.off);
            continue;
        }
        const auto bar = std::max<std::size_t>(1, whole(lids / most * double(room)));
        const ordered_json &minimal = at(port, "minimal");
        out += line + " " + std::string(bar, '#') +
               (minimal.is_boolean() && !minimal.get<bool>() ? "  (a longer way)" : "") + "\n";
    }
}

void add_ceiling(std::string &out, const ordered_json &routes, std::size_t columns) {
    const ordered_json &ceiling = at(routes, "ceiling");
    const double links = number(ceiling, "links");
    if (links == 0)
        return;
    std::string words;
    words += fmt::format("Ceiling: the {} used by {} carr{} at most {:.1f} GiB/s of payload",
                         links == 1 ? "link" : fmt::format("{:.0f} links", links), text(at(routes, "worst"), "name"),
                         links == 1 ? "ies" : "y", number(ceiling, "gib_s"));
    if (const double all = number(ceiling, "all_links_gib_s"); all > number(ceiling, "gib_s"))
        words += fmt::format("; all {:.0f} would carry {:.1f}", number(at(routes, "worst"), "available"), all);
    out += "\n" + wrapped(words + ".", columns, "", "");
    if (at(ceiling, "predicted_gib_s").is_number())
        out += wrapped(fmt::format("Prediction for {}: {:.1f} GiB/s, when each node moves {:g} GiB/s and no link more than its "
                                   "ceiling; what the other end can give is not counted.",
                                   text(at(routes, "worst"), "name"),
                                   number(ceiling, "predicted_gib_s"), number(ceiling, "rate_per_node_gib_s")),
                       columns, "", "  ");
}

void add_shapes(std::string &out, const ordered_json &routes, std::size_t columns, bool of_job) {
    const ordered_json &shapes = at(routes, "shapes");
    if (!shapes.is_object())
        return;
    std::string lines;
    for (const auto &[key, name] : {std::pair("one_to_many", "one to many"), std::pair("many_to_one", "many to one"),
                                    std::pair("many_to_many", "many to many")}) {
        const ordered_json &shape = at(shapes, key);
        const std::string link = text(shape, "link");
        if (link.empty())
            continue;
        std::string words = fmt::format("{:.0f} on {}", number(shape, "max_link_flows"), link);
        words += std::string_view(key) == "many_to_one" && number(shape, "factor") <= 1
                     ? "; not less by spreading: one LID goes whole over one link"
                 : std::string_view(key) == "many_to_one"
                     ? fmt::format("; its group has a link that is {:.2f} times as fast", number(shape, "factor"))
                     : fmt::format("; its group evenly {:.4g} (x {:.2f})", number(shape, "ideal"), number(shape, "factor"));
        lines += wrapped(words, columns, fmt::format("  {:<13} ", name), std::string(16, ' '));
    }
    const char *inside = direction_words("inside", of_job);
    if (lines.empty() && !at(routes, "worst").is_object())
        return; // said above
    out += lines.empty() ? fmt::format("\nNo link between switches carries traffic {}.\n", inside)
                         : fmt::format("\nFlows on the busiest link between switches, {}:\n{}", inside, lines);
    const ordered_json &half = at(routes, "effective_bisection");
    if (!lines.empty() && half.is_object())
        out += wrapped(fmt::format("Effective bisection {:.3f} of the hosts' links (95 % sure: {:.3f} to {:.3f}; worst {:.2f}), "
                                   "over {:.0f} random halves that exchange pairwise{}.",
                                   number(half, "mean"), number(half, "low"), number(half, "high"), number(half, "worst"),
                                   number(half, "bisections"),
                                   list(routes, "lids").size() >= large_job
                                       ? "; large full-bisection networks with static routes have 0.55 to 0.60"
                                       : ""),
                       columns, "", "  ");
}

/// What the tables are, and how old: an old map answers about an old fabric.
void add_map(std::string &out, const ordered_json &routes, std::size_t columns) {
    const ordered_json &map = at(routes, "map");
    if (!map.is_object() || (text(map, "source").empty() && text(map, "file").empty()))
        return;
    std::string words = "Map: " + text(map, "source");
    if (at(map, "built").is_number()) {
        words += ", built " + format_local_time(std::int64_t(std::clamp(number(map, "built"), -1e11, 1e11)));
        if (at(map, "age_s").is_number())
            words += fmt::format(" ({} old)", duration_words(number(map, "age_s")));
    }
    if (const std::string file = text(map, "file"); !file.empty())
        words += ", " + file;
    out += wrapped(words, columns, "", "  ");
}

/// Said once, for every figure below; "label" has it with each in JSON.
void add_adaptive(std::string &out, const ordered_json &routes, std::size_t columns) {
    const std::string adaptive = text(routes, "adaptive_routing");
    if (adaptive == "on")
        out += "Static route; packets may take others: adaptive routing is on.\n";
    else if (adaptive != "off")
        out += wrapped("Static route; packets may take others: whether adaptive routing is on is unknown; where you know, "
                       "adaptive_routing = \"on\" or \"off\" in the configuration says so.",
                       columns, "", "  ");
}

/// "node[01-12]", "all 191 hosts"
std::string whose(const ordered_json &routes) {
    return odd_json::flag(routes, "all_hosts", false) ? fmt::format("all {}", counted(number(routes, "node_count"), "host"))
                                                      : shortened(text(routes, "nodes"));
}

} // namespace

std::string routes_text(const ordered_json &routes, bool colour, std::size_t columns, bool of_job) {
    const RoutesStyle style(colour);
    std::string out;
    const std::string from = text(routes, "from");
    const std::string subject = "Routes of " + whose(routes);
    const std::string head =
        wrapped(fmt::format("{} ({}{})", subject, counted(double(list(routes, "lids").size()), "LID"),
                            from.empty() ? std::string() : fmt::format(", with {} as services", shortened(from))),
                columns, "", "  ");
    out += styled(head, subject, style.strong, style);
    add_map(out, routes, columns);
    add_adaptive(out, routes, columns);
    out += routes_headline(routes, style, columns, of_job);
    for (const ordered_json &warning : list(routes, "warnings"))
        if (warning.is_string())
            out += wrapped("warning: " + printable(warning.get<std::string>()), columns, "", "  ");

    const ordered_json &groups = list(routes, "groups");
    const ordered_json &worst = at(routes, "worst");
    const auto is_worst = [&worst](const ordered_json &group) {
        return text(group, "name") == text(worst, "name") && text(group, "direction") == text(worst, "direction") &&
               number(group, "rail") == number(worst, "rail");
    };
    std::vector<const ordered_json *> order;
    for (const ordered_json &group : groups)
        order.push_back(&group);
    std::stable_sort(order.begin(), order.end(),
                     [&](const ordered_json *a, const ordered_json *b) { return is_worst(*a) && !is_worst(*b); });
    for (std::size_t i = 0; i < order.size() && i < groups_shown; ++i)
        add_group(out, routes, *order[i], style, columns, of_job);
    if (order.size() > groups_shown) {
        const double more = double(order.size() - groups_shown) + number(routes, "groups_left_out");
        out += fmt::format("\n{:.0f} more {}, imbalance at most {:.2f}; --json lists them all.\n", more,
                           more == 1 ? "group" : "groups", number(*order[groups_shown], "imbalance"));
    }
    add_ceiling(out, routes, columns);
    add_shapes(out, routes, columns, of_job);

    out += unreachable_text(routes, style, columns);
    out += versus_text(routes, colour, columns);
    out += remedies_text(routes, colour, columns);
    return out;
}

} // namespace fabric_check
