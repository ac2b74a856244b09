// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace fabric_check::sample {

/// A rate as the ring keeps it: one byte. 0: exactly nothing; 1 to 254: the share of the link's line rate in steps of
/// 0.5 %, to the nearest, never 0 for what was not nothing, 254 for 127 % and more; 255: not known.
inline constexpr std::uint8_t unknown_code = 255;
inline constexpr std::uint8_t highest_rate_code = 254;
inline constexpr double rate_step = 0.005;

/// Of `bytes` in `seconds` on a link of `line_bytes_s`. unknown_code where the time or the line rate is not known.
std::uint8_t rate_code(std::uint64_t bytes, double seconds, double line_bytes_s) noexcept;
/// Bytes per second; not for unknown_code.
double rate_of(std::uint8_t code, double line_bytes_s) noexcept;

/// PortXmitWait's ticks in an interval, four codes for each doubling: an ordering, nothing else. 0: exactly none.
std::uint8_t wait_code(std::uint64_t ticks) noexcept;

} // namespace fabric_check::sample
