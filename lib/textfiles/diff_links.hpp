// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "textfiles/text.hpp"
#include "verdict/job_verdict.hpp"

#include <vector>

namespace fabric_check::textfiles {

/// Of one port in two snapshots: "state", "width", "speed" and "pcie" that changed, or that are below the site's policy, as
/// a job's findings say it. Empty where a side is no snapshot. `policy` may be null.
std::vector<Finding> link_findings(const PortCounters &before, const PortCounters &after, const Config::Policy *policy);

} // namespace fabric_check::textfiles
