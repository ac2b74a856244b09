// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/routes.hpp"

#include <vector>

namespace fabric_check::fabric {

/// A switch's links to other switches, over all groups and directions of an analysis.
struct SwitchUse {
    std::uint32_t node = no_node;
    unsigned available = 0; ///< that lead nearer to some destination
    unsigned used = 0;      ///< by which some destination's traffic leaves
    unsigned least = 0, most = 0; ///< destinations on a used link
};

/// By the share of links that are idle, the largest first; then by the number of destinations on the busiest link.
std::vector<SwitchUse> switch_uses(const Routes &routes);

} // namespace fabric_check::fabric
