// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map.hpp"
#include "mad/port_reader.hpp"
#include "snapshot/model.hpp"

namespace fabric_check {

/// A switch port of the map, nothing read yet. `node` must be a switch's number.
SwitchPort switch_port(const fabric::Map &map, std::uint32_t node, unsigned port);

/// Puts into it what the switch told: counters, and state and rate where PortInfo was answered.
void take_reading(const fabric::Map &map, std::uint32_t node, mad::PortReading reading, SwitchPort &port);

} // namespace fabric_check
