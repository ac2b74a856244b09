// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "verdict/job_verdict.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fabric_check {

/// report/1 of the contract.
nlohmann::ordered_json report_json(const JobEvidence &evidence, const JobVerdict &verdict);

/// The story for people, from report/1 JSON (as read back from the spool): verdict, why, where, routes, what to do.
/// `colour`: ANSI. Never throws on odd JSON: says what is missing.
std::string report_text(const nlohmann::ordered_json &report, bool colour);

/// routes/1 of the contract, shared by `routes` and the report.
nlohmann::ordered_json routes_json(const fabric::Map &map, const fabric::Routes &routes, const fabric::Query &query);
/// The table a human reads at a glance: bars per port, idle ones shown.
std::string routes_text(const nlohmann::ordered_json &routes, bool colour);

} // namespace fabric_check
