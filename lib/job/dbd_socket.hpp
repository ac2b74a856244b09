// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace fabric_check {

/// Takes the waiting out of libslurm's connection to slurmdbd. Before 24.05 each side writes a message's length and its
/// body apart: Nagle's algorithm holds the body back until the length is acknowledged, and the other side delays its
/// acknowledgement by 40 ms. TCP_NODELAY on our socket helps what we send; for what slurmdbd sends, a helper thread asks
/// for immediate acknowledgement (TCP_QUICKACK, which the kernel drops again at will) while a call is under way.
///
/// libslurm tells nobody its descriptor: it is the TCP socket, connected to `port`, that appeared meanwhile. Where none
/// or more than one did, nothing is done. Costs nothing where the release needs none of it.
///
/// The helper sleeps when no call is under way. Not for several threads; Linux alone.
class DbdSocket {
public:
    DbdSocket() = default;
    DbdSocket(const DbdSocket &) = delete;
    DbdSocket &operator=(const DbdSocket &) = delete;
    ~DbdSocket();

    /// Around the opening of the connection.
    void opening();
    /// `port`: slurmdbd's; 0: not known, any. True: found.
    bool opened(std::uint16_t port) noexcept;
    void closed() noexcept;
    bool found() const noexcept { return fd_ >= 0; }

    /// While one lives, acknowledgements go out at once.
    class Call {
    public:
        explicit Call(DbdSocket &socket) : socket_(socket) { socket_.busy(true); }
        Call(const Call &) = delete;
        Call &operator=(const Call &) = delete;
        ~Call() { socket_.busy(false); }

    private:
        DbdSocket &socket_;
    };

private:
    void busy(bool now) noexcept;
    void help() noexcept;

    std::set<int> before_;
    int fd_ = -1;
    std::string peer_; ///< the address connected to, as the kernel has it: a descriptor that is another's is left alone
    std::mutex guard_;
    std::condition_variable wake_;
    bool busy_ = false, leave_ = false;
    std::thread helper_;
};

} // namespace fabric_check
