// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

namespace fabric_check {
namespace {

constexpr unsigned most_workers = 64;

unsigned processors() noexcept {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return static_cast<unsigned>(CPU_COUNT(&set));
    return std::max(std::thread::hardware_concurrency(), 1U);
}

} // namespace

unsigned worker_count(unsigned configured) noexcept {
    return std::clamp(configured == 0 ? processors() : configured, 1U, most_workers);
}

void parallel_for(unsigned workers, std::size_t count, const std::function<void(std::size_t)> &work) {
    std::atomic<std::size_t> next{0};
    std::mutex guard;
    std::exception_ptr failure;
    const auto run = [&]() noexcept {
        for (std::size_t index = next++; index < count; index = next++) {
            try {
                work(index);
            } catch (...) {
                next = count;
                const std::lock_guard lock(guard);
                if (!failure)
                    failure = std::current_exception();
            }
        }
    };
    {
        std::vector<std::jthread> threads;
        const auto wanted = std::min<std::size_t>(workers, count);
        try {
            threads.reserve(wanted);
            while (threads.size() + 1 < wanted)
                threads.emplace_back(run);
        } catch (const std::exception &) { // NOLINT(bugprone-empty-catch): those that there are do all of it
        }
        run();
    }
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace fabric_check
