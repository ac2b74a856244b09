// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "textfiles/text.hpp"
#include "verdict/job_verdict.hpp"

#include <string>
#include <vector>

namespace fabric_check::textfiles {

/// Of one port in two snapshots: "state", "width", "speed" and "pcie" that changed, or that are below the site's
/// policy, as a job's findings say it. Empty where a side is no snapshot. `policy` may be null.
std::vector<Finding> link_findings(const PortCounters &before, const PortCounters &after, const Config::Policy *policy);

/// Which port it is can be told on both sides, and differs: by the GUID, else by node, else by LID, or by the switch's
/// port.
struct OtherPort {
    std::string what;   ///< "guid", "node", "lid", "port"; empty: nothing speaks against one port
    std::string reason; ///< "BEFORE is of node07, AFTER of node08"
};
OtherPort other_port(const PortCounters &before, const PortCounters &after);

} // namespace fabric_check::textfiles
