// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/ceiling.hpp"

#include "job/fakes.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fabric_check::mad {
namespace {

using namespace std::chrono_literals;

struct CeilingTest : ::testing::Test {
    fabric_check::testing::TempDir directory;
    std::string path = directory.path("mads");
    std::int64_t now = 1'800'000'000'000'000'000;
    FileCeiling ceiling(unsigned max_per_second = 100) const {
        return {path, max_per_second, [this] { return now; }};
    }
    /// Ten MADs for user 1000, in a directory of everybody's: how long they wait, and whether all share what holds for
    /// them.
    std::pair<std::optional<std::chrono::nanoseconds>, bool> reserve_as_user() const {
        EXPECT_EQ(::seteuid(1000), 0);
        FileCeiling user = ceiling();
        const auto waits = user.reserve(10, 1h);
        EXPECT_EQ(::seteuid(0), 0);
        return {waits, user.shared()};
    }
};

TEST_F(CeilingTest, TwoProcessesTakeTurns) {
    FileCeiling one = ceiling(), two = ceiling();
    EXPECT_EQ(one.reserve(10, 1h), 0ms);
    EXPECT_EQ(two.reserve(10, 1h), 100ms);
    EXPECT_EQ(one.reserve(5, 1h), 200ms);
    EXPECT_EQ(two.reserve(1, 1h), 250ms);
    EXPECT_TRUE(one.shared());
    EXPECT_TRUE(two.shared());
}

TEST_F(CeilingTest, TimeThatWentByUnusedIsNotSavedUp) {
    FileCeiling one = ceiling(), two = ceiling();
    (void)one.reserve(10, 1h);
    now += 5'000'000'000;
    EXPECT_EQ(two.reserve(10, 1h), 0ms);
    EXPECT_EQ(one.reserve(10, 1h), 100ms);
}

TEST_F(CeilingTest, TheFileIsNobodyElsesToReadOrLock) {
    FileCeiling one = ceiling();
    (void)one.reserve(1, 1h);
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777U, 0600U);
}

TEST_F(CeilingTest, WithoutADirectoryItHoldsForThisProcess) {
    path = directory.path("nowhere/mads");
    FileCeiling one = ceiling(), two = ceiling();
    EXPECT_EQ(one.reserve(10, 1h), 0ms);
    EXPECT_EQ(one.reserve(10, 1h), 100ms);
    EXPECT_FALSE(one.shared());
    EXPECT_EQ(two.reserve(10, 1h), 0ms);
}

TEST_F(CeilingTest, ALockThatIsNotGivenBackIsNotWaitedFor) {
    FileCeiling one = ceiling();
    (void)one.reserve(10, 1h);
    const int other = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(other, 0);
    ASSERT_EQ(::flock(other, LOCK_EX), 0);
    EXPECT_EQ(one.reserve(10, 1h), 100ms) << "its own ceiling still holds";
    EXPECT_FALSE(one.shared());
    ::close(other);
    EXPECT_EQ(one.reserve(10, 1h), 200ms);
    EXPECT_TRUE(one.shared());
}

TEST_F(CeilingTest, ATurnThatComesTooLateIsNotTaken) {
    FileCeiling one = ceiling(), two = ceiling();
    EXPECT_EQ(one.reserve(30, 1h), 0ms);
    EXPECT_EQ(two.reserve(10, 299ms), std::nullopt);
    EXPECT_EQ(two.reserve(10, 300ms), 300ms);
    EXPECT_EQ(one.reserve(460, 1h), 400ms);
    EXPECT_EQ(two.reserve(10, 1h), 5000ms) << "the longest wait";
    EXPECT_EQ(one.reserve(10, 1h), std::nullopt);
}

TEST_F(CeilingTest, AFileThatOthersMayWriteOrHaveAnotherNameForIsNotBelieved) {
    fabric_check::testing::write_text(path, "1800000003000000000\n");
    ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
    FileCeiling writable = ceiling();
    EXPECT_EQ(writable.reserve(1, 1h), 0ms);
    EXPECT_FALSE(writable.shared());
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    ASSERT_EQ(::link(path.c_str(), directory.path("other").c_str()), 0);
    FileCeiling linked = ceiling();
    EXPECT_EQ(linked.reserve(1, 1h), 0ms);
    EXPECT_FALSE(linked.shared());
    EXPECT_EQ(fabric_check::testing::read_text(path), "1800000003000000000\n");
}

TEST_F(CeilingTest, AClockThatIsFarAheadStopsNobody) {
    FileCeiling ahead = ceiling(), right = ceiling();
    now += 7'000'000'000;
    (void)ahead.reserve(1, 1h);
    now -= 7'000'000'000;
    EXPECT_EQ(right.reserve(10, 1h), 0ms);
    EXPECT_EQ(right.reserve(10, 1h), 100ms);
}

TEST_F(CeilingTest, ADamagedFileBeginsAnew) {
    for (const char *content : {"", "x", "99999999999999999999999999999999", "-5\n", "18"}) {
        fabric_check::testing::write_text(path, content);
        ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
        FileCeiling one = ceiling(), two = ceiling();
        EXPECT_EQ(one.reserve(10, 1h), 0ms) << content;
        EXPECT_EQ(two.reserve(10, 1h), 100ms) << content;
    }
}

TEST_F(CeilingTest, AnotherUsersFileIsReplaced) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "needs root, to give a file away";
    fabric_check::testing::write_text(path, "1800000000900000000\n");
    ASSERT_EQ(::chown(path.c_str(), 1000, 1000), 0);
    FileCeiling one = ceiling();
    EXPECT_EQ(one.reserve(10, 1h), 0ms);
    EXPECT_TRUE(one.shared());
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_uid, 0U);
}

TEST_F(CeilingTest, RootAndTheDirectorysOwnerShareIt) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "needs root, to be two users";
    ASSERT_EQ(::chmod(directory.path().c_str(), 01777), 0);
    ASSERT_EQ(::chown(directory.path().c_str(), 1000, 1000), 0);
    FileCeiling root = ceiling();
    EXPECT_EQ(root.reserve(10, 1h), 0ms);
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_uid, 1000U);
    const auto [waits, shared] = reserve_as_user();
    EXPECT_EQ(waits, 100ms);
    EXPECT_TRUE(shared);
    EXPECT_EQ(root.reserve(1, 1h), 200ms);
    EXPECT_TRUE(root.shared());
}

TEST_F(CeilingTest, WhoMayNotWriteItKeepsItForHimself) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "needs root, to be two users";
    ASSERT_EQ(::chmod(directory.path().c_str(), 01777), 0);
    FileCeiling root = ceiling();
    (void)root.reserve(10, 1h);
    const auto [waits, shared] = reserve_as_user();
    EXPECT_EQ(waits, 0ms);
    EXPECT_FALSE(shared);
    EXPECT_EQ(root.reserve(1, 1h), 100ms) << "and takes nothing from those who share it";
}

TEST_F(CeilingTest, ALinkIsNotFollowed) {
    ASSERT_EQ(::symlink(directory.path("elsewhere").c_str(), path.c_str()), 0);
    FileCeiling one = ceiling();
    (void)one.reserve(10, 1h);
    EXPECT_TRUE(one.shared());
    EXPECT_FALSE(std::filesystem::exists(directory.path("elsewhere")));
}

} // namespace
} // namespace fabric_check::mad
