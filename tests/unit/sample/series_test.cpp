// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/series.hpp"

#include "sample/samples.hpp"

namespace fabric_check::sample {
namespace {

using namespace testing;
using ::testing::ElementsAre;

struct SampleSeries : ::testing::Test {
    Layout layout = layout_of(two_switches());
    PortId id{switch_a, 13};
    std::uint32_t column = *layout.find(id);
    std::vector<Problem> problems;
    Block interval(int n) { return quiet(layout, epoch + n * 30 * second, epoch + (n + 1) * 30 * second); }
};

TEST_F(SampleSeries, HasTheIntervalsThatLieWithinTheTimeAskedFor) {
    SeriesBuilder builder({id}, epoch + 31 * second, epoch + 119 * second);
    for (int n = 0; n < 5; ++n) {
        Block block = interval(n);
        block.xmit[column] = static_cast<std::uint8_t>(10 * n);
        builder.add(layout, block);
    }
    const Series series = builder.finish(problems);
    ASSERT_EQ(series.intervals.size(), 3U) << "from 30 and to 120 are within a tenth";
    EXPECT_DOUBLE_EQ(*series.xmit(series.intervals[0], 0), 10 * 0.005 * hdr_bytes_s);
    EXPECT_EQ(series.intervals_seen, 5U);
}

TEST_F(SampleSeries, APortThatIsNotInTheRingIsUnknown) {
    SeriesBuilder builder({{0xfff, 1}}, epoch, epoch + 60 * second);
    builder.add(layout, interval(0));
    const Series series = builder.finish(problems);
    ASSERT_EQ(series.intervals.size(), 1U);
    EXPECT_FALSE(series.xmit(series.intervals[0], 0));
    EXPECT_TRUE(series.ports[0].known.empty());
}

TEST_F(SampleSeries, WhatMovedWhileAPortWasSilentMovedSinceThen) {
    SeriesBuilder builder({id}, epoch, epoch + 120 * second);
    Block silent = interval(1), back = interval(2);
    silent.events.push_back({column, 0, EventKind::silent, Absence::timed_out, 0, 0});
    back.names = {"SymbolErrorCounter"};
    back.events.push_back({column, 0, EventKind::moved, Absence::absent, 1, 4});
    builder.add(layout, interval(0));
    builder.add(layout, silent);
    builder.add(layout, back);
    const Series series = builder.finish(problems);
    ASSERT_EQ(series.ports[0].events.size(), 1U);
    EXPECT_EQ(series.ports[0].events[0].from_ns, epoch + 30 * second);
    EXPECT_EQ(series.ports[0].events[0].to_ns, epoch + 90 * second);
    EXPECT_THAT(series.ports[0].known, ElementsAre(Span{epoch, epoch + 90 * second}));
}

TEST_F(SampleSeries, WhatTheSamplerMissedIsNotKnown) {
    SeriesBuilder builder({id}, epoch, epoch + 300 * second);
    builder.add(layout, interval(0));
    builder.add(layout, interval(4));
    const Series series = builder.finish(problems);
    EXPECT_THAT(series.ports[0].known,
                ElementsAre(Span{epoch, epoch + 30 * second}, Span{epoch + 120 * second, epoch + 150 * second}));
}

TEST_F(SampleSeries, OfTooManyIntervalsTheFullestStay) {
    SeriesBuilder builder({id}, epoch, epoch + 3000 * second, 3);
    for (int n = 0; n < 20; ++n) {
        Block block = interval(n);
        block.xmit[column] = static_cast<std::uint8_t>(n * 7 % 20);
        builder.add(layout, block);
    }
    const Series series = builder.finish(problems);
    std::vector<int> kept;
    for (const SampledInterval &one : series.intervals)
        kept.push_back(one.xmit[0]);
    EXPECT_THAT(kept, ::testing::UnorderedElementsAre(17, 18, 19));
    EXPECT_EQ(series.intervals_seen, 20U);
}

} // namespace
} // namespace fabric_check::sample
