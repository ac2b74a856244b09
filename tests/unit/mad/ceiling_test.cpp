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
};

TEST_F(CeilingTest, TwoProcessesTakeTurns) {
    FileCeiling one = ceiling(), two = ceiling();
    EXPECT_EQ(one.reserve(10), 0ms);
    EXPECT_EQ(two.reserve(10), 100ms);
    EXPECT_EQ(one.reserve(5), 200ms);
    EXPECT_EQ(two.reserve(1), 250ms);
    EXPECT_TRUE(one.shared());
    EXPECT_TRUE(two.shared());
}

TEST_F(CeilingTest, TimeThatWentByUnusedIsNotSavedUp) {
    FileCeiling one = ceiling(), two = ceiling();
    (void)one.reserve(10);
    now += 5'000'000'000;
    EXPECT_EQ(two.reserve(10), 0ms);
    EXPECT_EQ(one.reserve(10), 100ms);
}

TEST_F(CeilingTest, TheFileIsNobodyElsesToReadOrLock) {
    FileCeiling one = ceiling();
    (void)one.reserve(1);
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777U, 0600U);
}

TEST_F(CeilingTest, WithoutADirectoryItHoldsForThisProcess) {
    path = directory.path("nowhere/mads");
    FileCeiling one = ceiling(), two = ceiling();
    EXPECT_EQ(one.reserve(10), 0ms);
    EXPECT_EQ(one.reserve(10), 100ms);
    EXPECT_FALSE(one.shared());
    EXPECT_EQ(two.reserve(10), 0ms);
}

TEST_F(CeilingTest, ALockThatIsNotGivenBackIsNotWaitedFor) {
    FileCeiling one = ceiling();
    (void)one.reserve(10);
    const int other = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(other, 0);
    ASSERT_EQ(::flock(other, LOCK_EX), 0);
    EXPECT_EQ(one.reserve(10), 100ms) << "its own ceiling still holds";
    EXPECT_FALSE(one.shared());
    ::close(other);
    EXPECT_EQ(one.reserve(10), 200ms);
    EXPECT_TRUE(one.shared());
}

TEST_F(CeilingTest, AClockThatIsMoreThanAMinuteAheadStopsNobody) {
    FileCeiling ahead = ceiling(), right = ceiling();
    now += 61'000'000'000;
    (void)ahead.reserve(1);
    now -= 61'000'000'000;
    EXPECT_EQ(right.reserve(10), 0ms);
    EXPECT_EQ(right.reserve(10), 100ms);
}

TEST_F(CeilingTest, ADamagedFileBeginsAnew) {
    for (const char *content : {"", "x", "99999999999999999999999999999999", "-5\n", "18"}) {
        fabric_check::testing::write_text(path, content);
        FileCeiling one = ceiling(), two = ceiling();
        EXPECT_EQ(one.reserve(10), 0ms) << content;
        EXPECT_EQ(two.reserve(10), 100ms) << content;
    }
}

TEST_F(CeilingTest, AnotherUsersFileIsReplaced) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "needs root, to give a file away";
    fabric_check::testing::write_text(path, "1800000000900000000\n");
    ASSERT_EQ(::chown(path.c_str(), 1000, 1000), 0);
    FileCeiling one = ceiling();
    EXPECT_EQ(one.reserve(10), 0ms);
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
    EXPECT_EQ(root.reserve(10), 0ms);
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_uid, 1000U);
    ASSERT_EQ(::seteuid(1000), 0);
    FileCeiling owner = ceiling();
    const auto waits = owner.reserve(10);
    const bool shared = owner.shared();
    ASSERT_EQ(::seteuid(0), 0);
    EXPECT_EQ(waits, 100ms);
    EXPECT_TRUE(shared);
    EXPECT_EQ(root.reserve(1), 200ms);
    EXPECT_TRUE(root.shared());
}

TEST_F(CeilingTest, WhoMayNotWriteItKeepsItForHimself) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "needs root, to be two users";
    ASSERT_EQ(::chmod(directory.path().c_str(), 01777), 0);
    FileCeiling root = ceiling();
    (void)root.reserve(10);
    ASSERT_EQ(::seteuid(1000), 0);
    FileCeiling user = ceiling();
    const auto waits = user.reserve(10);
    const bool shared = user.shared();
    ASSERT_EQ(::seteuid(0), 0);
    EXPECT_EQ(waits, 0ms);
    EXPECT_FALSE(shared);
    EXPECT_EQ(root.reserve(1), 100ms) << "and takes nothing from those who share it";
}

TEST_F(CeilingTest, ALinkIsNotFollowed) {
    ASSERT_EQ(::symlink(directory.path("elsewhere").c_str(), path.c_str()), 0);
    FileCeiling one = ceiling();
    (void)one.reserve(10);
    EXPECT_TRUE(one.shared());
    EXPECT_FALSE(std::filesystem::exists(directory.path("elsewhere")));
}

} // namespace
} // namespace fabric_check::mad
