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
        if (required_in_ib(info, PortKind::hca, "mlx5_core")) {
            deltas[std::string(info.name)] = moved(0);
        }
    }
    return deltas;
}

PortRules rules(std::optional<std::uint64_t> bytes = terabyte) {
    PortRules rules;
    rules.required = [](const CounterInfo &info) { return required_in_ib(info, PortKind::hca, "mlx5_core"); };
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
    without.required = [](const CounterInfo &info) { return required_in_ib(info, PortKind::hca, "mlx4_core"); };
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

class CongestionBar : public ::testing::Test {
protected:
    /// rp_cnp_handled graded, as another profile does.
    static std::string word(std::uint64_t events, std::optional<std::uint64_t> bytes) {
        PortRules rules;
        rules.graded = [](const CounterInfo &info) { return info.name == "rp_cnp_handled"; };
        rules.bytes = bytes;
        return judge_port({{"rp_cnp_handled", moved(events)}}, rules).word();
    }
};

TEST_F(CongestionBar, IsExclusive) {
    EXPECT_EQ(word(1000000, terabyte), "clean");
    EXPECT_EQ(word(1000001, terabyte), "congestion");
}
TEST_F(CongestionBar, GoesByTheBytes) {
    EXPECT_EQ(word(900000, terabyte), "clean");
    EXPECT_EQ(word(900000, terabyte / 100), "congestion");
}
TEST_F(CongestionBar, WithoutBytesIsNoEvidence) { EXPECT_EQ(word(1, std::nullopt), "unusable"); }
TEST_F(CongestionBar, WithoutEventsNeedsNoBytes) { EXPECT_EQ(word(0, std::nullopt), "clean"); }

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

} // namespace
} // namespace fabric_check
