// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "textfiles/diff.hpp"

#include <set>
#include <string>

namespace fabric_check::textfiles {

/// Two readings of one port; one of them may be null.
struct PortPair {
    std::string name;
    const PortCounters *before = nullptr, *after = nullptr;
    const PortCounters &known() const { return after != nullptr ? *after : *before; }
};

/// Judges one port for itself. `switches`: by owner(). Whether the port counts is left to others.
DiffPort judge_pair(const PortPair &pair, const DiffOptions &options, const std::set<std::string> &switches);

} // namespace fabric_check::textfiles
