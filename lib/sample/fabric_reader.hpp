// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "config/config.hpp"
#include "mad/engine.hpp"
#include "mad/vl15_watch.hpp"
#include "sample/layout.hpp"
#include "sample/pass.hpp"

#include <atomic>

namespace fabric_check::sample {

/// Reads all ports of a layout, as a scout reads them, the same port of every switch before the next. Asks for a few
/// hundred ports at a time. VL15Dropped of our own port's switch is watched; `memory` keeps it from pass to pass. A
/// port that does not answer until the deadline has its reason in its readings. An error: the transport failed.
Result<Pass> read_fabric(mad::Engine &engine, const fabric::Map &map, const Layout &layout, const Config &config,
                         const Deadline &deadline, mad::Vl15Memory memory = nullptr);

/// A transport that fails as soon as somebody wants the process to end: a pass over thousands of ports is not waited for.
class Interruptible final : public mad::Transport {
public:
    Interruptible(mad::Transport &inner, const std::atomic<bool> &ended) : inner_(&inner), ended_(&ended) {}
    Status send(const mad::Address &to, const mad::Mad &mad, std::chrono::milliseconds timeout) override;
    Result<mad::Received> receive(std::chrono::milliseconds wait) override;
    Clock::time_point now() const override { return inner_->now(); }
    unsigned max_outstanding() const override { return inner_->max_outstanding(); }
    std::optional<unsigned> index_of_pkey(std::uint16_t pkey) const override { return inner_->index_of_pkey(pkey); }

private:
    mad::Transport *inner_;
    const std::atomic<bool> *ended_;
};

} // namespace fabric_check::sample
