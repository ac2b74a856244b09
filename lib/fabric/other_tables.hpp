// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "fabric/map.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fabric_check::fabric {

/// The map's topology with the forwarding tables of these files alone (any that import_tables() reads); what is wrong with
/// them stands in the problems, those of the map itself do not. Errc::usage: a file that cannot be read.
Result<Map> with_tables(const Map &map, const std::vector<std::string> &files);

/// Entries for these LIDs, at all switches, that differ between two maps of one topology.
std::size_t differing_entries(const Map &one, const Map &other, std::span<const std::uint16_t> lids);

} // namespace fabric_check::fabric
