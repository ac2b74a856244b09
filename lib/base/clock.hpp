// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>

namespace fabric_check {

std::int64_t wall_ns() noexcept; ///< since the epoch

/// A moment on the steady clock after which work stops.
class Deadline {
public:
    using Clock = std::chrono::steady_clock;
    static Deadline after(std::chrono::milliseconds duration) { return Deadline(Clock::now() + duration); }
    static Deadline never() { return Deadline(Clock::time_point::max()); }
    bool passed() const noexcept { return Clock::now() >= at_; }
    std::chrono::milliseconds left() const noexcept; ///< zero when passed

private:
    explicit Deadline(Clock::time_point at) : at_(at) {}
    Clock::time_point at_;
};

} // namespace fabric_check
