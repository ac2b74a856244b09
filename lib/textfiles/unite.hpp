// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "textfiles/text.hpp"

#include <string>
#include <utility>
#include <vector>

namespace fabric_check::textfiles {

/// What one directory (or file) shows as one port by LID, one by device, one by its network device is one port, seen with
/// several tools, named by device. Never a switch's port (above 2) or one of another number with a card's, nor an Ethernet
/// card with a LID, nor ports whose errors differ: those stay apart, and a problem says why.
void unite(std::vector<PortCounters> &ports, std::vector<TextProblem> &problems, const std::string &where);

/// A card's own hw_counters/ are its only port's, the first where no port is known; with several ports they count all of
/// them together, are used for none, and a problem says so.
void settle_cards(std::vector<PortCounters> &ports, std::vector<TextProblem> &problems, const std::string &where);
/// That problem.
inline constexpr const char *counts_all_ports = "hw_counters/ of this card counts all its ports together: not used";

/// Counters that name no port, by the names of their files in one directory.
using Unnamed = std::vector<std::pair<std::string, PortCounters>>;
/// They are of one port; where two files have the same counters each file is a port of its own, named after it,
/// whatever the values are. A problem says so where `beside` or files with other counters are there as well.
std::vector<PortCounters> of_unnamed(Unnamed files, const std::vector<PortCounters> &beside,
                                     std::vector<TextProblem> &problems, const std::string &where);

} // namespace fabric_check::textfiles
