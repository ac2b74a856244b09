// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace fabric_check::fabric {

/// Switches equally far from hosts, and how many links each has to the tier above it.
struct Tier {
    unsigned number = 0; ///< 0: switches with hosts, 1: those next to them, ...
    std::vector<std::pair<std::uint32_t, unsigned>> uplinks; ///< (switch, links up), fewest first
    unsigned fewest() const { return uplinks.empty() ? 0 : uplinks.front().second; }
    unsigned most() const { return uplinks.empty() ? 0 : uplinks.back().second; }
    unsigned usual() const; ///< what most switches of the tier have
    bool uniform() const { return fewest() == most(); }
};

/// Every tier of the fabric that has links to another, or, as in a fabric without spines, links among its own switches:
/// those count there. Links that the map knows from one end only do not count.
std::vector<Tier> tiers_of(const Map &map);

} // namespace fabric_check::fabric
