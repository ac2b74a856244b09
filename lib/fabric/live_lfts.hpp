// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "fabric/map.hpp"
#include "snapshot/model.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace fabric_check {
namespace mad {
class Engine;
}
namespace fabric {

/// Routes to follow: from every one of the switches `from` to the host port that has `lid`.
struct Destination {
    std::uint16_t lid = 0;
    std::vector<std::uint32_t> from; ///< indexes into Map::nodes
};

struct LiveLfts {
    std::vector<LftBlock> blocks;        ///< sorted by switch GUID and block
    std::vector<std::uint32_t> switches; ///< every switch a route passed, sorted
    std::vector<Problem> problems;       ///< blocks that did not answer: the map's table was followed there instead
};

/// Reads the forwarding table blocks that hold the destinations' LIDs, live, switch by switch along the routes until
/// no route leads anywhere new. Loops and dead ends simply end the walk. Other requests already submitted to the engine
/// are answered in the same run.
/// `first_visit` is told each switch (index into Map::nodes) once, when a route first comes to it: whoever asks it for
/// something else at once has its silence in the same timeout.
LiveLfts read_live_lfts(mad::Engine &engine, const Map &map, const std::vector<Destination> &destinations,
                        Deadline deadline, const std::function<void(std::uint32_t)> &first_visit = {});

} // namespace fabric
} // namespace fabric_check
