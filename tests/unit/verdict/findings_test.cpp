// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/findings.hpp"

#include "job_fixture.hpp"
#include "report/report.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using testing::BusyJob;
using testing::finding;
using testing::gigabyte;
using testing::SmallJob;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint32_t a = SmallJob::switch_a;

TEST(Findings, BlocksBeyondRepairFailTheHardwareThatSymbolErrorsAlonePass) {
    for (const char *counter : {"PortFECUncorrectableBlockCtr", "FECUncorrectableBlockCtrLane2"}) {
        BusyJob job;
        job.switch_port(a, 13, "SymbolErrorCounter", 20); // in 2.1e13 bits: not more than 1e-12 of them
        job.set_both(job.switch_start(a, 13).counters, job.switch_end(a, 13).counters, counter, 7);
        EXPECT_EQ(job.judge().hw, HwStatus::pass) << counter;
        job.switch_port(a, 13, counter, 30);
        EXPECT_EQ(job.judge().hw, HwStatus::fail) << counter;
    }
}

TEST(Findings, RepairedBlocksSayNothingAgainstTheHardware) {
    BusyJob job;
    job.switch_port(a, 13, "SymbolErrorCounter", 20);
    job.set_both(job.switch_start(a, 13).counters, job.switch_end(a, 13).counters, "PortFECCorrectableBlockCtr", 7);
    job.switch_port(a, 13, "PortFECCorrectableBlockCtr", 1000000);
    EXPECT_EQ(job.judge().hw, HwStatus::pass);
}

TEST(Findings, TheAdviceOnDiscardsIsWhatTheirDetailsTell) {
    const auto advice = [](const char *detail) {
        BusyJob job;
        job.switch_port(a, 7, "PortXmitDiscards", 500);
        if (*detail != '\0') {
            job.set_both(job.switch_start(a, 7).counters, job.switch_end(a, 7).counters, detail, 3);
            job.switch_port(a, 7, detail, 500);
        }
        job.set_both(job.switch_start(a, 8).counters, job.switch_end(a, 8).counters, "PortNeighborMTUDiscards", 3);
        job.switch_port(a, 8, "PortNeighborMTUDiscards", 500); // of a port that is not the cause
        const JobVerdict verdict = job.judge();
        EXPECT_EQ(verdict.verdict, "lossless-broken");
        return verdict.advice;
    };
    EXPECT_THAT(advice("PortSwHOQLifetimeLimitDiscards"), Contains(HasSubstr("head of a queue past the switch's HOQ")));
    EXPECT_THAT(advice("PortInactiveDiscards"), Contains(HasSubstr("a port that was not active")));
    EXPECT_THAT(advice("PortSwLifetimeLimitDiscards"), Contains(HasSubstr("older than the switch's lifetime limit")));
    EXPECT_THAT(advice(""), ElementsAre(HasSubstr("see whether the port was down, or whether the receiver")));
}

TEST(Findings, TellsWhatMovedWithoutBeingJudged) {
    BusyJob job;
    for (const char *name : {"PortRcvRemotePhysicalErrors", "PortUnicastXmitPkts", "PortXmitWait"}) {
        job.set_both(job.switch_start(a, 7).counters, job.switch_end(a, 7).counters, name, 3);
        job.switch_port(a, 7, name, 40);
    }
    job.set_both(job.host_start(5).counters, job.host_end(5).counters, "out_of_buffer", 0);
    job.host(5, "out_of_buffer", 8);
    job.config.thresholds.counters["SymbolErrorCounter"].per_job = 10;
    job.switch_port(a, 13, "SymbolErrorCounter", 10);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_THAT(verdict.live, IsEmpty());
    ASSERT_THAT(verdict.told, ElementsAre(finding("SwitchA:7<->node07/mlx5_0:1", "PortRcvRemotePhysicalErrors", 40),
                                          finding("SwitchA:13<->SwitchB:25", "SymbolErrorCounter", 10),
                                          finding("node05/mlx5_0:1", "out_of_buffer", 8)))
        << "traffic and waiting are told elsewhere";
    EXPECT_EQ(verdict.told[0].note, "not judged");
    EXPECT_EQ(verdict.told[1].note, "below its bar");
    const auto text = report_text(report_json(job.evidence, verdict), false);
    EXPECT_THAT(text, HasSubstr("What moved and is not judged"));
    EXPECT_THAT(text, HasSubstr("the fault is on an earlier link"));
}

TEST(Findings, RetriesBesideAKnownLinkMayFollowFromIt) {
    BusyJob job;
    job.host(7, "packet_seq_err", 90);
    job.switch_port(a, 7, "SymbolErrorCounter", 40);
    job.config.known["SwitchA:7"] = {"HW-12", 1'800'000'000};
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "transport-retry");
    EXPECT_THAT(verdict.advice, Contains(HasSubstr("follow from the fault of SwitchA:7<->node07/mlx5_0:1")));
    EXPECT_THAT(verdict.advice, Not(Contains(HasSubstr("without a link reporting errors"))));
}

/// Hosts of one 4X HDR port each, read 100 s apart: 2.1e13 bits a port. No map, no scout.
JobEvidence many_hosts(unsigned count) {
    JobEvidence evidence;
    evidence.job.state = "COMPLETED";
    SmallJob template_job;
    for (unsigned i = 1; i <= count; ++i) {
        NodeEvidence node = template_job.node(1);
        node.node = fmt::format("node{:04}", i);
        node.start->node = node.end->node = node.node;
        node.start->ports[0].guid = node.end->ports[0].guid = 0x9000 + i;
        node.end->ports[0].counters["PortXmitData"] = Reading::of(gigabyte, 64);
        evidence.job.node_names.push_back(node.node);
        evidence.nodes.push_back(std::move(node));
    }
    return evidence;
}

TEST(Findings, TwoThousandGoodPortsAreNotBadHardware) {
    JobEvidence evidence = many_hosts(2000);
    // A bit-error rate of 1e-15 over 2000 x 2.1e13 bits: 42 symbol errors, each at another port.
    for (std::size_t i = 0; i < 42; ++i) {
        evidence.nodes[i * 47].end->ports[0].counters["SymbolErrorCounter"] = Reading::of(11);
    }
    JobVerdict verdict = judge_job(evidence, Config{});
    EXPECT_EQ(verdict.verdict, "physical") << "nothing is tolerated";
    EXPECT_EQ(verdict.because.size(), 42U);
    EXPECT_EQ(verdict.hw, HwStatus::pass) << "and nothing is wrong";
    evidence.nodes[0].end->ports[0].counters["SymbolErrorCounter"] = Reading::of(10 + 22); // 1.04e-12 of its bits
    EXPECT_EQ(judge_job(evidence, Config{}).hw, HwStatus::fail);
}

TEST(Findings, OfTwoNodesTheNarrowOneIsFoundByTheHostsBesideThem) {
    BusyJob job;
    job.evidence.nodes.resize(2);
    job.evidence.job.node_names.resize(2);
    for (auto *scout : {&job.evidence.scout.start, &job.evidence.scout.end}) {
        std::erase_if((*scout)->hosts, [](const HostMatch &host) { return !host.service && host.node > "node02"; });
    }
    EXPECT_EQ(job.judge().verdict, "clean");
    job.switch_start(a, 2).rate = job.switch_end(a, 2).rate = testing::narrow_hdr();
    const JobVerdict verdict = job.judge();
    ASSERT_THAT(verdict.because, ElementsAre(finding("SwitchA:2<->node02/mlx5_0:1", "width", 0)));
    EXPECT_EQ(verdict.because[0].note, "1X, the other hosts at its switch have 4X");
}

} // namespace
} // namespace fabric_check
