// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/codes.hpp"

#include <algorithm>
#include <cmath>

namespace fabric_check::sample {

std::uint8_t rate_code(std::uint64_t bytes, double seconds, double line_bytes_s) noexcept {
    if (!(seconds > 0) || !(line_bytes_s > 0))
        return unknown_code;
    if (bytes == 0)
        return 0;
    const double steps = std::round(static_cast<double>(bytes) / seconds / line_bytes_s / rate_step);
    return static_cast<std::uint8_t>(std::clamp(steps, 1.0, double{highest_rate_code}));
}

double rate_of(std::uint8_t code, double line_bytes_s) noexcept { return code * rate_step * line_bytes_s; }

std::uint8_t wait_code(std::uint64_t ticks) noexcept {
    if (ticks == 0)
        return 0;
    return static_cast<std::uint8_t>(std::min(1 + std::floor(4 * std::log2(static_cast<double>(ticks))), 254.0));
}

} // namespace fabric_check::sample
