// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/result.hpp"

#include <cerrno>
#include <cstring>

namespace fabric_check {

int exit_code(Errc code) noexcept {
    switch (code) {
    case Errc::usage:
    case Errc::malformed:
        return exit_status::usage;
    case Errc::not_found:
    case Errc::unsupported:
    case Errc::no_answer:
        return exit_status::no_answer;
    case Errc::denied:
    case Errc::timed_out:
    case Errc::unavailable:
    case Errc::io:
        break;
    }
    return exit_status::environment;
}

Error errno_error(std::string_view object, int errnum) {
    Errc code = Errc::io;
    switch (errnum) {
    case ENOENT:
    case ENOTDIR:
        code = Errc::not_found;
        break;
    case EACCES:
    case EPERM:
        code = Errc::denied;
        break;
    case EOPNOTSUPP:
    case ENOSYS:
        code = Errc::unsupported;
        break;
    case ETIMEDOUT:
        code = Errc::timed_out;
        break;
    default:
        break;
    }
    char text[128];
    return {code, std::string(object) + ": " + strerror_r(errnum, text, sizeof text)};
}

} // namespace fabric_check
