// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/pace.hpp"

#include <algorithm>
#include <utility>

namespace fabric_check::mad {

namespace {

constexpr double floor_of_window = 4;
// Waits are in milliseconds, so a ceiling of more than a thousand a second needs some MADs at once.
constexpr unsigned bursts_per_second = 100, batches_per_second = 50;

} // namespace

Pace::Pace(unsigned window, unsigned max_per_second, std::shared_ptr<SharedCeiling> shared)
    : window_(std::max(window, 1U)), full_(window_), least_(std::min(floor_of_window, window_)) {
    if (max_per_second == 0)
        return;
    shared_ = std::move(shared);
    batch_ = std::max(1U, max_per_second / batches_per_second);
    // A second may begin with a whole burst: what flows in during it is that much less.
    const unsigned burst = max_per_second / bursts_per_second;
    const std::int64_t rate = std::max(1U, max_per_second - burst);
    interval_ = Nanoseconds((1000000000 + rate - 1) / rate);
    tolerance_ = interval_ * (burst > 0 ? burst - 1 : 0);
}

bool Pace::ready(TimePoint now, TimePoint end) noexcept {
    if (!shared_)
        return interval_.count() == 0 || allowed_ - tolerance_ <= now;
    if (reserved_ == 0 && !too_late_) {
        const auto wait = shared_->reserve(batch_, end - now);
        too_late_ = !wait;
        allowed_ = now + wait.value_or(Nanoseconds(0));
        reserved_ = wait ? batch_ : 0;
    }
    return reserved_ > 0 && allowed_ <= now;
}

void Pace::sent(TimePoint now) noexcept {
    if (shared_)
        --reserved_;
    else
        allowed_ = std::max(allowed_, now) + interval_;
}

void Pace::answered() {
    if (window_ < full_)
        window_ = std::min(full_, window_ + 1 / window_);
}

bool Pace::suffered(TimePoint sent, TimePoint now) {
    if (ever_slowed_ && sent < slowed_)
        return false;
    ever_slowed_ = true;
    slowed_ = now;
    window_ = std::max(least_, window_ / 2);
    return true;
}

} // namespace fabric_check::mad
