// SPDX-License-Identifier: GPL-2.0-or-later
#include "job_fixture.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using testing::gib;
using testing::gigabyte;
using testing::SmallJob;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t a = SmallJob::switch_a, b = SmallJob::switch_b;
constexpr double ceiling = 22.6; // GiB/s, 4X HDR

/// Bytes that fill a link to `share` during the job.
std::uint64_t filling(double share) { return static_cast<std::uint64_t>(share * ceiling * gib * SmallJob::seconds); }

/// Six nodes behind one cable at 96 %, five behind another, one alone.
struct CollapsedJob : SmallJob {
    explicit CollapsedJob(double share = 0.96) : SmallJob(true, true) {
        const std::uint64_t per_node = filling(share) / 6;
        all_servers_to_all_nodes(per_node);
    }
};

TEST(Routing, ACollapsedTableWithTrafficIsRoutingImbalanceAndNamesTheBusiestCable) {
    CollapsedJob job;
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "routing-imbalance");
    EXPECT_EQ(verdict.route, RouteStatus::imbalanced);
    ASSERT_THAT(verdict.because, SizeIs(1)); // the second cable is at 80 x 5/6 of the bar's 96: not hot
    EXPECT_EQ(verdict.because[0].where, "SwitchA:13<->SwitchB:25");
    EXPECT_EQ(verdict.because[0].counter, "hot");
    EXPECT_EQ(verdict.because[0].delta, 96U);
    EXPECT_EQ(verdict.hot[0].sender, "SwitchB:25");
    EXPECT_NEAR(verdict.hot[0].own, 1.0, 0.001);
    ASSERT_TRUE(verdict.measures[static_cast<std::size_t>(verdict.worst_group)].spread);
    EXPECT_NEAR(*verdict.measures[static_cast<std::size_t>(verdict.worst_group)].spread, 6 / 1.5, 0.001);
    EXPECT_THAT(verdict.notes, Contains(HasSubstr("SwitchB:25: 6 nodes")));
}

TEST(Routing, BothFullCablesAreNamed) {
    SmallJob job(true, true);
    for (unsigned i = 1; i <= 11; ++i) {
        for (unsigned s = 1; s <= SmallJob::servers; ++s) {
            job.traffic(SmallJob::server_lid(s), SmallJob::node_lid(i), filling(0.9) / (i <= 6 ? 6 : 5) / 8);
        }
    }
    EXPECT_THAT(job.judge().because, ElementsAre(Field(&Finding::where, "SwitchA:13<->SwitchB:25"),
                                                 Field(&Finding::where, "SwitchA:14<->SwitchB:26")));
}

TEST(Routing, ACollapsedTableThatFillsNoCableIsCleanButSaysImbalanced) {
    CollapsedJob job(0.3);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_EQ(verdict.route, RouteStatus::imbalanced);
}

TEST(Routing, APortThatNewlyHoldsTheWaitNeedNotBeHot) {
    CollapsedJob job(0.5);
    job.switch_port(b, 25, "PortXmitWait", 1000);
    job.switch_port(b, 26, "PortXmitWait", 900);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "routing-imbalance");
    EXPECT_TRUE(verdict.hot[0].by_wait);
}

TEST(Routing, HalfOfTheWaitIsNotHoldingIt) {
    CollapsedJob job(0.5);
    job.switch_port(b, 25, "PortXmitWait", 1000);
    job.switch_port(b, 26, "PortXmitWait", 1000);
    EXPECT_EQ(job.judge().verdict, "clean");
}

TEST(Routing, WaitFromBeforeTheJobDoesNotCount) {
    CollapsedJob job(0.5);
    job.set_both(job.switch_start(b, 25).counters, job.switch_end(b, 25).counters, "PortXmitWait", 100000);
    EXPECT_EQ(job.judge().verdict, "clean");
}

TEST(Routing, LessThanAGigabyteIsNoImbalance) {
    SmallJob job(true, true);
    job.all_servers_to_all_nodes(gigabyte / 10);
    job.switch_port(b, 25, "PortXmitWait", 1000);
    EXPECT_EQ(job.judge().verdict, "clean");
}

/// 25, 26 and 27 of SwitchB all at 99 %, with six, five and one node behind them.
struct AllThreeFull : SmallJob {
    explicit AllThreeFull(std::uint64_t more_to_the_last) : SmallJob(true, true) {
        for (unsigned i = 1; i <= nodes; ++i) {
            const unsigned behind = i <= 6 ? 6 : i <= 11 ? 5 : 1;
            for (unsigned s = 1; s <= servers; ++s) {
                traffic(server_lid(s), node_lid(i), filling(0.99) / behind / servers + (i == nodes ? more_to_the_last : 0));
            }
        }
    }
};

TEST(Routing, ABusiestCableThatNoTableCouldRelieveDoesNotAcquitTheOthers) {
    AllThreeFull job(400);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "routing-imbalance");
    EXPECT_THAT(verdict.because, ::testing::UnorderedElementsAre(Field(&Finding::where, "SwitchA:13<->SwitchB:25"),
                                                                 Field(&Finding::where, "SwitchA:14<->SwitchB:26")));
}

TEST(Routing, ACableBelowTheBusiestThatHoldsTheWaitIsRoutingImbalance) {
    AllThreeFull job(0);
    for (const unsigned port : {25U, 26U}) { // no longer hot
        *job.switch_end(b, port).counters["PortXmitData"].value -= filling(0.4) / 4;
    }
    job.switch_port(b, 25, "PortXmitWait", 1000);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "routing-imbalance");
    EXPECT_THAT(verdict.because, ElementsAre(Field(&Finding::where, "SwitchA:13<->SwitchB:25")));
}

TEST(Routing, AServersOwnFullLinkIsCongestionBySender) {
    SmallJob job;
    for (unsigned i = 1; i <= SmallJob::nodes; ++i) {
        job.traffic(SmallJob::server_lid(1), SmallJob::node_lid(i), filling(0.95) / SmallJob::nodes);
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "congestion");
    ASSERT_THAT(verdict.hot, SizeIs(1));
    EXPECT_EQ(verdict.hot[0].where, "SwitchB:1<->stor01/mlx5_0:1");
    EXPECT_EQ(verdict.hot[0].sender, "stor01/mlx5_0:1");
    EXPECT_EQ(verdict.hot[0].cause, "sender");
    EXPECT_NEAR(verdict.hot[0].own, 1.0, 0.001);
    EXPECT_NEAR(verdict.hot[0].share, 0.95, 0.001);
    EXPECT_EQ(verdict.because[0].note, "the host sends at full rate");
    EXPECT_THAT(verdict.advice, Contains(HasSubstr("A host sent as fast as its link can")));
}

TEST(Routing, AJobsHostThatSendsAtFullRateIsCongestionBySender) {
    SmallJob job(false);
    for (unsigned i = 2; i <= SmallJob::nodes; ++i) {
        job.traffic(SmallJob::node_lid(1), SmallJob::node_lid(i), filling(0.95) / 11);
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "congestion");
    ASSERT_THAT(verdict.hot, SizeIs(1));
    EXPECT_EQ(verdict.hot[0].where, "SwitchA:1<->node01/mlx5_0:1");
    EXPECT_EQ(verdict.hot[0].sender, "node01/mlx5_0:1");
    EXPECT_EQ(verdict.hot[0].cause, "sender");
}

TEST(Routing, OfAServersFullLinkTheJobsPartIsWhatItReceived) {
    SmallJob job;
    job.all_servers_to_all_nodes(10 * gigabyte);
    job.switch_port(b, 1, "PortRcvData", filling(0.9) / 4);
    const JobVerdict verdict = job.judge();
    ASSERT_THAT(verdict.hot, SizeIs(1));
    EXPECT_EQ(verdict.hot[0].cause, "sender");
    EXPECT_NEAR(verdict.hot[0].own, 120.0e9 / (static_cast<double>(filling(0.9)) + 15e9), 0.001);
}

TEST(Routing, TheBarOfAFullSenderIsInclusive) {
    SmallJob below(false), at(false);
    below.switch_port(a, 1, "PortRcvData", filling(0.7999) / 4);
    at.switch_port(a, 1, "PortRcvData", filling(0.8001) / 4);
    EXPECT_THAT(below.judge().hot, IsEmpty());
    EXPECT_THAT(at.judge().hot, ElementsAre(Field(&HotPort::cause, "sender")));
}

TEST(Routing, AFullServerDoesNotHideACollapsedTable) {
    CollapsedJob job;
    job.switch_end(b, 1).counters["PortRcvData"] = job.switch_start(b, 1).counters["PortRcvData"];
    job.switch_port(b, 1, "PortRcvData", filling(0.9) / 4);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "routing-imbalance");
    EXPECT_THAT(verdict.because, ElementsAre(Field(&Finding::where, "SwitchA:13<->SwitchB:25")));
    EXPECT_THAT(verdict.hot, Contains(Field(&HotPort::cause, "sender")));
}

TEST(Routing, WithoutReceivedBytesAServersLinkIsNotJudgedFree) {
    SmallJob job;
    job.all_servers_to_all_nodes(10 * gigabyte);
    job.switch_end(b, 5).counters.erase("PortRcvData");
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_THAT(verdict.unread, ElementsAre(::testing::AllOf(Field(&UnreadCounter::where, "SwitchB:5<->stor05/mlx5_0:1"),
                                                             Field(&UnreadCounter::counter, "PortRcvData"),
                                                             Field(&UnreadCounter::reason, "absent at end"))));
}

TEST(Routing, OneNodeIsNotNodes) {
    CollapsedJob job;
    EXPECT_THAT(job.judge().notes, Contains(HasSubstr("SwitchB:27: 1 node, ")));
}

TEST(Routing, EveryLinkEvenlyFullIsCongestionByCapacity) {
    SmallJob job;
    for (unsigned i = 1; i <= SmallJob::links; ++i) { // one node behind each link
        job.traffic(SmallJob::server_lid(i), SmallJob::node_lid(i), filling(0.79));
        job.traffic(SmallJob::server_lid(i % 8 + 1), SmallJob::node_lid(i + 8 > 12 ? i : i + 8), filling(0.16));
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "congestion");
    EXPECT_THAT(verdict.hot, Contains(Field(&HotPort::cause, "capacity")));
}

TEST(Routing, LinksToTheServicesThatAreFullAreNoMatterOfFewerSwitches) {
    SmallJob job;
    for (unsigned i = 1; i <= SmallJob::links; ++i) {
        job.traffic(SmallJob::server_lid(i), SmallJob::node_lid(i), filling(0.79));
        job.traffic(SmallJob::server_lid(i % 8 + 1), SmallJob::node_lid(i + 8 > 12 ? i : i + 8), filling(0.16));
    }
    const JobVerdict verdict = job.judge();
    EXPECT_THAT(verdict.hot, Contains(::testing::AllOf(Field(&HotPort::cause, "capacity"),
                                                       Field(&HotPort::direction, "from"))));
    EXPECT_THAT(verdict.advice, Each(::testing::Not(HasSubstr("--switches"))));
    EXPECT_THAT(verdict.advice, Contains(HasSubstr("more links towards the services")));
}

TEST(Routing, AShareAboveTheCeilingIsExplained) {
    CollapsedJob job(1.04); // more than the payload ceiling, no more than the link's rate
    const JobVerdict verdict = job.judge();
    ASSERT_FALSE(verdict.because.empty());
    EXPECT_EQ(verdict.because[0].delta, 104U);
    EXPECT_THAT(verdict.because[0].note, HasSubstr("above the ceiling: the interval was too short to measure"));
    EXPECT_THAT(CollapsedJob(0.96).judge().because[0].note, ::testing::Not(HasSubstr("above the ceiling")));
}

TEST(Routing, OthersTrafficOnALinkThatTheJobDoesNotUseIsNotItsOwn) {
    SmallJob job(true, true);
    job.all_servers_to_all_nodes(10 * gigabyte);
    job.switch_port(b, 30, "PortXmitData", filling(0.95) / 4);
    job.switch_port(a, 18, "PortRcvData", filling(0.95) / 4);
    job.switch_port(a, 18, "SymbolErrorCounter", 3);
    job.evidence.scout.start->hosts.resize(SmallJob::nodes); // the servers are somebody else's, too
    job.evidence.scout.end->hosts.resize(SmallJob::nodes);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_THAT(verdict.hot, IsEmpty());
}

TEST(Routing, AnIdleMemberOfTheGroupCannotConvict) {
    SmallJob job(true, true);
    job.all_servers_to_all_nodes(10 * gigabyte);
    job.switch_port(b, 30, "SymbolErrorCounter", 3); // its receiving direction, A to B, is on the routes
    for (auto *scout : {&job.evidence.scout.start, &job.evidence.scout.end}) {
        for (unsigned i = 1; i <= SmallJob::servers; ++i) {
            (*scout)->lfts[0].ports[SmallJob::server_lid(i)] = 13; // everything to the servers over one link
        }
    }
    EXPECT_EQ(job.judge().verdict, "clean");
}

TEST(Routing, AFullLinkOnTheRoutesThatOthersFillIsCongestionByOthers) {
    SmallJob job;
    job.all_servers_to_all_nodes(10 * gigabyte);
    job.switch_port(b, 25, "PortXmitData", filling(0.9) / 4);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "congestion");
    ASSERT_THAT(verdict.hot, SizeIs(1));
    EXPECT_EQ(verdict.hot[0].cause, "others");
    EXPECT_LT(verdict.hot[0].own, 0.5);
}

TEST(Routing, ManyToOneIsAReceiversPortThatIsFull) {
    SmallJob job(false);
    for (unsigned i = 2; i <= SmallJob::nodes; ++i) {
        job.traffic(SmallJob::node_lid(i), SmallJob::node_lid(1), filling(0.95) / 11);
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "congestion");
    ASSERT_THAT(verdict.hot, SizeIs(1));
    EXPECT_EQ(verdict.hot[0].where, "SwitchA:1<->node01/mlx5_0:1");
    EXPECT_EQ(verdict.hot[0].cause, "receiver");
}

TEST(Routing, ALinkWhoseTrafficLeadsToAFullReceiverIsIncast) {
    SmallJob job;
    for (unsigned s = 1; s <= SmallJob::servers; ++s) {
        job.traffic(SmallJob::server_lid(s), SmallJob::node_lid(1), filling(0.95) / 8);
    }
    // One more node behind the same link, so that spreading could help and the spread rule is tried first.
    for (auto *scout : {&job.evidence.scout.start, &job.evidence.scout.end}) {
        for (unsigned i = 2; i <= SmallJob::nodes; ++i) {
            if ((*scout)->lfts[1].ports[SmallJob::node_lid(i)] == 25) {
                (*scout)->lfts[1].ports[SmallJob::node_lid(i)] = 26;
            }
        }
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "congestion");
    EXPECT_THAT(verdict.hot, Contains(::testing::AllOf(Field(&HotPort::sender, "SwitchB:25"),
                                                       Field(&HotPort::cause, "incast"))));
}

TEST(Routing, TheBarOfHotIsInclusive) {
    SmallJob below(false), at(false);
    below.traffic(SmallJob::node_lid(2), SmallJob::node_lid(1), filling(0.7999));
    at.traffic(SmallJob::node_lid(2), SmallJob::node_lid(1), filling(0.8001));
    EXPECT_EQ(below.judge().verdict, "clean");
    EXPECT_EQ(at.judge().verdict, "congestion");
}

TEST(Routing, AChangeSinceTheMapIsToldAndWithholdsNothing) {
    CollapsedJob job;
    job.map.nodes[b].lft[SmallJob::node_lid(7)] = 31;
    const JobVerdict verdict = job.judge();
    EXPECT_THAT(verdict.routes_changed,
                ElementsAre("since the map was built, SwitchB: LID 9 (node07) from port 31 to port 26"));
    EXPECT_FALSE(verdict.changed_in_mid_job);
    EXPECT_EQ(verdict.route, RouteStatus::changed);
    EXPECT_EQ(verdict.verdict, "routing-imbalance");
}

TEST(Routing, EvenRoutesThatTheMapHasOtherwiseAreChanged) {
    SmallJob job;
    job.map.nodes[b].lft[SmallJob::node_lid(7)] = 26; // 31 in truth
    EXPECT_EQ(job.judge().route, RouteStatus::changed);
    job.map.nodes[b].lft.clear();
    EXPECT_EQ(job.judge().route, RouteStatus::ok) << "a table that the map lacks says nothing";
}

TEST(Routing, AChangeInMidJobWithholdsTheImbalanceAndListsBothPorts) {
    CollapsedJob job;
    job.evidence.scout.start->lfts[1].ports[SmallJob::node_lid(7)] = 31;
    job.switch_port(b, 26, "PortXmitDiscards", 4);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.route, RouteStatus::changed);
    EXPECT_EQ(verdict.verdict, "lossless-broken");
    EXPECT_THAT(verdict.routes_changed, ElementsAre("SwitchB: LID 9 (node07) from port 31 to port 26"));
    EXPECT_THAT(verdict.because[0].note, HasSubstr("route changed"));
    EXPECT_THAT(verdict.live, Each(::testing::Not(Field(&Finding::layer, Layer::routing_imbalance))));
}

TEST(Routing, AChangeOfLidsThatAreNotTheJobsIsNone) {
    SmallJob job;
    job.ring(10 * gigabyte);
    job.evidence.scout.start->lfts[1].ports[50] = 31;
    EXPECT_EQ(job.judge().route, RouteStatus::ok);
}

TEST(Routing, UnderAdaptiveRoutingMeasuredSpreadStillJudges) {
    CollapsedJob job;
    job.config.adaptive_routing = "on";
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "routing-imbalance");
    EXPECT_EQ(verdict.adaptive_routing, AdaptiveRouting::on);
}

TEST(Routing, AnUnreadableGroupMemberLeavesTheSpreadOpen) {
    CollapsedJob job;
    for (auto *scout : {&job.evidence.scout.start, &job.evidence.scout.end}) {
        SmallJob::port_of(*scout, b, 26).counters.erase("PortXmitData");
        SmallJob::port_of(*scout, a, 14).counters.erase("PortRcvData");
    }
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.rest, "congestion");
    EXPECT_FALSE(verdict.measures[static_cast<std::size_t>(verdict.worst_group)].spread);
}

TEST(Routing, TheOtherEndStandsInForAnUnreadablePort) {
    CollapsedJob job;
    for (auto *scout : {&job.evidence.scout.start, &job.evidence.scout.end}) {
        SmallJob::port_of(*scout, b, 26).counters.erase("PortXmitData");
    }
    EXPECT_EQ(job.judge().verdict, "routing-imbalance");
}

} // namespace
} // namespace fabric_check
