// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/outcome_table.hpp"

#include "report/odd_json.hpp"
#include "report/report_words.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fabric_check {

namespace {

using nlohmann::ordered_json;
using odd_json::at;
using odd_json::number;
using odd_json::text;

constexpr std::size_t narrow = 80;     ///< columns that the figures keep within
constexpr std::size_t least_what = 16; ///< of a row's name, whatever the terminal

std::string imbalance(const ordered_json &group) {
    return group.is_object() ? fmt::format("{:.2f}", number(group, "imbalance")) : "-";
}
std::string links(const ordered_json &group) {
    return group.is_object() ? fmt::format("{:.0f} of {:.0f}", number(group, "used"), number(group, "available")) : "-";
}
std::string busiest(const ordered_json &group) {
    const double lids = number(group, "busiest_lids");
    return !group.is_object()         ? "-"
           : lids == std::floor(lids) ? fmt::format("{:.0f} LID{}", lids, lids == 1 ? "" : "s")
                                      : fmt::format("{:.1f} LIDs", lids);
}
std::string ceiling(const ordered_json &outcome) {
    const ordered_json &value = at(outcome, "ceiling_gib_s");
    return value.is_number() ? fmt::format("{:.1f}", value.get<double>()) : "-";
}
std::string line(const std::vector<std::string> &row, const std::vector<std::size_t> &width, std::size_t columns,
                 bool below) {
    std::string out = fmt::format("  {:<{}}", end_of(row[0], width[0]), width[0]);
    for (std::size_t c = 1; c + 1 < row.size(); ++c)
        out += fmt::format("  {:>{}}", row[c], width[c]);
    if (!row.back().empty() && !below)
        out += "  " + row.back();
    while (!out.empty() && out.back() == ' ')
        out.pop_back();
    out += "\n";
    if (!row.back().empty() && below && !row[0].empty()) // the heads have none there
        out += wrapped(row.back(), columns, "    ", "      ");
    return out;
}

} // namespace

std::string end_of(const std::string &file, std::size_t room) {
    return file.size() <= room ? file : "..." + file.substr(file.size() - room + 3);
}

void OutcomeTable::row(const std::string &what, const ordered_json &outcome, const ordered_json &group, double unreachable) {
    rows_.push_back({what, at(outcome, "imbalance").is_number() ? fmt::format("{:.2f}", number(outcome, "imbalance")) : "-", imbalance(group), links(group), busiest(group),
                     ceiling(group), ""});
    const ordered_json &worst = at(outcome, "worst");
    if (worst.is_object() && text(worst, "name") != text(group, "name") &&
        (!group.is_object() || number(worst, "imbalance") > number(group, "imbalance") + same_outcome))
        rows_.push_back({"  its worst group, another", "", imbalance(worst), links(worst), busiest(worst), ceiling(outcome),
                         text(worst, "name")});
    if (unreachable > 0)
        rows_.back().back() += fmt::format("{}{:.0f} not reached", rows_.back().back().empty() ? "" : "; ", unreachable);
}

void OutcomeTable::even_row(const std::string &what, const ordered_json &step) {
    rows_.push_back({what, "-", "1.00", links(step), busiest(step), ceiling(step), ""});
}

std::string OutcomeTable::print(std::size_t columns) const {
    const bool others = std::any_of(rows_.begin(), rows_.end(), [](const auto &row) { return !row.back().empty(); });
    const std::vector<std::string> heads = {"", "imbalance", "group's", "links", "busiest", "GiB/s", others ? "notes" : ""};
    std::vector<std::size_t> width;
    for (std::size_t c = 0; c < heads.size(); ++c) {
        width.push_back(heads[c].size());
        for (const auto &row : rows_)
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

} // namespace fabric_check
