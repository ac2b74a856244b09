// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>

namespace fabric_check {

/// The uid of a user, by name or number; a number need not be anybody's. Errc::not_found: there is no such user here;
/// Errc::unavailable: who is there cannot be found out now.
Result<std::uint32_t> uid_of(const std::string &user);

/// Who started this process, for logs: who logged in where the kernel knows ("ada as root"), else the user it runs as.
std::string who_runs_this();

} // namespace fabric_check
