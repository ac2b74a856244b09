// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fabric_check::textfiles {

/// Is this a directory of counters, one value a file: counters, hw_counters, counters_ext?
bool is_counter_directory(std::string_view name) noexcept;
/// Parts of a path to sysfs's InfiniBand tree that name neither node nor card: sys, class, infiniband, ".", "..".
bool is_tree_part(std::string_view name) noexcept;

/// "/sys/class/infiniband/mlx5_0/ports/1/hw_counters", a directory of counters, tells the port: "mlx5_0:1". With a
/// directory above "infiniband" (a node's tree, copied) "node07/mlx5_0:1". Empty when the path does not say. nullopt:
/// not a directory of counters. A card's own hw_counters/ tells the card: "mlx5_0".
std::optional<std::string> port_of_directory(std::string_view directory);

/// A network device's name as the kernel has them: "eth0", "enp1s0f0np0", "ib0". A digit at least.
bool is_netdev_name(std::string_view name) noexcept;

} // namespace fabric_check::textfiles
