// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "fabric/routes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fabric_check::fabric {

/// Unicast LIDs: "5", "0x1f", "5-9", separated by blanks, commas or lines; # begins a comment. Errc::usage, quoting the
/// word and its line in `name`, for anything else, and where there is none.
Result<std::vector<std::uint16_t>> parse_lid_list(const std::string &text, const std::string &name);

/// What --lids takes: the name of a file of them, or the LIDs themselves. Errc::usage also for a file that cannot be read.
Result<std::vector<std::uint16_t>> read_lid_list(const std::string &argument);

/// "LID 5 (node05)" of every endpoint whose LID not one switch has an entry for.
std::vector<std::string> in_no_table(const Map &map, const std::vector<Endpoint> &endpoints);

} // namespace fabric_check::fabric
