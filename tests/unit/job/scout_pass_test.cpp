// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/scout_pass.hpp"

#include "job/fakes.hpp"
#include "job/scout_main.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::files_in;

class ScoutPassTest : public ::testing::Test {
protected:
    ScoutPassTest() {
        config.spool = directory.path();
        log = Log({.ident = "t", .file = directory.path("log"), .syslog = false, .standard_error = false});
        world.signer = &signer;
        world.log = &log;
        world.scout = [this](const fabric::Map &, const ScoutRequest &) -> Result<ScoutSnapshot> {
            ++scouted;
            return Error{Errc::unavailable, "no umad device"};
        };
        world.start_map_build = [this] {
            ++builds;
            return Status();
        };
    }
    Status run(Phase phase = Phase::start) {
        return run_scout_pass({7, phase, "fabric1", {"node01", "node02", "node03"}, "prolog: job 7 fabric1: "}, config,
                              world, Deadline::after(std::chrono::milliseconds(2000)));
    }
    ScoutSnapshot written() {
        for (const auto &file : files_in(directory.path("records")))
            if (const auto name = parse_record_name(file); name && name->kind == RecordKind::scout_start)
                return std::get<ScoutSnapshot>(verify_record({directory.path()}, *name, signer, {})->record->snapshot);
        return {};
    }
    void save_a_map() {
        fabric::MapDraft map;
        std::filesystem::create_directory(directory.path("map"));
        ASSERT_TRUE(fabric::save_map(map, SpoolLayout{directory.path()}.map_file()));
    }

    testing::TempDir directory;
    Config config;
    testing::FakeSigner signer;
    Log log;
    ScoutWorld world;
    unsigned scouted = 0, builds = 0;
};

TEST_F(ScoutPassTest, TheRecordBearsTheNameOfTheHostItRanOn) {
    save_a_map();
    world.scout = [&](const fabric::Map &, const ScoutRequest &request) -> Result<ScoutSnapshot> {
        EXPECT_EQ(request.node, "fabric1");
        EXPECT_EQ(request.job_nodes.size(), 3U);
        EXPECT_FALSE(request.deadline.passed());
        EXPECT_LT(request.deadline.left(), std::chrono::milliseconds(1800)) << "what handing in takes is kept back";
        return ScoutSnapshot{};
    };
    ASSERT_TRUE(run());
    EXPECT_EQ(written().node, "fabric1");
    EXPECT_THAT(testing::read_text(directory.path("log")), HasSubstr("prolog: job 7 fabric1: scout: 0 switch ports recorded"));
}

TEST_F(ScoutPassTest, WithoutAMapItStartsABuildAndSaysSo) {
    ASSERT_TRUE(run());
    EXPECT_EQ(builds, 1U);
    EXPECT_EQ(scouted, 0U);
    ASSERT_EQ(written().problems.size(), 1U);
    EXPECT_EQ(written().problems[0].reason, "no map yet; one is being built for the next jobs");
}

TEST_F(ScoutPassTest, ABuildThatCannotStartIsTheReason) {
    world.start_map_build = [] { return Status(Error{Errc::not_found, "fabric-check: not found"}); };
    ASSERT_TRUE(run());
    EXPECT_EQ(written().problems[0].reason, "no map yet, and none can be built: fabric-check: not found");
}

TEST_F(ScoutPassTest, ADamagedMapIsTheReasonAndIsNotBuiltOver) {
    std::filesystem::create_directory(directory.path("map"));
    testing::write_text(SpoolLayout{directory.path()}.map_file(), "garbage");
    ASSERT_TRUE(run());
    EXPECT_EQ(builds, 0U);
    ASSERT_EQ(written().problems.size(), 1U);
    EXPECT_THAT(written().problems[0].reason, HasSubstr("build it anew: fabric-check map build"));
}

TEST_F(ScoutPassTest, NoUmadIsAProblemInTheRecord) {
    save_a_map();
    ASSERT_TRUE(run());
    EXPECT_EQ(scouted, 1U);
    EXPECT_THAT(written().problems, Contains(Problem{"switches", "", "no umad device"}));
}

TEST_F(ScoutPassTest, TheServicesAreReadToo) {
    save_a_map();
    config.services = "stor[01-02]";
    std::vector<std::string> services;
    world.scout = [&](const fabric::Map &, const ScoutRequest &request) -> Result<ScoutSnapshot> {
        services = request.services;
        return ScoutSnapshot{};
    };
    ASSERT_TRUE(run());
    EXPECT_THAT(services, ElementsAre("stor01", "stor02"));
}

TEST_F(ScoutPassTest, WithoutASpoolTheErrorIsTheServices) {
    config.spool = "/proc/no/spool";
    const auto done = run();
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr("record not written: /proc/no/spool/records"));
}

TEST(ScoutOrder, TakesWhatTheHooksSay) {
    const auto order = parse_scout_order({"end", "node01", "1750"});
    ASSERT_TRUE(order);
    EXPECT_EQ(order->phase, Phase::end);
    EXPECT_EQ(order->host, "node01");
    EXPECT_EQ(order->budget, std::chrono::milliseconds(1750));
    EXPECT_TRUE(parse_scout_order({"--serve"})->serve);
}

TEST(ScoutOrder, RefusesAnythingElse) {
    using Words = std::vector<std::string_view>;
    for (const Words &words : {Words{}, {"start"}, {"mid", "node01", "5"}, {"start", "no/de", "5"}, {"start", "node01", "0"},
                               {"start", "node01", "-1"}, {"start", "node01", "3600001"}, {"--serve", "node01", "5"}})
        EXPECT_FALSE(parse_scout_order(words)) << words.size();
}

} // namespace
} // namespace fabric_check
