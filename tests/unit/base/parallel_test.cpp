// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace fabric_check {
namespace {

TEST(ParallelFor, DoesEachOnce) {
    for (const unsigned workers : {1U, 2U, 7U}) {
        std::vector<std::atomic<int>> done(1000);
        parallel_for(workers, done.size(), [&](std::size_t i) { ++done[i]; });
        for (const auto &count : done)
            ASSERT_EQ(count, 1) << workers;
    }
}

TEST(ParallelFor, WithOneWorkerGoesInOrderOnTheCallersThread) {
    std::vector<std::size_t> order;
    const auto caller = std::this_thread::get_id();
    parallel_for(1, 5, [&](std::size_t i) {
        order.push_back(i);
        EXPECT_EQ(std::this_thread::get_id(), caller);
    });
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(ParallelFor, ThrowsTheFirstExceptionInTheCaller) {
    std::atomic<int> done{0};
    EXPECT_THROW(parallel_for(4, 1'000'000,
                              [&](std::size_t i) {
                                  ++done;
                                  if (i == 3)
                                      throw std::runtime_error("three");
                              }),
                 std::runtime_error);
    EXPECT_LT(done, 1'000'000);
}

TEST(ParallelFor, OfNothingDoesNothing) {
    parallel_for(4, 0, [](std::size_t) { FAIL(); });
}

TEST(WorkerCount, IsAtLeastOneAndBounded) {
    EXPECT_GE(worker_count(0), 1U);
    EXPECT_EQ(worker_count(3), 3U);
    EXPECT_EQ(worker_count(1'000'000), 64U);
}

} // namespace
} // namespace fabric_check
