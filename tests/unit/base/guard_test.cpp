// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/guard.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fabric_check {
namespace {

using namespace std::chrono_literals;

/// Memory that the work and the test see alike, whether the child is a copy or not.
struct Shared {
    volatile int value = 0;
    volatile pid_t child = 0;
};

class GuardTest : public ::testing::Test {
protected:
    GuardTest()
        : shared(static_cast<Shared *>(
              ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
    ~GuardTest() override { ::munmap(shared, sizeof(Shared)); }
    GuardTest(const GuardTest &) = delete;
    GuardTest &operator=(const GuardTest &) = delete;
    Guarded run(std::chrono::milliseconds budget, int (*work)(const GuardLine &, void *) noexcept) {
        return run_guarded(budget, {work, shared});
    }
    static Shared &of(void *context) { return *static_cast<Shared *>(context); }

    Shared *shared;
};

void sleep_long() noexcept {
    for (int i = 0; i < 60; ++i) {
        ::sleep(1);
    }
}

/// Neither gone nor waiting for whoever reaps it.
bool runs(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    return std::getline(file, text) && text.find(") Z") == std::string::npos;
}

TEST_F(GuardTest, GivesTheExitCode) {
    const auto end = run(5s, [](const GuardLine &, void *) noexcept { return 7; });
    EXPECT_EQ(end.end, Guarded::End::done);
    EXPECT_EQ(end.code, 7);
}

TEST_F(GuardTest, KillsWhatIsLate) {
    const auto end = run(50ms, [](const GuardLine &, void *context) noexcept {
        of(context).child = ::getpid();
        sleep_long();
        return 0;
    });
    EXPECT_EQ(end.end, Guarded::End::timed_out);
    EXPECT_FALSE(end.stuck);
    EXPECT_FALSE(runs(shared->child));
}

TEST_F(GuardTest, KillsWhatTheWorkStartedToo) {
    const auto end = run(100ms, [](const GuardLine &, void *context) noexcept {
        if (const pid_t grandchild = ::fork(); grandchild == 0) {
            sleep_long();
            ::_exit(0);
        } else {
            of(context).child = grandchild;
        }
        sleep_long();
        return 0;
    });
    EXPECT_EQ(end.end, Guarded::End::timed_out);
    for (int i = 0; i < 500 && runs(shared->child); ++i) {
        ::usleep(10000);
    }
    EXPECT_FALSE(runs(shared->child));
}

TEST_F(GuardTest, AShorterBudgetThatTheWorkTellsIsKept) {
    const auto end = run(1h, [](const GuardLine &line, void *) noexcept {
        line.set_budget(50ms);
        sleep_long();
        return 0;
    });
    EXPECT_EQ(end.end, Guarded::End::timed_out);
    EXPECT_EQ(end.budget, 50ms);
}

TEST_F(GuardTest, ALongerBudgetThatTheWorkTellsIsKept) {
    const auto end = run(100ms, [](const GuardLine &line, void *) noexcept {
        line.set_budget(1h);
        ::usleep(300000);
        return 3;
    });
    EXPECT_EQ(end.end, Guarded::End::done);
    EXPECT_EQ(end.code, 3);
}

TEST_F(GuardTest, ACrashIsAnEndAndNotTheGuards) {
    const auto end = run(5s, [](const GuardLine &, void *) noexcept {
        ::raise(SIGKILL);
        return 0;
    });
    EXPECT_EQ(end.end, Guarded::End::died);
    EXPECT_EQ(end.code, SIGKILL);
}

TEST_F(GuardTest, LeavesAChildBehindThatDoesNotDieWhenItIsKilled) {
    // vfork waits in the kernel for a child that is not in the group that is killed. A wait that kill does not end is what
    // a hung file system does; where the kernel lets this one be ended, the child is gone, and the guard left all the same.
    const auto began = std::chrono::steady_clock::now();
    const auto end = run(50ms, [](const GuardLine &, void *context) noexcept {
        of(context).child = ::getpid();
        if (const pid_t child = ::vfork(); child == 0) {
            ::setpgid(0, 0);
            const timespec half_a_minute{30, 0};
            ::nanosleep(&half_a_minute, nullptr);
            ::_exit(0);
        }
        return 0;
    });
    EXPECT_LT(std::chrono::steady_clock::now() - began, 20s) << "it did not wait for it";
    EXPECT_EQ(end.end, Guarded::End::timed_out);
    EXPECT_EQ(end.stuck, ::kill(shared->child, 0) == 0);
}

TEST_F(GuardTest, StandardOutputIsNotTheCallers) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const int kept = ::dup(1);
    ::dup2(ends[1], 1);
    const auto end = run(5s, [](const GuardLine &, void *) noexcept { return ::write(1, "noise", 5) == 5 ? 0 : 1; });
    ::dup2(kept, 1);
    ::close(kept);
    ::close(ends[1]);
    char buffer[8];
    EXPECT_EQ(end.code, 0);
    EXPECT_EQ(::read(ends[0], buffer, sizeof buffer), 0) << "slurmd reads a hook's output to its end";
    ::close(ends[0]);
}

TEST_F(GuardTest, WithSigchldIgnoredTheEndIsSeenAndTheCallersWayKept) {
    const auto before = ::signal(SIGCHLD, SIG_IGN);
    const auto end = run(5s, [](const GuardLine &, void *) noexcept { return 4; });
    EXPECT_EQ(::signal(SIGCHLD, before), SIG_IGN);
    EXPECT_EQ(end.code, 4);
}

TEST_F(GuardTest, TheCallersSignalMaskIsAsBefore) {
    sigset_t before, after;
    ::sigprocmask(SIG_SETMASK, nullptr, &before);
    (void)run(5s, [](const GuardLine &, void *) noexcept { return 0; });
    ::sigprocmask(SIG_SETMASK, nullptr, &after);
    EXPECT_EQ(sigismember(&before, SIGCHLD), sigismember(&after, SIGCHLD));
}

} // namespace
} // namespace fabric_check
