// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "snapshot/model.hpp"
#include "sources/ethtool.hpp"

#include <string>

namespace fabric_check::sysfs {

/// Address of the PCI device behind a card's directory below class/infiniband ("0000:3b:00.0"); empty where there is
/// none (subfunctions, software devices).
std::string pci_address(const std::string &card);
/// Lanes and speed of that device; zeros where the kernel shows none (virtual functions).
PcieLink pcie_link(const std::string &card);

/// The network device of a card's port: of its first GID, else the one of the card whose dev_port is the port's; empty:
/// none.
std::string find_netdev(const std::string &card, unsigned port);

/// Statistics of a network device found so. Of a bond they are the sums over its members: the bond's own count nothing of
/// the wire. `root` other than "/sys": from the stand-in file, see read_node.
Result<ethtool::Statistics> netdev_statistics(const std::string &root, const std::string &card,
                                              const std::string &netdev);

} // namespace fabric_check::sysfs
