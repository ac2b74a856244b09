// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fabric_check {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t groups_shown = 12;
constexpr std::size_t unreachable_shown = 20;
constexpr std::size_t bar_width = 30;

struct Style {
    const char *strong = "", *bad = "", *dim = "", *off = "";
    explicit Style(bool colour) {
        if (colour) {
            strong = "\x1b[1m";
            bad = "\x1b[31m";
            dim = "\x1b[2m";
            off = "\x1b[0m";
        }
    }
};

// The JSON may come from an older or newer version: what is missing or of another type reads as nothing.
const ordered_json &at(const ordered_json &json, const char *key) {
    static const ordered_json nothing;
    if (!json.is_object())
        return nothing;
    const auto found = json.find(key);
    return found == json.end() ? nothing : *found;
}
double number(const ordered_json &json, const char *key) {
    const ordered_json &value = at(json, key);
    return value.is_number() ? value.get<double>() : 0;
}
std::string text(const ordered_json &json, const char *key) {
    const ordered_json &value = at(json, key);
    return value.is_string() ? value.get<std::string>() : std::string();
}
const ordered_json &list(const ordered_json &json, const char *key) {
    static const ordered_json empty = ordered_json::array();
    const ordered_json &value = at(json, key);
    return value.is_array() ? value : empty;
}

/// "1 LID", "12 LIDs"
std::string count(double n, const char *what) { return fmt::format("{:.0f} {}{}", n, what, n == 1 ? "" : "s"); }

const char *direction_words(const std::string &direction) {
    if (direction == "from")
        return "services to the job";
    if (direction == "to")
        return "the job to services";
    return "inside the job";
}

void add_group(std::string &out, const ordered_json &group, const Style &style) {
    std::size_t width = 0;
    double most = 1;
    for (const ordered_json &port : list(group, "ports")) {
        width = std::max(width, text(port, "link").size());
        most = std::max(most, number(port, "lids"));
    }
    const double imbalance = number(group, "imbalance");
    out += fmt::format("\n{}{}{}, {}: {} on {:.0f} of {}, imbalance {}{:.2f}{}\n", style.strong, text(group, "name"),
                       style.off, direction_words(text(group, "direction")), count(number(group, "lids"), "LID"),
                       number(group, "used"), count(number(group, "available"), "link"), imbalance > 1 ? style.bad : "",
                       imbalance, style.off);
    for (const ordered_json &port : list(group, "ports")) {
        const double lids = number(port, "lids"), rate = number(port, "rate_gbps");
        const std::string speed = rate > 0 ? fmt::format("{:g} Gb/s", rate) : std::string("rate ?");
        const std::string line = fmt::format("  {:<{}}  {:>9}  {:>4.0f} ", text(port, "link"), width, speed, lids);
        if (lids == 0) {
            out += fmt::format("{}{} idle{}\n", style.dim, line, style.off);
            continue;
        }
        const auto bar = std::max<std::size_t>(1, std::size_t(lids / most * double(bar_width)));
        const ordered_json &minimal = at(port, "minimal");
        out += line + " " + std::string(bar, '#') +
               (minimal.is_boolean() && !minimal.get<bool>() ? "  (a longer way)" : "") + "\n";
    }
}

void add_ceiling(std::string &out, const ordered_json &routes) {
    const ordered_json &ceiling = at(routes, "ceiling");
    const double links = number(ceiling, "links");
    if (links == 0)
        return;
    out += fmt::format("\nCeiling: the {} used by {} carr{} at most {:.1f} GiB/s of payload",
                       links == 1 ? "link" : fmt::format("{:.0f} links", links), text(at(routes, "worst"), "name"),
                       links == 1 ? "ies" : "y", number(ceiling, "gib_s"));
    if (const double all = number(ceiling, "all_links_gib_s"); all > number(ceiling, "gib_s"))
        out += fmt::format("; all {:.0f} would carry {:.1f}", number(at(routes, "worst"), "available"), all);
    out += ".\n";
    if (at(ceiling, "predicted_gib_s").is_number())
        out += fmt::format("Prediction: {:.1f} GiB/s with {:g} GiB/s per node.\n", number(ceiling, "predicted_gib_s"),
                           number(ceiling, "rate_per_node_gib_s"));
}

void add_shapes(std::string &out, const ordered_json &routes) {
    const ordered_json &shapes = at(routes, "shapes");
    if (!shapes.is_object())
        return;
    out += "\nFlows on the busiest link between switches, inside the job:\n";
    for (const auto &[key, name] : {std::pair("one_to_many", "one to many"), std::pair("many_to_one", "many to one"),
                                    std::pair("many_to_many", "many to many")}) {
        const ordered_json &shape = at(shapes, key);
        const std::string link = text(shape, "link");
        if (link.empty())
            out += fmt::format("  {:<13} none: no link between switches on the way\n", name);
        else
            out += fmt::format("  {:<13} {:.0f} on {}, {:.0f} when spread evenly (x {:.2f})\n", name,
                               number(shape, "max_link_flows"), link, number(shape, "ideal"), number(shape, "factor"));
    }
}

} // namespace

std::string routes_text(const ordered_json &routes, bool colour) {
    const Style style(colour);
    std::string out;
    const std::string from = text(routes, "from");
    out += fmt::format("{}Routes of {}{} ({}{})\n", style.strong, text(routes, "nodes"), style.off,
                       count(double(list(routes, "lids").size()), "LID"),
                       from.empty() ? std::string() : fmt::format(", with {} as services", from));
    const std::string adaptive = text(routes, "adaptive_routing");
    if (adaptive == "on")
        out += "Static route; packets may take others: adaptive routing is on.\n";
    else if (adaptive != "off")
        out += "Static route; packets may take others: whether adaptive routing is on is unknown.\n";
    const ordered_json &worst = at(routes, "worst");
    if (worst.is_object())
        out += fmt::format("Imbalance {}{:.2f}{} (1.00 cannot be better); worst group {}: {:.0f} of {} used.\n",
                           number(routes, "imbalance") > 1 ? style.bad : "", number(routes, "imbalance"), style.off,
                           text(worst, "name"), number(worst, "used"), count(number(worst, "available"), "link"));
    else
        out += "No link between switches is on the way.\n";
    for (const ordered_json &warning : list(routes, "warnings"))
        if (warning.is_string())
            out += "warning: " + warning.get<std::string>() + "\n";

    std::size_t shown = 0;
    const ordered_json &groups = list(routes, "groups");
    for (const ordered_json &group : groups) {
        if (shown == groups_shown)
            break;
        add_group(out, group, style);
        ++shown;
    }
    if (groups.size() > shown)
        out += fmt::format("\n{} more groups, imbalance at most {:.2f}; --json lists them all.\n", groups.size() - shown,
                           number(groups[shown], "imbalance"));
    add_ceiling(out, routes);
    add_shapes(out, routes);

    const ordered_json &lost = list(routes, "unreachable");
    if (!lost.empty())
        out += fmt::format("\n{}Unreachable{}:\n", style.bad, style.off);
    for (std::size_t i = 0; i < lost.size() && i < unreachable_shown; ++i)
        out += fmt::format("  LID {:.0f} {}: {}\n", number(lost[i], "lid"), text(lost[i], "node"), text(lost[i], "why"));
    if (lost.size() > unreachable_shown)
        out += fmt::format("  and {} more; --json lists them all\n", lost.size() - unreachable_shown);
    return out;
}

} // namespace fabric_check
