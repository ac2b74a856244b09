// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/links.hpp"
#include "verdict/job_fixture.hpp"
#include "verdict/roce_fixture.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::note_of;
using testing::RoceJob;
using testing::SmallJob;

constexpr const char *first = "node01/mlx5_0:1";

TEST(PciExpress, NarrowerThanItsPeersAndThanTheCardCanIsPhysical) {
    RoceJob job;
    for (HcaPort *port : {&job.start(1), &job.end(1)}) {
        port->pcie.lanes = 8;
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(note_of(verdict, first, "pcie"), "8x 16 GT/s, the card can 16x 16 GT/s and its peers run faster");
    EXPECT_THAT(verdict.notes, Contains("PCI Express of the job's MT4125 cards: 3 at 16x 16 GT/s, 1 at 8x 16 GT/s"));
    EXPECT_EQ(verdict.hw, HwStatus::fail);
    EXPECT_THAT(verdict.advice, Contains(HasSubstr("Reseat the card of node01/mlx5_0:1")));
    EXPECT_THAT(verdict.advice, Not(Contains(HasSubstr("optics"))));
}
TEST(PciExpress, SlowerThanItsPeersIsPhysical) {
    RoceJob job(2);
    for (HcaPort *port : {&job.start(1), &job.end(1)}) {
        port->pcie.gts = 8;
    }
    EXPECT_EQ(note_of(job.judge(), first, "pcie"), "16x 8 GT/s, the card can 16x 16 GT/s and its peers run faster");
}
TEST(PciExpress, WhereAllAreAsLowItIsShownAndDoesNotLead) {
    RoceJob job;
    job.everywhere([](HcaPort &port) { port.pcie.lanes = 8; });
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_THAT(verdict.notes, Contains(HasSubstr("PCI Express: 4 cards of kind MT4125 run below what the card can")));
}
TEST(PciExpress, BelowItsPeersAtItsOwnMaximumIsAnotherCard) {
    RoceJob job;
    for (HcaPort *port : {&job.start(1), &job.end(1)}) {
        port->pcie = {8, 8, 16, 16};
    }
    EXPECT_EQ(job.judge().verdict, "clean");
}
TEST(PciExpress, OtherKindsOfCardsAreNoPeers) {
    RoceJob job(4);
    for (HcaPort *port : {&job.start(1), &job.end(1)}) {
        port->model = "MT4119";
        port->pcie = {8, 16, 8, 16};
    }
    EXPECT_EQ(job.judge().verdict, "clean");
}
TEST(PciExpress, HalfOfThePeersAreNotEnough) {
    RoceJob job(5);
    for (const unsigned node : {1U, 2U, 3U}) {
        job.start(node).pcie.lanes = job.end(node).pcie.lanes = 8;
    }
    EXPECT_EQ(job.judge().verdict, "clean") << "2 of 4 peers run faster";
}
TEST(PciExpress, OneNodesOwnCardsAreComparedWhereThereIsNoOtherNode) {
    RoceJob job(1, 4);
    job.start(1, 2).pcie.lanes = job.end(1, 2).pcie.lanes = 4;
    EXPECT_THAT(note_of(job.judge(), "node01/mlx5_2:1", "pcie"), HasSubstr("4x 16 GT/s, "));
}
TEST(PciExpress, ASlotThatIsNarrowOnEveryNodeIsComparedWithItself) {
    RoceJob job(4, 2);
    job.everywhere([](HcaPort &port) { port.pcie.lanes = 8; }, 1);
    EXPECT_EQ(job.judge().verdict, "clean");
}
TEST(PciExpress, PolicyIsAFindingEvenWhereAllAgree) {
    RoceJob job;
    job.config.policy.pcie = "16x 32GT/s";
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(verdict.because.size(), 4U);
    EXPECT_EQ(note_of(verdict, first, "pcie"), "16x 16 GT/s, the site's policy is 16x 32 GT/s");
    job.config.policy.pcie = "16x 16GT/s";
    EXPECT_EQ(job.judge().verdict, "clean");
}
TEST(PciExpress, AChangeDuringTheJobIsAFinding) {
    RoceJob job;
    job.end(1).pcie.lanes = 8;
    job.start(2).pcie.gts = 2.5;
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(note_of(verdict, first, "pcie"),
              "16x 16 GT/s at start, 8x 16 GT/s at end; 8x 16 GT/s, the card can 16x 16 GT/s and its peers run faster");
    EXPECT_EQ(note_of(verdict, "node02/mlx5_0:1", "pcie"), "16x 2.5 GT/s at start, 16x 16 GT/s at end");
    EXPECT_THAT(verdict.advice, Contains(HasSubstr("It changed during the job")));
}
TEST(PciExpress, OfPortsOfOneCardIsToldOnce) {
    RoceJob job;
    for (unsigned i = 1; i <= 4; ++i) {
        for (auto *side : {&job.evidence.nodes[i - 1].start, &job.evidence.nodes[i - 1].end}) {
            HcaPort second = (*side)->ports[0];
            second.number = 2;
            (*side)->ports.push_back(second);
        }
    }
    for (auto *side : {&job.evidence.nodes[0].start, &job.evidence.nodes[0].end}) {
        (*side)->ports[0].pcie.lanes = (*side)->ports[1].pcie.lanes = 8;
    }
    EXPECT_EQ(job.judge().because.size(), 1U);
}
TEST(PciExpress, OfWhichNothingIsKnownIsNoFinding) {
    RoceJob job;
    job.config.policy.pcie = "16x 16GT/s";
    job.everywhere([](HcaPort &port) { port.pcie = {}; });
    EXPECT_EQ(job.judge().verdict, "clean");
}

TEST(WidthAndSpeed, BelowPolicyIsAFindingEvenWhereAllAgree) {
    SmallJob job;
    job.ring(testing::gigabyte);
    job.config.policy.speed = "HDR";
    job.config.policy.width = "4X";
    EXPECT_EQ(job.judge().verdict, "clean") << "as fast as it should be";
    job.config.policy.speed = "NDR";
    JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(note_of(verdict, "SwitchA:1<->node01/mlx5_0:1", "speed"), "HDR, the site's policy is NDR");
    job.config.policy = {.width = "8X", .speed = "", .pcie = ""};
    verdict = job.judge();
    EXPECT_EQ(note_of(verdict, "SwitchA:1<->node01/mlx5_0:1", "width"), "4X, the site's policy is 8X");
}
TEST(WidthAndSpeed, BothEndsOfALinkMakeOneFinding) {
    SmallJob job;
    job.ring(testing::gigabyte);
    job.config.policy.speed = "NDR";
    const JobVerdict verdict = job.judge();
    const auto count = std::count_if(verdict.live.begin(), verdict.live.end(), [](const Finding &finding) {
        return finding.where == "SwitchA:1<->node01/mlx5_0:1";
    });
    EXPECT_EQ(count, 1);
}
TEST(WidthAndSpeed, AChangeDuringTheJobIsAFinding) {
    SmallJob job;
    job.ring(testing::gigabyte);
    job.switch_end(SmallJob::switch_a, 5).rate = testing::narrow_hdr();
    job.host_end(5).rate = testing::narrow_hdr();
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(note_of(verdict, "SwitchA:5<->node05/mlx5_0:1", "width"),
              "4X at start, 1X at end; 1X, the job's other nodes have 4X");
}
TEST(WidthAndSpeed, AnEthernetPortIsComparedByItsRateAlone) {
    RoceJob job;
    job.everywhere([](HcaPort &port) { port.rate = {2, "HDR", 100, 53.125}; });
    for (HcaPort *port : {&job.start(1), &job.end(1)}) {
        port->rate = {4, "EDR", 100, 25.78125}; // another name for the same rate
    }
    EXPECT_EQ(job.judge().verdict, "clean");
    for (HcaPort *port : {&job.start(1), &job.end(1)}) {
        port->rate = {1, "EDR", 25, 25.78125};
    }
    EXPECT_EQ(note_of(job.judge(), first, "speed"), "25 Gb/s, the job's other nodes have 100");
}
TEST(WidthAndSpeed, AnEthernetPortThatChangedItsRateIsAFinding) {
    RoceJob job(1);
    job.end(1).rate.data_gbps = 40;
    EXPECT_EQ(note_of(job.judge(), first, "speed"), "100 Gb/s at start, 40 at end");
}
TEST(WidthAndSpeed, ALinkThatWentDownAndCameBackSaysSo) {
    SmallJob job;
    job.ring(testing::gigabyte);
    job.switch_port(SmallJob::switch_a, 3, "LinkDownedCounter", 1);
    EXPECT_EQ(note_of(job.judge(), "SwitchA:3<->node03/mlx5_0:1", "LinkDownedCounter"), "went down and came back");
    job.switch_end(SmallJob::switch_a, 3).state = "DOWN";
    EXPECT_EQ(note_of(job.judge(), "SwitchA:3<->node03/mlx5_0:1", "LinkDownedCounter"), "");
}
TEST(WidthAndSpeed, OfAHostThatRebootedProvesNothing) {
    RoceJob job(1); // without peers
    job.evidence.nodes[0].end->boot_id = "another";
    job.end(1).pcie.lanes = 8;
    job.end(1).rate.data_gbps = 40;
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    ASSERT_FALSE(verdict.unread.empty());
    EXPECT_EQ(verdict.unread[0].reason, "rebooted");
    EXPECT_THAT(note_of(verdict, first, "pcie"), Not(HasSubstr("at start")));
}

TEST(Lmc, BaseLidsAreJudgedAndAlternatesAreShownApart) {
    SmallJob job;
    job.ring(testing::gigabyte);
    const JobVerdict without = job.judge();
    EXPECT_THAT(without.notes, Not(Contains(HasSubstr("LMC"))));
    // Two LIDs for each of the job's ports would collide with the next one's: the alternates lie 32 higher.
    for (unsigned i = 1; i <= SmallJob::nodes; ++i) {
        const auto base = static_cast<std::uint16_t>(100 + 2 * i);
        fabric::DraftPort &port = job.map.nodes[SmallJob::node_index(i)].ports[1];
        port.lid = base;
        port.lmc = 1;
        for (const std::uint32_t at : {SmallJob::switch_a, SmallJob::switch_b}) {
            auto &lft = job.map.nodes[at].lft;
            lft.resize(160, fabric::no_route);
            lft[base] = lft[SmallJob::node_lid(i)];
            lft[base + 1] = at == SmallJob::switch_a ? lft[SmallJob::node_lid(i)] : std::uint8_t{25};
        }
        for (HcaPort *side : {&job.host_start(i), &job.host_end(i)}) {
            side->lid = base;
            side->lmc = 1;
        }
    }
    for (auto *scout : {&job.evidence.scout.start, &job.evidence.scout.end}) {
        (*scout)->lfts.clear();
        for (HostMatch &match : (*scout)->hosts) {
            match.lid = match.service ? match.lid : static_cast<std::uint16_t>(100 + 2 * (match.lid - 2));
        }
    }
    job.map.index();
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean") << (verdict.unread.empty() ? "" : verdict.unread[0].reason);
    EXPECT_EQ(verdict.route, without.route);
    EXPECT_EQ(verdict.cover.ports_expected, without.cover.ports_expected);
    EXPECT_THAT(verdict.notes, Contains("LMC: 12 of the job's ports have up to 2 LIDs; the base LIDs are judged, the "
                                        "others are shown apart"));
}

} // namespace
} // namespace fabric_check
