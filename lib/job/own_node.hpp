// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

namespace fabric_check {

/// SLURMD_NODENAME where Slurm starts us, else the host's short name.
std::string own_node_name();

} // namespace fabric_check
