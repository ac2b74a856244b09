// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "snapshot/model.hpp"

#include <string>
#include <string_view>

namespace fabric_check {

/// Reads every port of every RDMA card below `sysfs_root`/class/infiniband, and the boot id below `proc_root`. Roots are
/// injectable; no Slurm, no MADs, no fork. One unreadable counter costs that counter, one broken card only itself; what
/// went wrong stands in problems. No card at all is a problem, not an error. Never throws on odd content.
NodeSnapshot read_node(const std::string &node, const std::string &sysfs_root, const std::string &proc_root);

/// "200 Gb/sec (4X HDR)" -> rate; all zero when it does not parse.
LinkRate parse_rate(std::string_view text);
/// Rate of a link from lanes and speed name ("HDR"): data and signalling rate filled in; unknown speeds leave zeros.
LinkRate link_rate(unsigned lanes, std::string_view speed);

} // namespace fabric_check
