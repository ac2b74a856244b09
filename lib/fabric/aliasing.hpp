// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/routes.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace fabric_check::fabric {

/// The order in which an engine hands out the ports of a group, LID by LID.
enum class DealOrder : std::uint8_t {
    lid_value,    ///< none: by the LID's value itself, gaps included
    by_lid,       ///< the LIDs routed over the group's ports, in their order
    by_guid,      ///< the same by port GUID
    by_leaf_port, ///< opensm's: switches with most hosts first, then by port number
};
const char *to_string(DealOrder order) noexcept; ///< "lid-value", "lid-order", "guid-order", "leaf-port-order"

/// Why LIDs share links: they fall into few of the classes by which the table hands out its ports.
struct Aliasing {
    DealOrder order = DealOrder::lid_value;
    unsigned modulus = 0;
    std::vector<unsigned> residues; ///< the classes, sorted
    unsigned lids = 0;              ///< of the group's LIDs, those in these classes
    unsigned of = 0;                ///< all LIDs of the group
    unsigned links = 0;             ///< links that those in the classes use
    unsigned available = 0;
    double chance = 1; ///< that as many LIDs drawn at random would look so by any of the patterns looked for: a bound
};

/// Looks for such a pattern in a group of `routes`. Nothing where the group is even, has fewer than four LIDs, where chance
/// alone would do it in one of a hundred cases, or where the table's other LIDs do not follow the pattern.
std::optional<Aliasing> find_aliasing(const LftView &lfts, const Group &group);

} // namespace fabric_check::fabric
