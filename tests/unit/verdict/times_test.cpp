// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs with records in mid-job: counters by the sum of their intervals, and when they moved.
#include "verdict/times.hpp"

#include "job_fixture.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using testing::gigabyte;
using testing::SmallJob;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t start = 1'700'000'000 * second; // 22:13:20 UTC
const std::string symbols = "SymbolErrorCounter", retries = "packet_seq_err", port = "mlx5_0:1";

/// Node 7 has readings at 50 s and 60 s of the job's 100 s.
struct WatchedJob : SmallJob {
    WatchedJob() {
        all_servers_to_all_nodes(100 * gigabyte);
        node(7).intervals = {at(0, 50), at(50, 60), at(60, 100)};
        const auto quads = *host_end(7).counters["PortRcvData"].value - 1000;
        moved(0, "PortRcvData", quads / 2);
        moved(2, "PortRcvData", quads - quads / 2);
    }
    static Interval at(int from, int to) { return {start + from * second, start + to * second, {}}; }
    void moved(std::size_t interval, const std::string &counter, std::uint64_t delta) {
        auto &one = node(7).intervals[interval];
        auto &moves = one.ports[port][counter];
        moves.delta = delta;
        moves.from_ns = one.from_ns;
        moves.to_ns = one.to_ns;
    }
    void lost(std::size_t interval, const std::string &counter, NoDelta why = NoDelta::reset) {
        auto &one = node(7).intervals[interval];
        one.ports[port][counter].lost.push_back({one.from_ns, one.to_ns, why});
    }
    void ends_at(const std::string &counter, std::uint64_t value) {
        host_end(7).counters[counter] = Reading::of(value);
    }
};

TEST(JobInIntervals, NothingChangesWhereNothingHappened) {
    WatchedJob job;
    const auto verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    EXPECT_THAT(verdict.unread, IsEmpty());
}

TEST(JobInIntervals, AFindingSaysWhen) {
    WatchedJob job;
    job.host(7, retries, 90);
    job.moved(1, retries, 90);
    const auto verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "transport-retry");
    ASSERT_THAT(verdict.because, SizeIs(1));
    EXPECT_EQ(verdict.because[0].delta, 90U);
    EXPECT_EQ(verdict.because[0].note, "between 22:14:10 and 22:14:20 UTC (+90)");
    EXPECT_THAT(verdict.because[0].intervals, ElementsAre(Movement{start + 50 * second, start + 60 * second, 90}));
}

TEST(JobInIntervals, OtherPortsFindingsSayNothingOfWhen) {
    WatchedJob job;
    job.host(6, retries, 90);
    const auto verdict = job.judge();
    ASSERT_THAT(verdict.because, SizeIs(1));
    EXPECT_EQ(verdict.because[0].note, "");
    EXPECT_THAT(verdict.because[0].intervals, IsEmpty());
}

TEST(JobInIntervals, ACounterResetForATimeIsJudgedByTheRest) {
    WatchedJob job;
    job.ends_at(symbols, 0);
    job.lost(1, symbols);
    const auto verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "clean");
    ASSERT_THAT(verdict.unread, SizeIs(1));
    EXPECT_EQ(verdict.unread[0].where, "node07/mlx5_0:1");
    EXPECT_EQ(verdict.unread[0].counter, symbols);
    EXPECT_EQ(verdict.unread[0].reason, "reset between 22:14:10 and 22:14:20 UTC; +0 in the rest");
    EXPECT_EQ(verdict.unread[0].layer, Layer::ungraded);
    EXPECT_FALSE(verdict.unread[0].incomplete);
}

TEST(JobInIntervals, OneLostForLongerIsUnreadable) {
    WatchedJob job;
    job.ends_at(symbols, 0);
    job.lost(2, symbols);
    const auto verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "unusable");
    EXPECT_EQ(verdict.rest, "clean");
    ASSERT_THAT(verdict.unread, SizeIs(1));
    EXPECT_EQ(verdict.unread[0].reason, "reset");
    EXPECT_EQ(verdict.unread[0].layer, Layer::physical);
}

TEST(JobInIntervals, TheShareIsConfigured) {
    for (const auto &[share, word] : {std::pair(0.1, "clean"), std::pair(0.0999, "unusable"), std::pair(0.0, "unusable"),
                                      std::pair(1.0, "clean")}) {
        WatchedJob job;
        job.config.thresholds.lost_share = share;
        job.ends_at(symbols, 0);
        job.lost(1, symbols); // 10 s of 100
        EXPECT_EQ(job.judge().verdict, word) << share;
    }
}

TEST(JobInIntervals, WhatMovedBesideALossIsALowerBound) {
    WatchedJob job;
    job.ends_at(symbols, 3);
    job.moved(0, symbols, 42);
    job.lost(2, symbols);
    const auto verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
    ASSERT_THAT(verdict.because, SizeIs(1));
    EXPECT_EQ(verdict.because[0].delta, 42U);
    EXPECT_EQ(verdict.because[0].note,
              "between 22:13:20 and 22:14:10 UTC (+42); at least: it was also reset between 22:14:20 and 22:15:00 UTC; "
              "+42 in the rest");
    EXPECT_THAT(verdict.unread, Contains(Field(&UnreadCounter::layer, Layer::ungraded)));
}

TEST(JobInIntervals, BytesAreTheSumOfTheIntervals) {
    WatchedJob job;
    job.ends_at("PortRcvData", 5);
    job.lost(1, "PortRcvData");
    const auto verdict = job.judge();
    const auto &result = verdict.ports[6];
    ASSERT_EQ(result.where, "node07/mlx5_0:1");
    EXPECT_EQ(result.rcv_bytes, 100 * gigabyte);
    EXPECT_EQ(verdict.verdict, "clean");
}

TEST(JobInIntervals, BytesLostForTooLongAreNotGuessedFromTheRest) {
    WatchedJob job;
    job.ends_at("PortXmitData", 5);
    job.moved(0, "PortXmitData", 4711);
    job.lost(2, "PortXmitData");
    const Deltas deltas = with_intervals({}, {totals_of(job.node(7).intervals, port), start, start + 100 * second, false}, 0.1);
    EXPECT_FALSE(deltas.at("PortXmitData").value);
    EXPECT_EQ(deltas.at("PortXmitData").why, NoDelta::reset);
}

TEST(JobInIntervals, ANodeThatDiedIsJudgedUntilItsLastRecord) {
    WatchedJob job;
    job.node(7).intervals.pop_back();
    job.host(7, retries, 90);
    job.moved(1, retries, 90);
    job.node(7).mid = job.node(7).end;
    job.node(7).mid->time_ns = start + 60 * second;
    job.node(7).end.reset();
    job.node(7).end_problem = "no END record within 20 s of the job's end";
    job.node(7).slurmd_died = true;
    const auto verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "incomplete");
    EXPECT_EQ(verdict.rest, "transport-retry");
    EXPECT_EQ(verdict.cover.nodes_seen, 11U);
    EXPECT_THAT(verdict.cover.missing, Contains("node07"));
    ASSERT_THAT(verdict.live, SizeIs(1));
    EXPECT_EQ(verdict.live[0].note, "between 22:14:10 and 22:14:20 UTC (+90); known until 22:14:20 UTC");
    EXPECT_THAT(verdict.notes, Contains("node07 left no END record: it is judged until its last record in mid-job, of "
                                        "22:14:20 UTC"));
}

TEST(JobInIntervals, ItsLinkErrorsBeforeItsDeathAreEvidence) {
    WatchedJob job;
    job.node(7).intervals.pop_back();
    job.host(7, symbols, 5);
    job.moved(0, symbols, 5);
    job.node(7).mid = job.node(7).end;
    job.node(7).mid->time_ns = start + 60 * second;
    job.node(7).end.reset();
    job.node(7).slurmd_died = true;
    const auto verdict = job.judge();
    EXPECT_EQ(verdict.verdict, "physical");
}

TEST(JobInIntervals, ManyMovementsAreToldShortly) {
    PortTimes times;
    times.from_ns = start;
    times.to_ns = start + 100 * second;
    auto &total = times.totals[symbols];
    for (int i = 0; i < 4; ++i)
        total.moves.push_back({start + i * second, start + (i + 1) * second, static_cast<std::uint64_t>(i == 2 ? 50 : 1)});
    EXPECT_EQ(when_moved(times, symbols),
              "in 4 intervals between 22:13:20 and 22:13:24 UTC, most between 22:13:22 and 22:13:23 UTC (+50)");
    total.lost.assign(4, {start, start + second, NoDelta::saturated});
    EXPECT_THAT(when_lost(times, symbols), HasSubstr("saturated between 22:13:20 and 22:13:21 UTC and 2 more times"));
    EXPECT_EQ(when_moved(times, retries), "");
    EXPECT_EQ(when_lost(times, retries), "");
}

TEST(JobInIntervals, LongJobsTellTheDate) {
    PortTimes times;
    times.from_ns = start;
    times.to_ns = start + 86400 * second;
    EXPECT_EQ(moment(times, start), "2023-11-14 22:13:20");
}

} // namespace
} // namespace fabric_check
