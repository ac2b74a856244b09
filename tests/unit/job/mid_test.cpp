// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/mid.hpp"

#include "job/fakes.hpp"
#include "job/node_hook.hpp"
#include "job/node_state.hpp"
#include "job/step.hpp"
#include "record/spool.hpp"
#include "sources/sysfs.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::files_in;
using testing::second_ns;

class MidTest : public ::testing::Test {
protected:
    MidTest() {
        config.spool = directory.path("spool");
        config.node_state = directory.path("%n/state");
        std::filesystem::create_directories(config.spool);
        std::filesystem::create_directories(directory.path("node01"));
        world.signer = &signer;
        world.read = [this](const std::string &node) {
            ++reads;
            auto snapshot = testing::node_snapshot(node, now, octets);
            snapshot.boot_id = boot;
            return snapshot;
        };
    }
    NodeStateStore store() const { return NodeStateStore(directory.path("node01/state")); }
    void start(std::uint32_t job) {
        NodeState state;
        state.job_id = job;
        state.node = "node01";
        state.boot_id = "boot";
        state.start_ns = state.last_ns = now;
        state.bases = bases_of(testing::node_snapshot("node01", now, octets));
        ASSERT_TRUE(store().prepare());
        ASSERT_TRUE(store().save(state, true));
    }
    MidResult mid(std::int64_t seconds, std::uint64_t moved = 0) {
        now += seconds * second_ns;
        octets += moved;
        return run_mid(config, "node01", world, Deadline::after(std::chrono::milliseconds(2000)));
    }
    void epilog() {
        Log log;
        NodeHookEnvironment environment;
        environment.job_id = 7;
        environment.node = "node01";
        environment.nodes = {"node01"};
        environment.index = 1;
        NodeHookWorld hook;
        hook.signer = &signer;
        hook.log = &log;
        config.sysfs_root = directory.path("sys");
        run_node_hook(Phase::end, environment, config, hook, Deadline::after(std::chrono::milliseconds(5000)));
    }
    std::vector<std::string> records() const {
        return std::filesystem::exists(directory.path("spool/records")) ? files_in(directory.path("spool/records"))
                                                                        : std::vector<std::string>{};
    }
    Record written(std::size_t i = 0) {
        const auto verified = verify_record({config.spool}, *parse_record_name(records().at(i)), signer, {});
        EXPECT_TRUE(verified && verified->record) << verified->refused;
        return *verified->record;
    }

    testing::TempDir directory;
    Config config;
    testing::FakeSigner signer;
    MidWorld world;
    std::int64_t now = 1000 * second_ns;
    std::uint64_t octets = 100;
    std::string boot = "boot";
    unsigned reads = 0;
};

TEST_F(MidTest, WithoutJobsDoesNothing) {
    const auto result = mid(1);
    EXPECT_FALSE(result.problem);
    EXPECT_THAT(result.jobs, IsEmpty());
    EXPECT_EQ(reads, 0U);
    EXPECT_THAT(records(), IsEmpty());
}

TEST_F(MidTest, WritesOneRecordForEachJobFromOneReading) {
    start(7);
    start(8);
    const auto result = mid(300, 11);
    EXPECT_FALSE(result.problem);
    EXPECT_EQ(reads, 1U);
    EXPECT_THAT(records(), ElementsAre("7.node01.1300000000000.mid", "8.node01.1300000000000.mid"));
    EXPECT_EQ(written().phase, Phase::mid);
    ASSERT_EQ(written().intervals.size(), 1U);
    EXPECT_EQ(written().intervals[0].ports.at("mlx5_0:1").at("PortXmitData").delta, 11U);
}

TEST_F(MidTest, ReplacesItsEarlierRecord) {
    start(7);
    (void)mid(300, 11);
    (void)mid(300, 22);
    EXPECT_THAT(records(), ElementsAre("7.node01.1600000000000.mid"));
    EXPECT_EQ(written().intervals.size(), 2U);
    EXPECT_EQ(totals_of(written().intervals, "mlx5_0:1").at("PortXmitData").delta, 33U);
}

TEST_F(MidTest, KeepsTheEarlierRecordWhenTheNewOneCannotBeSigned) {
    start(7);
    (void)mid(300, 11);
    signer.away = true;
    const auto result = mid(300, 22);
    ASSERT_TRUE(result.problem);
    EXPECT_EQ(result.problem->code, Errc::unavailable);
    EXPECT_THAT(records(), ElementsAre("7.node01.1300000000000.mid"));
    signer.away = false;
    (void)mid(300, 1);
    EXPECT_THAT(records(), ElementsAre("7.node01.1900000000000.mid"));
    EXPECT_EQ(totals_of(written().intervals, "mlx5_0:1").at("PortXmitData").delta, 34U);
}

TEST_F(MidTest, AnEndedJobIsLeftAlone) {
    start(7);
    ASSERT_TRUE(store().remove({7, "node01"}));
    (void)mid(300);
    EXPECT_THAT(records(), IsEmpty());
}

TEST_F(MidTest, AJobFromBeforeARebootIsDropped) {
    start(7);
    boot = "another";
    const auto result = mid(300);
    ASSERT_EQ(result.jobs.size(), 1U);
    EXPECT_EQ(result.jobs[0].skipped, "the node has rebooted since it started");
    EXPECT_FALSE(result.problem);
    EXPECT_THAT(*store().list(), IsEmpty());
    EXPECT_THAT(records(), IsEmpty());
}

TEST_F(MidTest, AJobWhoseEpilogNeverRanIsDroppedAtLast) {
    start(7);
    EXPECT_EQ(mid(401L * 86400).jobs.at(0).skipped, "it started more than 400 days ago");
    EXPECT_THAT(*store().list(), IsEmpty());
}

TEST_F(MidTest, AJobWhoseRecordsWereUsedUpIsDropped) {
    start(7);
    (void)mid(300);
    ASSERT_TRUE(remove_record({config.spool}, *parse_record_name(records().at(0)))); // the finisher, with the job's ticket
    const auto result = mid(300);
    EXPECT_FALSE(result.problem);
    EXPECT_EQ(result.jobs.at(0).skipped, "its line is written, though no Epilog ran here");
    EXPECT_THAT(*store().list(), IsEmpty());
    EXPECT_THAT(records(), IsEmpty());
}

TEST_F(MidTest, DamagedStateIsDroppedAndToldOnce) {
    start(7);
    start(8);
    testing::write_text(directory.path("node01/state/7.node01/state.json"), "garbage");
    auto result = mid(300);
    ASSERT_TRUE(result.problem);
    EXPECT_THAT(result.problem->message, HasSubstr("7.node01/state.json"));
    EXPECT_THAT(records(), ElementsAre("8.node01.1300000000000.mid"));
    result = mid(300);
    EXPECT_FALSE(result.problem);
}

TEST_F(MidTest, ASecondOneLeavesAtOnce) {
    start(7);
    const auto held = FileLock::try_lock(store().mid_lock());
    const auto result = mid(300);
    EXPECT_TRUE(result.busy);
    EXPECT_FALSE(result.problem);
    EXPECT_THAT(records(), IsEmpty());
}

TEST_F(MidTest, LeavesAtItsDeadline) {
    start(7);
    const auto result = run_mid(config, "node01", world, Deadline::after(std::chrono::milliseconds(0)));
    ASSERT_TRUE(result.problem);
    EXPECT_EQ(result.problem->code, Errc::timed_out);
    EXPECT_THAT(result.problem->message, HasSubstr("job 7"));
}

TEST_F(MidTest, ASpoolThatIsAwayIsAProblemOfTheEnvironment) {
    start(7);
    std::filesystem::remove_all(config.spool);
    const auto result = mid(300);
    ASSERT_TRUE(result.problem);
    EXPECT_EQ(exit_code(result.problem->code) == exit_status::environment || result.problem->code == Errc::not_found, true)
        << result.problem->message;
}

TEST_F(MidTest, TheHooksBeginAndEndIt) {
    Log log;
    NodeHookEnvironment environment;
    environment.job_id = 7;
    environment.node = "node01";
    environment.nodes = {"node00", "node02", "node01"};
    environment.index = 2;
    config.sysfs_root = directory.path("sys");
    config.proc_root = directory.path("proc");
    const auto counter = directory.path("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error");
    std::filesystem::create_directories(std::filesystem::path(counter).parent_path());
    NodeHookWorld hook;
    hook.signer = &signer;
    hook.log = &log;
    world.read = [this](const std::string &node) { return read_node(node, config.sysfs_root, config.proc_root); };
    const auto deadline = Deadline::after(std::chrono::milliseconds(5000));
    testing::write_text(counter, "100");
    run_node_hook(Phase::start, environment, config, hook, deadline);
    testing::write_text(counter, "107");
    (void)run_mid(config, "node01", world, deadline);
    testing::write_text(counter, "2");
    (void)run_mid(config, "node01", world, deadline);
    testing::write_text(counter, "5");
    run_node_hook(Phase::end, environment, config, hook, deadline);
    EXPECT_THAT(*store().list(), IsEmpty());
    ASSERT_EQ(records().size(), 3U);
    std::int64_t start_ns = 0;
    for (const auto &file : records()) {
        const auto name = parse_record_name(file);
        const auto record = *verify_record({config.spool}, *name, signer, {})->record;
        if (name->kind == RecordKind::start)
            start_ns = record.time_ns;
        if (name->kind != RecordKind::end)
            continue;
        EXPECT_TRUE(spans(record.intervals, start_ns, record.time_ns));
        const auto total = totals_of(record.intervals, "mlx5_0:1").at("SymbolErrorCounter");
        EXPECT_EQ(total.delta, 10U);
        ASSERT_EQ(total.lost.size(), 1U);
        EXPECT_EQ(total.lost[0].why, NoDelta::reset);
    }
}

TEST_F(MidTest, WithoutItTheEndCarriesNothing) {
    start(7);
    epilog();
    ASSERT_EQ(records().size(), 1U);
    EXPECT_THAT(written().intervals, IsEmpty());
}

TEST_F(MidTest, StepsTravelInMidAndEnd) {
    start(7);
    for (const auto *phase : {"start", "end"}) {
        now += second_ns;
        ASSERT_TRUE(record_step(config, *parse_step_request({phase, "7", "3", "1", "node=node01", "name=x"}),
                                [this](const std::string &node) { return testing::node_snapshot(node, now, octets); }));
    }
    (void)mid(300);
    ASSERT_EQ(written().steps.steps.size(), 1U);
    EXPECT_EQ(written().steps.steps[0].id, 3U);
    epilog();
    ASSERT_EQ(records().size(), 2U);
    EXPECT_EQ(written(1).phase, Phase::end);
    EXPECT_EQ(written(1).steps.steps.size(), 1U);
    EXPECT_THAT(*store().list(), IsEmpty());
}

TEST(MidJson, NamesWhatWasDone) {
    MidResult result;
    result.jobs.push_back({7, "node01", 1, 2, 3, ""});
    result.jobs.push_back({8, "node01", 1, 2, 0, "it has ended"});
    const auto text = mid_json(result);
    EXPECT_THAT(text, ::testing::StartsWith("{\n  \"schema\": \"fabric-check/mid/1\""));
    EXPECT_THAT(text, HasSubstr("\"intervals\": 3"));
    EXPECT_THAT(text, HasSubstr("\"skipped\": \"it has ended\""));
    EXPECT_THAT(text, HasSubstr("\"problem\": null"));
}

} // namespace
} // namespace fabric_check
