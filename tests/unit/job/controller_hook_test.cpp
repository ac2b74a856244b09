// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/controller_hook.hpp"

#include "base/file.hpp"
#include "job/fakes.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using ::testing::HasSubstr;

class ControllerHookTest : public ::testing::Test {
protected:
    ControllerHookTest() {
        config.state = directory.path("state");
        config.spool = "/nonexistent";
        log = Log({.ident = "t", .file = directory.path("log"), .syslog = false, .standard_error = false});
        environment.ticket.job_id = 7;
        environment.ticket.nodes = "node01";
    }
    void run() {
        world.log = &log;
        world.start_finisher = [this] {
            ++started;
            return start;
        };
        world.start_scout = [this] {
            ++scouts;
            return start;
        };
        run_controller_hook(environment, config, 42, world);
    }
    std::size_t tickets() {
        std::vector<std::string> problems;
        return list_tickets({config.state}, &problems)->size();
    }
    std::string logged() const { return testing::read_text(directory.path("log")); }

    testing::TempDir directory;
    Config config;
    ControllerHookEnvironment environment;
    Log log;
    Status start;
    unsigned started = 0, scouts = 0;
    ControllerHookWorld world;
};

TEST_F(ControllerHookTest, FilesATicketWithoutASpoolAndStartsTheFinisher) {
    run();
    EXPECT_TRUE(std::filesystem::exists(directory.path("state/tickets/7.42.json")));
    EXPECT_EQ(started, 1U);
}

TEST_F(ControllerHookTest, StartsNoSecondFinisher) {
    ASSERT_TRUE(make_directories(config.state));
    const auto lock = FileLock::try_lock(StateLayout{config.state}.finisher_lock());
    ASSERT_TRUE(lock);
    run();
    EXPECT_EQ(tickets(), 1U);
    EXPECT_EQ(started, 0U);
}

TEST_F(ControllerHookTest, LeavesTheLockFreeForTheFinisher) {
    run();
    EXPECT_TRUE(FileLock::try_lock(StateLayout{config.state}.finisher_lock()));
}

TEST_F(ControllerHookTest, AJobThatWantsNoneGetsNoTicket) {
    environment.mode = Mode::off;
    run();
    EXPECT_EQ(tickets(), 0U);
    EXPECT_EQ(started, 0U);
}

TEST_F(ControllerHookTest, ATicketThatCannotBeFiledIsLoggedWithTheRemedy) {
    config.state = "/proc/no/state";
    run();
    EXPECT_THAT(logged(), HasSubstr("epilogctld: job 7: no ticket filed, the job gets no line: "));
    EXPECT_THAT(logged(), HasSubstr("the state directory must be writable by SlurmUser"));
    EXPECT_EQ(started, 0U);
}

TEST_F(ControllerHookTest, AFinisherThatDoesNotStartLeavesTheTicket) {
    start = Error{Errc::not_found, "fabric-check-finisher: not found"};
    run();
    EXPECT_EQ(tickets(), 1U);
    EXPECT_THAT(logged(), HasSubstr("finisher not started: fabric-check-finisher: not found; the ticket waits for the "
                                    "systemd timer"));
}

} // namespace
} // namespace fabric_check
