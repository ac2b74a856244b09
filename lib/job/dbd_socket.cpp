// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/dbd_socket.hpp"

#include "base/file.hpp"
#include "base/text.hpp"

#include <chrono>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>

namespace fabric_check {
namespace {

/// The kernel leaves the mode for immediate acknowledgement after a few segments. A reply takes some 500 us.
constexpr std::chrono::microseconds again_after{250};

struct Peer {
    std::string address; ///< empty: no connected TCP socket
    std::uint16_t port = 0;
};

Peer peer_of(int fd) {
    int kind = 0;
    socklen_t length = sizeof kind;
    if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &kind, &length) != 0 || kind != IPPROTO_TCP)
        return {};
    sockaddr_storage address{};
    length = sizeof address;
    if (getpeername(fd, reinterpret_cast<sockaddr *>(&address), &length) != 0 || length > sizeof address)
        return {};
    Peer peer{std::string(reinterpret_cast<const char *>(&address), length), 0};
    if (address.ss_family == AF_INET)
        peer.port = ntohs(reinterpret_cast<const sockaddr_in &>(address).sin_port);
    else if (address.ss_family == AF_INET6)
        peer.port = ntohs(reinterpret_cast<const sockaddr_in6 &>(address).sin6_port);
    return peer;
}

std::set<int> connected() {
    std::set<int> found;
    const auto names = list_directory("/proc/self/fd");
    if (!names)
        return found;
    for (const auto &name : *names)
        if (const auto fd = parse_u64(name); fd && *fd < (1U << 30) && !peer_of(static_cast<int>(*fd)).address.empty())
            found.insert(static_cast<int>(*fd));
    return found;
}

} // namespace

DbdSocket::~DbdSocket() {
    if (!helper_.joinable())
        return;
    {
        const std::lock_guard lock(guard_);
        leave_ = true;
    }
    wake_.notify_one();
    helper_.join();
}

void DbdSocket::opening() {
    closed();
    before_ = connected();
}

bool DbdSocket::opened(std::uint16_t port) noexcept {
    try {
        int candidate = -1;
        for (const int fd : connected()) {
            if (before_.contains(fd) || (port != 0 && peer_of(fd).port != port))
                continue;
            if (candidate >= 0)
                return false;
            candidate = fd;
        }
        if (candidate < 0)
            return false;
        const int on = 1;
        if (setsockopt(candidate, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
            return false;
        auto peer = peer_of(candidate).address;
        {
            const std::lock_guard lock(guard_);
            fd_ = candidate;
            peer_ = std::move(peer);
        }
        if (!helper_.joinable())
            helper_ = std::thread([this] { help(); });
        return true;
    } catch (...) { // it is slower without
        closed();
        return false;
    }
}

void DbdSocket::closed() noexcept {
    const std::lock_guard lock(guard_);
    fd_ = -1;
}

void DbdSocket::busy(bool now) noexcept {
    if (!helper_.joinable())
        return;
    {
        const std::lock_guard lock(guard_);
        busy_ = now;
    }
    if (now)
        wake_.notify_one();
}

void DbdSocket::help() noexcept {
    prctl(PR_SET_TIMERSLACK, 1UL); // 50 us otherwise
    std::unique_lock lock(guard_);
    while (!leave_) {
        if (!busy_ || fd_ < 0) {
            wake_.wait(lock);
            continue;
        }
        // libslurm may have closed it behind our back, and the descriptor be another's by now.
        if (peer_of(fd_).address == peer_) {
            const int on = 1;
            (void)setsockopt(fd_, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
        }
        wake_.wait_for(lock, again_after);
    }
}

} // namespace fabric_check
