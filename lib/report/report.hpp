// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "verdict/job_verdict.hpp"

#include <nlohmann/json_fwd.hpp>
#include <limits>
#include <string>

namespace fabric_check {

inline constexpr std::size_t usual_columns = 98; ///< of text that goes to no terminal
/// The width of the terminal on this descriptor, within 40 to 160; where it is none, COLUMNS of the environment when that is
/// a number from 40 to 500, else usual_columns.
std::size_t text_columns(int descriptor) noexcept;

/// report/1 of the contract.
nlohmann::ordered_json report_json(const JobEvidence &evidence, const JobVerdict &verdict);

/// The story for people, from report/1 JSON (as read back from the spool): verdict, why, where, routes, what to do.
/// `colour`: ANSI. Times are local, with their offset. Never throws on odd JSON: says what is missing.
std::string report_text(const nlohmann::ordered_json &report, bool colour, std::size_t columns = usual_columns);

/// "label" of a result: what every one is under adaptive routing, or where nobody knows whether it is on. Only of objects.
void add_routes_label(nlohmann::ordered_json &result, const fabric::Map &map);

/// routes/1 of the contract, shared by `routes` and the report. `worst`: the group that worst and ceiling are about, an
/// index into the routes' groups; -1: the routes' own. Of more groups than `most`, the worst so many stand in it, and
/// "groups_left_out" says how many do not; of LIDs, a quarter of a million is listed ("lid_list"), the worst groups'
/// first, and "lid_lists_left_out" says at how many ports there is a digest instead ("lid_digest").
nlohmann::ordered_json routes_json(const fabric::Map &map, const fabric::Routes &routes, const fabric::Query &query,
                                   int worst = -1, std::size_t most = std::numeric_limits<std::size_t>::max());
/// As many groups as routes_text() looks at.
inline constexpr std::size_t groups_for_text = 13;
/// Its "effective_bisection"; null where there is none.
nlohmann::ordered_json bisection_json(const fabric::Routes &routes);
/// Its "shapes".
nlohmann::ordered_json shapes_json(const fabric::Map &map, const fabric::Shapes &shapes);
/// Adds warnings to routes/1 of a job's nodes where its report (report/1) saw other routes, changing ones, or none.
void warn_of_other_routes(const nlohmann::ordered_json &report, nlohmann::ordered_json &routes);
/// The table a human reads at a glance: bars per port, idle ones shown. `of_job`: the nodes are a job's.
std::string routes_text(const nlohmann::ordered_json &routes, bool colour, std::size_t columns = usual_columns,
                        bool of_job = true);

} // namespace fabric_check
