// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/remedies_report.hpp"

#include "base/text.hpp"
#include "report/odd_json.hpp"
#include "report/report_words.hpp"
#include "report/routes_style.hpp"

#include <algorithm>
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
constexpr std::size_t file_shown = 36;
constexpr std::size_t narrow = 80;     ///< columns that the figures keep within
constexpr std::size_t least_what = 16; ///< of a row's name, whatever the terminal

/// Dumps of several engines share their beginning and their last component often: the end tells them apart.
std::string end_of(const std::string &file, std::size_t room) {
    return file.size() <= room ? file : "..." + file.substr(file.size() - room + 3);
}

/// A table of outcomes: what, imbalance of the job and of its worst group, that group's links, LIDs on the busiest of them,
/// ceiling, which group.
class Table {
public:
    void row(const std::string &what, const ordered_json &outcome) {
        const ordered_json &worst = at(outcome, "worst");
        const double lost = number(outcome, "unreachable");
        std::string group = worst.is_object() ? text(worst, "name") : "no link between switches";
        if (lost > 0)
            group += fmt::format("; {:.0f} LIDs unreachable", lost);
        rows_.push_back({what, fmt::format("{:.2f}", number(outcome, "imbalance")),
                         worst.is_object() ? fmt::format("{:.2f}", number(worst, "imbalance")) : "-", links(worst),
                         busiest(worst), ceiling(outcome), group});
    }
    /// Under a row whose worst group is another: what becomes of the one that is the worst now.
    void same_group_row(const ordered_json &outcome, const ordered_json &group) {
        if (group.is_object() && text(group, "name") != text(at(outcome, "worst"), "name"))
            rows_.push_back({"  there, the group above", "", fmt::format("{:.2f}", number(group, "imbalance")), links(group),
                             busiest(group), ceiling(group), ""});
    }
    /// Of the worst group alone, spread evenly.
    void even_row(const std::string &what, const ordered_json &step) {
        rows_.push_back({what, "-", "1.00", links(step), busiest(step), ceiling(step), ""});
    }
    void spread_row(const std::string &what, const ordered_json &all) {
        rows_.push_back({what, fmt::format("{:.2f}", number(all, "median")),
                         fmt::format("{:.2f}-{:.2f}, 90 % <= {:.2f}, {:.0f} % better", number(all, "min"),
                                     number(all, "max"), number(all, "p90"), 100 * number(all, "better_than_now"))});
    }
    /// The group stands behind its row where all groups' names fit there, else on a line of its own below.
    std::string print(std::size_t columns) const {
        const std::vector<std::string> heads = {"", "imbalance", "group's", "links", "busiest", "GiB/s", "worst group"};
        std::vector<std::size_t> width;
        for (std::size_t c = 0; c < heads.size(); ++c) {
            width.push_back(heads[c].size());
            for (const auto &row : rows_)
                if (row.size() == heads.size() || c == 0)
                    width.back() = std::max(width.back(), row[c].size());
        }
        std::size_t figures = 2;
        for (std::size_t c = 1; c + 1 < heads.size(); ++c)
            figures += width[c] + 2;
        const std::size_t room = std::min(columns, narrow); // a pager's terminal does not tell its width
        width[0] = std::min(width[0], std::max(room > figures ? room - figures : 0, least_what));
        const bool below = width[0] + figures + 2 + width.back() > columns;
        std::string out = line(heads, width, columns, below);
        for (const auto &row : rows_)
            out += line(row, width, columns, below);
        return out;
    }

private:
    static std::string links(const ordered_json &group) {
        return group.is_object() ? fmt::format("{:.0f} of {:.0f}", number(group, "used"), number(group, "available")) : "-";
    }
    static std::string busiest(const ordered_json &group) {
        const double lids = number(group, "busiest_lids");
        return group.is_object() ? fmt::format("{:.4g} LID{}", lids, lids == 1 ? "" : "s") : "-";
    }
    static std::string ceiling(const ordered_json &outcome) {
        const ordered_json &value = at(outcome, "ceiling_gib_s");
        return value.is_number() ? fmt::format("{:.1f}", value.get<double>()) : "-";
    }
    static std::string line(const std::vector<std::string> &row, const std::vector<std::size_t> &width, std::size_t columns,
                            bool below) {
        std::string out = fmt::format("  {:<{}}", end_of(row[0], width[0]), width[0]);
        if (row.size() == 3) // no columns beyond the imbalance, but words
            return wrapped(row[2], columns, out + fmt::format("  {:>{}}  ", row[1], width[1]),
                           std::string(out.size() + width[1] + 4, ' '));
        for (std::size_t c = 1; c + 1 < row.size(); ++c)
            out += fmt::format("  {:>{}}", row[c], width[c]);
        if (!row.back().empty() && !below)
            out += "  " + row.back();
        while (!out.empty() && out.back() == ' ')
            out.pop_back();
        out += "\n";
        if (!row.back().empty() && below && !row[0].empty()) // of the heads none
            out += wrapped(row.back(), columns, "    worst: ", "      ");
        return out;
    }

    std::vector<std::vector<std::string>> rows_;
};

const ordered_json &option(const ordered_json &remedies, const char *name) {
    static const ordered_json nothing;
    for (const ordered_json &one : list(remedies, "options"))
        if (text(one, "name") == name)
            return one;
    return nothing;
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

Table table_of(const ordered_json &remedies) {
    Table table;
    table.row("now", at(remedies, "now"));
    if (const ordered_json &nodes = option(remedies, "other_nodes"); evaluated(nodes))
        table.row("other nodes, best tried", at(nodes, "then"));
    if (const ordered_json &order = option(remedies, "guid_routing_order"); evaluated(order)) {
        table.row("guid_routing_order", at(order, "then"));
        table.same_group_row(at(order, "then"), at(order, "same_group"));
    }
    if (const ordered_json &scatter = option(remedies, "scatter"); evaluated(scatter)) {
        table.spread_row("scatter, as opensm draws", at(scatter, "least_used"));
        table.spread_row("scatter, each LID by lot", at(scatter, "by_lot"));
    }
    for (const ordered_json &step : list(option(remedies, "more_links"), "steps")) {
        const double more = number(step, "more");
        table.even_row(more == 0 ? std::string("these links, spread evenly")
                                 : fmt::format("{:.0f} more link{}, likewise", more, more == 1 ? "" : "s"),
                       step);
    }
    const ordered_json &lmc = option(remedies, "lmc");
    const double available = number(at(at(remedies, "now"), "worst"), "available");
    for (ordered_json step : list(lmc, "steps"))
        if (step.is_object() && flag(step, "fits", true)) {
            step["available"] = available;
            table.even_row(fmt::format("LMC {:.0f}, at best", number(step, "lmc")), step);
        }
    return table;
}

std::string nodes_words(const ordered_json &nodes) {
    std::string names = text(nodes, "nodes");
    if (names.size() > nodes_shown)
        names = names.substr(0, names.find_last_of(',', nodes_shown)) + ",... (--json has all)";
    const ordered_json &sets = at(nodes, "sets");
    return fmt::format("best of {:.0f} sets tried, imbalance {:.2f} to {:.2f}: {}, {}", number(sets, "runs"),
                       number(sets, "min"), number(sets, "max"), names,
                       flag(nodes, "compact", false) ? "neighbours" : "drawn at random");
}

std::string lmc_words(const ordered_json &lmc) {
    std::string out;
    for (const ordered_json &step : list(lmc, "steps"))
        out += fmt::format("{}{} LIDs for LMC {:.0f}{}", out.empty() ? "needs " : ", ",
                           with_commas(odd_json::whole(number(step, "lids_needed"))), number(step, "lmc"),
                           flag(step, "fits", true) ? "" : " (more than there are)");
    return out + " of 49,151";
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
    const bool labelled = !text(routes, "label").empty();
    std::string out = fmt::format("\n{}What could be done{}{}\n", style.strong, style.off,
                                  labelled ? " (static routes; packets may take others)" : "");
    if (!at(at(remedies, "now"), "worst").is_object()) {
        out += "Nothing: no link between switches is on the way.\n";
    } else {
        if (const std::string alias = text(at(remedies, "aliasing"), "text"); !alias.empty())
            out += wrapped(fmt::format("Pattern of {}: {}.", text(at(at(remedies, "now"), "worst"), "name"), alias), columns, "",
                           "  ");
        out += table_of(remedies).print(columns) + "\n";
        const ordered_json &nodes = option(remedies, "other_nodes"), &order = option(remedies, "guid_routing_order"),
                           &scatter = option(remedies, "scatter"), &links = option(remedies, "more_links"),
                           &lmc = option(remedies, "lmc");
        add_note(out, "Other nodes", nodes, nodes_words(nodes), columns, style);
        add_note(out, "guid_routing_order", order, fmt::format("--json lists the {} GUIDs", list(order, "guids").size()), columns,
                 style);
        add_note(out, "Scatter", scatter, fmt::format("median of {:.0f} draws above", number(at(scatter, "by_lot"), "runs")),
                 columns, style);
        add_note(out, "More links", links, links_words(links), columns, style);
        add_note(out, "LMC", lmc, lmc_words(lmc), columns, style);
    }
    out += fmt::format("\n{}What the spread may come from{}\n", style.strong, style.off);
    for (const ordered_json &one : list(remedies, "causes"))
        out += wrapped("- " + text(one, "text"), columns, "", "  ");
    out += wrapped("- Subnet manager: " + subnet_manager_words(at(remedies, "subnet_manager")), columns, "", "  ");
    return out;
}

std::string versus_text(const ordered_json &routes, bool colour, std::size_t columns) {
    const ordered_json &others = list(routes, "versus");
    if (others.empty())
        return {};
    const RoutesStyle style(colour);
    Table table;
    ordered_json now = {{"imbalance", number(routes, "imbalance")}, {"unreachable", list(routes, "unreachable").size()}};
    now["worst"] = nullptr;
    if (const ordered_json &worst = at(routes, "worst"); worst.is_object()) {
        now["worst"] = worst;
        now["ceiling_gib_s"] = number(at(routes, "ceiling"), "gib_s");
    }
    table.row("these tables", now);
    std::string notes;
    for (const ordered_json &other : others) {
        const std::string name = end_of(text(other, "file"), file_shown);
        table.row(name, other);
        table.same_group_row(other, at(other, "same_group"));
        const double differing = number(other, "differing_entries");
        if (const double lost = number(other, "unreachable"); lost > number(now, "unreachable"))
            notes += wrapped(fmt::format("By {} {:.0f} routes end nowhere: its figures are of the rest.", name, lost), columns, "",
                             "  ");
        notes += wrapped(differing == 0 ? fmt::format("{} has the same entries for these LIDs.", name)
                                        : fmt::format("{} differs in {} entries for these LIDs.", name,
                                                      with_commas(odd_json::whole(differing))),
                         columns, "", "  ");
        if (const auto &problems = list(other, "problems"); !problems.empty() && problems[0].is_string())
            notes += wrapped(fmt::format("warning: {}{}", printable(problems[0].get<std::string>()),
                                         problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : ""),
                             columns, "", "  ");
    }
    return fmt::format("\n{}These tables and others{}{}\n{}{}", style.strong, style.off,
                       text(routes, "label").empty() ? "" : " (static routes; packets may take others)", table.print(columns),
                       notes);
}

} // namespace fabric_check
