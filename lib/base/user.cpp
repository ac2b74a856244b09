// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/user.hpp"

#include "base/file.hpp"
#include "base/text.hpp"

#include <cerrno>
#include <limits>
#include <pwd.h>
#include <unistd.h>
#include <vector>

namespace fabric_check {

Result<std::uint32_t> uid_of(const std::string &user) {
    if (const auto number = parse_u64(user)) {
        if (*number < std::numeric_limits<std::uint32_t>::max())
            return static_cast<std::uint32_t>(*number);
        return Error{Errc::not_found, "no user \"" + printable(user) + "\" here"};
    }
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd *found = nullptr;
    const int error = getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (found != nullptr)
        return static_cast<std::uint32_t>(entry.pw_uid);
    // Name services say "nobody of that name" in more than one way: getpwnam_r(3).
    if (error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM)
        return Error{Errc::not_found, "no user \"" + printable(user) + "\" here"};
    return Error{Errc::unavailable, errno_error("user \"" + printable(user) + "\"", error).message};
}

namespace {

std::string name_of(std::uint32_t uid) {
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd *found = nullptr;
    return getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr
               ? printable(entry.pw_name)
               : "uid " + std::to_string(uid);
}

} // namespace

std::string who_runs_this() {
    const auto text = read_file("/proc/self/loginuid", 64);
    constexpr std::uint64_t nobody = std::numeric_limits<std::uint32_t>::max();
    const std::uint64_t login = text ? parse_u64(trim(*text)).value_or(nobody) : nobody;
    const std::string self = name_of(geteuid());
    // All ones: nobody logged in, a service or a container.
    return login < nobody && login != geteuid() ? name_of(static_cast<std::uint32_t>(login)) + " as " + self : self;
}

} // namespace fabric_check
