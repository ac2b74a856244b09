// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"
#include "base/process.hpp"
#include "base/temporary.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace fabric_check {
namespace {

using namespace std::chrono_literals;
using test::TemporaryDirectory;
using testing::HasSubstr;

/// A detached program's only way to answer is a file.
std::string content_once_there(const TemporaryDirectory &directory, const std::string &name) {
    const Deadline deadline = Deadline::after(10s);
    while (!deadline.passed()) {
        if (std::string text = directory.read(name); !text.empty()) {
            return text;
        }
        std::this_thread::sleep_for(5ms);
    }
    return "";
}

TEST(RunWithin, ReturnsTheChildsStatus) {
    for (const int status : {0, 1, 2, 255}) {
        const auto result = run_within(5s, [status] { return status; });
        ASSERT_TRUE(result.ok()) << result.error().message;
        EXPECT_EQ(*result, status);
    }
}
TEST(RunWithin, KillsWhatTakesLonger) {
    const TemporaryDirectory directory;
    const auto began = std::chrono::steady_clock::now();
    const auto result = run_within(100ms, [&] {
        std::this_thread::sleep_for(2s);
        directory.write("survived", "yes");
        return 0;
    });
    EXPECT_LT(std::chrono::steady_clock::now() - began, 1500ms);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, Errc::timed_out);
    EXPECT_EQ(result.error().message, "not done within 100 ms");
    std::this_thread::sleep_for(2s);
    EXPECT_EQ(directory.read("survived"), "");
}
TEST(RunWithin, KillsTheChildsChildrenToo) {
    const TemporaryDirectory directory;
    const auto result = run_within(100ms, [&] {
        if (::fork() == 0) {
            std::this_thread::sleep_for(500ms);
            directory.write("survived", "yes");
            ::_exit(0);
        }
        std::this_thread::sleep_for(10s);
        return 0;
    });
    ASSERT_FALSE(result.ok());
    std::this_thread::sleep_for(800ms);
    EXPECT_EQ(directory.read("survived"), "");
}
TEST(RunWithin, TellsWhatWasThrown) {
    const auto result = run_within(5s, []() -> int { throw std::runtime_error("no memory for ports"); });
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, Errc::io);
    EXPECT_EQ(result.error().message, "no memory for ports");
}
TEST(RunWithin, TellsTheSignalTheChildDiedOf) {
    const auto result = run_within(5s, []() -> int { return ::raise(SIGTERM); });
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().message, "died of signal 15");
}
TEST(RunWithin, WorksWhereTheCallerIgnoresItsChildren) {
    struct sigaction ignore {
    }, before{};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGCHLD, &ignore, &before);
    const auto result = run_within(5s, [] { return 7; });
    struct sigaction after {};
    ::sigaction(SIGCHLD, &before, &after);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(*result, 7);
    EXPECT_EQ(after.sa_handler, SIG_IGN) << "the caller's setting was not restored";
}
TEST(RunWithin, DoesNotWaitForWhatTheChildLeftBehind) {
    const auto began = std::chrono::steady_clock::now();
    const auto result = run_within(5s, [] {
        if (::fork() == 0) {
            ::setsid();
            std::this_thread::sleep_for(3s);
            ::_exit(0);
        }
        return 1;
    });
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_LT(std::chrono::steady_clock::now() - began, 2s);
}
TEST(RunWithin, SilencesTheChild) {
    testing::internal::CaptureStderr();
    ASSERT_TRUE(run_within(5s, [] { return static_cast<int>(::write(2, "noise", 5)); }).ok());
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(StartDetached, LeavesSessionDescriptorsAndStreamsBehind) {
    const TemporaryDirectory directory;
    const int leaked = ::open("/dev/zero", O_RDONLY); // not close-on-exec
    ASSERT_GE(leaked, 3);
    const Status status = start_detached(
        {"/bin/sh", "-c",
         "{ ls /proc/self/fd | wc -l; readlink /proc/$$/fd/1; cut -d' ' -f6 /proc/$$/stat; echo $$; } > \"$0\"",
         directory.path("out.part")});
    ::close(leaked);
    ASSERT_TRUE(status.ok()) << status.error().message;
    std::string text;
    const Deadline deadline = Deadline::after(10s);
    while (std::count(text.begin(), text.end(), '\n') < 4 && !deadline.passed()) {
        std::this_thread::sleep_for(5ms);
        text = directory.read("out.part");
    }
    // 0, 1, 2 and the descriptor of ls on the directory; the session is neither ours nor one of its own making.
    EXPECT_THAT(text, testing::StartsWith("4\n"));
    EXPECT_THAT(text, testing::Not(HasSubstr("\n" + std::to_string(::getsid(0)) + "\n")));
}
TEST(StartDetached, AddsToTheEnvironmentAndOverrides) {
    const TemporaryDirectory directory;
    ::setenv("FABRIC_CHECK_TEST_OLD", "old", 1);
    ::setenv("FABRIC_CHECK_TEST_KEPT", "kept", 1);
    const Status status = start_detached(
        {"/bin/sh", "-c", "echo $FABRIC_CHECK_TEST_OLD $FABRIC_CHECK_TEST_KEPT $FABRIC_CHECK_TEST_NEW > \"$0\"",
         directory.path("out")},
        {"FABRIC_CHECK_TEST_OLD=new", "FABRIC_CHECK_TEST_NEW=x y"});
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(content_once_there(directory, "out"), "new kept x y\n");
}
TEST(StartDetached, ReportsAProgramThatIsNotThere) {
    const Status status = start_detached({"/nonexistent/fabric-check-finisher"});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Errc::not_found);
    EXPECT_EQ(status.error().message, "/nonexistent/fabric-check-finisher: No such file or directory");
}
TEST(StartDetached, ReportsAProgramThatMayNotRun) {
    const TemporaryDirectory directory;
    const Status status = start_detached({directory.write("plain", "not a program")});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Errc::denied);
}
TEST(StartDetached, RefusesAnEmptyCommand) {
    const Status status = start_detached({});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Errc::usage);
}
TEST(StartDetached, ReturnsBeforeTheProgramEnds) {
    const auto began = std::chrono::steady_clock::now();
    ASSERT_TRUE(start_detached({"/bin/sleep", "3"}).ok());
    EXPECT_LT(std::chrono::steady_clock::now() - began, 2s);
}

TEST(Deadline, HasTimeLeftUntilItHasPassed) {
    const Deadline deadline = Deadline::after(1h);
    EXPECT_FALSE(deadline.passed());
    EXPECT_GT(deadline.left(), 59min);
    EXPECT_LE(deadline.left(), 1h);
}
TEST(Deadline, HasNoneLeftAfterwards) {
    const Deadline deadline = Deadline::after(0ms);
    EXPECT_TRUE(deadline.passed());
    EXPECT_EQ(deadline.left(), 0ms);
}
TEST(Deadline, NeverPassesWhenThereIsNone) {
    EXPECT_FALSE(Deadline::never().passed());
    EXPECT_GT(Deadline::never().left(), 24h * 365);
}

} // namespace
} // namespace fabric_check
