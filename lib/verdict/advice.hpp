// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/job_verdict.hpp"

#include <string>
#include <vector>

namespace fabric_check {

/// What to do next, in plain words, most useful first; from a verdict that is otherwise complete. Never empty.
std::vector<std::string> advice_for(const JobVerdict &verdict);

} // namespace fabric_check
