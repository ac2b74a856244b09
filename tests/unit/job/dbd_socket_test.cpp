// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/dbd_socket.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace fabric_check {
namespace {

/// A listener on loopback and connections to it.
class DbdSocketTest : public ::testing::Test {
protected:
    DbdSocketTest() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        address_.sin_family = AF_INET;
        address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr *>(&address_), sizeof address_), 0);
        EXPECT_EQ(listen(listener_, 4), 0);
        socklen_t length = sizeof address_;
        EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr *>(&address_), &length), 0);
    }
    ~DbdSocketTest() override {
        for (const int fd : opened_)
            close(fd);
        close(listener_);
    }
    int connection() {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr *>(&address_), sizeof address_), 0);
        opened_.push_back(fd);
        return fd;
    }
    std::uint16_t port() const { return ntohs(address_.sin_port); }
    static int no_delay(int fd) {
        int value = -1;
        socklen_t length = sizeof value;
        getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &length);
        return value;
    }

    int listener_;
    sockaddr_in address_{};
    std::vector<int> opened_;
};

TEST_F(DbdSocketTest, FindsTheConnectionThatWasOpened) {
    const int before = connection();
    DbdSocket socket;
    socket.opening();
    const int ours = connection();
    EXPECT_TRUE(socket.opened(port()));
    EXPECT_NE(no_delay(ours), 0);
    EXPECT_EQ(no_delay(before), 0);
}

TEST_F(DbdSocketTest, LeavesConnectionsToOtherPortsAlone) {
    DbdSocket socket;
    socket.opening();
    const int other = connection();
    EXPECT_FALSE(socket.opened(static_cast<std::uint16_t>(port() ^ 1)));
    EXPECT_FALSE(socket.found());
    EXPECT_EQ(no_delay(other), 0);
}

TEST_F(DbdSocketTest, DoesNotGuessBetweenTwo) {
    DbdSocket socket;
    socket.opening();
    const int one = connection();
    connection();
    EXPECT_FALSE(socket.opened(port()));
    EXPECT_EQ(no_delay(one), 0);
}

TEST_F(DbdSocketTest, DoesWithoutWhereNothingWasOpened) {
    DbdSocket socket;
    socket.opening();
    EXPECT_FALSE(socket.opened(0));
    const DbdSocket::Call call(socket);
}

TEST_F(DbdSocketTest, SurvivesThatTheConnectionIsClosedInMidCall) {
    DbdSocket socket;
    socket.opening();
    const int ours = connection();
    ASSERT_TRUE(socket.opened(port()));
    const DbdSocket::Call call(socket);
    close(ours);
    opened_.pop_back();
    usleep(2000);
    socket.closed();
    EXPECT_FALSE(socket.found());
}

} // namespace
} // namespace fabric_check
