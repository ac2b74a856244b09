// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "textfiles/diff.hpp"

#include <string>
#include <vector>

namespace fabric_check::textfiles {

using Advice = std::vector<std::string>;

/// What helps against an incomplete or unusable reading of one port, most useful first; never empty.
Advice gaps(const DiffPort &port);

/// "a, b and 3 more"
std::string join(const std::vector<std::string> &names, std::size_t most);

} // namespace fabric_check::textfiles
