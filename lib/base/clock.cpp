// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"

namespace fabric_check {

std::int64_t wall_ns() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::chrono::milliseconds Deadline::left() const noexcept {
    const auto now = Clock::now();
    if (now >= at_) {
        return std::chrono::milliseconds::zero();
    }
    return std::chrono::ceil<std::chrono::milliseconds>(at_ - now);
}

} // namespace fabric_check
