// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/odd_json.hpp"
#include "report/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace fabric_check {

namespace {

using nlohmann::ordered_json;
using odd_json::at;
using odd_json::list;
using odd_json::number;
using odd_json::text;

constexpr double same_imbalance = 0.005;

/// Direction and link -> the LIDs routed there.
std::map<std::string, std::string> lids_by_port(const ordered_json &routes) {
    std::map<std::string, std::string> lids;
    for (const ordered_json &group : list(routes, "groups")) {
        for (const ordered_json &port : list(group, "ports")) {
            lids[text(group, "direction") + " " + text(port, "link")] =
                list(port, "lid_list").dump() + text(port, "lid_digest");
        }
    }
    return lids;
}

} // namespace

void warn_of_other_routes(const ordered_json &report, ordered_json &routes) {
    ordered_json &warnings = routes["warnings"];
    if (!list(report, "routes_changed").empty()) {
        warnings.push_back(at(report, "routes_map").is_object()
                               ? "the routes had changed since the map was built: its report has both distributions"
                               : "routes changed while the job ran: its report has both distributions");
    }
    const ordered_json &before = at(report, "routes");
    if (!before.is_object()) {
        warnings.push_back("the job's report has no routes: these are the map's, not checked against what the job had");
        return;
    }
    if (text(before, "from") != text(routes, "from")) {
        return; // another question
    }
    const bool other = lids_by_port(before) != lids_by_port(routes) ||
                       std::abs(number(before, "imbalance") - number(routes, "imbalance")) > same_imbalance;
    if (other) {
        warnings.push_back(fmt::format("these are not the routes that the job had: by its report, which read the tables "
                                       "live, the imbalance was {:.2f}, here it is {:.2f}",
                                       number(before, "imbalance"), number(routes, "imbalance")));
    }
}

} // namespace fabric_check
