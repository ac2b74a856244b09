// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/step.hpp"

#include "job/fakes.hpp"
#include "job/step_spawn.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::files_in;
using testing::second_ns;

class StepTest : public ::testing::Test {
protected:
    StepTest() {
        config.node_state = directory.path("state");
        begin_job(7);
    }
    void begin_job(std::uint32_t job) {
        NodeState state;
        state.job_id = job;
        state.node = "node01";
        state.start_ns = state.last_ns = now;
        EXPECT_TRUE(store.prepare());
        EXPECT_TRUE(store.save(state, true));
    }
    Status step(const char *phase, std::uint32_t id, const std::string &name = "ib_write_bw", std::uint32_t job = 7) {
        now += second_ns;
        const auto words = std::vector<std::string>{phase, std::to_string(job), std::to_string(id), "2", "node=",
                                                    "name=" + name};
        const auto request = parse_step_request({words.begin(), words.end()});
        EXPECT_TRUE(request);
        return record_step(config, *request, [this](const std::string &node) {
            ++reads;
            auto snapshot = testing::node_snapshot(node, now, octets);
            snapshot.ports[0].counters["packet_seq_err"] = Reading::of(retries);
            if (without_retries)
                snapshot.ports[0].counters.erase("packet_seq_err");
            return snapshot;
        });
    }
    StepRecords recorded() const { return recorded_steps(store, {7, "node01"}, config.step_records); }

    testing::TempDir directory;
    Config config;
    NodeStateStore store{directory.path("state")};
    std::int64_t now = 100 * second_ns;
    std::uint64_t octets = 1000, retries = 5;
    bool without_retries = false;
    unsigned reads = 0;
};

TEST_F(StepTest, RecordsWhatMovedBetweenItsEnds) {
    ASSERT_TRUE(step("start", 0));
    octets += 33;
    ASSERT_TRUE(step("end", 0));
    ASSERT_TRUE(step("start", 1, "/usr/bin/osu_bw"));
    retries += 90;
    ASSERT_TRUE(step("end", 1));
    const auto records = recorded();
    ASSERT_THAT(records.steps, SizeIs(2));
    EXPECT_FALSE(records.more);
    const auto &first = records.steps[0], &second = records.steps[1];
    EXPECT_EQ(first.id, 0U);
    EXPECT_EQ(first.nodes, 2U);
    EXPECT_EQ(first.end_ns - first.start_ns, second_ns);
    EXPECT_EQ(first.ports.at("mlx5_0:1").at("PortXmitData").delta, 33U);
    EXPECT_FALSE(first.ports.at("mlx5_0:1").contains("packet_seq_err"));
    EXPECT_EQ(second.name, "osu_bw");
    EXPECT_EQ(second.ports.at("mlx5_0:1").at("packet_seq_err").delta, 90U);
}

TEST_F(StepTest, AStepWithoutItsEndIsKnownAsSuch) {
    ASSERT_TRUE(step("start", 3));
    const auto records = recorded();
    ASSERT_THAT(records.steps, SizeIs(1));
    EXPECT_EQ(records.steps[0].id, 3U);
    EXPECT_EQ(records.steps[0].end_ns, 0);
}

TEST_F(StepTest, AnEndWithoutAStartIsNoRecord) {
    const auto done = step("end", 3);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::no_answer);
    EXPECT_THAT(recorded().steps, IsEmpty());
}

TEST_F(StepTest, BeyondTheLimitNothingIsReadAndThatIsTold) {
    config.step_records = 2;
    for (std::uint32_t id = 0; id < 2; ++id) {
        ASSERT_TRUE(step("start", id));
        ASSERT_TRUE(step("end", id));
    }
    EXPECT_EQ(reads, 4U);
    const auto third = step("start", 2);
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().code, Errc::no_answer);
    EXPECT_EQ(reads, 4U);
    EXPECT_THAT(recorded().steps, SizeIs(2));
    EXPECT_TRUE(recorded().more);
}

TEST_F(StepTest, StepsThatRunCountToo) {
    config.step_records = 2;
    ASSERT_TRUE(step("start", 0));
    ASSERT_TRUE(step("start", 1));
    EXPECT_FALSE(step("start", 2));
}

TEST_F(StepTest, AHundredAreTheDefaultAndNoneIsPossible) {
    EXPECT_EQ(config.step_records, 100U);
    config.step_records = 0;
    EXPECT_FALSE(step("start", 0));
    EXPECT_EQ(reads, 0U);
    EXPECT_FALSE(recorded().more);
}

TEST_F(StepTest, AJobWithoutStateIsNotRecorded) {
    const auto done = step("start", 0, "x", 8);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::not_found);
    ASSERT_TRUE(store.remove({7, "node01"}));
    EXPECT_EQ(step("start", 0).error().code, Errc::not_found);
    EXPECT_THAT(files_in(store.root()), IsEmpty());
}

TEST_F(StepTest, ACounterThatAppearsIsLostNotZero) {
    without_retries = true;
    ASSERT_TRUE(step("start", 0));
    without_retries = false;
    ASSERT_TRUE(step("end", 0));
    const auto records = recorded();
    const auto &lost = records.steps.at(0).ports.at("mlx5_0:1").at("packet_seq_err").lost;
    ASSERT_THAT(lost, SizeIs(1));
    EXPECT_EQ(lost[0].why, NoDelta::absent_before);
}

TEST_F(StepTest, UsersNamesAreMadeHarmless) {
    ASSERT_TRUE(step("start", 0, std::string("../\x1b[31m\"\n") + std::string(200, 'x')));
    ASSERT_TRUE(step("end", 0));
    const auto records = recorded();
    ASSERT_THAT(records.steps, SizeIs(1));
    EXPECT_EQ(records.steps[0].name.substr(0, 8), "?[31m\"?x");
    EXPECT_EQ(records.steps[0].name.size(), 64U);
}

TEST_F(StepTest, DamageCostsItsOwnStep) {
    ASSERT_TRUE(step("start", 0));
    ASSERT_TRUE(step("end", 0));
    auto text = testing::read_text(store.root() + "/7.node01/steps");
    testing::write_text(store.root() + "/7.node01/steps", "garbage\n" + text + "{}\n");
    testing::write_text(store.root() + "/7.node01/step.9", "garbage");
    EXPECT_THAT(recorded().steps, SizeIs(1));
}

TEST(StepRequestOfArguments, IsTakenExactly) {
    const auto parse = [](std::vector<std::string_view> words) { return parse_step_request(words).has_value(); };
    EXPECT_TRUE(parse({"start", "7", "0", "1", "node=node01", "name=-rf"}));
    EXPECT_TRUE(parse({"end", "7", "0", "1", "node=", "name="}));
    EXPECT_FALSE(parse({"mid", "7", "0", "1", "node=", "name="}));
    EXPECT_FALSE(parse({"end", "0", "0", "1", "node=", "name="}));
    EXPECT_FALSE(parse({"end", "-7", "0", "1", "node=", "name="}));
    EXPECT_FALSE(parse({"end", "4294967296", "0", "1", "node=", "name="}));
    EXPECT_FALSE(parse({"end", "7", "0", "1", "node=../x", "name="}));
    EXPECT_FALSE(parse({"end", "7", "0", "1", "name=", "node="}));
    EXPECT_FALSE(parse({"end", "7", "0", "1"}));
    EXPECT_FALSE(parse({}));
}

TEST(StepSpawn, TellsSlurmsOwnStepsFromTheUsers) {
    EXPECT_TRUE(is_plain_step(0));
    EXPECT_TRUE(is_plain_step(0xffffffef));
    for (const std::uint32_t special : {0xfffffffbU, 0xfffffffcU, 0xfffffffaU, 0xfffffffdU, 0xfffffffeU})
        EXPECT_FALSE(is_plain_step(special)) << special;
}

TEST(StepSpawn, NothingOfTheUsersLooksLikeAnOption) {
    StepMoment moment;
    moment.job_id = 7;
    moment.step_id = 1;
    moment.nodes = 2;
    moment.program = "/home/ada/--config=/tmp/x";
    EXPECT_THAT(step_command("/x/fabric-check-step", moment),
                ElementsAre("/x/fabric-check-step", "start", "7", "1", "2", "node=", "name=x"));
}

TEST(StepSpawn, WaitsNotLongerThanItMay) {
    // The least of several, and far from both: a busy machine makes it late.
    auto least = std::chrono::steady_clock::duration::max();
    for (int i = 0; i < 10; ++i) {
        const auto began = std::chrono::steady_clock::now();
        EXPECT_FALSE(run_recorder({"/bin/sleep", "30"}, "", std::chrono::milliseconds(50)));
        least = std::min(least, std::chrono::steady_clock::now() - began);
    }
    EXPECT_LE(least, std::chrono::seconds(2));
    EXPECT_GE(least, std::chrono::milliseconds(40));
}

TEST(StepSpawn, SaysWhetherItWasDone) {
    EXPECT_TRUE(run_recorder({"/bin/true"}, "", std::chrono::seconds(20)));
    EXPECT_FALSE(run_recorder({"/bin/false"}, "", std::chrono::seconds(20)));
    EXPECT_FALSE(run_recorder({"/no/such/program"}, "", std::chrono::seconds(20)));
    EXPECT_FALSE(run_recorder({}, "", std::chrono::seconds(20)));
}

TEST(StepSpawn, GivesTheConfigurationAndNothingElseOfOurEnvironment) {
    setenv("FABRIC_CHECK_SECRET", "x", 1);
    EXPECT_TRUE(run_recorder({"/bin/sh", "-c", "[ \"$FABRIC_CHECK_CONFIG\" = /a/b ] && [ -z \"$FABRIC_CHECK_SECRET\" ]"},
                             "/a/b", std::chrono::seconds(20)));
    unsetenv("FABRIC_CHECK_SECRET");
}

} // namespace
} // namespace fabric_check
