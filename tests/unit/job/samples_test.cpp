// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/samples.hpp"

#include "job/fakes.hpp"
#include "sample/sampler.hpp"
#include "sample/samples.hpp"

#include <filesystem>

namespace fabric_check {
namespace {

using sample::PortId;
using sample::testing::epoch;
using sample::testing::second;
using sample::testing::switch_a;
using sample::testing::switch_b;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

/// A sampler runs from `epoch` on, every 10 s; jobs run on node01 to node03, and no scout reads anything for them.
struct SamplesAloneTest : ::testing::Test {
    testing::TempDir directory;
    testing::FakeSigner signer;
    Log log;
    Config config;
    fabric::Map map = sample::testing::two_switches();
    std::int64_t now = epoch;
    unsigned passes_left = 0;
    std::int64_t error_at = epoch + 45 * second;                 ///< three symbol errors on SwitchB:25
    std::int64_t silent_from = INT64_MAX, silent_to = INT64_MAX; ///< that port
    JobEvidence evidence;

    SamplesAloneTest() {
        config.spool = directory.path();
        config.sample.interval_s = 10;
        const SpoolLayout spool{directory.path()};
        EXPECT_TRUE(make_spool_directory(spool, directory.path("map"), 0755));
        EXPECT_TRUE(fabric::save_map(map, spool.map_file()));
        evidence.map = &map;
        evidence.job.node_names = {"node01", "node02", "node03"};
        evidence.job.start = epoch / second + 20;
        evidence.job.end = epoch / second + 80;
        config.services = "stor[01-08]";
    }
    void sample_until(std::int64_t end) {
        sample::SamplerWorld world;
        world.signer = &signer;
        world.log = &log;
        world.now_ns = [this] { return now; };
        world.sleep = [&](std::chrono::milliseconds pause) {
            now += pause.count() * 1'000'000;
            return now <= end;
        };
        world.read = [this](const fabric::Map &, const sample::Layout &layout,
                            const Deadline &) -> Result<sample::Pass> {
            auto pass = sample::testing::pass_at(layout, now, static_cast<std::uint64_t>(now - epoch)); // a GB a second
            if (now >= error_at)
                sample::testing::port_of(pass, {switch_b, 25}).counters["SymbolErrorCounter"] = Reading::of(3, 16);
            if (now >= silent_from && now < silent_to)
                for (auto &[name, reading] : sample::testing::port_of(pass, {switch_b, 25}).counters)
                    reading = Reading::missing(Absence::timed_out);
            return pass;
        };
        world.lease = {"host1", [this] { return now; },
                       [this](std::chrono::milliseconds pause) { now += pause.count() * 1'000'000; },
                       [](const sample::Lease &) { return true; }};
        ASSERT_TRUE(sample::Sampler(config, std::move(world)).run());
    }
    void add() { add_samples(evidence, config, signer, 0); }
    static const SwitchPort *find(const std::optional<ScoutSnapshot> &side, const PortId &id) {
        for (const SwitchPort &port : side->ports)
            if (port.switch_guid == id.guid && port.port == id.port)
                return &port;
        return nullptr;
    }
    std::uint64_t delta(const PortId &id, const char *name) const {
        return *find(evidence.scout.end, id)->counters.find(name)->second.value -
               *find(evidence.scout.start, id)->counters.find(name)->second.value;
    }
};

TEST_F(SamplesAloneTest, StandInForBothScouts) {
    sample_until(epoch + 85 * second);
    add();
    ASSERT_TRUE(evidence.scout.start);
    ASSERT_TRUE(evidence.scout.end);
    EXPECT_NEAR(static_cast<double>(evidence.scout.start->time_ns - epoch) / 1e9, 20, 10.5);
    EXPECT_NEAR(static_cast<double>(evidence.scout.end->time_ns - epoch) / 1e9, 80, 10.5);
    EXPECT_EQ(delta({switch_b, 25}, "SymbolErrorCounter"), 3U);
    EXPECT_EQ(delta({switch_a, 1}, "SymbolErrorCounter"), 0U);
    const double seconds = static_cast<double>(evidence.scout.end->time_ns - evidence.scout.start->time_ns) / 1e9;
    EXPECT_NEAR(static_cast<double>(delta({switch_a, 1}, "PortXmitData")) * 4, seconds * 1e9, seconds * 1e8);
    EXPECT_EQ(evidence.scout.start->hosts.size(), 11U) << "the job's three and the services' eight";
    EXPECT_EQ(find(evidence.scout.end, {switch_a, 4}), nullptr) << "node04 is not of the job";
    EXPECT_THAT(evidence.problems,
                Contains(Field(&Problem::reason, HasSubstr("no scout read them: the sampler's readings of"))));
}

TEST_F(SamplesAloneTest, AJobThatIsJudgedLaterIsToldFromTheIntervalsOfItsTime) {
    error_at = epoch + 120 * second; // when it was over
    sample_until(epoch + 200 * second);
    add();
    ASSERT_TRUE(evidence.scout.end);
    EXPECT_NEAR(static_cast<double>(evidence.scout.end->time_ns - epoch) / 1e9, 80, 10.5);
    EXPECT_EQ(delta({switch_b, 25}, "SymbolErrorCounter"), 0U);
}

TEST_F(SamplesAloneTest, ScoutsThatReadNothingKeepTheirWord) {
    sample_until(epoch + 85 * second);
    for (auto *side : {&evidence.scout.start, &evidence.scout.end}) {
        side->emplace();
        (*side)->problems.push_back({"node01", "", "umad: no active InfiniBand port"});
    }
    add();
    EXPECT_FALSE(evidence.scout.start->ports.empty());
    EXPECT_FALSE(evidence.scout.end->ports.empty());
    EXPECT_THAT(evidence.problems, Contains(Field(&Problem::reason, HasSubstr("umad: no active InfiniBand port"))));
}

TEST_F(SamplesAloneTest, APassFromBeforeTheJobsEndTellsNothingOfIt) {
    sample_until(epoch + 75 * second);
    add();
    EXPECT_FALSE(evidence.scout.start);
    EXPECT_FALSE(evidence.scout.end);
}

TEST_F(SamplesAloneTest, ASamplerThatBeganWithinTheJobStandsInForNothing) {
    now = epoch + 50 * second;
    sample_until(epoch + 85 * second);
    add();
    EXPECT_FALSE(evidence.scout.start);
    EXPECT_FALSE(evidence.scout.end);
}

TEST_F(SamplesAloneTest, WithoutAMapNobodyKnowsWhichPorts) {
    sample_until(epoch + 85 * second);
    evidence.map = nullptr;
    add();
    EXPECT_FALSE(evidence.scout.start);
}

TEST_F(SamplesAloneTest, OnlyIntervalsOfTheJobAreKept) {
    sample_until(epoch + 85 * second);
    add();
    ASSERT_TRUE(evidence.samples);
    ASSERT_FALSE(evidence.samples->intervals.empty());
    EXPECT_GE(evidence.samples->intervals.front().from_ns, evidence.scout.start->time_ns);
    EXPECT_LE(evidence.samples->intervals.back().to_ns, evidence.scout.end->time_ns);
    EXPECT_GE(evidence.samples->intervals_seen, evidence.samples->intervals.size());
    EXPECT_LE(evidence.samples->intervals_seen, 8U) << "two more overlap the ring's part that was read";
}

/// SwitchB:25 answers nothing in a stretch of time, and has errors when it is back.
struct SilentPortTest : SamplesAloneTest {
    void silent(std::int64_t from_s, std::int64_t to_s) {
        silent_from = epoch + from_s * second;
        silent_to = epoch + to_s * second;
        error_at = silent_from;
        sample_until(epoch + 85 * second);
        add();
    }
    bool told(const std::optional<ScoutSnapshot> &side) const {
        const SwitchPort *port = side ? find(side, {switch_b, 25}) : nullptr;
        const Reading *errors = port != nullptr ? port->counters.get("SymbolErrorCounter") : nullptr;
        return errors != nullptr && errors->value;
    }
};

TEST_F(SilentPortTest, WhatHappenedWhileNobodyLookedAcrossTheStartIsNotTold) {
    silent(5, 45);
    EXPECT_FALSE(told(evidence.scout.start) && told(evidence.scout.end));
}

TEST_F(SilentPortTest, NorAcrossTheEnd) {
    silent(65, 200);
    EXPECT_FALSE(told(evidence.scout.start) && told(evidence.scout.end));
}

} // namespace
} // namespace fabric_check
