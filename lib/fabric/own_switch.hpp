// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "mad/vl15_watch.hpp"

namespace fabric_check {
namespace fabric {

class Map;
struct MapDraft;

/// Has the engine watched by VL15Dropped of the switch port that faces the port its MADs leave through (mad::watch_vl15).
/// Where the map does not know that port, nothing is watched. A draft must be indexed.
void watch_own_switch(mad::Engine &engine, const Map &map, mad::Vl15Memory memory = nullptr);
void watch_own_switch(mad::Engine &engine, const MapDraft &map);

} // namespace fabric
} // namespace fabric_check
