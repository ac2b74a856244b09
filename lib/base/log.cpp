// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.hpp"

#include "base/clock.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

namespace fabric_check {

namespace {

const char *name_of(Log::Level level) noexcept {
    switch (level) {
    case Log::Level::error:
        return "error";
    case Log::Level::warning:
        return "warning";
    case Log::Level::info:
        return "info";
    case Log::Level::debug:
        break;
    }
    return "debug";
}

int priority_of(Log::Level level) noexcept {
    switch (level) {
    case Log::Level::error:
        return LOG_ERR;
    case Log::Level::warning:
        return LOG_WARNING;
    case Log::Level::info:
        return LOG_INFO;
    case Log::Level::debug:
        break;
    }
    return LOG_DEBUG;
}

/// One write: lines of several processes do not mix. POLLOUT on a pipe promises room for PIPE_BUF bytes.
void write_line(int fd, std::string line) {
    if (line.size() >= PIPE_BUF) {
        line.resize(PIPE_BUF - 1);
    }
    line += '\n';
    pollfd ready{fd, POLLOUT, 0};
    if (::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0) {
        (void)!::write(fd, line.data(), line.size());
    }
}

void to_file(const std::string &path, const std::string &line) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0644);
    if (fd >= 0) {
        write_line(fd, line);
        ::close(fd);
    }
}

/// syslog(3) blocks while the daemon does not read; a hook cannot wait for that.
void send_to_syslog(std::string_view socket, std::string_view text) noexcept {
    sockaddr_un address{};
    if (socket.size() >= sizeof address.sun_path) {
        return;
    }
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket.data(), socket.size());
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return;
    }
    (void)::sendto(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                   reinterpret_cast<const sockaddr *>(&address), sizeof address);
    ::close(fd);
}

void to_syslog(const Log::Target &target, Log::Level level, const std::string &message) {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    char stamp[32] = "";
    if (localtime_r(&now, &parts) != nullptr) {
        std::strftime(stamp, sizeof stamp, "%b %e %H:%M:%S", &parts);
    }
    send_to_syslog(target.syslog_socket, fmt::format("<{}>{} {}[{}]: {}", LOG_DAEMON | priority_of(level), stamp,
                                                     target.ident, ::getpid(), message));
}

} // namespace

void syslog_without_memory(const char *ident, const char *text) noexcept {
    char line[1024];
    const int length = std::snprintf(line, sizeof line, "<%d>%s[%d]: %s", LOG_DAEMON | LOG_ERR, ident, ::getpid(), text);
    const auto size = std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof line - 1);
    std::replace_if(line, line + size, [](char c) { return c < ' ' || c > '~'; }, '?');
    send_to_syslog("/dev/log", {line, size});
}

Log::Log(Target target) : target_(std::move(target)) {}

void Log::write(Level level, std::string_view message) noexcept {
    if (level > target_.level) {
        return;
    }
    try {
        const std::string text = printable(message);
        if (!target_.file.empty()) {
            to_file(target_.file, fmt::format("{} {}[{}]: {}: {}", format_time(wall_ns() / 1'000'000'000),
                                              target_.ident, ::getpid(), name_of(level), text));
        }
        if (target_.syslog) {
            to_syslog(target_, level, fmt::format("{}: {}", name_of(level), text));
        }
        if (target_.standard_error) {
            write_line(STDERR_FILENO, fmt::format("{}: {}: {}", target_.ident, name_of(level), text));
        }
    } catch (...) { // NOLINT(bugprone-empty-catch): there is nobody left to tell
    }
}

} // namespace fabric_check
