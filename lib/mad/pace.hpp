// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "mad/ceiling.hpp"
#include "mad/transport.hpp"

#include <memory>

namespace fabric_check::mad {

/// How much may be asked at once, and how fast. Signs of overload halve the window; replies win it back by one MAD per
/// window's worth of them. A ceiling holds for any second.
class Pace {
public:
    using TimePoint = Transport::Clock::time_point;
    /// `window`: outstanding MADs, at least 1. `max_per_second`: 0, none.
    /// `shared`: the ceiling is everybody's; it is asked for some MADs at once, a fiftieth of a second's.
    Pace(unsigned window, unsigned max_per_second, std::shared_ptr<SharedCeiling> shared = nullptr);

    unsigned window() const noexcept { return static_cast<unsigned>(window_); }
    /// Does the ceiling allow a MAD now? To be asked when there is one. `end`: when it will be of no use any more.
    bool ready(TimePoint now, TimePoint end) noexcept;
    /// A shared ceiling's next turn would have come too late: ready() will not say yes before that `end`.
    bool too_late() const noexcept { return too_late_; }
    void begin() noexcept { too_late_ = false; } ///< another end
    TimePoint next() const noexcept {
        return shared_ ? allowed_ : allowed_ - tolerance_;
    } ///< when it will, where ready() says no
    void sent(TimePoint now) noexcept;
    void answered();
    /// A MAD sent at `sent` suffered. Of those that were on their way together only the first counts. True: it did.
    bool suffered(TimePoint sent, TimePoint now);

private:
    using Nanoseconds = std::chrono::nanoseconds;
    double window_, full_, least_;
    Nanoseconds interval_{0};  ///< between MADs at the ceiling; 0: no ceiling
    Nanoseconds tolerance_{0}; ///< how far ahead of that pace a burst may run
    TimePoint allowed_{};      ///< when the next MAD were due at an even pace; shared: when those reserved are
    std::shared_ptr<SharedCeiling> shared_;
    unsigned batch_ = 1, reserved_ = 0;
    bool too_late_ = false;
    TimePoint slowed_{};
    bool ever_slowed_ = false;
};

} // namespace fabric_check::mad
