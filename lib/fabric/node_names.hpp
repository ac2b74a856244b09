// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fabric_check::fabric {

enum class NodeKind : std::uint8_t {
    switch_node,
    host,
    other, ///< routers, gateways, SHARP aggregation nodes: in the map, never hosts
};

/// What a channel adapter is, by its description: SHARP aggregation nodes and gateways are no hosts.
NodeKind classify_adapter(std::string_view description) noexcept;

/// First word of a host's NodeDescription without the card ("node01" of "node01 mlx5_0"). Empty for factory texts
/// ("MT4129 ConnectX7   Mellanox Technologies"), which name no host.
std::string_view host_name_of(std::string_view description) noexcept;
/// The card as the description names it ("mlx5_0", "HCA-1"), or empty.
std::string_view card_name_of(std::string_view description) noexcept;

/// "0x0002c90300000001"
std::string guid_text(std::uint64_t guid);
/// "SwitchA"; "leaf03" of "MF0;leaf03:MQM9700/U1"; the GUID where the description says nothing. Two switches may share it.
std::string switch_name_of(std::string_view description, std::uint64_t guid);

} // namespace fabric_check::fabric
