// SPDX-License-Identifier: GPL-2.0-or-later
// Users for the hooks, without the C library's name services, which a static program has not: a number costs nothing, a
// name of /etc/passwd one file, and for any other getent(1) is asked, within the hook's budget.
#include "base/user.hpp"

#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>

namespace fabric_check {
namespace {

constexpr std::size_t longest_passwd = std::size_t{4} << 20;

/// "slurm:x:64030:64030:..." -> 64030, of the line that begins with the name.
std::optional<std::uint32_t> uid_in(std::string_view passwd, std::string_view user) {
    while (!passwd.empty()) {
        const auto line = passwd.substr(0, passwd.find('\n'));
        passwd.remove_prefix(std::min(line.size() + 1, passwd.size()));
        if (!line.starts_with(user) || line.substr(user.size(), 1) != ":")
            continue;
        const auto fields = split(line, ':');
        const auto uid = fields.size() > 2 ? parse_u64(fields[2]) : std::nullopt;
        if (uid && *uid < std::numeric_limits<std::uint32_t>::max())
            return static_cast<std::uint32_t>(*uid);
    }
    return std::nullopt;
}

std::string ask_getent(const std::string &user) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return {};
    std::string name = user;
    char program[] = "/usr/bin/getent", database[] = "passwd", dashes[] = "--";
    char *const arguments[] = {program, dashes, database, name.data(), nullptr};
    const pid_t child = ::fork();
    if (child == 0) {
        null_standard_streams();
        ::dup2(ends[1], STDOUT_FILENO);
        ::execv(arguments[0], arguments);
        ::_exit(127);
    }
    ::close(ends[1]);
    std::string answer;
    char buffer[512];
    for (ssize_t n = 0; child > 0 && answer.size() < 65536 && (n = ::read(ends[0], buffer, sizeof buffer)) != 0;) {
        if (n > 0)
            answer.append(buffer, static_cast<std::size_t>(n));
        else if (errno != EINTR)
            break;
    }
    ::close(ends[0]);
    if (child > 0)
        (void)::waitpid(child, nullptr, 0);
    return answer;
}

} // namespace

Result<std::uint32_t> uid_of(const std::string &user) {
    static std::string last_user;
    static std::uint32_t last_uid = 0;
    if (const auto number = parse_u64(user); number && *number < std::numeric_limits<std::uint32_t>::max())
        return static_cast<std::uint32_t>(*number);
    if (!user.empty() && user == last_user)
        return last_uid;
    std::optional<std::uint32_t> uid;
    if (const auto passwd = read_file("/etc/passwd", longest_passwd))
        uid = uid_in(*passwd, user);
    if (!uid)
        uid = uid_in(ask_getent(user), user);
    if (!uid)
        return Error{Errc::not_found, "no user \"" + printable(user) + "\" here"};
    last_user = user;
    last_uid = *uid;
    return *uid;
}

} // namespace fabric_check
