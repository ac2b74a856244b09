// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/sampler.hpp"

#include "mad/fake_switches.hpp"
#include "sample/fabric_reader.hpp"
#include "sample/samples.hpp"

#include <unistd.h>

namespace fabric_check::sample {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using fabric_check::testing::FakeSigner;
using fabric_check::testing::files_in;
using fabric_check::testing::read_text;
using fabric_check::testing::TempDir;
using fabric_check::testing::write_text;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct SamplerTest : ::testing::Test {
    TempDir directory;
    SpoolLayout spool{directory.path()};
    FakeSigner signer;
    Log log;
    Config config;
    std::int64_t now = epoch + 7 * second;
    unsigned passes_left = 1;
    bool other_runs = true; ///< the process of another lease of this host
    std::optional<Error> deaf;
    std::vector<PassReport> told;
    std::vector<std::int64_t> read_at;

    SamplerTest() {
        config.spool = directory.path();
        EXPECT_TRUE(make_spool_directory(spool, directory.path("map"), 0755));
        EXPECT_TRUE(fabric::save_map(two_switches(), spool.map_file()));
    }
    LeaseHolder::World lease_world() {
        return {"host1", [this] { return now; }, [this](milliseconds pause) { now += pause.count() * 1'000'000; },
                [this](const Lease &) { return other_runs; }};
    }
    SamplerWorld world() {
        SamplerWorld made;
        made.signer = &signer;
        made.log = &log;
        made.now_ns = [this] { return now; };
        made.sleep = [this](milliseconds pause) {
            now += pause.count() * 1'000'000;
            return passes_left > 0;
        };
        made.read = [this](const fabric::Map &, const Layout &layout, const Deadline &) -> Result<Pass> {
            --passes_left;
            read_at.push_back(now);
            if (deaf)
                return *deaf;
            return pass_at(layout, now, static_cast<std::uint64_t>((now - epoch) / second) * 1'000'000);
        };
        made.told = [this](const PassReport &report) { told.push_back(report); };
        made.lease = lease_world();
        return made;
    }
    Status run(unsigned passes) {
        passes_left = passes + 1; // the last is cut short
        return Sampler(config, world()).run();
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> kept() {
        std::vector<std::pair<std::int64_t, std::int64_t>> spans;
        std::vector<Problem> problems;
        EXPECT_TRUE(read_ring(spool, 0, INT64_MAX, signer, {},
                              [&](const Layout &, const Block &block) {
                                  spans.emplace_back((block.from_ns - epoch) / second, (block.to_ns - epoch) / second);
                              },
                              problems));
        EXPECT_TRUE(problems.empty());
        return spans;
    }
};

TEST_F(SamplerTest, PassesBeginAtMultiplesOfTheInterval) {
    ASSERT_TRUE(run(3));
    ASSERT_GE(read_at.size(), 3U);
    EXPECT_EQ(read_at[1] / second % 30, 0);
    EXPECT_EQ(read_at[2] / second - read_at[1] / second, 30);
}

TEST_F(SamplerTest, TheSpaceBetweenPassesIsKept) {
    ASSERT_TRUE(run(3));
    const auto spans = kept();
    ASSERT_GE(spans.size(), 2U);
    EXPECT_EQ(spans[0].second, spans[1].first);
    EXPECT_EQ(told[0].ports, 36U);
    EXPECT_EQ(told[0].interval_ns, 0);
    EXPECT_GT(told[1].interval_ns, 0);
}

TEST_F(SamplerTest, AnotherOneOnTheSameSpoolIsToldWhoRuns) {
    LeaseHolder other(spool, {}, {"host2", [this] { return now; }, [](milliseconds) {}, nullptr});
    ASSERT_TRUE(prepare_samples(spool, 0));
    ASSERT_TRUE(other.take(seconds(100)));
    const auto refused = run(1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("another sampler runs on host2 (process "));
    EXPECT_TRUE(read_at.empty());
    const auto once = Sampler(config, world()).once();
    ASSERT_TRUE(once);
    EXPECT_THAT(once->other, HasSubstr("host2"));
}

TEST_F(SamplerTest, ALeaseThatHasEndedIsTakenOver) {
    ASSERT_TRUE(prepare_samples(spool, 0));
    Lease dead{"host2", 5, 6, 7, now - 500 * second, now - second};
    write_text(samples_directory(spool) + "/sampler.lease", encode_lease(dead));
    EXPECT_TRUE(run(1));
    EXPECT_FALSE(read_at.empty());
}

TEST_F(SamplerTest, ALeaseOfADeadProcessHereIsTakenOverAtOnce) {
    ASSERT_TRUE(prepare_samples(spool, 0));
    Lease killed{"host1", 5, 6, 7, now - 5 * second, now + 90 * second};
    write_text(samples_directory(spool) + "/sampler.lease", encode_lease(killed));
    EXPECT_FALSE(run(1)) << "it runs";
    other_runs = false;
    EXPECT_TRUE(run(1));
}

TEST_F(SamplerTest, ALeaseUntilTheEndOfTimeIsNoneAtAll) {
    ASSERT_TRUE(prepare_samples(spool, 0));
    Lease forged{"host2", 5, 6, 7, 1, INT64_MAX};
    write_text(samples_directory(spool) + "/sampler.lease", encode_lease(forged));
    EXPECT_TRUE(run(1));
}

TEST_F(SamplerTest, LosingTheLeaseEndsIt) {
    auto made = world();
    passes_left = 10;
    made.told = [this](const PassReport &report) {
        told.push_back(report);
        Lease thief{"host2", 5, 6, 7, now, now + 90 * second};
        write_text(samples_directory(spool) + "/sampler.lease", encode_lease(thief));
    };
    const auto lost = Sampler(config, std::move(made)).run();
    ASSERT_FALSE(lost);
    EXPECT_THAT(lost.error().message, HasSubstr("host2"));
    EXPECT_EQ(told.size(), 1U);
    EXPECT_THAT(read_text(samples_directory(spool) + "/sampler.lease"), HasSubstr("host2")) << "it is not ours to remove";
}

TEST_F(SamplerTest, TheLeaseIsGivenUpAtTheEnd) {
    ASSERT_TRUE(run(1));
    for (const auto &name : files_in(samples_directory(spool)))
        EXPECT_NE(name, "sampler.lease");
}

TEST_F(SamplerTest, OnceMeasuresAgainstTheLastProcessesPass) {
    ASSERT_TRUE(Sampler(config, world()).once());
    now += 300 * second;
    passes_left = 1;
    const auto report = Sampler(config, world()).once();
    ASSERT_TRUE(report);
    EXPECT_NEAR(static_cast<double>(report->interval_ns) / second, 300, 1);
    EXPECT_EQ(kept().size(), 1U);
}

TEST_F(SamplerTest, MoreThanAnHourIsAGap) {
    ASSERT_TRUE(Sampler(config, world()).once());
    now += 3700 * second;
    passes_left = 1;
    const auto report = Sampler(config, world()).once();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->interval_ns, 0);
    EXPECT_TRUE(kept().empty());
}

TEST_F(SamplerTest, APassThatFailedIsNoInterval) {
    deaf = Error{Errc::unavailable, "umad: gone"};
    ASSERT_TRUE(run(2));
    EXPECT_EQ(told[0].problem, "umad: gone");
    EXPECT_EQ(told[0].silent, told[0].ports) << "nothing was read";
    EXPECT_TRUE(kept().empty());
}

TEST_F(SamplerTest, WhileMungeIsAwayTheIntervalGrows) {
    auto made = world();
    passes_left = 5;
    made.told = [this](const PassReport &report) {
        told.push_back(report);
        signer.away = told.size() == 1 || told.size() == 2;
    };
    ASSERT_TRUE(Sampler(config, std::move(made)).run());
    const auto spans = kept();
    ASSERT_FALSE(spans.empty());
    EXPECT_EQ(spans[0].first, 7) << "nothing between the first pass and the first that could be signed is lost";
    EXPECT_GE(spans[0].second - spans[0].first, 60);
}

TEST_F(SamplerTest, ANewMapIsTakenUpAndItsRingGoesOn) {
    auto made = world();
    passes_left = 5;
    made.told = [this](const PassReport &report) {
        told.push_back(report);
        auto draft = fabric::testing::two_switches(fabric::testing::even());
        draft.nodes[1].lid = 0;
        if (told.size() == 2) {
            EXPECT_TRUE(fabric::save_map(fabric::Map(draft), spool.map_file()));
        }
    };
    ASSERT_TRUE(Sampler(config, std::move(made)).run());
    EXPECT_EQ(told[1].ports, 36U);
    EXPECT_EQ(told[2].ports, 20U);
    EXPECT_GT(told[2].interval_ns, 0) << "measured against the pass by the old map";
}

TEST_F(SamplerTest, WithoutAMapItWaitsForOne) {
    ASSERT_EQ(::unlink(spool.map_file().c_str()), 0);
    const auto report = Sampler(config, world()).once();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->problem, "no map yet: fabric-check map build, or map import");
}

TEST(SampleLease, ComesBackAsItWas) {
    const Lease lease{"host2", 5, 6, 0xabc, 8, 9};
    const auto again = decode_lease(encode_lease(lease));
    ASSERT_TRUE(again);
    EXPECT_EQ(encode_lease(*again), encode_lease(lease));
    for (const char *text : {"", "fabric-check/sampler/1 host 1 2 3 4", "fabric-check/sampler/1 host -1 2 3 4 5"})
        EXPECT_FALSE(decode_lease(text)) << text;
}

TEST(SampleFabricReader, ReadsEveryPortAndSaysWhichWereSilent) {
    const auto draft = fabric::testing::two_switches(fabric::testing::even());
    const fabric::Map map(draft);
    mad::FakeSwitches fabric(draft);
    fabric.silent = {{mad::MadClass::gmp, 42}, {mad::MadClass::smp, 42}};
    mad::Engine engine(fabric.transport, mad::engine_options(Config().mad));
    const auto pass = read_fabric(engine, map, layout_of(map), {}, Deadline::never());
    ASSERT_TRUE(pass);
    EXPECT_EQ(pass->ports.size(), 36U);
    EXPECT_EQ(std::count_if(pass->ports.begin(), pass->ports.end(), was_read), 20);
    for (const SwitchPort &port : pass->ports)
        EXPECT_TRUE(port.time_ns >= pass->from_ns && port.time_ns <= pass->to_ns);
}

TEST(SampleFabricReader, ToldToEndItReadsNothingMore) {
    const auto draft = fabric::testing::two_switches(fabric::testing::even());
    const fabric::Map map(draft);
    mad::FakeSwitches fabric(draft);
    std::atomic<bool> ended{true};
    Interruptible transport(fabric.transport, ended);
    mad::Engine engine(transport, mad::engine_options(Config().mad));
    EXPECT_FALSE(read_fabric(engine, map, layout_of(map), {}, Deadline::never()));
    EXPECT_TRUE(fabric.transport.sent.empty());
}

} // namespace
} // namespace fabric_check::sample
