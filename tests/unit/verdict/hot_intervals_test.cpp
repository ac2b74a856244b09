// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/samples.hpp"
#include "job_fixture.hpp"
#include "report/report.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace fabric_check {
namespace {

using testing::gib;
using testing::second;
using testing::SmallJob;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::uint32_t a = SmallJob::switch_a, b = SmallJob::switch_b;
constexpr double ceiling_share = 22.6 * gib / 25e9; // of the line rate
constexpr std::int64_t begin = 1700000000 * second;
constexpr unsigned intervals = 10;

/// The small job, with 10 % on average on the fullest cable of the collapsed table, watched by a sampler every 10 s.
struct SampledJob : SmallJob {
    explicit SampledJob(bool collapsed = true) : SmallJob(true, collapsed) {
        all_servers_to_all_nodes(static_cast<std::uint64_t>(0.1 * 22.6 * gib * seconds / 6));
        sample::Series series;
        for (const auto *ports : {&evidence.scout.start->ports, &evidence.scout.end->ports})
            for (const SwitchPort &port : *ports)
                series.index.emplace(sample::PortId{port.switch_guid, static_cast<std::uint8_t>(port.port)}, 0);
        std::uint32_t next = 0;
        for (auto &[id, column] : series.index)
            column = next++;
        series.ports.assign(next, {25e9, {}, {{begin, begin + 100 * second}}});
        for (unsigned i = 0; i < intervals; ++i) {
            const std::vector<std::uint8_t> idle(next, 0);
            series.intervals.push_back({begin + i * 10 * second, begin + (i + 1) * 10 * second, idle, idle, idle});
        }
        series.intervals_seen = intervals;
        evidence.samples = std::move(series);
    }
    std::uint32_t column(std::uint32_t at, unsigned port) const {
        return evidence.samples->index.at({switch_guid(at), static_cast<std::uint8_t>(port)});
    }
    static std::uint8_t code(double share) { return static_cast<std::uint8_t>(std::lround(share * ceiling_share / 0.005)); }
    /// In this interval the port sends, and the other end receives, at this share of the ceiling.
    void full(unsigned interval, std::uint32_t at, unsigned port, double share) {
        auto &samples = evidence.samples->intervals[interval];
        samples.xmit[column(at, port)] = code(share);
        const fabric::DraftPort &link = map.nodes[at].ports[port];
        if (link.peer <= switch_b)
            samples.rcv[column(link.peer, link.peer_port)] = code(share);
    }
    /// The collapsed table under full load: 6, 5 and 1 nodes behind three cables.
    void storm(unsigned interval, double share) {
        full(interval, b, 25, share);
        full(interval, b, 26, share * 5 / 6);
        full(interval, b, 27, share / 6);
        for (unsigned i = 1; i <= nodes; ++i)
            full(interval, a, i, share / 6);
    }
};

TEST(HotIntervals, SaturationThatTheAverageHidesIsFound) {
    SampledJob job;
    job.storm(3, 0.95);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "routing-imbalance");
    ASSERT_THAT(verdict.hot, SizeIs(1));
    EXPECT_EQ(verdict.hot[0].sender, "SwitchB:25");
    EXPECT_EQ(verdict.hot[0].interval, "22:13:50-22:14:00");
    EXPECT_NEAR(verdict.hot[0].share, 0.95, 0.005);
    EXPECT_NEAR(verdict.hot[0].own, 1, 0.05);
    EXPECT_DOUBLE_EQ(verdict.hot[0].hot_seconds, 10);
    EXPECT_THAT(verdict.notes, Contains(HasSubstr("rates are judged by 10 intervals of the sampler, 100 s in all")));
}

TEST(HotIntervals, WithoutASamplerTheSameJobIsCleanAndSaysThatRatesAreAverages) {
    SampledJob job;
    job.storm(3, 0.95);
    job.evidence.samples.reset();
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_THAT(verdict.hot, IsEmpty());
    EXPECT_THAT(verdict.notes, Contains(HasSubstr("rates are averages over the 100 s")));
}

TEST(HotIntervals, BelowTheBarInEveryIntervalIsNotHot) {
    SampledJob job;
    for (unsigned i = 0; i < intervals; ++i)
        job.storm(i, 0.78);
    EXPECT_EQ(job.judge().verdict, "clean");
}

TEST(HotIntervals, HotSecondsAreThoseOfAllIntervals) {
    SampledJob job;
    job.storm(3, 0.9);
    job.storm(4, 0.95);
    job.storm(8, 0.85);
    const JobVerdict verdict = job.judge();
    ASSERT_THAT(verdict.hot, SizeIs(1));
    EXPECT_DOUBLE_EQ(verdict.hot[0].hot_seconds, 30);
    EXPECT_EQ(verdict.hot[0].interval, "22:14:00-22:14:10") << "the fullest";
}

TEST(HotIntervals, OthersTrafficInTheIntervalIsCongestion) {
    SampledJob job;
    job.storm(3, 0.95);
    for (unsigned i = 1; i <= SmallJob::nodes; ++i)
        job.full(3, a, i, 0.01); // little of it reached the job's nodes
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "congestion");
    ASSERT_THAT(verdict.hot, SizeIs(1));
    EXPECT_EQ(verdict.hot[0].cause, "others");
    EXPECT_LT(verdict.hot[0].own, 0.1);
}

TEST(HotIntervals, AllLinksOfAGroupFullAtOnceAreTooFew) {
    SampledJob job(false); // the job's routes use all eight
    for (unsigned port = 25; port < 33; ++port)
        job.full(3, b, port, 0.95);
    for (unsigned i = 1; i <= SmallJob::nodes; ++i)
        job.full(3, a, i, 0.6);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "congestion");
    EXPECT_THAT(verdict.hot, Contains(AllOf(Field(&HotPort::sender, "SwitchB:25"), Field(&HotPort::cause, "capacity"))));
}

TEST(HotIntervals, LinksFullOneAfterTheOtherAreNotTooFew) {
    SampledJob job(false); // the job's routes use all eight
    for (unsigned port = 25; port < 33; ++port)
        job.full(port - 24, b, port, 0.95);
    for (const HotPort &hot : job.judge().hot)
        EXPECT_NE(hot.cause, "capacity") << hot.sender;
}

TEST(HotIntervals, AHostsPortIsJudgedByIntervalToo) {
    SampledJob job;
    job.full(5, a, 3, 0.9);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "congestion");
    ASSERT_THAT(verdict.hot, SizeIs(1));
    EXPECT_EQ(verdict.hot[0].cause, "receiver");
    EXPECT_EQ(verdict.hot[0].interval, "22:14:10-22:14:20");
}

TEST(HotIntervals, ADilutedSpreadIsMeasuredInTheHotInterval) {
    SampledJob job;
    // Over the job the eight links carried the same.
    for (unsigned port = 25; port < 33; ++port)
        for (const char *counter : {"PortXmitData"}) {
            job.switch_end(b, port).counters[counter] = Reading::of(1000 + 60000000000 / 4, 64);
            job.switch_end(a, port - 12).counters["PortRcvData"] = Reading::of(1000 + 60000000000 / 4, 64);
        }
    job.storm(3, 0.95);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "routing-imbalance");
    const GroupMeasure &measure = verdict.measures[static_cast<std::size_t>(verdict.worst_group)];
    EXPECT_NEAR(*measure.spread, 1, 0.001);
    ASSERT_TRUE(measure.hot_spread);
    EXPECT_NEAR(measure.hot_spread->spread, 4, 0.05);
    EXPECT_EQ(measure.hot_spread->interval, "22:13:50-22:14:00");
}

TEST(HotIntervals, TheReportSaysWhen) {
    SampledJob job;
    job.storm(3, 0.95);
    const JobVerdict verdict = job.judge();
    const auto report = report_json(job.evidence, verdict);
    EXPECT_EQ(report["hot"][0]["interval"], "22:13:50-22:14:00");
    EXPECT_EQ(report["hot"][0]["hot_seconds"], 10.0);
    const std::string text = report_text(report, false, 100);
    EXPECT_THAT(text, HasSubstr("22:13:50-22:14:00 UTC"));
}

TEST(HotIntervals, AResetInMidJobCostsItsIntervalOnly) {
    SampledJob job;
    auto &port = job.evidence.samples->ports[job.column(a, 13)];
    job.switch_start(a, 13).counters["SymbolErrorCounter"] = Reading::of(500, 16);
    job.switch_end(a, 13).counters["SymbolErrorCounter"] = Reading::of(0, 16);
    EXPECT_EQ(job.judge().verdict, "unusable") << "nobody saw when";
    port.events.push_back({begin + 40 * second, begin + 50 * second, sample::EventKind::reset, Absence::absent, 500, 0,
                           "SymbolErrorCounter"});
    EXPECT_EQ(job.judge().verdict, "clean") << "a tenth of the job is lost";
    port.events.insert(port.events.begin(), {begin + 20 * second, begin + 30 * second, sample::EventKind::moved,
                                             Absence::absent, 500, 517, "SymbolErrorCounter"});
    port.events[1].before = 517;
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    ASSERT_FALSE(verdict.because.empty());
    EXPECT_EQ(verdict.because[0].delta, 17U);
    EXPECT_THAT(verdict.because[0].note, HasSubstr("between 22:13:40 and 22:13:50 UTC (+17)"));
}

TEST(HotIntervals, DeltasGoByEachReadingsOwnTime) {
    SmallJob job;
    for (std::uint32_t at : {a, b})
        for (SwitchPort &port : job.evidence.scout.start->ports)
            if (port.switch_guid == SmallJob::switch_guid(at))
                port.time_ns = begin - 2 * second;
    const JobVerdict verdict = job.judge();
    for (const PortResult &port : verdict.ports)
        if (port.node.empty())
            EXPECT_DOUBLE_EQ(port.seconds, 102);
}

TEST(SampledSide, StandsInForTheEndThatNoScoutRead) {
    SampledJob job;
    const std::uint64_t symbols = *job.switch_start(a, 13).counters["SymbolErrorCounter"].value;
    job.evidence.scout.end.reset();
    auto &series = *job.evidence.samples;
    series.ports[job.column(a, 13)].events.push_back({begin + 20 * second, begin + 30 * second, sample::EventKind::moved,
                                                      Absence::absent, symbols, symbols + 3, "SymbolErrorCounter"});
    job.full(0, b, 25, 0.5);
    ASSERT_TRUE(stand_in(job.evidence, series, 10 * second));
    EXPECT_EQ(job.evidence.scout.end->time_ns, begin + 100 * second);
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(verdict.because[0].delta, 3U);
    EXPECT_THAT(verdict.notes, Contains(HasSubstr("no scout read them at the end: the sampler's readings of")));
    for (const PortResult &port : verdict.ports)
        if (port.map_node == b && port.map_port == 25)
            EXPECT_NEAR(static_cast<double>(*port.xmit_bytes), 0.5 * 22.6 * gib * 10, 1e9);
}

TEST(SampledSide, StandsInForTheStartThatNoScoutRead) {
    SampledJob job;
    const std::uint64_t symbols = *job.switch_end(a, 13).counters["SymbolErrorCounter"].value;
    job.evidence.scout.start.reset();
    auto &series = *job.evidence.samples;
    series.ports[job.column(a, 13)].events.push_back({begin + 20 * second, begin + 30 * second, sample::EventKind::moved,
                                                      Absence::absent, symbols - 3, symbols, "SymbolErrorCounter"});
    ASSERT_TRUE(stand_in(job.evidence, series, 10 * second));
    const JobVerdict verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    EXPECT_EQ(verdict.because[0].delta, 3U);
}

TEST(SampledSide, DoesNotStandInFromFurtherThanAnInterval) {
    SampledJob job;
    job.evidence.scout.end.reset();
    job.evidence.samples->intervals.resize(5);
    EXPECT_FALSE(stand_in(job.evidence, *job.evidence.samples, 10 * second));
    EXPECT_FALSE(job.evidence.scout.end);
}

TEST(SampledSide, APortThatFellSilentInTheLastIntervalIsNotTold) {
    SampledJob job;
    job.evidence.scout.end.reset();
    auto &series = *job.evidence.samples;
    series.ports[job.column(a, 13)].known = {{begin, begin + 90 * second}};
    ASSERT_TRUE(stand_in(job.evidence, series, 10 * second));
    for (const SwitchPort &port : job.evidence.scout.end->ports)
        EXPECT_FALSE(port.switch_guid == SmallJob::switch_guid(a) && port.port == 13);
}

TEST(SampledSide, ACounterThatWasNotReadAnyMoreHasNoValue) {
    SampledJob job;
    job.evidence.scout.end.reset();
    auto &series = *job.evidence.samples;
    series.ports[job.column(a, 13)].events.push_back({begin + 80 * second, begin + 90 * second,
                                                      sample::EventKind::unread, Absence::timed_out, 0, 0,
                                                      "SymbolErrorCounter"});
    ASSERT_TRUE(stand_in(job.evidence, series, 10 * second));
    EXPECT_FALSE(job.switch_end(a, 13).counters["SymbolErrorCounter"].value);
}

TEST(SampledSide, BytesOfAHoleBetweenTheIntervalsAreNotKnown) {
    SampledJob job;
    job.evidence.scout.end.reset();
    auto &series = *job.evidence.samples;
    series.intervals.erase(series.intervals.begin() + 4);
    ASSERT_TRUE(stand_in(job.evidence, series, 10 * second));
    EXPECT_FALSE(job.switch_end(a, 13).counters["PortXmitData"].value);
    EXPECT_TRUE(job.switch_end(a, 13).counters["SymbolErrorCounter"].value);
}

} // namespace
} // namespace fabric_check
