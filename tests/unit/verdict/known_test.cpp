// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/known.hpp"

#include "verdict/job_fixture.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using testing::BusyJob;

constexpr std::int64_t end = 1700000100; ///< of the job

struct KnowingJob : BusyJob {
    JobVerdict judge_knowing(const std::string &place, std::int64_t until) {
        config.known[place] = {"HW-12", until};
        return judge();
    }
};

TEST(KnownLink, IsShownAndDecidesNothing) {
    for (const char *place : {"SwitchA:7<->node07/mlx5_0:1", "node07/mlx5_0:1<->SwitchA:7", "SwitchA:7", "node07/mlx5_0:1"}) {
        KnowingJob job;
        job.host(7, "SymbolErrorCounter", 90);
        const JobVerdict verdict = job.judge_knowing(place, end + 1);
        EXPECT_EQ(verdict.verdict, "clean") << place;
        ASSERT_EQ(verdict.live.size(), 1U) << place;
        EXPECT_EQ(verdict.live[0].note, "known: HW-12");
        EXPECT_FALSE(verdict.live[0].leads);
    }
}

TEST(KnownLink, LeadsAgainWhenTheNoteHasExpired) {
    KnowingJob job;
    job.host(7, "SymbolErrorCounter", 90);
    const JobVerdict verdict = job.judge_knowing("SwitchA:7", end);
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(verdict.because.at(0).note, "known as HW-12, which has expired");
}

TEST(KnownLink, SaysNothingAboutOthers) {
    KnowingJob job;
    job.host(7, "SymbolErrorCounter", 90);
    const JobVerdict verdict = job.judge_knowing("SwitchA:70", end + 1);
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(verdict.because.at(0).note, "");
}

TEST(KnownLink, ExcusesPhysicalFindingsAlone) {
    KnowingJob job;
    job.host(7, "packet_seq_err", 90);
    EXPECT_EQ(job.judge_knowing("node07/mlx5_0:1", end + 1).verdict, "transport-retry");
}

TEST(KnownLink, MakesNoJobUnusableByItsPeggedCounter) {
    KnowingJob job;
    job.set_both(job.host_start(7).counters, job.host_end(7).counters, "LinkDownedCounter", 255);
    EXPECT_EQ(job.judge().verdict, "unusable");
    const JobVerdict verdict = job.judge_knowing("SwitchA:7<->node07/mlx5_0:1", end + 1);
    EXPECT_EQ(verdict.verdict, "clean");
    ASSERT_EQ(verdict.unread.size(), 1U);
    EXPECT_EQ(verdict.unread[0].reason, "saturated (known: HW-12)");
}

TEST(CountersBar, IsTheSites) {
    KnowingJob job;
    job.host(7, "packet_seq_err", 90);
    job.config.thresholds.counters["packet_seq_err"] = {.per_job = 100};
    EXPECT_EQ(job.judge().verdict, "clean");
    job.config.thresholds.counters["packet_seq_err"] = {.per_job = {}, .per_gb = {}, .per_hour = 3000};
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "transport-retry");
    EXPECT_EQ(verdict.because.at(0).note, "more than 3000 per hour");
}

} // namespace
} // namespace fabric_check
