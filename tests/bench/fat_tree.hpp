// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map_draft.hpp"

#include <cstdint>

namespace fabric_check::fabric::bench {

/// How the generator chooses among the ways up. Down there is one way only.
enum class Upwards : std::uint8_t {
    by_destination, ///< all switches alike, by the destination's number: what fat-tree engines do
    scattered,      ///< each switch and destination by a hash: what random re-routing does
};

/// A fat tree of three levels of switches with 36 ports: `pods` pods of 18 leaves and 18 switches in the middle, 324
/// switches on top, `hosts` hosts at 18 a leaf. 31 pods: 1,440 switches and up to 10,044 hosts. LIDs from 1, or scrambled
/// by a seeded permutation. Every table has every LID.
MapDraft fat_tree(unsigned pods, unsigned hosts, Upwards upwards, bool scrambled);

} // namespace fabric_check::fabric::bench
