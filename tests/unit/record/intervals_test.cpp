// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/intervals.hpp"

#include "counters/table.hpp"
#include "record/codec.hpp"

#include <gmock/gmock.h>
#include <random>

namespace fabric_check {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t minute = 60 * second;
const std::string port_name = "mlx5_0:1";
const std::string symbols = "SymbolErrorCounter";

NodeSnapshot at(std::int64_t time_ns, Counters counters) {
    NodeSnapshot snapshot;
    snapshot.node = "node01";
    snapshot.time_ns = time_ns;
    HcaPort port;
    port.device = "mlx5_0";
    port.counters = std::move(counters);
    snapshot.ports.push_back(std::move(port));
    return snapshot;
}
NodeSnapshot at(std::int64_t time_ns, std::uint64_t value) {
    return at(time_ns, {{symbols, Reading::of(value)}});
}

bool belongs_to_mlx5(const CounterInfo &info) {
    return info.drivers == any_driver || (info.drivers & driver_from("mlx5_core")) != 0;
}

/// A job whose START is at second 0.
class Folding : public ::testing::Test {
protected:
    void start(const NodeSnapshot &snapshot) {
        bases = bases_of(snapshot);
        last = snapshot.time_ns;
    }
    bool next(const NodeSnapshot &snapshot, bool closing = false) {
        const bool done = fold(intervals, bases, last, snapshot, closing);
        if (done)
            last = snapshot.time_ns;
        return done;
    }
    CounterTotal total(const std::string &counter = symbols) { return totals_of(intervals, port_name)[counter]; }

    Intervals intervals;
    Bases bases;
    std::int64_t last = 0;
};

TEST(Tracked, AreCountersOfEveryPriorityAndNoOtherName) {
    EXPECT_TRUE(is_tracked("rx_prio3_pause"));
    EXPECT_TRUE(is_tracked("rx_prio5_buf_discard"));
    EXPECT_TRUE(is_tracked("SymbolErrorCounter"));
    EXPECT_FALSE(is_tracked("symbol_error"));
    EXPECT_FALSE(is_tracked("PortXmitWait"));
}

TEST_F(Folding, KeepsWhatMovedWithItsInterval) {
    start(at(0, 5));
    next(at(minute, 5));
    next(at(2 * minute, 95));
    next(at(3 * minute, 95), true);
    EXPECT_EQ(total().delta, 90U);
    EXPECT_THAT(total().moves, ::testing::ElementsAre(Movement{minute, 2 * minute, 90}));
    EXPECT_TRUE(total().lost.empty());
    EXPECT_TRUE(spans(intervals, 0, 3 * minute));
}

TEST_F(Folding, StoresNothingOfACounterThatStands) {
    start(at(0, 5));
    for (int i = 1; i <= 10; ++i)
        next(at(i * minute, 5));
    ASSERT_EQ(intervals.size(), 1U);
    EXPECT_TRUE(intervals[0].ports.empty());
    EXPECT_TRUE(spans(intervals, 0, 10 * minute));
}

TEST_F(Folding, AResetCostsItsIntervalOnly) {
    start(at(0, 100));
    next(at(minute, 107));
    next(at(2 * minute, 3));
    next(at(3 * minute, 8), true);
    EXPECT_EQ(total().delta, 12U);
    EXPECT_THAT(total().lost, ::testing::ElementsAre(LostSpan{minute, 2 * minute, NoDelta::reset}));
    EXPECT_EQ(total().lost_ns, minute);
}

TEST_F(Folding, WhatWasCountedBeforeSaturationIsKept) {
    start(at(0, 65000));
    next(at(minute, 65500));
    next(at(2 * minute, 65535));
    next(at(3 * minute, 65535));
    EXPECT_EQ(total().delta, 500U);
    EXPECT_THAT(total().lost, ::testing::ElementsAre(LostSpan{minute, 3 * minute, NoDelta::saturated}));
}

TEST_F(Folding, ACounterUnreadForATimeLosesNothing) {
    start(at(0, 5));
    next(at(minute, {{symbols, Reading::missing(Absence::timed_out)}}));
    next(at(2 * minute, 9));
    EXPECT_EQ(total().delta, 4U);
    EXPECT_TRUE(total().lost.empty());
    EXPECT_THAT(total().moves, ::testing::ElementsAre(Movement{0, 2 * minute, 4}));
}

TEST_F(Folding, ACounterThatIsNotReadAtTheEndIsLostSinceItWasLastRead) {
    start(at(0, 5));
    next(at(minute, 6));
    next(at(2 * minute, Counters{}), true);
    EXPECT_EQ(total().delta, 1U);
    EXPECT_THAT(total().lost, ::testing::ElementsAre(LostSpan{minute, 2 * minute, NoDelta::absent_after}));
}

TEST_F(Folding, ACardThatIsGoneAtTheEndLosesItsCounters) {
    start(at(0, 5));
    auto nothing = at(minute, 0);
    nothing.ports.clear();
    next(nothing, true);
    EXPECT_EQ(total().lost_ns, minute);
}

TEST_F(Folding, RefusesAReadingThatIsNotLater) {
    start(at(minute, 5));
    EXPECT_FALSE(next(at(minute, 9)));
    EXPECT_FALSE(next(at(0, 9)));
    EXPECT_TRUE(intervals.empty());
    EXPECT_EQ(bases[port_name][symbols].reading.value, 5U);
}

TEST_F(Folding, KeepsNoCounterThatNobodyJudges) {
    start(at(0, {{"PortXmitPkts", Reading::of(1)}, {"no_such_counter", Reading::of(1)}, {symbols, Reading::of(1)}}));
    EXPECT_EQ(bases[port_name].size(), 1U);
}

TEST_F(Folding, MergesTheShortestPairBeyondTheLimit) {
    start(at(0, 0));
    std::int64_t now = 0;
    for (std::size_t i = 0; i <= most_intervals; ++i) { // one too many; the 11th and 12th are short
        now += i == 10 || i == 11 ? second : minute;
        next(at(now, i + 1));
    }
    ASSERT_EQ(intervals.size(), most_intervals);
    EXPECT_EQ(intervals[10].to_ns - intervals[10].from_ns, 2 * second);
    EXPECT_EQ(intervals[10].ports[port_name][symbols].delta, 2U);
    EXPECT_TRUE(spans(intervals, 0, now));
}

TEST_F(Folding, ALonelyMovementKeepsItsTimeThroughMerging) {
    start(at(0, {{symbols, Reading::of(0)}, {"PortXmitData", Reading::of(0, 64)}}));
    for (int i = 1; i <= 5000; ++i)
        next(at(i * minute, {{symbols, Reading::of(i >= 77 ? 90 : 0)}, {"PortXmitData", Reading::of(static_cast<std::uint64_t>(i), 64)}}));
    EXPECT_THAT(total().moves, ::testing::ElementsAre(Movement{76 * minute, 77 * minute, 90}));
    EXPECT_EQ(total("PortXmitData").delta, 5000U);
    EXPECT_EQ(intervals.size(), most_intervals);
}

TEST_F(Folding, TooManyLostSpansAreJoinedAndNeverForgotten) {
    start(at(0, 100));
    std::int64_t lost = 0;
    for (int i = 1; i <= 20000; ++i) { // a reset in every second minute
        const bool reset = i % 2 == 0;
        next(at(i * minute, reset ? 1 : 100));
        lost += reset ? minute : 0;
    }
    EXPECT_GE(total().lost_ns, lost);
    for (const auto &interval : intervals)
        EXPECT_LE(interval.ports.at(port_name).at(symbols).lost.size(), most_lost_spans);
    EXPECT_EQ(total().delta, 99U * 9999U);
}

/// A year of hourly steps on a busy port with an error here and there, resets and full counters, against a twin that keeps
/// every step.
TEST_F(Folding, AYearStaysSmallAndItsSumsAreExact) {
    std::mt19937_64 random(4711);
    Counters counters;
    std::map<std::string, std::uint64_t> sums;
    for (const CounterInfo &info : counter_table())
        if (is_tracked(std::string(info.name)) && belongs_to_mlx5(info))
            counters[std::string(info.name)] = Reading::of(0);
    start(at(0, counters));
    std::size_t largest = 0;
    const int steps = 365 * 24;
    for (int i = 1; i <= steps; ++i) {
        for (auto &[name, reading] : counters) {
            const auto *info = find_counter(name);
            const auto cap = saturation_cap(info->width);
            const auto before = *reading.value;
            auto value = before;
            if (info->unit == Unit::octets_div_4)
                value = std::min(value + random() % 1000000, cap != 0 ? cap : UINT64_MAX);
            else if (random() % 50 == 0)
                value = std::min(value + random() % 50, cap != 0 ? cap : UINT64_MAX);
            if (random() % 200 == 0)
                value = 0;
            if (value >= before && (cap == 0 || value != cap))
                sums[std::string(name)] += value - before;
            reading = Reading::of(value);
        }
        next(at(i * 60 * minute, counters), i == steps);
        if (i % 500 == 0 || i == steps) {
            Record record{7, "node01", Phase::mid, i * 60 * minute, at(i * 60 * minute, counters), intervals};
            largest = std::max(largest, encode_record(record).size());
        }
    }
    for (const auto &[name, sum] : sums)
        EXPECT_EQ(total(name).delta, sum) << name;
    EXPECT_EQ(intervals.size(), most_intervals);
    EXPECT_TRUE(spans(intervals, 0, std::int64_t{steps} * 60 * minute));
    EXPECT_LT(largest, 256U * 1024); // the worst of ports: all of its counters move all the time
}

TEST_F(Folding, AQuietYearIsAFewKilobytes) {
    start(at(0, {{symbols, Reading::of(0)}, {"PortXmitData", Reading::of(0, 64)}, {"PortRcvData", Reading::of(0, 64)}}));
    for (int i = 1; i <= 365 * 24 * 12; ++i) {
        const auto data = Reading::of(static_cast<std::uint64_t>(i) * 3'000'000'000, 64);
        next(at(i * 5 * minute, {{symbols, Reading::of(0)}, {"PortXmitData", data}, {"PortRcvData", data}}));
    }
    Record record{7, "node01", Phase::mid, last, at(last, 0), intervals};
    EXPECT_LT(encode_record(record).size(), 8U * 1024);
}

class IntervalsCodec : public Folding {
protected:
    Record record() {
        start(at(second, 100));
        next(at(minute, 107));
        next(at(2 * minute, {{symbols, Reading::missing(Absence::denied)}}));
        next(at(3 * minute, 3));
        next(at(4 * minute, 9), true);
        return {7, "node01", Phase::mid, 4 * minute, at(4 * minute, 9), intervals};
    }
    static std::string refusal(std::string text, const std::string &what, const std::string &by) {
        const auto place = text.find(what);
        EXPECT_NE(place, std::string::npos) << what << " in " << text;
        text.replace(place, what.size(), by);
        const auto decoded = decode_record(text);
        return decoded ? "accepted" : decoded.error().message;
    }
};

TEST_F(IntervalsCodec, ReadsWhatItWrote) {
    const auto written = record();
    const auto read = decode_record(encode_record(written));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->intervals, written.intervals);
    EXPECT_EQ(read->phase, Phase::mid);
}

TEST_F(IntervalsCodec, ARecordWithoutThemHasNone) {
    auto without = record();
    without.intervals.clear();
    EXPECT_EQ(encode_record(without).find("intervals"), std::string::npos);
    EXPECT_TRUE(decode_record(encode_record(without))->intervals.empty());
}

TEST_F(IntervalsCodec, RefusesWhatDoesNotFit) {
    const auto text = encode_record(record());
    EXPECT_THAT(refusal(text, R"("intervals":[{"from_ns":1000000000)", R"("intervals":[{"from_ns":90000000000)"),
                HasSubstr("intervals[0]: ends before it begins"));
    EXPECT_THAT(refusal(text, R"("from_ns":60000000000,"to_ns")", R"("from_ns":60000000001,"to_ns")"),
                HasSubstr("does not begin where the one before ends"));
    EXPECT_THAT(refusal(text, R"("why":"reset")", R"("why":"boredom")"), HasSubstr("why: unknown reason"));
    EXPECT_THAT(refusal(text, R"("SymbolErrorCounter":7)", R"("SymbolErrorCounter":0)"), HasSubstr("0 is not stored"));
    EXPECT_THAT(refusal(text, R"("SymbolErrorCounter":7)", R"("SymbolErrorCounter":{})"),
                HasSubstr("neither moved nor lost"));
    EXPECT_THAT(refusal(text, R"("SymbolErrorCounter":7)", R"("SymbolErrorCounter":-7)"), HasSubstr("not an object"));
}

TEST_F(IntervalsCodec, RefusesMoreIntervalsThanAnybodyKeeps) {
    auto long_one = record();
    while (long_one.intervals.size() <= most_intervals)
        long_one.intervals.push_back({long_one.intervals.back().to_ns, long_one.intervals.back().to_ns + 1, {}});
    const auto decoded = decode_record(encode_record(long_one));
    ASSERT_FALSE(decoded);
    EXPECT_THAT(decoded.error().message, HasSubstr("intervals"));
}

TEST(IntervalTotals, NeverOverflow) {
    Interval interval{0, 1, {}};
    interval.ports[port_name][symbols] = {
        UINT64_MAX, 0, 1, {{0, INT64_MAX, NoDelta::reset}, {0, INT64_MAX, NoDelta::saturated}}};
    const auto totals = totals_of({interval, interval}, port_name);
    EXPECT_EQ(totals.at(symbols).delta, UINT64_MAX);
    EXPECT_EQ(totals.at(symbols).lost_ns, INT64_MAX);
}

} // namespace
} // namespace fabric_check
