// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "report/find_report.hpp"

#include <string>
#include <vector>

namespace fabric_check {

/// Of a job id that names an array or a het job as a whole: the parts that have a report, "9_1", "9_2", in their order.
/// Known by the names in the spool's reports/. Empty for a part's own name, and for any other job.
std::vector<std::string> parts_with_report(const Config &config, const JobRef &job);

/// The same in words, for somebody who asked for the whole: which part its number is, as the raw id of one part, and how to
/// ask for the others. Empty where there is no more than what the number finds.
std::string describe_parts(const Config &config, const JobRef &job);

} // namespace fabric_check
