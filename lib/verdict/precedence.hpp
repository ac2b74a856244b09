// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/job_verdict.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fabric_check {

/// The job's word, and what it rests on.
struct Ruling {
    std::string verdict;
    std::string rest;           ///< only with unusable / incomplete
    std::optional<Layer> layer; ///< of the findings it rests on; none: clean, no-traffic, unusable, incomplete
    std::optional<Layer> rest_layer; ///< of the findings that `rest` rests on; none: clean, no-traffic, no rest
};

/// Precedence follows causation. The lowest leading layer is the verdict, unless something unread could hide a lower one:
/// then incomplete (missing) or unusable (no evidence), the rest beside it. At equal layers the proven cause stands; of
/// unread counters of one layer, missing outranks unusable. Without traffic only physical findings are a verdict.
Ruling rule(const std::vector<Finding> &findings, const std::vector<UnreadCounter> &unread, bool no_traffic);

/// The leading findings of a layer, worst first: no counter at all (down, narrow), then by delta. Empty without a layer.
std::vector<Finding> findings_of(std::optional<Layer> layer, const std::vector<Finding> &findings);

} // namespace fabric_check
