// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/sampled.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using sample::EventKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t second = 1'000'000'000;
constexpr const char *symbols = "SymbolErrorCounter";

struct SampledTotals : ::testing::Test {
    sample::PortSeries series;
    SwitchPort start, end;
    std::int64_t from = 10 * second, to = 200 * second;

    SampledTotals() {
        series.known = {{0, 210 * second}};
        set(0, 0);
    }
    void set(std::uint64_t at_start, std::uint64_t at_end, std::uint8_t width = 16) {
        start.counters[symbols] = Reading::of(at_start, width);
        end.counters[symbols] = Reading::of(at_end, width);
    }
    /// In the interval that begins at this second, 30 seconds long.
    void event(std::int64_t at, EventKind kind, std::uint64_t before, std::uint64_t after) {
        series.events.push_back({at * second, (at + 30) * second, kind, Absence::absent, before, after, symbols});
    }
    CounterTotal total() {
        auto totals = sampled_totals(series, start, end, from, to);
        return totals[symbols];
    }
};

TEST_F(SampledTotals, ACounterThatStoodStillIsNotInIt) {
    EXPECT_THAT(sampled_totals(series, start, end, from, to), IsEmpty());
}

TEST_F(SampledTotals, MovementsHaveTheirIntervals) {
    set(5, 12);
    event(60, EventKind::moved, 5, 8);
    event(120, EventKind::moved, 8, 12);
    const CounterTotal found = total();
    EXPECT_EQ(found.delta, 7U);
    EXPECT_THAT(found.moves, ElementsAre(Movement{60 * second, 90 * second, 3}, Movement{120 * second, 150 * second, 4}));
    EXPECT_THAT(found.lost, IsEmpty());
}

TEST_F(SampledTotals, WhatMovedBeforeStartInItsIntervalIsNotTheJobs) {
    set(8, 9);
    event(0, EventKind::moved, 5, 9);
    const CounterTotal found = total();
    EXPECT_EQ(found.delta, 1U);
    EXPECT_THAT(found.moves, ElementsAre(Movement{10 * second, 30 * second, 1}));
}

TEST_F(SampledTotals, WhatMovedAfterEndInItsIntervalIsNotTheJobs) {
    set(5, 6);
    event(180, EventKind::moved, 5, 50);
    const CounterTotal found = total();
    EXPECT_EQ(found.delta, 1U);
    EXPECT_EQ(found.moves.back().to_ns, to);
}

TEST_F(SampledTotals, AResetCostsItsIntervalOnly) {
    set(5, 4);
    event(60, EventKind::moved, 5, 45);
    event(90, EventKind::reset, 45, 1);
    event(120, EventKind::moved, 1, 4);
    const CounterTotal found = total();
    EXPECT_EQ(found.delta, 43U);
    EXPECT_THAT(found.lost, ElementsAre(LostSpan{90 * second, 120 * second, NoDelta::reset}));
    EXPECT_EQ(found.lost_ns, 30 * second);
}

TEST_F(SampledTotals, AResetThatTheEndsDoNotShowIsSeenAllTheSame) {
    set(5, 9); // reset to 0, and then more errors than there were: END minus START would be 4
    event(60, EventKind::reset, 7, 0);
    event(120, EventKind::moved, 0, 9);
    const CounterTotal found = total();
    EXPECT_EQ(found.delta, 2U + 9U);
    EXPECT_THAT(found.lost, ElementsAre(LostSpan{60 * second, 90 * second, NoDelta::reset}));
}

TEST_F(SampledTotals, AResetBeforeStartInItsIntervalIsNotTheJobs) {
    set(1, 3);
    event(0, EventKind::reset, 40, 3);
    const CounterTotal found = total();
    EXPECT_EQ(found.delta, 2U);
    EXPECT_THAT(found.lost, IsEmpty());
}

TEST_F(SampledTotals, ASaturatedFieldIsLostUntilItIsReset) {
    set(5, 2);
    event(60, EventKind::saturated, 9, 65535);
    event(120, EventKind::reset, 65535, 0);
    event(150, EventKind::moved, 0, 2);
    const CounterTotal found = total();
    EXPECT_EQ(found.delta, 2U);
    EXPECT_THAT(found.lost, ElementsAre(LostSpan{60 * second, 150 * second, NoDelta::saturated}));
}

TEST_F(SampledTotals, ASaturatedFieldThatStaysIsLostToTheEnd) {
    set(5, 65535);
    event(60, EventKind::saturated, 9, 65535);
    EXPECT_THAT(total().lost, ElementsAre(LostSpan{60 * second, to, NoDelta::saturated}));
}

TEST_F(SampledTotals, WhereTheSamplerDidNotWatchAResetIsLostInThatTime) {
    set(5, 1);
    series.known = {{0, 60 * second}, {120 * second, 210 * second}};
    EXPECT_THAT(total().lost, ElementsAre(LostSpan{60 * second, 120 * second, NoDelta::reset}));
}

TEST_F(SampledTotals, AResetInTheLastIntervalIsLostUntilTheEnd) {
    set(5, 1);
    event(180, EventKind::reset, 5, 1);
    EXPECT_THAT(total().lost, ElementsAre(LostSpan{180 * second, to, NoDelta::reset}));
}

TEST_F(SampledTotals, ManyMovementsAreFoldedAndTheirSumStays) {
    to = 100000 * second;
    series.known = {{0, to}};
    set(0, 500);
    for (unsigned i = 0; i < 500; ++i)
        event(30 + 30 * i, EventKind::moved, i, i + 1);
    const CounterTotal found = total();
    EXPECT_EQ(found.delta, 500U);
    EXPECT_LE(found.moves.size(), 48U);
    std::uint64_t sum = 0;
    for (const Movement &move : found.moves)
        sum += move.delta;
    EXPECT_EQ(sum, 500U);
}

} // namespace
} // namespace fabric_check
