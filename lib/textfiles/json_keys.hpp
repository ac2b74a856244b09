// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::textfiles {

/// A key that one object of a JSON text has more than once, with different values: parsers keep the last one and say
/// nothing.
struct RepeatedKey {
    std::vector<std::string> path; ///< from the outermost object: keys, and indices as digits; the key itself last
    std::string text() const;      ///< "ports[0].counters.PortRcvErrors"
};

/// In no order; none when the text is no valid JSON.
std::vector<RepeatedKey> repeated_keys(std::string_view text);

} // namespace fabric_check::textfiles
