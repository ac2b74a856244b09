// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "snapshot/model.hpp"

#include <string>
#include <string_view>

namespace fabric_check {

/// Which statistics of network devices are kept: those in the table of counters, so that records stay small (drivers show
/// thousands, one set for each queue), or all.
enum class NetdevStatistics : std::uint8_t { known, all };

/// Reads every port of every RDMA card below `sysfs_root`/class/infiniband, and the boot id below `proc_root`. Roots are
/// injectable; no Slurm, no MADs, no fork. One unreadable counter costs that counter, one broken card only itself; what
/// went wrong stands in problems. No card at all is a problem, not an error. Never throws on odd content.
///
/// Of Ethernet ports also the statistics of their network device: from the kernel where `sysfs_root` is "/sys". In any
/// other tree (tests, the lab) there is no kernel behind the files, and DEVICE/device/net/NETDEV/ethtool_stats stands in
/// for it, with lines "name: value".
NodeSnapshot read_node(const std::string &node, const std::string &sysfs_root, const std::string &proc_root,
                       NetdevStatistics keep = NetdevStatistics::known);

/// "200 Gb/sec (4X HDR)" -> rate; all zero when it does not parse.
LinkRate parse_rate(std::string_view text);
/// "16x 16GT/s" -> lanes and GT/s; nullopt when it does not parse.
std::optional<PcieLink> parse_pcie(std::string_view text);
/// Rate of a link from lanes and speed name ("HDR"): data and signalling rate filled in; unknown speeds leave zeros.
LinkRate link_rate(unsigned lanes, std::string_view speed);

} // namespace fabric_check
