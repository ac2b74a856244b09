// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace fabric_check {

/// Where a program's messages go: syslog, a file, standard error; any of them. The library logs only through a Log it
/// is given. Never throws, never blocks on a full pipe, writes one line per message; hostile bytes are escaped.
class Log {
public:
    enum class Level { error, warning, info, debug };
    struct Target {
        std::string ident = "fabric-check"; ///< "fabric-check-prolog", ...
        std::string file;                   ///< appended to; empty: none
        bool syslog = false;
        std::string syslog_socket = "/dev/log"; ///< a datagram that cannot be delivered at once is dropped
        bool standard_error = false;
        Level level = Level::info;
    };
    Log() = default; ///< silent
    explicit Log(Target target);
    void write(Level level, std::string_view message) noexcept;
    void error(std::string_view message) noexcept { write(Level::error, message); }
    void warning(std::string_view message) noexcept { write(Level::warning, message); }
    void info(std::string_view message) noexcept { write(Level::info, message); }

private:
    Target target_;
};

/// One error to syslog when nothing else can be relied upon any more: allocates nothing, waits for nothing. Bytes that are no
/// printable ASCII become '?'.
void syslog_without_memory(const char *ident, const char *text) noexcept;

} // namespace fabric_check
