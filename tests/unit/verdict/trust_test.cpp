// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/trust.hpp"

#include "verdict/job_fixture.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using testing::SmallJob;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t gigabyte = 1000000000;

Delta moved(std::uint64_t v) { return {v, NoDelta::absent}; }

TEST(DistrustData, MoreThanTheLinkCarriesIsImplausible) {
    // 200 Gb/s for 9 s and a second of slack: 250 GB, and 2 %.
    Deltas deltas{{"PortXmitData", moved(255 * gigabyte / 4)}, {"PortRcvData", moved(256 * gigabyte / 4)}};
    distrust_data(deltas, 200, 9);
    EXPECT_EQ(deltas["PortXmitData"], moved(255 * gigabyte / 4));
    EXPECT_EQ(deltas["PortRcvData"], (Delta{std::nullopt, NoDelta::implausible}));
}

TEST(DistrustData, WithoutRateOrTimeNothingIsImplausible) {
    for (const auto &[gbps, seconds] : {std::pair{0.0, 9.0}, std::pair{200.0, 0.0}}) {
        Deltas deltas{{"PortXmitData", moved(UINT64_MAX / 8)}};
        distrust_data(deltas, gbps, seconds);
        EXPECT_TRUE(deltas["PortXmitData"].value);
    }
}

TEST(DistrustData, NoDataInManyPacketsIsFrozen) {
    Deltas deltas{{"PortXmitData", moved(0)}, {"PortXmitPkts", moved(1000)}, {"PortRcvData", moved(0)}, {"PortRcvPkts", moved(999)}};
    distrust_data(deltas, 200, 9);
    EXPECT_EQ(deltas["PortXmitData"], (Delta{std::nullopt, NoDelta::frozen}));
    EXPECT_EQ(deltas["PortRcvData"], moved(0)) << "management packets alone";
}

const UnreadCounter *unread_of(const JobVerdict &verdict, const std::string &counter) {
    for (const UnreadCounter &unread : verdict.unread) {
        if (unread.counter == counter) {
            return &unread;
        }
    }
    return nullptr;
}

TEST(Ends, ThatAgreeWithinTheirSkewAreNotMentioned) {
    SmallJob job;
    job.ring(100 * gigabyte);
    job.evidence.nodes[0].end->time_ns += 1000000000; // 25 GB of skew
    job.host(1, "PortXmitData", 24 * gigabyte / 4);
    EXPECT_THAT(job.judge().unread, IsEmpty());
}

TEST(Ends, ThatDisagreeAreFlaggedAndHideNothing) {
    SmallJob job;
    job.ring(100 * gigabyte);
    job.host(1, "PortXmitData", 50 * gigabyte / 4);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    const UnreadCounter *unread = unread_of(verdict, "PortXmitData");
    ASSERT_NE(unread, nullptr);
    EXPECT_EQ(unread->where, "node01/mlx5_0:1");
    EXPECT_THAT(unread->reason, HasSubstr("the ends disagree: 150.0GB sent, 100.0GB received"));
}

TEST(Ends, AFrozenEndTakesTheOthersWord) {
    SmallJob job;
    job.ring(100 * gigabyte);
    job.host_end(1).counters["PortXmitData"] = job.host_start(1).counters["PortXmitData"];
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_EQ(verdict.bytes_moved, 12 * 100 * gigabyte);
    const UnreadCounter *unread = unread_of(verdict, "PortXmitData");
    ASSERT_NE(unread, nullptr);
    EXPECT_EQ(unread->reason, "frozen while the port moved data");
}

TEST(Ends, ImplausibleBytesAreTheOtherEndsToo) {
    SmallJob job;
    job.ring(100 * gigabyte);
    job.host(1, "PortXmitData", UINT32_MAX * 1000ULL);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.bytes_moved, 12 * 100 * gigabyte);
    EXPECT_EQ(verdict.verdict, "clean");
}

} // namespace
} // namespace fabric_check
