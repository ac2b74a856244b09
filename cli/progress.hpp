// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace fabric_check::cli {

/// Says on stderr what takes so long, once a second from the second second on, while it lives.
class Progress {
public:
    /// `doing`: "reading the fabric"
    explicit Progress(std::string doing) : doing_(std::move(doing)), ticker_([this] { tick(); }) {}
    ~Progress() {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
        }
        changed_.notify_all();
        ticker_.join();
    }
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    /// `total` 0: not known.
    void report(std::string_view stage, std::size_t done, std::size_t total) {
        const std::lock_guard lock(mutex_);
        stage_ = total != 0 ? fmt::format("{}: {} of {}", stage, done, total) : std::string(stage);
    }

private:
    void tick() {
        std::unique_lock lock(mutex_);
        for (unsigned seconds = 1; !changed_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; }); ++seconds) {
            fmt::print(stderr, "fabric-check: {}, {} s{}{}\n", doing_, seconds, stage_.empty() ? "" : ": ", stage_);
        }
    }

    std::string doing_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false;
    std::string stage_;
    std::thread ticker_; // last: it uses the others
};

} // namespace fabric_check::cli
