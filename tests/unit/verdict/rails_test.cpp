// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/job_fixture.hpp"
#include "verdict/links.hpp"
#include "verdict/roce_fixture.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::note_of;
using testing::RoceJob;
using testing::SmallJob;

void put_down(RoceJob &job, unsigned node, unsigned rail) {
    job.bytes(node, rail, 0, 0);
    job.start(node, rail).state = job.end(node, rail).state = "DOWN";
}

TEST(Rails, AllInUseAndEvenIsClean) {
    const RoceJob job(3, 2);
    EXPECT_EQ(job.judge().verdict, "clean");
}
TEST(Rails, OneDownOnOneNodeIsPhysical) {
    RoceJob job(3, 2);
    put_down(job, 2, 1);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(note_of(verdict, "node02/mlx5_1:1", "rail"), "DOWN; in use on 2 of 3 nodes of this kind");
    EXPECT_THAT(verdict.advice, Contains(HasSubstr("Find out why node02/mlx5_1:1 is not in use")));
}
TEST(Rails, OneMissingOnOneNodeIsPhysical) {
    RoceJob job(3, 2);
    job.evidence.nodes[1].start->ports.pop_back();
    job.evidence.nodes[1].end->ports.pop_back();
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(note_of(verdict, "node02/mlx5_1:1", "rail"), "no such port; in use on 2 of 3 nodes of this kind");
}
TEST(Rails, OneThatWentDownDuringTheJobIsToldOnce) {
    RoceJob job(3, 2);
    job.end(2, 1).state = "DOWN";
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(note_of(verdict, "node02/mlx5_1:1", "state"), "ACTIVE at start, DOWN at end");
    EXPECT_EQ(note_of(verdict, "node02/mlx5_1:1", "rail"), "none");
}
TEST(Rails, OneOfTwoNodesIsNoWitness) {
    RoceJob job(2, 2);
    put_down(job, 2, 1);
    EXPECT_EQ(job.judge().verdict, "clean");
}
TEST(Rails, ConfigurationIsAWitnessWhereNodesAreFew) {
    RoceJob job(2, 2);
    job.config.ports.rails = 2;
    EXPECT_EQ(job.judge().verdict, "clean");
    put_down(job, 2, 1);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(note_of(verdict, "node02/mlx5_1:1", "rail"), "DOWN; 1 of 2 rails in use");
    EXPECT_EQ(verdict.because.size(), 1U);
}
TEST(Rails, ConfiguredAndNowhereToBeSeenIsToldOfTheNode) {
    RoceJob job(2, 1);
    job.config.ports.rails = 2;
    EXPECT_EQ(note_of(job.judge(), "node01", "rail"), "1 of 2 rails in use");
}
TEST(Rails, NodesOfAnotherKindAreNoPeers) {
    RoceJob job(4, 2);
    auto &other = job.evidence.nodes[3];
    for (auto *side : {&other.start, &other.end}) {
        (*side)->ports.pop_back();
        (*side)->ports[0].model = "MT4119";
    }
    EXPECT_EQ(job.judge().verdict, "clean");
}
TEST(Rails, OneExcludedIsNotMissed) {
    RoceJob job(3, 2);
    put_down(job, 2, 1);
    job.config.ports.exclude = {"mlx5_1"};
    EXPECT_EQ(job.judge().verdict, "clean");
}
TEST(Rails, OneAtAFewPerCentOfTheBytesIsShownAndDoesNotLead) {
    RoceJob job(3, 2);
    job.bytes(2, 1, RoceJob::gigabyte / 20, 0);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_EQ(note_of(verdict, "node02/mlx5_1:1", "rail"), "moved 50.0MB, mlx5_0:1 of the same node 1.0GB");
    EXPECT_THAT(verdict.advice, Contains(HasSubstr("The rails of a node did not share its traffic (node02/mlx5_1:1)")));
}
TEST(Rails, ARatioOfTwoIsNotOverIt) {
    RoceJob job(1, 2);
    job.bytes(1, 1, RoceJob::gigabyte / 2, 0);
    EXPECT_EQ(note_of(job.judge(), "node01/mlx5_1:1", "rail"), "none");
    job.bytes(1, 1, RoceJob::gigabyte / 2 - 4, 0);
    EXPECT_THAT(note_of(job.judge(), "node01/mlx5_1:1", "rail"), HasSubstr("of the same node 1.0GB"));
}
TEST(Rails, LittleTrafficSharesItselfOutAsItLikes) {
    RoceJob job(1, 2);
    job.bytes(1, 0, 99000000, 0);
    job.bytes(1, 1, 4, 0);
    EXPECT_EQ(note_of(job.judge(), "node01/mlx5_1:1", "rail"), "none");
}
TEST(Rails, OfTwoLinkLayersAreNotCompared) {
    SmallJob job;
    job.ring(testing::gigabyte);
    for (unsigned i = 1; i <= SmallJob::nodes; ++i) {
        job.node(i).start->ports.push_back(RoceJob::port("mlx5_5", "ens6"));
        HcaPort moved = RoceJob::port("mlx5_5", "ens6");
        moved.counters["PortXmitData"] = Reading::of(50000000); // 0.2 GB
        job.node(i).end->ports.push_back(moved);
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_EQ(note_of(verdict, "node01/mlx5_5:1", "rail"), "none");
}
TEST(Rails, AnInfiniBandPortThatIsDownOnOneNodeIsPhysical) {
    SmallJob job;
    job.ring(testing::gigabyte);
    for (unsigned i = 1; i <= SmallJob::nodes; ++i) {
        for (auto *side : {&job.node(i).start, &job.node(i).end}) {
            HcaPort second = (*side)->ports[0];
            second.device = "mlx5_1";
            second.guid += 0x100;
            second.lid = static_cast<std::uint16_t>(second.lid + 40);
            second.state = i == 4 ? "DOWN" : "ACTIVE";
            (*side)->ports.push_back(second);
        }
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(note_of(verdict, "node04/mlx5_1:1", "rail"), "DOWN; in use on 11 of 12 nodes of this kind");
}

TEST(Rails, APortOfAnotherSubnetIsNotTakenForTheOneWithItsLid) {
    SmallJob job;
    job.ring(testing::gigabyte);
    for (auto *side : {&job.node(1).start, &job.node(1).end}) {
        HcaPort second = (*side)->ports[0];
        second.device = "mlx5_1";
        second.guid = 0xbeef;
        (*side)->ports.insert((*side)->ports.begin(), second);
    }
    const JobVerdict verdict = job.judge();
    for (const PortResult &port : verdict.ports) {
        if (port.where == "node01/mlx5_1:1") {
            EXPECT_EQ(port.map_node, fabric::no_node);
        } else if (port.where == "node01/mlx5_0:1") {
            EXPECT_EQ(port.map_node, SmallJob::node_index(1));
        }
    }
    EXPECT_THAT(verdict.unread, Contains(::testing::Field(&UnreadCounter::where, "node01/mlx5_1:1")));
}

} // namespace
} // namespace fabric_check
