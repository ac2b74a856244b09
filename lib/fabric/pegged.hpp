// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "fabric/map.hpp"
#include "mad/engine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fabric_check::fabric {

/// An error counter of a switch port that stands at its cap and so says nothing any more.
struct PeggedCounter {
    std::uint32_t node = no_node; ///< index into Map::nodes
    std::uint8_t port = 0;
    std::string counter;
    std::uint64_t value = 0; ///< the cap
    bool reset = false;      ///< reset_pegged: read again, and no longer at its cap
    std::string problem;     ///< reset_pegged: why it was not
};

struct Pegged {
    std::vector<PeggedCounter> counters; ///< by node, port and name
    std::vector<Problem> problems;       ///< switches and ports that could not be read
};

/// Reads the counters of every linked switch port of the map. Only error counters that are read from narrow fields can
/// be pegged: 64-bit copies never are. Hosts are not asked.
Pegged find_pegged(mad::Engine &engine, const Map &map, Deadline deadline);

/// Sets to zero exactly these counters, each by its bit in PortCounters' CounterSelect, and reads them again. Whatever
/// else the port counts is left alone.
void reset_pegged(mad::Engine &engine, const Map &map, std::vector<PeggedCounter> &counters, Deadline deadline);

} // namespace fabric_check::fabric
