// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/codes.hpp"

#include <gtest/gtest.h>

namespace fabric_check::sample {
namespace {

constexpr double line = 25e9;

TEST(RateCode, ZeroIsExactlyNothing) {
    EXPECT_EQ(rate_code(0, 30, line), 0);
    EXPECT_EQ(rate_code(1, 30, line), 1);
}

TEST(RateCode, TheBarOfAHotPortIsWithinAQuarterOfAPerCent) {
    for (double share = 0.01; share < 1.2; share += 0.0013) {
        const auto bytes = static_cast<std::uint64_t>(share * line * 30);
        EXPECT_NEAR(rate_of(rate_code(bytes, 30, line), line) / line, share, 0.0026);
    }
}

TEST(RateCode, BeyondItsRangeItSaturatesAndIsNotUnknown) {
    EXPECT_EQ(rate_code(UINT64_MAX, 0.001, line), highest_rate_code);
    EXPECT_EQ(rate_code(static_cast<std::uint64_t>(line * 1.27), 1, line), highest_rate_code);
}

TEST(RateCode, WithoutTimeOrLineRateItIsUnknown) {
    EXPECT_EQ(rate_code(5, 0, line), unknown_code);
    EXPECT_EQ(rate_code(5, -1, line), unknown_code);
    EXPECT_EQ(rate_code(5, 1, 0), unknown_code);
}

TEST(WaitCode, KeepsTheOrderOfUnequalWaits) {
    EXPECT_EQ(wait_code(0), 0);
    EXPECT_EQ(wait_code(1), 1);
    std::uint8_t last = 0;
    for (std::uint64_t ticks = 1; ticks < UINT64_MAX / 16; ticks = ticks * 5 / 4 + 1) {
        const std::uint8_t code = wait_code(ticks);
        EXPECT_GE(code, last);
        EXPECT_GT(wait_code(2 * ticks), code);
        last = code;
    }
    EXPECT_LT(wait_code(UINT64_MAX), unknown_code);
}

} // namespace
} // namespace fabric_check::sample
