// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "mad/engine.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace fabric_check::mad {

inline constexpr std::chrono::milliseconds vl15_interval{50};

/// VL15Dropped as it was last read, for who reads the same fabric again and again, each time through another engine.
using Vl15Memory = std::shared_ptr<std::optional<std::uint64_t>>;

/// Reads VL15Dropped of a switch's port through `engine`, first of all and then every vl15_interval while it runs
/// (under a ceiling no more often than it takes a twentieth of it), and slows the engine down each time it has grown:
/// the port facing our own drops our SMPs when they come too fast. With `memory` the first value is held against the
/// last one of an earlier pass. A value at its cap says nothing any more.
void watch_vl15(Engine &engine, std::uint16_t switch_lid, std::uint8_t port, Vl15Memory memory = nullptr);

} // namespace fabric_check::mad
