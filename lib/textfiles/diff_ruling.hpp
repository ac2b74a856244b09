// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "textfiles/diff_port.hpp"

#include <vector>

namespace fabric_check::textfiles {

/// Sets which ports count and why. Of a host's snapshots those that a job's verdict would rest on (PortChoices); of any
/// other input, and where none would be left, all. An InfiniBand port that is down on both sides does not count, nor an
/// Ethernet port without RDMA: of those only a broken link is told. `pairs` and `ports` go together.
void choose_ports(const std::vector<PortPair> &pairs, const DiffOptions &options, std::vector<DiffPort> &ports);

/// Sets `verdict` and `rest`.
void rule_over_ports(Diff &diff);

} // namespace fabric_check::textfiles
