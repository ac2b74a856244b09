// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/port_verdict.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t terabyte = 1000000000000;

Delta moved(std::uint64_t v) { return {v, NoDelta::absent}; }
Delta none(NoDelta why) { return {std::nullopt, why}; }

/// A whole mlx5 port on which nothing moved.
Deltas quiet() {
    Deltas deltas;
    for (const CounterInfo &info : counter_table()) {
        if (required(info, Profile::ib, PortKind::hca, "mlx5_core")) {
            deltas[std::string(info.name)] = moved(0);
        }
    }
    return deltas;
}

PortRules rules(std::optional<std::uint64_t> bytes = terabyte) {
    PortRules rules;
    rules.driver = "mlx5_core";
    rules.bytes = bytes;
    rules.min_bytes = 1;
    return rules;
}

PortVerdict judge(const std::map<std::string, Delta> &changes, std::optional<std::uint64_t> bytes = terabyte) {
    Deltas deltas = quiet();
    for (const auto &[name, delta] : changes) {
        deltas[name] = delta;
    }
    return judge_port(deltas, rules(bytes));
}

std::vector<std::string> names(const std::vector<LiveCounter> &live) {
    std::vector<std::string> out;
    for (const LiveCounter &counter : live) {
        out.push_back(counter.counter);
    }
    return out;
}

TEST(JudgePort, NothingMovedOverATerabyteIsClean) {
    const PortVerdict verdict = judge({});
    EXPECT_EQ(verdict.word(), "clean");
    EXPECT_THAT(verdict.detail(), IsEmpty());
}

TEST(JudgePort, TheLowestLayerIsTheVerdictWithItsCountersOnly) {
    const PortVerdict verdict = judge({{"SymbolErrorCounter", moved(90)},
                                       {"packet_seq_err", moved(12000)},
                                       {"local_ack_timeout_err", moved(800)}});
    EXPECT_EQ(verdict.word(), "physical");
    EXPECT_THAT(verdict.detail(), ElementsAre("SymbolErrorCounter"));
    EXPECT_THAT(names(verdict.live), ElementsAre("SymbolErrorCounter", "local_ack_timeout_err", "packet_seq_err"));
}

TEST(JudgePort, OneSequenceErrorInATerabyteIsARetry) {
    EXPECT_EQ(judge({{"packet_seq_err", moved(1)}}).word(), "transport-retry");
}

TEST(JudgePort, OneMoreLinkDownIsPhysical) {
    EXPECT_EQ(judge({{"LinkDownedCounter", moved(1)}}).word(), "physical");
}

TEST(JudgePort, DiscardsAreLosslessBroken) {
    EXPECT_EQ(judge({{"PortXmitDiscards", moved(1)}}).word(), "lossless-broken");
}

TEST(JudgePort, AnUnreadableCounterIsUnusableAndTheLiveOnesAreListed) {
    const PortVerdict verdict =
        judge({{"LinkDownedCounter", none(NoDelta::saturated)}, {"PortXmitDiscards", moved(500)}});
    EXPECT_EQ(verdict.word(), "unusable");
    EXPECT_THAT(verdict.detail(), ElementsAre("LinkDownedCounter"));
    EXPECT_THAT(names(verdict.live), ElementsAre("PortXmitDiscards"));
    EXPECT_EQ(verdict.unread.front().reason, "saturated");
}

TEST(JudgePort, AResetIsUnusable) {
    const PortVerdict verdict = judge({{"packet_seq_err", none(NoDelta::reset)}});
    EXPECT_EQ(verdict.word(), "unusable");
    EXPECT_EQ(verdict.unread.front().reason, "reset");
}

TEST(JudgePort, EveryMissingRequiredCounterIsNamedInOrder) {
    const PortVerdict verdict = judge({{"rnr_nak_retry_err", none(NoDelta::absent_after)},
                                       {"PortRcvErrors", none(NoDelta::timed_out)},
                                       {"SymbolErrorCounter", none(NoDelta::denied)}});
    EXPECT_EQ(verdict.word(), "incomplete");
    EXPECT_THAT(verdict.detail(), ElementsAre("PortRcvErrors", "SymbolErrorCounter", "rnr_nak_retry_err"));
}

TEST(JudgePort, MissingOutranksUnreadable) {
    const PortVerdict verdict =
        judge({{"SymbolErrorCounter", none(NoDelta::saturated)}, {"packet_seq_err", none(NoDelta::absent)}});
    EXPECT_EQ(verdict.word(), "incomplete");
    EXPECT_THAT(verdict.detail(), ElementsAre("packet_seq_err"));
}

TEST(JudgePort, InDiffAnIncompleteResultListsNothingLive) {
    Deltas deltas = quiet();
    deltas["SymbolErrorCounter"] = moved(4);
    deltas.erase("packet_seq_err");
    PortRules strict = rules();
    strict.list_live_when_incomplete = false;
    EXPECT_THAT(judge_port(deltas, strict).live, IsEmpty());
    strict.list_live_when_incomplete = true;
    EXPECT_THAT(names(judge_port(deltas, strict).live), ElementsAre("SymbolErrorCounter"));
}

TEST(JudgePort, ARetryCounterThatIsNotRequiredHereIsAGapOnlyWhenOneSideHasIt) {
    PortRules without;
    without.driver = "mlx4_core";
    Deltas deltas = quiet();
    deltas["packet_seq_err"] = none(NoDelta::absent);
    EXPECT_EQ(judge_port(deltas, without).word(), "clean");
    deltas["packet_seq_err"] = none(NoDelta::absent_before);
    EXPECT_EQ(judge_port(deltas, without).word(), "incomplete");
}

TEST(JudgePort, AGradedCounterThatNobodyRequiresIsNoGapOnOneSide) {
    EXPECT_EQ(judge({{"out_of_sequence", none(NoDelta::absent_before)}}).word(), "clean");
}

TEST(JudgePort, AGradedCounterThatNobodyRequiresIsJudgedWhereItIs) {
    EXPECT_EQ(judge({{"implied_nak_seq_err", moved(2)}}).word(), "transport-retry");
    EXPECT_EQ(judge({{"implied_nak_seq_err", none(NoDelta::reset)}}).word(), "unusable");
}

TEST(JudgePort, UngradedCountersNeverDecide) {
    EXPECT_EQ(judge({{"PortXmitWait", moved(1000000)}, {"novelty", moved(5)}, {"PortRcvPkts", none(NoDelta::reset)}})
                  .word(),
              "clean");
}

TEST(JudgePort, ZeroBytesAreNoTrafficAndWhatMovedIsListed) {
    const PortVerdict verdict = judge({{"packet_seq_err", moved(3)}}, 0);
    EXPECT_EQ(verdict.word(), "no-traffic");
    EXPECT_THAT(names(verdict.live), ElementsAre("packet_seq_err"));
}

TEST(JudgePort, TheFloorItselfIsEnoughTraffic) {
    PortRules floor = rules(100);
    floor.min_bytes = 100;
    EXPECT_EQ(judge_port(quiet(), floor).word(), "clean");
    floor.bytes = 99;
    EXPECT_EQ(judge_port(quiet(), floor).word(), "no-traffic");
}

TEST(JudgePort, UnknownBytesAreNotNoTraffic) { EXPECT_EQ(judge({}, std::nullopt).word(), "clean"); }

TEST(JudgePort, AGapOutranksNoTraffic) {
    EXPECT_EQ(judge({{"packet_seq_err", none(NoDelta::absent)}}, 0).word(), "incomplete");
}

/// A whole mlx5 RoCE port with flow control on priority 3, on which nothing moved.
Deltas quiet_roce() {
    Deltas deltas;
    for (const CounterInfo &info : counter_table()) {
        if (required(info, Profile::roce, PortKind::hca, "mlx5_core")) {
            deltas[info.of_priority(3)] = moved(0);
        }
    }
    return deltas;
}

PortVerdict judge_roce(const std::map<std::string, Delta> &changes, std::optional<std::uint64_t> bytes = terabyte,
                       const Bars *bars = nullptr) {
    Deltas deltas = quiet_roce();
    for (const auto &[name, delta] : changes) {
        deltas[name] = delta;
    }
    PortRules rules;
    rules.profile = Profile::roce;
    rules.driver = "mlx5_core";
    rules.bytes = bytes;
    rules.min_bytes = 1;
    rules.bars = bars;
    return judge_port(deltas, rules);
}

TEST(CongestionBar, IsExclusive) {
    EXPECT_EQ(judge_roce({{"rx_prio3_pause", moved(1000000)}}).word(), "clean");
    EXPECT_EQ(judge_roce({{"rx_prio3_pause", moved(1000001)}}).word(), "congestion");
}
TEST(CongestionBar, GoesByTheBytes) {
    EXPECT_EQ(judge_roce({{"rx_prio3_pause", moved(900000)}}).word(), "clean");
    EXPECT_EQ(judge_roce({{"rx_prio3_pause", moved(900000)}}, terabyte / 100).word(), "congestion");
}
TEST(CongestionBar, WithoutBytesIsNoEvidence) {
    EXPECT_EQ(judge_roce({{"rp_cnp_handled", moved(1)}}, std::nullopt).word(), "unusable");
}
TEST(CongestionBar, WithoutEventsNeedsNoBytes) { EXPECT_EQ(judge_roce({}, std::nullopt).word(), "clean"); }
TEST(CongestionBar, OfPausesGoesByTheOppositeDirection) {
    PortRules rules;
    rules.profile = Profile::roce;
    rules.bytes = terabyte;
    rules.sent = terabyte / 100;
    rules.received = terabyte - terabyte / 100;
    const auto word = [&](const char *counter, std::uint64_t count) {
        Deltas deltas = quiet_roce();
        deltas[counter] = moved(count);
        return judge_port(deltas, rules).word();
    };
    EXPECT_EQ(word("rx_prio3_pause", 10001), "congestion") << "10 GB were sent";
    EXPECT_EQ(word("rx_prio3_pause", 10000), "clean");
    EXPECT_EQ(word("tx_prio3_pause", 990000), "clean") << "990 GB were received";
    EXPECT_EQ(word("tx_prio3_pause", 990001), "congestion");
    EXPECT_EQ(word("rp_cnp_handled", 1000000), "clean") << "both ways together";
}

TEST(RoceProfile, FollowsCausation) {
    std::map<std::string, Delta> moves{
        {"rx_prio3_pause", moved(8000000)}, {"rp_cnp_handled", moved(90000)}, {"rx_discards_phy", moved(310)}};
    EXPECT_EQ(judge_roce(moves).word(), "lossless-broken");
    EXPECT_THAT(judge_roce(moves).detail(), ElementsAre("rx_discards_phy"));
    moves["tx_pause_storm_error_events"] = moved(4);
    EXPECT_EQ(judge_roce(moves).word(), "pause-storm");
    moves.erase("tx_pause_storm_error_events");
    moves.erase("rx_discards_phy");
    EXPECT_EQ(judge_roce(moves).word(), "congestion");
    EXPECT_THAT(judge_roce(moves).detail(), ElementsAre("rx_prio3_pause")) << "90,000 notifications are below the bar";
}

TEST(RoceProfile, RequiresTheDiscardsOfPrioritiesWithFlowControlOnly) {
    Deltas deltas = quiet_roce();
    deltas["rx_prio5_pause"] = moved(0);
    PortRules rules;
    rules.profile = Profile::roce;
    rules.driver = "mlx5_core";
    const PortVerdict verdict = judge_port(deltas, rules);
    EXPECT_EQ(verdict.word(), "incomplete");
    EXPECT_THAT(verdict.detail(), ElementsAre("rx_prio5_buf_discard"));
}

TEST(RoceProfile, DropsOfAPriorityWithoutFlowControlAreNormal) {
    EXPECT_EQ(judge_roce({{"rx_prio0_buf_discard", moved(77)}}).word(), "clean");
}

TEST(RoceProfile, WithoutAnyPausesIsIncompleteAndNamesTheFamily) {
    Deltas deltas = quiet_roce();
    deltas.erase("rx_prio3_pause");
    PortRules rules;
    rules.profile = Profile::roce;
    rules.driver = "mlx5_core";
    EXPECT_THAT(judge_port(deltas, rules).detail(), ElementsAre("rx_prio<n>_buf_discard", "rx_prio<n>_pause"));
    deltas["rx_global_pause"] = moved(5);
    rules.bytes = terabyte;
    EXPECT_EQ(judge_port(deltas, rules).word(), "clean") << "802.3x pauses the whole port";
    rules.whole_profile = true;
    EXPECT_EQ(judge_port(deltas, rules).word(), "incomplete") << "the profile is that of flow control by priority";
}

TEST(RoceProfile, ACardWithoutCongestionCountersIsNoZero) {
    Deltas deltas = quiet_roce();
    deltas.erase("rp_cnp_handled");
    PortRules rules;
    rules.profile = Profile::roce;
    rules.driver = "mlx5_core";
    EXPECT_THAT(judge_port(deltas, rules).detail(), ElementsAre("rp_cnp_handled"));
    rules.driver = "ena";
    EXPECT_EQ(judge_port({}, rules).word(), "clean") << "a card that has none of the counters is asked for none";
}

TEST(RoceProfile, OfABroadcomCardGoesByItsOwnCounters) {
    PortRules rules;
    rules.profile = Profile::roce;
    rules.driver = "bnxt_en";
    rules.bytes = terabyte;
    Deltas deltas{{"rnr_naks_rcvd", moved(0)}, {"rx_roce_discards", moved(0)}, {"seq_err_naks_rcvd", moved(0)},
                  {"to_retransmits", moved(0)}, {"rx_pfc_ena_frames_pri0", moved(0)}, {"rx_pfc_ena_frames_pri3", moved(1000001)}};
    EXPECT_EQ(judge_port(deltas, rules).word(), "congestion");
    deltas["seq_err_naks_rcvd"] = moved(1);
    EXPECT_EQ(judge_port(deltas, rules).word(), "transport-retry");
    deltas.erase("to_retransmits");
    EXPECT_THAT(judge_port(deltas, rules).detail(), ElementsAre("to_retransmits"));
}

TEST(Bytes, ComeFromThePortThenRdmaThenTheWireThenThePriorities) {
    Deltas deltas{{"tx_bytes", moved(1)}};
    EXPECT_EQ(xmit_bytes(deltas), 1U);
    deltas["rx_prio3_pause"] = moved(0);
    deltas["tx_prio3_bytes"] = moved(2);
    deltas["tx_prio0_bytes"] = moved(70);
    EXPECT_EQ(xmit_bytes(deltas), 2U) << "of the priority with flow control";
    deltas["tx_bytes_phy"] = moved(3);
    EXPECT_EQ(xmit_bytes(deltas), 3U);
    deltas["tx_vport_rdma_unicast_bytes"] = moved(4);
    EXPECT_EQ(xmit_bytes(deltas), 4U);
    deltas["PortXmitData"] = moved(5);
    EXPECT_EQ(xmit_bytes(deltas), 20U);
    deltas["PortXmitData"] = none(NoDelta::reset);
    EXPECT_EQ(xmit_bytes(deltas), std::nullopt) << "another counter counts other things";
    EXPECT_EQ(rcv_bytes(deltas), std::nullopt);
}

TEST(RoceProfile, AnInfiniBandPortIsIncompleteAndTheReverse) {
    PortRules rules;
    rules.whole_profile = true;
    EXPECT_EQ(judge_port(quiet_roce(), rules).word(), "incomplete");
    rules.profile = Profile::roce;
    EXPECT_EQ(judge_port(quiet(), rules).word(), "incomplete");
}

TEST(Bars, OfACounterComeBeforeTheLayers) {
    const Bars bars{{"packet_seq_err", {.per_job = 100}},
                    {"rx_prio<n>_pause", {.per_gb = 5}},
                    {"rx_prio4_pause", {.per_gb = 50}},
                    {"local_ack_timeout_err", {.per_job = {}, .per_gb = {}, .per_hour = 10}}};
    EXPECT_EQ(judge_roce({{"packet_seq_err", moved(100)}}, terabyte, &bars).word(), "clean");
    const PortVerdict over = judge_roce({{"packet_seq_err", moved(101)}}, terabyte, &bars);
    EXPECT_EQ(over.word(), "transport-retry");
    EXPECT_EQ(over.live.at(0).bar, "100");
    EXPECT_EQ(judge_roce({{"rx_prio3_pause", moved(5001)}}, terabyte, &bars).live.at(0).bar, "5 per GB");
    EXPECT_EQ(judge_roce({{"rx_prio4_pause", moved(5001)}, {"rx_prio4_buf_discard", moved(0)}}, terabyte, &bars).word(),
              "clean");
    EXPECT_EQ(judge_roce({{"local_ack_timeout_err", moved(1)}}, terabyte, &bars).unread.at(0).reason, "time not known");
}

TEST(Bars, PerHourGoByTheTimeBetweenTheReadings) {
    const Bars bars{{"packet_seq_err", {.per_job = {}, .per_gb = {}, .per_hour = 10}}};
    PortRules hourly = rules();
    hourly.bars = &bars;
    hourly.seconds = 1800;
    Deltas deltas = quiet();
    deltas["packet_seq_err"] = moved(5);
    EXPECT_EQ(judge_port(deltas, hourly).word(), "clean");
    deltas["packet_seq_err"] = moved(6);
    EXPECT_EQ(judge_port(deltas, hourly).live.at(0).bar, "10 per hour");
}

TEST(Bars, WithoutOneTheLayersHold) {
    EXPECT_EQ(judge({{"SymbolErrorCounter", moved(1)}}).live.at(0).bar, "0");
    EXPECT_EQ(judge_roce({{"rp_cnp_handled", moved(1000001)}}).live.at(0).bar, "1000 per GB");
}

TEST(Bytes, AreFourTimesTheDataCounters) {
    const Deltas deltas{{"PortXmitData", moved(250)}, {"PortRcvData", moved(1)}};
    EXPECT_EQ(xmit_bytes(deltas), 1000U);
    EXPECT_EQ(rcv_bytes(deltas), 4U);
}
TEST(Bytes, AreUnknownWithoutADelta) {
    EXPECT_EQ(xmit_bytes({}), std::nullopt);
    EXPECT_EQ(rcv_bytes({{"PortRcvData", none(NoDelta::saturated)}}), std::nullopt);
}
TEST(Bytes, BeyondAllRangeAreUnknown) {
    EXPECT_EQ(xmit_bytes({{"PortXmitData", moved(UINT64_MAX / 4)}}), UINT64_MAX / 4 * 4);
    EXPECT_EQ(xmit_bytes({{"PortXmitData", moved(UINT64_MAX / 4 + 1)}}), std::nullopt);
}

PortRules roce_rules() {
    PortRules all = rules();
    all.profile = Profile::roce;
    return all;
}

TEST(JudgePort, WhatACardHasNoCapabilityForIsNoGapUnlessOneSideHasIt) {
    for (const char *counter : {"tx_pause_storm_error_events"}) {
        Deltas deltas = quiet_roce();
        EXPECT_EQ(judge_port(deltas, roce_rules()).word(), "clean");
        deltas.erase(counter);
        EXPECT_EQ(judge_port(deltas, roce_rules()).word(), "clean") << counter;
        deltas[counter] = none(NoDelta::unsupported);
        EXPECT_EQ(judge_port(deltas, roce_rules()).word(), "clean") << counter;
        for (const NoDelta why : {NoDelta::absent_before, NoDelta::absent_after, NoDelta::denied, NoDelta::timed_out}) {
            deltas[counter] = none(why);
            EXPECT_EQ(judge_port(deltas, roce_rules()).word(), "incomplete") << counter << ' ' << to_string(why);
        }
        deltas.erase(counter);
        PortRules whole = roce_rules();
        whole.whole_profile = true;
        EXPECT_EQ(judge_port(deltas, whole).word(), "incomplete") << counter;
    }
}

TEST(JudgePort, KeepsTheErrorsBelowTheSitesBar) {
    Deltas deltas = quiet();
    deltas["SymbolErrorCounter"] = moved(5);
    Bars bars;
    bars["SymbolErrorCounter"].per_job = 5;
    PortRules lenient = rules();
    lenient.bars = &bars;
    PortVerdict verdict = judge_port(deltas, lenient);
    EXPECT_EQ(verdict.word(), "clean");
    EXPECT_THAT(names(verdict.below), ElementsAre("SymbolErrorCounter"));
    deltas["SymbolErrorCounter"] = moved(6);
    verdict = judge_port(deltas, lenient);
    EXPECT_THAT(names(verdict.live), ElementsAre("SymbolErrorCounter"));
    EXPECT_THAT(verdict.below, IsEmpty());
}

} // namespace
} // namespace fabric_check
