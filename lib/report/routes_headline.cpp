// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/routes_headline.hpp"

#include "report/odd_json.hpp"
#include "report/report_words.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <vector>

namespace fabric_check {
namespace {

using nlohmann::ordered_json;
using odd_json::at;
using odd_json::list;
using odd_json::number;
using odd_json::text;

constexpr std::size_t unreachable_shown = 20;

std::string lost_words(const ordered_json &routes, std::size_t lost) {
    const std::size_t all = list(routes, "lids").size() + list(routes, "from_lids").size();
    return lost == 1     ? std::string("1 LID is")
           : lost == all ? fmt::format("All {} LIDs are", lost)
                         : fmt::format("{} LIDs are", lost);
}

std::string imbalance_words(const ordered_json &routes, bool all_arrive) {
    const double imbalance = number(routes, "imbalance");
    const std::string head = fmt::format("Imbalance {:.2f}{}", imbalance, bar_words(routes, imbalance));
    if (const ordered_json &link = at(routes, "imbalance_link"); link.is_object()) {
        const double flows = number(link, "flows");
        return fmt::format("{}: {} carries {} flow{}, {} if everything were spread evenly.", head, text(link, "link"), figure(flows),
                           flows == 1 ? "" : "s", figure(number(link, "even")));
    }
    if (imbalance > as_even)
        return head + ".";
    return fmt::format("{}: {}no link carries more than an even spread over the whole way would give it{}.", head,
                       all_arrive ? "" : "of the routes that arrive, ",
                       number(at(routes, "worst"), "imbalance") > as_even
                           ? "; a single group's figure may still be higher, where few LIDs meet in it"
                           : "");
}

std::string worst_words(const ordered_json &routes, bool of_job) {
    const ordered_json &worst = at(routes, "worst");
    if (number(worst, "imbalance") <= as_even)
        return number(routes, "imbalance") > as_even
                   ? "Every single group spreads its LIDs as evenly as they allow: the flows pile up where the choices of several "
                     "switches meet."
                   : "Every single group spreads its LIDs as evenly as they allow.";
    const std::string direction = text(worst, "direction");
    const std::string lids = at(worst, "lids").is_number() ? counted(number(worst, "lids"), "LID") + " on " : std::string();
    const std::string busiest = at(worst, "busiest_lids").is_number()
                                    ? fmt::format(", {:.0f} on the busiest", number(worst, "busiest_lids"))
                                    : std::string();
    return fmt::format("Worst group, by the LIDs within it alone: {}{}{}: {}{:.0f} of {} used{}; imbalance {:.2f}.", text(worst, "name"),
                       rail_words(routes, worst),
                       direction.empty() ? std::string() : fmt::format(", {}", direction_words(direction, of_job)), lids,
                       number(worst, "used"), counted(number(worst, "available"), "link"), busiest, number(worst, "imbalance"));
}

/// Links that stay idle although there are LIDs for them; empty where there are none.
std::string idle_words(const ordered_json &routes) {
    const ordered_json &links = at(routes, "links"), &idle = at(links, "most_idle");
    if (!idle.is_object())
        return {};
    const bool knows = at(links, "usable").is_number(); // old JSON counts links for which there may be no LIDs
    const double usable = number(links, knows ? "usable" : "available"), spare = number(links, knows ? "spare" : "idle");
    const double least = number(idle, "least_lids"), most = number(idle, "most_lids");
    return fmt::format("Of {:.0f} links between switches that these LIDs could use {:.0f} carr{} nothing; most idle at {}: {:.0f} of "
                       "{:.0f} used, with {}{} each.",
                       usable, spare, spare == 1 ? "ies" : "y", text(idle, "name"), number(idle, "used"),
                       number(idle, knows ? "usable" : "available"), least == most ? "" : fmt::format("{:.0f} to ", least),
                       counted(most, "LID"));
}

} // namespace

std::string counted(double n, const char *what) {
    return fmt::format("{:.0f} {}{}", n, what, n == 1 ? "" : "s");
}

std::string figure(double value) { return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value); }

std::string rail_words(const ordered_json &routes, const ordered_json &group) {
    const ordered_json &rail = at(group, "rail");
    if (!rail.is_number())
        return {};
    const ordered_json &names = list(routes, "rails");
    const std::size_t place = odd_json::whole(rail.get<double>());
    if (place < names.size() && names[place].is_string() && !names[place].get<std::string>().empty()) {
        const std::string name = printable(names[place].get<std::string>());
        return (name.starts_with("subnet ") ? ", " : ", rail ") + name;
    }
    return fmt::format(", rail {}", place);
}

std::string bar_words(const ordered_json &routes, double imbalance) {
    const ordered_json &bar = at(routes, "bar");
    if (!bar.is_number())
        return {};
    const double value = bar.get<double>();
    return fmt::format(", {} the bar, {:g}", imbalance > value ? "above" : imbalance < value ? "below" : "at", value);
}

std::string styled(const std::string &lines, const std::string &beginning, const char *style, const RoutesStyle &styles) {
    return lines.starts_with(beginning) ? style + beginning + styles.off + lines.substr(beginning.size()) : lines;
}

std::size_t unreachable_lids(const ordered_json &routes) {
    if (at(routes, "unreachable_lids").is_number())
        return odd_json::whole(number(routes, "unreachable_lids"));
    std::set<double> lids;
    for (const ordered_json &each : list(routes, "unreachable"))
        lids.insert(number(each, "lid"));
    return lids.size();
}

std::string routes_headline(const ordered_json &routes, const RoutesStyle &style, std::size_t columns, bool of_job) {
    const std::size_t lost = unreachable_lids(routes);
    const std::string gone = lost == 0 ? std::string() : lost_words(routes, lost) + " unreachable";
    std::string out;
    if (!at(routes, "worst").is_object()) {
        if (lost == 0)
            return "No link between switches is on the way.\n";
        return styled(wrapped(gone + " from somewhere by these tables; no link between switches is on the way of what arrives.", columns, "", "  "), gone,
                      style.bad, style);
    }
    if (lost > 0)
        out += styled(wrapped(gone + " from somewhere by these tables: what follows is of the routes that arrive.", columns, "", "  "),
                      gone, style.bad, style);
    const double imbalance = number(routes, "imbalance");
    const std::string plain = fmt::format("Imbalance {:.2f}", imbalance), line = wrapped(imbalance_words(routes, lost == 0), columns, "", "  ");
    out += line.starts_with(plain) ? fmt::format("Imbalance {}{:.2f}{}{}", imbalance > as_even ? style.bad : "", imbalance,
                                                 imbalance > as_even ? style.off : "", line.substr(plain.size()))
                                   : line;
    out += wrapped(worst_words(routes, of_job), columns, "", "  ");
    if (const std::string idle = idle_words(routes); !idle.empty())
        out += wrapped(idle, columns, "", "  ");
    return out;
}

std::string unreachable_text(const ordered_json &routes, const RoutesStyle &style, std::size_t columns) {
    const ordered_json &lost = list(routes, "unreachable");
    if (lost.empty())
        return {};
    std::vector<std::pair<const ordered_json *, std::size_t>> shown; // a LID's first place, and how many more there are
    std::unordered_map<double, std::size_t> places;
    for (const ordered_json &one : lost) {
        const double lid = number(one, "lid");
        if (const auto known = places.find(lid); known != places.end()) {
            ++shown[known->second].second;
        } else if (shown.size() < unreachable_shown) {
            places.emplace(lid, shown.size());
            shown.emplace_back(&one, 0);
        }
    }
    std::string out = fmt::format("\n{}Unreachable{}:\n", style.bad, style.off);
    const bool cut = number(routes, "unreachable_left_out") > 0;
    for (const auto &[one, more] : shown) {
        const std::string elsewhere = more == 0 ? std::string()
                                      : cut     ? fmt::format(", and at {} or more other switches", more)
                                                : fmt::format(", and at {} other switch{}", more, more == 1 ? "" : "es");
        out += wrapped(fmt::format("LID {:.0f} {}: {}{}", number(*one, "lid"), text(*one, "node"), text(*one, "why"), elsewhere),
                       columns, "  ", "    ");
    }
    if (const std::size_t all = unreachable_lids(routes); all > shown.size())
        out += fmt::format("  and {} more LID{}; --json lists every one\n", all - shown.size(), all - shown.size() == 1 ? "" : "s");
    return out;
}

} // namespace fabric_check
