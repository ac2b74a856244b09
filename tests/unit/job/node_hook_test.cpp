// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/node_hook.hpp"

#include "job/fakes.hpp"
#include "record/spool.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace fabric_check {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::files_in;
using ::testing::HasSubstr;
using testing::read_text;

class NodeHookTest : public ::testing::Test {
protected:
    NodeHookTest() {
        config.spool = directory.path();
        config.sysfs_root = directory.path("sys");
        config.proc_root = directory.path("proc");
        config.node_state = directory.path("node-state");
        log = Log({.ident = "t", .file = directory.path("log"), .syslog = false, .standard_error = false});
        environment.job_id = 7;
        environment.node = "node01";
        environment.nodes = {"node01", "node02", "node03"};
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
    void run(Phase phase = Phase::start, std::chrono::milliseconds budget = std::chrono::milliseconds(2000)) {
        run_node_hook(phase, environment, config, world, Deadline::after(budget));
    }
    std::vector<std::string> kinds() const {
        std::vector<std::string> result;
        for (const auto &file : files_in(directory.path("records")))
            if (const auto name = parse_record_name(file))
                result.emplace_back(to_string(name->kind));
        std::sort(result.begin(), result.end());
        return result;
    }
    std::string logged() const { return read_text(directory.path("log")); }
    ScoutSnapshot scout_written() {
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
    NodeHookEnvironment environment;
    NodeHookWorld world;
    unsigned scouted = 0, builds = 0;
};

TEST_F(NodeHookTest, RecordsTheNodeInEitherPhase) {
    environment.index = 2;
    run(Phase::start);
    EXPECT_THAT(kinds(), ElementsAre("start"));
    run(Phase::end);
    EXPECT_THAT(kinds(), ElementsAre("end", "start"));
    EXPECT_THAT(logged(), HasSubstr("prolog: job 7 node01: 0 ports recorded"));
    EXPECT_THAT(logged(), HasSubstr("epilog: job 7 node01: 0 ports recorded"));
}

TEST_F(NodeHookTest, OnlyTheFirstNodesScout) {
    environment.index = 1;
    run();
    EXPECT_THAT(kinds(), ElementsAre("scout-start", "start"));
    environment.node = "node03";
    environment.index = 2;
    run();
    EXPECT_THAT(kinds(), ElementsAre("scout-start", "start", "start"));
}

TEST_F(NodeHookTest, ANodeOutsideTheListIsNoScout) {
    config.scouts = 5;
    environment.index = environment.nodes.size();
    run();
    EXPECT_THAT(kinds(), ElementsAre("start"));
}

TEST_F(NodeHookTest, ANodeWithEthernetCardsAloneIsNoScoutAndSaysNothingOfSwitches) {
    const auto port = [this](const std::string &device, const std::string &layer) {
        const std::string path = "sys/class/infiniband/" + device + "/ports/1";
        std::filesystem::create_directories(directory.path(path + "/counters"));
        std::ofstream(directory.path(path + "/link_layer")) << layer;
    };
    port("mlx5_0", "Ethernet\n");
    run();
    EXPECT_THAT(kinds(), ElementsAre("start"));
    EXPECT_EQ(builds, 0U) << "no map is built for it";
    EXPECT_THAT(logged(), ::testing::Not(HasSubstr("scout")));
    port("mlx5_1", "InfiniBand\n");
    run(Phase::end);
    EXPECT_THAT(kinds(), ElementsAre("end", "scout-end", "start"));
    config.ports.exclude = {"mlx5_1"};
    run();
    EXPECT_THAT(kinds(), ElementsAre("end", "scout-end", "start", "start"));
}

TEST_F(NodeHookTest, WithoutAMapTheScoutStartsABuildAndSaysSo) {
    run();
    EXPECT_EQ(builds, 1U);
    EXPECT_EQ(scouted, 0U);
    ASSERT_EQ(scout_written().problems.size(), 1U);
    EXPECT_EQ(scout_written().problems[0].reason, "no map yet; one is being built for the next jobs");
}

TEST_F(NodeHookTest, ABuildThatCannotStartIsTheReason) {
    world.start_map_build = [] { return Status(Error{Errc::not_found, "fabric-check: not found"}); };
    run();
    EXPECT_EQ(scout_written().problems[0].reason, "no map yet, and none can be built: fabric-check: not found");
}

TEST_F(NodeHookTest, ADamagedMapIsTheReasonAndIsNotBuiltOver) {
    std::filesystem::create_directory(directory.path("map"));
    testing::write_text(SpoolLayout{directory.path()}.map_file(), "garbage");
    run();
    EXPECT_EQ(builds, 0U);
    ASSERT_EQ(scout_written().problems.size(), 1U);
    EXPECT_THAT(scout_written().problems[0].reason, HasSubstr("build it anew: fabric-check map build"));
}

TEST_F(NodeHookTest, TheRecordIsThereBeforeAnyMadIsSent) {
    save_a_map();
    std::vector<std::string> seen;
    world.scout = [&](const fabric::Map &, const ScoutRequest &request) -> Result<ScoutSnapshot> {
        seen = kinds();
        EXPECT_EQ(request.node, "node01");
        EXPECT_EQ(request.job_nodes.size(), 3U);
        EXPECT_FALSE(request.deadline.passed());
        EXPECT_LT(request.deadline.left(), std::chrono::milliseconds(1800));
        return ScoutSnapshot{};
    };
    run();
    EXPECT_THAT(seen, ElementsAre("start"));
    EXPECT_THAT(kinds(), ElementsAre("scout-start", "start"));
}

TEST_F(NodeHookTest, NoUmadIsTheScoutsProblemOnly) {
    save_a_map();
    run();
    EXPECT_EQ(scouted, 1U);
    EXPECT_THAT(scout_written().problems, Contains(Problem{"switches", "", "no umad device"}));
}

TEST_F(NodeHookTest, TheServicesAreScoutedToo) {
    save_a_map();
    config.services = "stor[01-02]";
    std::vector<std::string> services;
    world.scout = [&](const fabric::Map &, const ScoutRequest &request) -> Result<ScoutSnapshot> {
        services = request.services;
        return ScoutSnapshot{};
    };
    run();
    EXPECT_THAT(services, ElementsAre("stor01", "stor02"));
}

TEST_F(NodeHookTest, SigningIsTriedAgainWithinTheBudget) {
    environment.index = 2;
    signer.signs_until_back = 2;
    run();
    EXPECT_THAT(kinds(), ElementsAre("start"));
}

TEST_F(NodeHookTest, WithMungedAwayLeavesANote) {
    environment.index = 2;
    signer.away = true;
    run(Phase::end, std::chrono::milliseconds(500));
    EXPECT_THAT(kinds(), ElementsAre("failed"));
    EXPECT_THAT(logged(), HasSubstr("epilog: job 7 node01: record not signed: munge encode"));
    const auto file = files_in(directory.path("records")).at(0);
    EXPECT_THAT(read_text(directory.path("records/" + file)), ::testing::StartsWith("end: munge encode: "));
}

TEST_F(NodeHookTest, ASpoolThatCannotBeWrittenIsLoggedAndHarmsNothing) {
    config.spool = "/proc/no/spool";
    run();
    EXPECT_THAT(logged(), HasSubstr("record not written: /proc/no/spool/records"));
}

TEST_F(NodeHookTest, AnUnknownSlurmUserIsLoggedWithTheRemedy) {
    config.slurm.user = "no-such-user-here";
    run();
    EXPECT_THAT(logged(), HasSubstr("slurm.user: no user \"no-such-user-here\" here; give SlurmUser of slurm.conf"));
}

} // namespace
} // namespace fabric_check
