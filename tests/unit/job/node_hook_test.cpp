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
        world.scout = [this] {
            ++scouted;
            seen_by_scout = kinds();
            return scout;
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
    testing::TempDir directory;
    Config config;
    testing::FakeSigner signer;
    Log log;
    NodeHookEnvironment environment;
    NodeHookWorld world;
    Status scout;
    unsigned scouted = 0;
    std::vector<std::string> seen_by_scout;
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
    EXPECT_EQ(scouted, 1U);
    environment.node = "node03";
    environment.index = 2;
    run();
    EXPECT_EQ(scouted, 1U);
}

TEST_F(NodeHookTest, ANodeOutsideTheListIsNoScout) {
    config.scouts = 5;
    environment.index = environment.nodes.size();
    run();
    EXPECT_EQ(scouted, 0U);
}

TEST_F(NodeHookTest, ANodeWithEthernetCardsAloneIsNoScoutAndSaysNothingOfSwitches) {
    const auto port = [this](const std::string &device, const std::string &layer) {
        const std::string path = "sys/class/infiniband/" + device + "/ports/1";
        std::filesystem::create_directories(directory.path(path + "/counters"));
        std::ofstream(directory.path(path + "/link_layer")) << layer;
    };
    port("mlx5_0", "Ethernet\n");
    run();
    EXPECT_EQ(scouted, 0U);
    EXPECT_THAT(logged(), ::testing::Not(HasSubstr("scout")));
    port("mlx5_1", "InfiniBand\n");
    run(Phase::end);
    EXPECT_EQ(scouted, 1U);
    config.ports.exclude = {"mlx5_1"};
    run();
    EXPECT_EQ(scouted, 1U);
}

TEST_F(NodeHookTest, TheRecordIsThereBeforeAnyMadIsSent) {
    run();
    EXPECT_THAT(seen_by_scout, ElementsAre("start"));
}

TEST_F(NodeHookTest, AScoutThatIsNotThereIsAProblemInItsRecord) {
    scout = Error{Errc::not_found, "fabric-check-scout: not found beside the hooks"};
    run(Phase::end);
    EXPECT_THAT(kinds(), ElementsAre("end", "scout-end"));
    EXPECT_THAT(logged(), HasSubstr("epilog: job 7 node01: scout not started: fabric-check-scout: not found"));
}

TEST_F(NodeHookTest, WithTheScoutOnTheControllerANodeDoesNothingOfIt) {
    config.scout = "controller";
    run();
    EXPECT_EQ(scouted, 0U);
    EXPECT_THAT(kinds(), ElementsAre("start"));
    EXPECT_FALSE(std::filesystem::exists(directory.path("requests")));
}

TEST_F(NodeHookTest, WithTheScoutOnAHostThatHostIsAsked) {
    config.scout = "fabric1";
    environment.node_list = "node[01-03]";
    run(Phase::end);
    EXPECT_EQ(scouted, 0U);
    const auto files = files_in(directory.path("requests"));
    ASSERT_EQ(files.size(), 1U);
    EXPECT_THAT(files[0], ::testing::AllOf(::testing::StartsWith("7.node01."), EndsWith(".scout-end")));
    EXPECT_THAT(read_text(directory.path("requests/" + files[0])),
                ::testing::AllOf(::testing::StartsWith("fake|0|10.0.0.1|0|{"), HasSubstr("\"host\":\"fabric1\""),
                                 HasSubstr("\"nodes\":\"node[01-03]\"")));
}

TEST_F(NodeHookTest, WithoutRecordsInMidJobNothingOfTheStateIsRead) {
    environment.index = 2;
    run(Phase::start);
    EXPECT_THAT(files_in(directory.path("node-state/7.node01")), ElementsAre("start.json"));
    testing::write_text(directory.path("node-state/7.node01/start.json"), "damaged");
    run(Phase::end);
    EXPECT_THAT(kinds(), ElementsAre("end", "start"));
    EXPECT_FALSE(std::filesystem::exists(directory.path("node-state/7.node01")));
    EXPECT_THAT(logged(), ::testing::Not(HasSubstr("node_state")));
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
