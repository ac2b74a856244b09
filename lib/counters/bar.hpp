// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>

namespace fabric_check {

/// How much of a counter is too much; more than any of those that are set is.
struct Bar {
    std::optional<double> per_job = {}, per_gb = {}, per_hour = {};
    bool operator==(const Bar &) const = default;
};
using Bars = std::map<std::string, Bar>; ///< by the counter's own name, or by that of its family

} // namespace fabric_check
