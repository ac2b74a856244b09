// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.hpp"
#include "base/temporary.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace fabric_check {
namespace {

using test::TemporaryDirectory;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

TEST(Log, AppendsOneLineNamingTimeProgramAndLevel) {
    const TemporaryDirectory directory;
    Log log({.ident = "fabric-check-prolog", .file = directory.path("log")});
    log.warning("spool: read-only");
    EXPECT_THAT(directory.read("log"),
                MatchesRegex("[0-9]{4}-[0-9-]+T[0-9:]+Z fabric-check-prolog\\[[0-9]+\\]: warning: spool: read-only\n"));
}
TEST(Log, KeepsAMessageOnOneLineAndEscapesHostileBytes) {
    const TemporaryDirectory directory;
    Log log({.file = directory.path("log")});
    log.error("a\nroot: all is well\x1b");
    EXPECT_THAT(directory.read("log"), EndsWith("error: a\\x0aroot: all is well\\x1b\n"));
}
TEST(Log, LeavesOutWhatIsBelowItsLevel) {
    const TemporaryDirectory directory;
    Log log({.file = directory.path("log"), .level = Log::Level::warning});
    log.info("hidden");
    log.error("shown");
    EXPECT_THAT(directory.read("log"), Not(HasSubstr("hidden")));
    EXPECT_THAT(directory.read("log"), HasSubstr("shown"));
}
TEST(Log, CutsAMessageThatWouldNotGoOutInOnePiece) {
    const TemporaryDirectory directory;
    Log log({.file = directory.path("log")});
    log.error(std::string(100000, 'x'));
    EXPECT_EQ(directory.read("log").size(), 4096U);
}
TEST(Log, IsSilentWithoutTargets) {
    Log().error("nobody hears");
}
TEST(Log, SurvivesAFileThatCannotBeWritten) {
    Log({.file = "/nonexistent/log"}).error("lost");
}
TEST(Log, DoesNotWaitForTheReaderOfAFifo) {
    const TemporaryDirectory directory;
    ASSERT_EQ(::mkfifo(directory.path("fifo").c_str(), 0600), 0);
    const int reader = ::open(directory.path("fifo").c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    Log log({.file = directory.path("fifo")});
    for (int i = 0; i < 1000; ++i) {
        log.error(std::string(1000, 'x')); // far more than a pipe holds
    }
    ::close(reader);
}

TEST(Log, SendsSyslogDatagramsWithPriorityAndProgram) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("socket");
    const int server = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    ASSERT_EQ(::bind(server, reinterpret_cast<const sockaddr *>(&address), sizeof address), 0);
    Log log({.ident = "fabric-check-epilog", .file = "", .syslog = true, .syslog_socket = path});
    log.error("munged is away");
    char buffer[512];
    const ssize_t length = ::recv(server, buffer, sizeof buffer, 0);
    ::close(server);
    ASSERT_GT(length, 0);
    // daemon (3) * 8 + error (3)
    EXPECT_THAT(
        std::string(buffer, static_cast<std::size_t>(length)),
        MatchesRegex("<27>[A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} fabric-check-epilog\\[[0-9]+\\]: error: munged is away"));
}
TEST(Log, SurvivesAMissingSyslog) {
    Log({.file = "", .syslog = true, .syslog_socket = "/nonexistent/log"}).error("lost");
}

} // namespace
} // namespace fabric_check
