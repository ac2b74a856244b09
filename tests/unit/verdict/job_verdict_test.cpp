// SPDX-License-Identifier: GPL-2.0-or-later
#include "job_fixture.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using testing::BusyJob;
using testing::finding;
using testing::gigabyte;
using testing::SmallJob;
using testing::unread;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::uint32_t a = SmallJob::switch_a, b = SmallJob::switch_b;

TEST(JobVerdict, EvenTrafficWithoutErrorsIsCleanWithFullCover) {
    BusyJob job;
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_EQ(verdict.rest, "");
    EXPECT_EQ(verdict.cover.nodes_seen, 12U);
    EXPECT_EQ(verdict.cover.nodes_expected, 12U);
    // 12 hosts, 12 ports facing them, 8 facing the servers, both ends of 8 links.
    EXPECT_EQ(verdict.cover.ports_seen, 48U);
    EXPECT_EQ(verdict.cover.ports_expected, 48U);
    EXPECT_THAT(verdict.unread, IsEmpty());
    EXPECT_THAT(verdict.because, IsEmpty());
    EXPECT_EQ(verdict.route, RouteStatus::ok);
    EXPECT_EQ(verdict.hw, HwStatus::none);
}

TEST(JobVerdict, WithinOneSwitchThereIsNothingButHostsAndFacingPorts) {
    BusyJob job(false);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_EQ(verdict.cover.ports_expected, 24U);
    EXPECT_EQ(verdict.bytes_moved, 12 * 100 * gigabyte);
    EXPECT_EQ(verdict.worst_group, -1);
}

TEST(JobVerdict, WithoutTrafficThereIsNoVerdict) {
    SmallJob job;
    job.ring(4000);
    EXPECT_EQ(job.judge().verdict, "no-traffic");
}

TEST(JobVerdict, PhysicalFindingsOutrankNoTraffic) {
    SmallJob job;
    job.switch_port(a, 7, "LinkDownedCounter", 1);
    EXPECT_EQ(job.judge().verdict, "physical");
}

TEST(JobVerdict, RetriesDoNotOutrankNoTrafficButAreListed) {
    SmallJob job;
    job.host(7, "packet_seq_err", 5);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "no-traffic");
    EXPECT_THAT(verdict.live, ElementsAre(finding("node07/mlx5_0:1", "packet_seq_err", 5)));
}

TEST(JobVerdict, AQuietPortOfABusyJobStillCounts) {
    SmallJob job(false);
    job.traffic(SmallJob::node_lid(1), SmallJob::node_lid(2), 100 * gigabyte);
    job.host(7, "packet_seq_err", 5);
    EXPECT_EQ(job.judge().verdict, "transport-retry");
}

TEST(JobVerdict, ABadOpticBeforeTheRetriesThatFollowFromIt) {
    BusyJob job;
    job.switch_port(a, 13, "SymbolErrorCounter", 90);
    job.host(7, "packet_seq_err", 12000);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_THAT(verdict.because, ElementsAre(finding("SwitchA:13<->SwitchB:25", "SymbolErrorCounter", 90)));
    EXPECT_THAT(verdict.live, Contains(finding("node07/mlx5_0:1", "packet_seq_err", 12000)));
    EXPECT_EQ(verdict.hw, HwStatus::fail);
}

TEST(JobVerdict, AHostsPhysicalFindingNamesTheLink) {
    BusyJob job;
    job.host(7, "SymbolErrorCounter", 90);
    const JobVerdict verdict = job.judge();
    ASSERT_THAT(verdict.because, ElementsAre(finding("SwitchA:7<->node07/mlx5_0:1", "SymbolErrorCounter", 90)));
    EXPECT_EQ(verdict.because[0].read_at, "node07/mlx5_0:1");
}

TEST(JobVerdict, ABadCableAtAStorageServersPortIsFound) {
    BusyJob job;
    job.switch_port(b, 3, "SymbolErrorCounter", 7);
    EXPECT_THAT(job.judge().because, ElementsAre(finding("SwitchB:3<->stor03/mlx5_0:1", "SymbolErrorCounter", 7)));
}

TEST(JobVerdict, FewSymbolErrorsInManyBitsPassTheBitErrorRate) {
    BusyJob job;
    job.switch_port(a, 13, "SymbolErrorCounter", 20); // in 2.1e13 bits
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(verdict.hw, HwStatus::pass);
}

TEST(JobVerdict, APeggedLinkDownedHidesTheCauseAndDiscardsAreStillListed) {
    BusyJob job;
    job.set_both(job.switch_start(a, 7).counters, job.switch_end(a, 7).counters, "LinkDownedCounter", 255);
    job.switch_port(a, 7, "PortXmitDiscards", 500);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "unusable");
    EXPECT_EQ(verdict.rest, "lossless-broken");
    EXPECT_THAT(verdict.unread, ElementsAre(unread("SwitchA:7<->node07/mlx5_0:1", "LinkDownedCounter", "saturated")));
    EXPECT_THAT(verdict.live, ElementsAre(finding("SwitchA:7<->node07/mlx5_0:1", "PortXmitDiscards", 500)));
}

TEST(JobVerdict, OnePeggedLinkAndRetriesElsewhere) {
    BusyJob job;
    job.set_both(job.switch_start(a, 15).counters, job.switch_end(a, 15).counters, "LinkDownedCounter", 255);
    job.host(3, "local_ack_timeout_err", 4);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "unusable");
    EXPECT_EQ(verdict.rest, "transport-retry");
}

TEST(JobVerdict, APeggedHigherLayerDoesNotHideAPhysicalFinding) {
    BusyJob job;
    job.set_both(job.switch_start(a, 7).counters, job.switch_end(a, 7).counters, "PortXmitDiscards", 65535);
    job.switch_port(a, 13, "SymbolErrorCounter", 1);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(verdict.rest, "");
    EXPECT_THAT(verdict.unread, SizeIs(1));
}

TEST(JobVerdict, ACounterThatGoesDownIsAReset) {
    BusyJob job;
    job.host_end(4).counters["SymbolErrorCounter"] = Reading::of(2);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "unusable");
    EXPECT_EQ(verdict.rest, "clean");
    EXPECT_THAT(verdict.unread, ElementsAre(unread("node04/mlx5_0:1", "SymbolErrorCounter", "reset")));
}

TEST(JobVerdict, ACounterFileMissingOnOneNodeIsNamed) {
    BusyJob job;
    job.host_start(4).counters.erase("packet_seq_err");
    job.host_end(4).counters.erase("packet_seq_err");
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.rest, "clean");
    EXPECT_THAT(verdict.unread, ElementsAre(unread("node04/mlx5_0:1", "packet_seq_err", "absent")));
}

TEST(JobVerdict, SwitchPortsHaveNoQueueCountersAndAreComplete) {
    BusyJob job;
    for (const SwitchPort &port : job.evidence.scout.end->ports) {
        ASSERT_FALSE(port.counters.contains("packet_seq_err"));
    }
    EXPECT_EQ(job.judge().verdict, "clean");
}

TEST(JobVerdict, ACardWithoutRetryCountersDoesNotNeedThem) {
    BusyJob job;
    for (HcaPort *port : {&job.host_start(5), &job.host_end(5)}) {
        port->driver = "mlx4_core";
        for (const char *counter : {"packet_seq_err", "rnr_nak_retry_err", "local_ack_timeout_err"}) {
            port->counters.erase(counter);
        }
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_THAT(verdict.notes, Contains(HasSubstr("node05/mlx5_0:1 has no retry counters")));
}

TEST(JobVerdict, ADriverThatHasRetryCountersWithoutNeedIsJudgedByThem) {
    BusyJob job;
    for (HcaPort *port : {&job.host_start(5), &job.host_end(5)}) {
        port->driver = "hfi1";
        for (const char *name : {"packet_seq_err", "rnr_nak_retry_err", "local_ack_timeout_err"}) {
            port->counters.erase(name);
        }
        port->counters["RcSeqNak"] = Reading::of(10);
    }
    EXPECT_THAT(job.judge().notes, Not(Contains(HasSubstr("no retry counters"))));
    job.host(5, "RcSeqNak", 3);
    EXPECT_THAT(job.judge().because, ElementsAre(finding("node05/mlx5_0:1", "RcSeqNak", 3)));
}

TEST(JobVerdict, AKilledNodeCostsItsCoverAndItsPeersAreStillJudged) {
    BusyJob job;
    job.node(9).end.reset();
    job.node(9).end_problem = "no END record within 20 s of the job's end";
    job.node(9).slurmd_died = true;
    job.evidence.job.state = "NODE_FAIL";
    job.switch_port(a, 13, "PortXmitDiscards", 3);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.rest, "lossless-broken");
    EXPECT_EQ(verdict.cover.nodes_seen, 11U);
    EXPECT_THAT(verdict.cover.missing, ElementsAre("node09"));
    EXPECT_EQ(verdict.unread.front().where, "node09");
    EXPECT_THAT(verdict.unread.front().reason, HasSubstr("no END record within 20 s"));
}

TEST(JobVerdict, TheLinkOfAKilledNodeGoingDownIsNotPhysical) {
    BusyJob job;
    job.node(9).end.reset();
    job.node(9).slurmd_died = true;
    job.evidence.job.state = "NODE_FAIL";
    job.switch_port(a, 9, "LinkDownedCounter", 1);
    job.switch_end(a, 9).state = "DOWN";
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.rest, "clean");
    EXPECT_THAT(verdict.unread,
                Contains(unread("SwitchA:9<->node09/mlx5_0:1", "LinkDownedCounter", "rebooted (slurmd died)")));
}

TEST(JobVerdict, ARebootInMidJobIsIncompleteNotPhysical) {
    BusyJob job;
    job.node(6).end->boot_id = "another";
    job.host_end(6).counters["SymbolErrorCounter"] = Reading::of(0);
    job.host(6, "LinkDownedCounter", 1);
    job.switch_port(a, 6, "LinkDownedCounter", 1);
    job.switch_port(a, 6, "SymbolErrorCounter", 40);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.rest, "clean");
    EXPECT_THAT(verdict.unread, Contains(unread("node06", "", "rebooted")));
    EXPECT_THAT(verdict.unread, Contains(unread("SwitchA:6<->node06/mlx5_0:1", "LinkDownedCounter", "rebooted")));
    EXPECT_THAT(verdict.live, IsEmpty());
}

TEST(JobVerdict, ARebootDoesNotExcuseAnotherLink) {
    BusyJob job;
    job.node(6).end->boot_id = "another";
    job.switch_port(a, 13, "SymbolErrorCounter", 40);
    EXPECT_EQ(job.judge().verdict, "physical");
}

TEST(JobVerdict, ACancelledJobsRetriesDoNotLead) {
    BusyJob job;
    job.evidence.job.state = "CANCELLED";
    job.host(7, "local_ack_timeout_err", 30);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    ASSERT_THAT(verdict.live, ElementsAre(finding("node07/mlx5_0:1", "local_ack_timeout_err", 30)));
    EXPECT_FALSE(verdict.live[0].leads);
    EXPECT_EQ(verdict.live[0].note, "teardown?");
}

TEST(JobVerdict, ACancelledJobsRetriesWithLowerEvidenceAreNotSetAside) {
    BusyJob job;
    job.evidence.job.state = "CANCELLED";
    job.host(7, "local_ack_timeout_err", 30);
    job.switch_port(a, 7, "PortXmitDiscards", 8);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "lossless-broken");
    EXPECT_EQ(verdict.live.back().note, "");
}

TEST(JobVerdict, WithoutAMapTheNodesStillSpeak) {
    BusyJob job;
    job.host(7, "packet_seq_err", 2);
    job.analyse();
    job.evidence.map = nullptr;
    job.evidence.problems.push_back({"map", "", "no map yet: fabric-check map build"});
    const JobVerdict verdict = judge_job(job.evidence, job.config);
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.rest, "transport-retry");
    EXPECT_EQ(verdict.route, RouteStatus::unknown);
    EXPECT_THAT(verdict.unread, Contains(unread("switches", "", "no map yet: fabric-check map build")));
    EXPECT_EQ(verdict.cover.ports_seen, 12U);
    EXPECT_EQ(verdict.cover.ports_expected, 24U);
}

TEST(JobVerdict, WithoutAScoutsEndTheSwitchesAreOneGap) {
    BusyJob job;
    job.evidence.scout.end.reset();
    job.evidence.scout.end_problem = "no END record of a scout";
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.rest, "clean");
    EXPECT_THAT(verdict.unread, ElementsAre(unread("switches", "", "no END record of a scout")));
}

/// The scouts found no such host; SmallJob's servers are what is configured.
void lose_service(SmallJob &job, const std::string &service) {
    job.config.services = "stor[01-08]";
    for (auto *scout : {&job.evidence.scout.start, &job.evidence.scout.end}) {
        std::erase_if((*scout)->hosts, [&](const HostMatch &match) { return match.node == service; });
    }
}

TEST(JobVerdict, AConfiguredServiceThatNobodyFoundIsAGap) {
    BusyJob job;
    lose_service(job, "stor05");
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.rest, "clean");
    EXPECT_THAT(verdict.unread,
                ElementsAre(unread("stor05", "", "not in the fabric map: its switch port was not read")));
    EXPECT_TRUE(verdict.unread[0].incomplete);
    EXPECT_EQ(verdict.unread[0].layer, Layer::physical);
    EXPECT_THAT(verdict.cover.missing, ElementsAre("stor05"));
    EXPECT_EQ(verdict.cover.ports_seen + 1, verdict.cover.ports_expected);
}

TEST(JobVerdict, AConfiguredServiceIsMissedInTheScoutsWords) {
    BusyJob job;
    lose_service(job, "stor05");
    job.evidence.scout.end->problems.push_back({"stor05", "", "its ports have no LID in the map"});
    EXPECT_THAT(job.judge().unread, ElementsAre(unread("stor05", "", "its ports have no LID in the map")));
}

TEST(JobVerdict, AConfiguredServiceWithoutAKnownLinkIsAGap) {
    BusyJob job;
    job.config.services = "stor[01-08]";
    fabric::DraftPort &port = job.map.nodes[SmallJob::server_index(5)].ports[1];
    job.map.nodes[b].ports[port.peer_port].peer = fabric::no_node;
    port.peer = fabric::no_node;
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_THAT(verdict.unread,
                Contains(unread("stor05", "", "the map knows no link here: its switch port was not read")));
}

TEST(JobVerdict, ConfiguredServicesThatWereAllFoundOrAreTheJobsOwnAreNoGap) {
    BusyJob job;
    job.config.services = "stor[01-08],node03";
    EXPECT_EQ(job.judge().verdict, "clean");
}

TEST(JobVerdict, AListOfServicesThatDoesNotReadIsAGap) {
    BusyJob job;
    job.config.services = "stor[01-";
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_THAT(verdict.unread, ElementsAre(Field(&UnreadCounter::where, "services")));
}

TEST(JobVerdict, AScoutThatReadNothingAtTheStartIsOneGap) {
    BusyJob job;
    job.config.services = "stor[01-08]";
    ScoutSnapshot &start = *job.evidence.scout.start;
    start.ports.clear();
    start.lfts.clear();
    start.hosts.clear();
    start.problems.push_back({"map", "", "no map yet; one is being built for the next jobs"});
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.rest, "clean");
    EXPECT_THAT(verdict.unread,
                ElementsAre(unread("switches", "", "node01: no map yet; one is being built for the next jobs")));
    EXPECT_THAT(verdict.cover.missing, ElementsAre("switches"));
}

TEST(JobVerdict, TwoScoutsThatReadNothingAreOneGapEach) {
    BusyJob job;
    job.evidence.scout.start->ports.clear();
    job.evidence.scout.start->problems.push_back({"map", "", "no map yet"});
    job.evidence.scout.end->ports.clear();
    EXPECT_THAT(job.judge().unread, ElementsAre(unread("switches", "", "node01: no map yet"),
                                                unread("switches", "", "node01: the scout read no switch port at the end")));
}

TEST(JobVerdict, OneCableHasOneNameWhicheverEndCounted) {
    BusyJob job;
    job.switch_port(a, 13, "SymbolErrorCounter", 3);
    job.switch_port(b, 25, "SymbolErrorCounter", 4);
    const JobVerdict verdict = job.judge();
    ASSERT_THAT(verdict.because, ElementsAre(finding("SwitchA:13<->SwitchB:25", "SymbolErrorCounter", 4),
                                             finding("SwitchA:13<->SwitchB:25", "SymbolErrorCounter", 3)));
    EXPECT_EQ(verdict.because[0].read_at, "SwitchB:25");
    EXPECT_EQ(verdict.because[1].read_at, "SwitchA:13");
}

TEST(JobVerdict, OfACableThatCouldNotBeReadTheEndIsSaid) {
    BusyJob job;
    job.set_both(job.switch_start(b, 25).counters, job.switch_end(b, 25).counters, "LinkDownedCounter", 255);
    const JobVerdict verdict = job.judge();
    ASSERT_THAT(verdict.unread, ElementsAre(unread("SwitchA:13<->SwitchB:25", "LinkDownedCounter", "saturated")));
    EXPECT_EQ(verdict.unread[0].read_at, "SwitchB:25");
    EXPECT_THAT(verdict.advice, Contains(HasSubstr("fabric-check reset --pegged")));
    EXPECT_THAT(verdict.advice, Not(Contains(HasSubstr("perfquery"))));
}

TEST(JobVerdict, LinksAreNamedInTheNaturalOrderOfTheirSwitches) {
    BusyJob job;
    job.map.nodes[a].description = "leaf10";
    job.map.nodes[b].description = "leaf9";
    job.switch_port(a, 13, "SymbolErrorCounter", 3);
    EXPECT_THAT(job.judge().because, ElementsAre(finding("leaf9:25<->leaf10:13", "SymbolErrorCounter", 3)));
}

TEST(JobVerdict, SaysHowItsHostsWereFoundInTheMap) {
    BusyJob job;
    EXPECT_THAT(job.judge().notes,
                Contains("hosts found in the map: 12 by port GUID, 8 by description"));
    job.evidence.scout.end.reset();
    EXPECT_THAT(job.judge().notes,
                Contains("hosts found in the map: 12 by port GUID, 8 by description"));
}

TEST(JobVerdict, AScoutThatCouldReadNothingIsNamedOnceWithItsReason) {
    BusyJob job;
    for (auto *scout : {&job.evidence.scout.start, &job.evidence.scout.end}) {
        ScoutSnapshot nothing;
        nothing.node = "node01";
        nothing.time_ns = (*scout)->time_ns;
        nothing.problems.push_back({"switches", "", "umad: no active InfiniBand port on this host (is a card there?)"});
        *scout = nothing;
    }
    const JobVerdict verdict = job.judge();
    EXPECT_THAT(verdict.unread,
                ElementsAre(unread("switches", "", "node01: umad: no active InfiniBand port on this host (is a card there?)")));
    EXPECT_THAT(verdict.notes, Not(Contains(HasSubstr("rates are averages")))) << "no switch was read";
    EXPECT_EQ(verdict.seconds, 0);
    EXPECT_THAT(verdict.notes, Contains("node01: umad: no active InfiniBand port on this host (is a card there?)"));
}

TEST(JobVerdict, TheRestOfAnIncompleteJobRestsOnItsFindingsAndTheVerdictOnNone) {
    BusyJob job;
    job.host(3, "rnr_nak_retry_err", 5);
    job.node(9).end.reset();
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.rest, "transport-retry");
    EXPECT_THAT(verdict.because, IsEmpty());
    EXPECT_THAT(verdict.rest_because, ElementsAre(finding("node03/mlx5_0:1", "rnr_nak_retry_err", 5)));
}

TEST(JobVerdict, APortTheScoutDidNotReachIsNamed) {
    BusyJob job;
    std::erase_if(job.evidence.scout.end->ports,
                  [](const SwitchPort &port) { return port.switch_guid == SmallJob::switch_guid(a) && port.port == 7; });
    job.evidence.scout.end->problems.push_back({"SwitchA:7", "", "no answer"});
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_THAT(verdict.unread, ElementsAre(unread("SwitchA:7<->node07/mlx5_0:1", "", "no answer")));
    EXPECT_EQ(verdict.cover.ports_seen + 1, verdict.cover.ports_expected);
}

TEST(JobVerdict, AHostThatIsNotInTheMapIsAGap) {
    BusyJob job;
    for (HcaPort *port : {&job.host_start(4), &job.host_end(4)}) {
        port->guid = 0x9999;
        port->lid = 60;
    }
    for (auto *scout : {&job.evidence.scout.start, &job.evidence.scout.end}) {
        std::erase_if((*scout)->hosts, [](const HostMatch &match) { return match.node == "node04"; });
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_THAT(verdict.unread,
                Contains(unread("node04/mlx5_0:1", "", "not in the fabric map: its switch port was not read")));
}

TEST(JobVerdict, APortThatWentDownIsAFindingOnce) {
    BusyJob job;
    job.host_end(7).state = "DOWN";
    job.switch_end(a, 7).state = "DOWN";
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    ASSERT_THAT(verdict.because, ElementsAre(finding("SwitchA:7<->node07/mlx5_0:1", "state", 0)));
    EXPECT_EQ(verdict.because[0].note, "ACTIVE at start, DOWN at end");
}

TEST(JobVerdict, ANarrowLinkAmongPeersIsPhysical) {
    BusyJob job;
    job.switch_start(a, 7).rate = job.switch_end(a, 7).rate = testing::narrow_hdr();
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    ASSERT_THAT(verdict.because, ElementsAre(finding("SwitchA:7<->node07/mlx5_0:1", "width", 0)));
    EXPECT_EQ(verdict.because[0].note, "1X, the job's other nodes have 4X");
    EXPECT_EQ(verdict.hw, HwStatus::fail);
}

TEST(JobVerdict, ASlowInterSwitchLinkIsNamedOnceThoughBothEndsShowIt) {
    BusyJob job;
    job.switch_start(a, 15).rate = job.switch_end(a, 15).rate = testing::edr();
    job.switch_start(b, 27).rate = job.switch_end(b, 27).rate = testing::edr();
    const JobVerdict verdict = job.judge();
    ASSERT_THAT(verdict.because, SizeIs(1));
    EXPECT_EQ(verdict.because[0].counter, "speed");
    EXPECT_EQ(verdict.because[0].note, "EDR, the group's other links have HDR");
}

TEST(JobVerdict, WithoutAClearMajorityNoSpeedIsWrong) {
    BusyJob job;
    for (unsigned port = 1; port <= 6; ++port) {
        job.switch_start(a, port).rate = job.switch_end(a, port).rate = testing::edr();
    }
    EXPECT_EQ(job.judge().verdict, "clean");
}

TEST(JobVerdict, ReorderingIsNormalUnderAdaptiveRouting) {
    BusyJob job;
    job.config.adaptive_routing = "on";
    job.host_start(3).counters["out_of_sequence"] = Reading::of(0);
    job.host_end(3).counters["out_of_sequence"] = Reading::of(900);
    EXPECT_EQ(job.judge().verdict, "clean");
}

TEST(JobVerdict, ReorderingLeadsWhereAdaptiveRoutingIsOff) {
    BusyJob job;
    job.host_start(3).counters["out_of_sequence"] = Reading::of(0);
    job.host_end(3).counters["out_of_sequence"] = Reading::of(900);
    EXPECT_EQ(job.judge().verdict, "transport-retry");
}

TEST(JobVerdict, ReorderingLeadsAndIsExplainedWhereAdaptiveRoutingIsNotKnown) {
    BusyJob job;
    job.evidence.scout.start->adaptive_routing = job.evidence.scout.end->adaptive_routing = AdaptiveRouting::unknown;
    job.map.adaptive_routing = AdaptiveRouting::unknown;
    job.host_start(3).counters["out_of_sequence"] = Reading::of(0);
    job.host_end(3).counters["out_of_sequence"] = Reading::of(900);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "transport-retry");
    EXPECT_EQ(verdict.because[0].note, "normal if adaptive routing is on, which is not known");
}

TEST(JobVerdict, AHostWithoutDataCountersTakesItsSwitchPorts) {
    BusyJob job;
    job.host_start(5).counters.erase("PortXmitData");
    job.host_end(5).counters.erase("PortXmitData");
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
}

} // namespace
} // namespace fabric_check
