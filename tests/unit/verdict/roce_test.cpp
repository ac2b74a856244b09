// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/line.hpp"
#include "report/report.hpp"
#include "verdict/job_fixture.hpp"
#include "verdict/port_use.hpp"
#include "verdict/roce_fixture.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace fabric_check {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RoceJob;
using testing::SmallJob;

std::string because(const JobVerdict &verdict) {
    std::string text;
    for (const Finding &finding : verdict.because) {
        text += (text.empty() ? "" : " ") + finding.where + "/" + finding.counter;
    }
    return text;
}

TEST(RoceJobVerdict, IsCleanOverTheHostsPortsAlone) {
    const RoceJob job;
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_TRUE(verdict.host_scope);
    EXPECT_THAT(verdict.unread, IsEmpty()) << "no switch, no map and no scout are missed";
    EXPECT_EQ(verdict.cover.ports_seen, 4U);
    EXPECT_EQ(verdict.cover.ports_expected, 4U);
    EXPECT_EQ(verdict.bytes_moved, 4 * RoceJob::gigabyte);
    EXPECT_THAT(format_line(line_fields(job.evidence, verdict)), HasSubstr(" scope=host"));
}
TEST(RoceJobVerdict, SaysNothingOfAMissingMap) {
    RoceJob job;
    job.evidence.problems.push_back({"map", "", "no map yet: fabric-check map build"});
    EXPECT_THAT(job.judge().notes, Not(Contains(HasSubstr("no map yet"))));
}
TEST(RoceJobVerdict, GradesByTheRoceProfile) {
    RoceJob job;
    job.moves(2, "rx_discards_phy", 310);
    job.moves(2, "rx_prio3_pause", 8000000);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "lossless-broken");
    EXPECT_EQ(because(verdict), "node02/mlx5_0:1/rx_discards_phy");
    EXPECT_THAT(verdict.advice, Contains(HasSubstr("flow control (PFC) is on")));
}
TEST(RoceJobVerdict, SaysWhatACardHasNoCounterFor) {
    RoceJob job;
    for (const unsigned node : {1U, 2U}) {
        for (HcaPort *port : {&job.start(node), &job.end(node)}) {
            port->counters.erase("tx_pause_storm_error_events");
        }
    }
    JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_THAT(verdict.notes, Contains(HasSubstr("node01/mlx5_0:1 and 1 more has no tx_pause_storm_error_events, which is "
                                                  "not zero")));
    job.start(3).counters.erase("tx_pause_storm_error_events");
    EXPECT_EQ(job.judge().verdict, "incomplete") << "there on one side only";
}
TEST(RoceJobVerdict, HoldsTheRateAgainstTheSitesPolicy) {
    RoceJob job;
    job.config.policy.ethernet_gbps = 100;
    EXPECT_EQ(job.judge().verdict, "clean");
    job.config.policy.ethernet_gbps = 200;
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(verdict.because.at(0).counter, "speed");
    EXPECT_EQ(verdict.because.at(0).note, "100 Gb/s, the site's policy is 200");
}
TEST(RoceJobVerdict, TellsErrorsOfTheInfiniBandKindWithoutJudgingThem) {
    RoceJob job;
    job.start(1).counters["LinkDownedCounter"] = job.end(1).counters["LinkDownedCounter"] = Reading::of(1);
    job.moves(1, "LinkDownedCounter", 2);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    ASSERT_EQ(verdict.told.size(), 1U);
    EXPECT_EQ(verdict.told[0].counter, "LinkDownedCounter");
}
TEST(RoceJobVerdict, JudgesWrongBitsByTheBitErrorRateToo) {
    RoceJob job; // 4 x 25.78125 Gb/s for 100 s: 1.03e13 bits
    for (HcaPort *port : {&job.start(2), &job.end(2)}) {
        port->counters["rx_symbol_err_phy"] = port->counters["link_down_events_phy"] = Reading::of(1);
    }
    job.moves(2, "rx_symbol_err_phy", 10);
    EXPECT_EQ(job.judge().verdict, "physical");
    EXPECT_EQ(job.judge().hw, HwStatus::pass);
    job.moves(2, "rx_symbol_err_phy", 11);
    EXPECT_EQ(job.judge().hw, HwStatus::fail);
    job.moves(2, "rx_symbol_err_phy", 0);
    job.moves(2, "link_down_events_phy", 1);
    EXPECT_EQ(because(job.judge()), "node02/mlx5_0:1/link_down_events_phy");
    EXPECT_EQ(job.judge().hw, HwStatus::fail);
}
TEST(RoceJobVerdict, SetsPausesAgainstTheBytesOfTheOppositeDirection) {
    RoceJob job;
    job.bytes(1, 0, RoceJob::gigabyte, 100 * RoceJob::gigabyte);
    job.moves(1, "tx_prio3_pause", 100000); // 1,000 for each GB received: not more than the bar
    EXPECT_EQ(job.judge().verdict, "clean");
    job.moves(1, "tx_prio3_pause", 100001);
    EXPECT_EQ(job.judge().verdict, "congestion");
    job.moves(1, "tx_prio3_pause", 0);
    job.moves(1, "rx_prio3_pause", 1001); // for each GB sent
    EXPECT_EQ(job.judge().verdict, "congestion");
}
TEST(RoceJobVerdict, TellsASlowReceiverFromAHostThatIsHeldBack) {
    RoceJob receiver;
    receiver.bytes(1, 0, 0, RoceJob::gigabyte);
    receiver.moves(1, "tx_prio3_pause", 9000);
    EXPECT_THAT(report_text(report_json(receiver.evidence, receiver.judge()), false), HasSubstr("senders were held back"));
    EXPECT_THAT(receiver.judge().advice, Contains(HasSubstr("node01/mlx5_0:1 is a slow receiver")));
    RoceJob sender;
    sender.moves(1, "rx_prio3_pause", 9000);
    EXPECT_THAT(sender.judge().advice, Contains(HasSubstr("The switch held hosts back")));
}
TEST(RoceJobVerdict, TellsTheTimePausedFromDurationsOnly) {
    RoceJob job;
    job.moves(1, "rx_prio3_pause", 9000);
    job.moves(1, "rx_prio3_pause_duration", 12300000); // 12.3 of 100 s, in microseconds
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(testing::note_of(verdict, "node01/mlx5_0:1", "rx_prio3_pause"), "more than 1000 per GB; paused 12.3 % of the time");
    EXPECT_THAT(verdict.notes, Contains("node01/mlx5_0:1 was held back by its switch 12.3 % of the time "
                                        "(rx_prio3_pause_duration)"));
    job.everywhere([](HcaPort &port) { port.counters.erase("rx_prio3_pause_duration"); });
    EXPECT_EQ(testing::note_of(job.judge(), "node01/mlx5_0:1", "rx_prio3_pause"), "more than 1000 per GB");
}
TEST(RoceJobVerdict, DoesNotBelieveMorePauseThanTime) {
    RoceJob job;
    job.moves(1, "tx_prio3_pause_duration", 200000000);
    EXPECT_THAT(job.judge().notes, Not(Contains(HasSubstr("made its switch wait"))));
}
TEST(RoceJobVerdict, KnowsPausesOfTheWholePort) {
    RoceJob job;
    job.everywhere([](HcaPort &port) {
        for (const char *name : {"rx_prio3_pause", "tx_prio3_pause", "rx_prio3_pause_duration",
                                 "tx_prio3_pause_duration"}) {
            port.counters.erase(name);
        }
        for (const char *name : {"rx_global_pause", "rx_global_pause_duration"}) {
            port.counters[name] = Reading::of(0);
        }
    });
    EXPECT_EQ(job.judge().verdict, "clean");
    job.moves(3, "rx_global_pause", 5000);
    job.moves(3, "rx_global_pause_duration", 50000000);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "congestion");
    EXPECT_EQ(testing::note_of(verdict, "node03/mlx5_0:1", "rx_global_pause"), "more than 1000 per GB; paused 50.0 % of the time");
}
TEST(RoceJobVerdict, WithoutFlowControlAnywhereIsIncompleteAndNotZero) {
    RoceJob job;
    for (HcaPort *port : {&job.start(2), &job.end(2)}) {
        port->counters.erase("rx_prio3_pause");
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_THAT(verdict.unread, Contains(Field(&UnreadCounter::counter, "rx_prio<n>_pause")));
}
TEST(RoceJobVerdict, SaysWhichDriversCountNoCongestion) {
    RoceJob job;
    job.everywhere([](HcaPort &port) { port.driver = "some_driver"; });
    EXPECT_THAT(job.judge().notes, Contains(HasSubstr("node01/mlx5_0:1 and 3 more has no counters of congestion")));
}
TEST(RoceJobVerdict, GradesEachPortOfAMixedNodeWithItsOwnProfile) {
    SmallJob job;
    for (unsigned i = 1; i <= SmallJob::nodes; ++i) {
        job.node(i).start->ports.push_back(RoceJob::port("mlx5_5", "ens6"));
        HcaPort moved = RoceJob::port("mlx5_5", "ens6");
        moved.counters["PortXmitData"] = Reading::of(1000000000);
        job.node(i).end->ports.push_back(moved);
    }
    job.ring(testing::gigabyte);
    JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean") << (verdict.unread.empty() ? "" : verdict.unread[0].counter);
    EXPECT_FALSE(verdict.host_scope);
    job.node(7).end->ports[1].counters["rx_discards_phy"] = Reading::of(200);
    verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "lossless-broken");
    EXPECT_EQ(because(verdict), "node07/mlx5_5:1/rx_discards_phy");
    EXPECT_THAT(verdict.advice, Contains(HasSubstr("flow control (PFC) is on"))) << "by the port's kind, not the job's";
    job.host(3, "SymbolErrorCounter", 1);
    EXPECT_EQ(job.judge().verdict, "physical");
}

TEST(PortUse, LeavesAnIdleManagementCardOut) {
    RoceJob job;
    job.add_management_ports();
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_EQ(verdict.cover.ports_expected, 4U);
    EXPECT_THAT(verdict.notes, Contains("port mlx5_9:1 (eno1) does not count on 4 nodes: no RDMA on it"));
    EXPECT_THAT(verdict.notes, Contains("port mlx5_0:1 (ens1) counts on 4 nodes: it moved data by RDMA"));
}
TEST(PortUse, OfAnInfiniBandNodeLeavesAnIdleEthernetCardOut) {
    SmallJob job;
    for (unsigned i = 1; i <= SmallJob::nodes; ++i) {
        job.node(i).start->ports.push_back(RoceJob::management_port());
        job.node(i).end->ports.push_back(RoceJob::management_port());
    }
    job.ring(testing::gigabyte);
    EXPECT_EQ(job.judge().verdict, "clean");
}
TEST(PortUse, TakesAPortWhoseRdmaCountersMoved) {
    RoceJob job;
    job.add_management_ports();
    job.end(1, 1).counters["packet_seq_err"] = Reading::of(101);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.cover.ports_expected, 5U);
    EXPECT_THAT(verdict.notes, Contains("port mlx5_9:1 (eno1) counts on 1 node: packet_seq_err moved"));
}
TEST(PortUse, OrdinaryTrafficIsNoRdma) {
    RoceJob job;
    job.add_management_ports();
    for (unsigned i = 1; i <= 4; ++i) {
        job.start(i, 1).counters["tx_bytes_phy"] = Reading::of(1);
        job.end(i, 1).counters["tx_bytes_phy"] = Reading::of(1000000000);
    }
    EXPECT_EQ(job.judge().cover.ports_expected, 4U);
}
TEST(PortUse, TakesARailThatMostNodesUseOnAllOfThem) {
    RoceJob job(4, 2);
    job.bytes(4, 1, 0, 0);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.cover.ports_expected, 8U);
    EXPECT_THAT(verdict.notes, Contains("port mlx5_1:1 (ens2) counts on 1 node: in use on 3 of 4 nodes"));
}
TEST(PortUse, OneNodesStrayConnectionMakesNoRail) {
    RoceJob job(4, 2);
    for (unsigned i = 2; i <= 4; ++i) {
        job.bytes(i, 1, 0, 0);
    }
    EXPECT_EQ(job.judge().cover.ports_expected, 5U);
}
TEST(PortUse, AJobWithoutRdmaIsNoTraffic) {
    RoceJob job;
    for (unsigned i = 1; i <= 4; ++i) {
        job.bytes(i, 0, 0, 0);
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "no-traffic");
    EXPECT_TRUE(verdict.host_scope);
    EXPECT_THAT(verdict.unread, IsEmpty());
}
TEST(PortUse, APortWhoseCountersCannotTellCountsOnlyWhereNothingElseDoes) {
    RoceJob alone;
    alone.everywhere([](HcaPort &port) {
        erase_if(port.counters, [](const auto &counter) { return counter.first.find("prio") == std::string::npos; });
    });
    EXPECT_EQ(alone.judge().cover.ports_expected, 4U);
    RoceJob beside;
    beside.add_management_ports();
    beside.everywhere([](HcaPort &port) { port.counters.clear(); }, 1);
    EXPECT_EQ(beside.judge().cover.ports_expected, 4U);
}
TEST(PortUse, ExcludesByEveryNameAPortHas) {
    HcaPort port = RoceJob::port("mlx5_bond_0", "ens1f0np0");
    port.pci = "0000:81:00.0";
    for (const char *pattern : {"mlx5_bond_0", "mlx5_bond*", "mlx5_bond_0:1", "ens1f?np0", "0000:81:00.*", "ethernet",
                                "Ethernet"}) {
        EXPECT_NE(excluded_by(port, {"nothing", pattern}), nullptr) << pattern;
    }
    for (const char *pattern : {"mlx5_bond", "infiniband", "ens1", "81:00.0", "*:2"}) {
        EXPECT_EQ(excluded_by(port, {pattern}), nullptr) << pattern;
    }
    port.netdev.clear();
    EXPECT_EQ(excluded_by(port, {"ens*"}), nullptr);
}
TEST(PortUse, LeavesExcludedPortsOutAndSaysSo) {
    RoceJob job(4, 2);
    job.config.ports.exclude = {"ens2"};
    job.moves(1, "rx_discards_phy", 1000, 1);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_EQ(verdict.cover.ports_expected, 4U);
    EXPECT_THAT(verdict.notes, Contains("port mlx5_1:1 (ens2) does not count on 4 nodes: excluded as ens2"));
}
TEST(PortUse, WithEverythingExcludedNothingIsLeftToJudge) {
    RoceJob job;
    job.config.ports.exclude = {"ethernet"};
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    ASSERT_FALSE(verdict.unread.empty());
    EXPECT_EQ(verdict.unread[0].reason, "no active port besides those the configuration excludes");
}
TEST(PortUse, AnInfiniBandCardThatIsExcludedIsNoGap) {
    SmallJob job;
    job.config.ports.exclude = {"mlx5_7"};
    HcaPort storage = job.host_start(1);
    storage.device = "mlx5_7";
    storage.guid = 0xdead;
    storage.lid = 999;
    job.node(1).start->ports.push_back(storage);
    job.node(1).end->ports.push_back(storage);
    job.ring(testing::gigabyte);
    EXPECT_EQ(job.judge().verdict, "clean");
}

TEST(RoceReport, ShowsProfileCardAndPauses) {
    RoceJob job;
    job.moves(1, "tx_prio3_pause_duration", 5000000);
    const JobVerdict verdict = job.judge();
    const auto report = report_json(job.evidence, verdict);
    EXPECT_EQ(report["scope"], "host");
    const auto &port = report["nodes"][0]["ports"][0];
    EXPECT_EQ(port["profile"], "roce");
    EXPECT_EQ(port["netdev"], "ens1");
    EXPECT_EQ(port["pci"], "0000:81:00.0");
    EXPECT_EQ(port["pcie"]["width"], 16);
    EXPECT_EQ(port["pcie"]["max_speed_gts"], 16.0);
    EXPECT_EQ(port["counts_because"], "1.0GB by RDMA");
    EXPECT_THAT(port["paused"].dump(), HasSubstr(R"("counter":"tx_prio3_pause_duration","by":"host","percent":5.0)"));
    EXPECT_THAT(report_text(report, false), HasSubstr("The hosts' ports were not the reason"));
}

} // namespace
} // namespace fabric_check
