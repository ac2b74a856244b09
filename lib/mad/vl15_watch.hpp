// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "mad/engine.hpp"

#include <chrono>
#include <cstdint>

namespace fabric_check::mad {

inline constexpr std::chrono::milliseconds vl15_interval{250};

/// Reads VL15Dropped of a switch's port through `engine` now and then, in its runs that last longer than vl15_interval,
/// and slows the engine down each time it has grown: the port facing our own drops our SMPs when they come too fast.
/// A value at its cap says nothing any more.
void watch_vl15(Engine &engine, std::uint16_t switch_lid, std::uint8_t port);

} // namespace fabric_check::mad
