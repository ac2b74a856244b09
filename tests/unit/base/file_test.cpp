// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.hpp"
#include "base/temporary.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

namespace fabric_check {
namespace {

using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;

unsigned mode_of(const std::string &path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
}

TEST(FileStamp, TellsAnotherContent) {
    const TemporaryDirectory directory;
    const auto path = directory.path("f");
    EXPECT_EQ(file_stamp(path), "none");
    ASSERT_TRUE(write_file_atomic(path, "one"));
    const auto before = file_stamp(path);
    EXPECT_EQ(file_stamp(path), before);
    ASSERT_TRUE(write_file_atomic(path, "two"));
    EXPECT_NE(file_stamp(path), before);
}

TEST(ReadFile, GivesTheWholeContent) {
    const TemporaryDirectory directory;
    const std::string text(40000, 'x');
    const auto content = read_file(directory.write("f", text), 100000);
    ASSERT_TRUE(content.ok()) << content.error().message;
    EXPECT_EQ(*content, text);
}
TEST(ReadFile, TakesExactlyTheLimit) {
    const TemporaryDirectory directory;
    EXPECT_TRUE(read_file(directory.write("f", "1234"), 4).ok());
}
TEST(ReadFile, RefusesOneByteMoreNamingTheFile) {
    const TemporaryDirectory directory;
    const auto content = read_file(directory.write("f", "12345"), 4);
    ASSERT_FALSE(content.ok());
    EXPECT_EQ(content.error().code, Errc::malformed);
    EXPECT_EQ(content.error().message, directory.path("f") + ": longer than 4 bytes");
}
TEST(ReadFile, OfAMissingFileIsNotFound) {
    const auto content = read_file("/nonexistent/file", 10);
    ASSERT_FALSE(content.ok());
    EXPECT_EQ(content.error().code, Errc::not_found);
    EXPECT_EQ(content.error().message, "/nonexistent/file: No such file or directory");
}
TEST(ReadFile, DoesNotHangOnAFifo) {
    const TemporaryDirectory directory;
    ASSERT_EQ(::mkfifo(directory.path("fifo").c_str(), 0600), 0);
    const auto content = read_file(directory.path("fifo"), 10);
    ASSERT_FALSE(content.ok());
    EXPECT_THAT(content.error().message, HasSubstr("not a regular file"));
}
TEST(ReadFile, RefusesALinkOnlyWhenAsked) {
    const TemporaryDirectory directory;
    directory.write("f", "secret");
    ASSERT_EQ(::symlink("f", directory.path("link").c_str()), 0);
    EXPECT_TRUE(read_file(directory.path("link"), 10).ok());
    const auto content = read_file(directory.path("link"), 10, true);
    ASSERT_FALSE(content.ok());
    EXPECT_EQ(content.error().code, Errc::denied);
    EXPECT_THAT(content.error().message, HasSubstr("symbolic link"));
}

TEST(WriteFileAtomic, ReplacesAndSetsTheModeWhateverTheUmask) {
    const TemporaryDirectory directory;
    directory.write("f", "old");
    const mode_t before = ::umask(077);
    const Status status = write_file_atomic(directory.path("f"), "new", 0644);
    ::umask(before);
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(directory.read("f"), "new");
    EXPECT_EQ(mode_of(directory.path("f")), 0644U);
}
TEST(WriteFileAtomic, RefusesToReplaceWhatIsNoRegularFile) {
    const TemporaryDirectory directory;
    const std::string fifo = directory.path() + "/fifo"; // a device would be broken if this failed
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const auto status = write_file_atomic(fifo, "x");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message, fifo + ": not a regular file, not replaced");
}

TEST(WriteFileAtomic, LeavesNoTemporaryBehind) {
    const TemporaryDirectory directory;
    ASSERT_TRUE(write_file_atomic(directory.path("f"), "x").ok());
    EXPECT_THAT(*list_directory(directory.path()), ElementsAre("f"));
}
TEST(WriteFileAtomic, LeavesNoTemporaryBehindWhenItFails) {
    const TemporaryDirectory directory;
    directory.write("d/inner", "");
    EXPECT_FALSE(write_file_atomic(directory.path("d"), "x").ok()); // a directory cannot be replaced
    EXPECT_THAT(*list_directory(directory.path()), ElementsAre("d"));
}
TEST(WriteFileAtomic, ReplacesALinkInsteadOfFollowingIt) {
    const TemporaryDirectory directory;
    directory.write("victim", "precious");
    ASSERT_EQ(::symlink("victim", directory.path("f").c_str()), 0);
    ASSERT_TRUE(write_file_atomic(directory.path("f"), "x").ok());
    EXPECT_EQ(directory.read("victim"), "precious");
}
TEST(WriteFileAtomic, NamesThePathWhenTheDirectoryIsMissing) {
    const Status status = write_file_atomic("/nonexistent/f", "x");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Errc::not_found);
    EXPECT_THAT(status.error().message, HasSubstr("/nonexistent/f"));
}

TEST(ListDirectory, IsSortedWithoutDots) {
    const TemporaryDirectory directory;
    directory.write("b", "");
    directory.write("a/x", "");
    directory.write(".hidden", "");
    EXPECT_THAT(*list_directory(directory.path()), ElementsAre(".hidden", "a", "b"));
}

TEST(MakeDirectories, MakesAllAndSetsTheModeOfTheLastExactly) {
    const TemporaryDirectory directory;
    const Status status = make_directories(directory.path("a/b//c/"), 01777);
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(mode_of(directory.path("a/b/c")), 01777U);
    EXPECT_EQ(mode_of(directory.path("a/b")) & 01000U, 0U);
}
TEST(MakeDirectories, LeavesAnExistingOneAsItIs) {
    const TemporaryDirectory directory;
    ASSERT_TRUE(make_directories(directory.path("d"), 0700).ok());
    ASSERT_TRUE(make_directories(directory.path("d"), 0755).ok());
    EXPECT_EQ(mode_of(directory.path("d")), 0700U);
}
TEST(MakeDirectories, SaysWhatIsInTheWay) {
    const TemporaryDirectory directory;
    directory.write("f", "");
    const Status status = make_directories(directory.path("f/d"));
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message, directory.path("f") + ": Not a directory");
}

TEST(FileLock, IsHeldOnceAndFreedAtTheEnd) {
    const TemporaryDirectory directory;
    {
        const auto first = FileLock::try_lock(directory.path("lock"));
        ASSERT_TRUE(first.ok()) << first.error().message;
        const auto second = FileLock::try_lock(directory.path("lock"));
        ASSERT_FALSE(second.ok());
        EXPECT_EQ(second.error().code, Errc::unavailable);
        EXPECT_THAT(second.error().message, HasSubstr("held by another process"));
    }
    EXPECT_TRUE(FileLock::try_lock(directory.path("lock")).ok());
}
TEST(FileLock, MovesWithItsValue) {
    const TemporaryDirectory directory;
    auto first = FileLock::try_lock(directory.path("lock"));
    {
        const FileLock moved = std::move(first).value();
        EXPECT_FALSE(FileLock::try_lock(directory.path("lock")).ok());
    }
    EXPECT_TRUE(FileLock::try_lock(directory.path("lock")).ok());
}

} // namespace
} // namespace fabric_check
