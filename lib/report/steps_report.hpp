// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/job_verdict.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fabric_check {

/// Findings and gaps as they stand in report/1, for the job and for its steps.
nlohmann::ordered_json findings_json(const std::vector<Finding> &findings);
nlohmann::ordered_json unread_json(const std::vector<UnreadCounter> &unread);

/// steps[] of report/1.
nlohmann::ordered_json steps_json(const std::vector<StepVerdict> &steps);

/// A short table of a report's steps[], with its own heading left out; empty without steps. Odd JSON welcome.
std::string steps_text(const nlohmann::ordered_json &report);

} // namespace fabric_check
