// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "config/config.hpp"
#include "verdict/job_verdict.hpp"

#include <string>
#include <vector>

namespace fabric_check {

/// Findings and gaps at links that the site knows to be bad are shown and decide nothing, until the day its note on
/// them expires; from then on they lead again and say so. A link is meant when one of its ends is named. `at`: seconds
/// since the epoch, the end of the job.
void set_known_aside(const Config::Known &known, std::int64_t at, std::vector<Finding> &findings,
                     std::vector<UnreadCounter> &unread);

} // namespace fabric_check
