// SPDX-License-Identifier: GPL-2.0-or-later
#include "job_fixture.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using testing::BusyJob;
using testing::gigabyte;
using testing::SmallJob;
using testing::unread;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint32_t a = SmallJob::switch_a;

TEST(JobCover, AnEthernetPortThatNothingTellsOfIsLeftOutBesideOthers) {
    BusyJob job;
    for (auto *side : {&job.node(2).start, &job.node(2).end}) {
        HcaPort port = (*side)->ports[0];
        port.device = "mlx5_1";
        port.link_layer = LinkLayer::ethernet;
        port.counters.clear();
        (*side)->ports.push_back(port);
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_THAT(verdict.notes, Contains("port mlx5_1:1 does not count on 1 node: its driver shows no counters of RDMA"));
}

TEST(JobCover, ANodeWithoutAPortIsAGap) {
    BusyJob job;
    job.node(2).start->ports.clear();
    job.node(2).end->ports.clear();
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_THAT(verdict.unread, Contains(unread("node02", "", "no active RDMA port")));
}

TEST(JobCover, ACardThatVanishedIsAGap) {
    BusyJob job;
    HcaPort second_card = job.host_start(2);
    second_card.device = "mlx5_1";
    job.node(2).start->ports.push_back(second_card);
    EXPECT_THAT(job.judge().unread, Contains(unread("node02/mlx5_1:1", "", "gone at end")));
}

TEST(JobCover, ADownPortIsNotTheJobs) {
    BusyJob job;
    for (auto *side : {&job.node(2).start, &job.node(2).end}) {
        HcaPort port = (*side)->ports[0];
        port.device = "mlx5_1";
        port.state = "DOWN";
        port.counters.clear();
        (*side)->ports.push_back(port);
    }
    EXPECT_EQ(job.judge().verdict, "clean");
}

TEST(JobCover, ANodeThatStandsTwiceIsJudgedOnce) {
    BusyJob job;
    job.evidence.nodes.push_back(job.evidence.nodes[0]);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.cover.nodes_expected, 12U);
    EXPECT_THAT(verdict.notes, Contains(HasSubstr("node01 stands twice")));
}

TEST(JobCover, AnAllocatedNodeWithoutEvidenceIsMissing) {
    BusyJob job;
    job.evidence.nodes.pop_back();
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_THAT(verdict.cover.missing, Contains("node12"));
}

TEST(JobCover, ClocksThatStandStillCostTheRatesOnly) {
    BusyJob job;
    job.evidence.scout.end->time_ns = job.evidence.scout.start->time_ns;
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.rest, "clean");
    EXPECT_THAT(verdict.unread, ElementsAre(unread(
                                    "switches", "", "the scouts' second time is not later than the first: no rates")));
}

TEST(JobCover, ClocksThatGoBackwardsLeavePhysicalFindingsAndAnUnknownErrorRate) {
    BusyJob job;
    job.evidence.scout.end->time_ns = job.evidence.scout.start->time_ns - 5;
    job.switch_port(a, 13, "SymbolErrorCounter", 90);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(verdict.hw, HwStatus::unknown);
}

TEST(JobCover, NoEvidenceAtAllIsIncomplete) {
    JobEvidence nothing;
    nothing.job.node_names = {"node01", "node02"};
    const JobVerdict verdict = judge_job(nothing, Config{});
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.cover.nodes_seen, 0U);
    EXPECT_EQ(verdict.cover.nodes_expected, 2U);
    EXPECT_EQ(verdict.rest, "") << "nothing read is not a clean rest";
    EXPECT_THAT(verdict.advice, Not(IsEmpty()));
}

} // namespace
} // namespace fabric_check
