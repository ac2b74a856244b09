// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace fabric_check {

/// A port in the map: node index and port number.
using MapPortId = std::pair<std::uint32_t, std::uint8_t>;

/// Names of ports and links. The map knows a host's card by its description at best; the job's own ports are called what
/// their node calls them. `map` may be null (then every name is empty) and must outlive this.
class Names {
public:
    explicit Names(const fabric::Map *map) : map_(map) {}
    void learn_host(MapPortId port, std::string name) { hosts_[port] = std::move(name); }
    /// "SwitchA:13".
    std::string end(MapPortId port) const;
    /// "SwitchA:13<->SwitchB:25", whichever end is given: by switch name, then port; "SwitchA:7<->node07/mlx5_0:1".
    std::string link(MapPortId switch_port) const;

private:
    bool is_before(MapPortId a, MapPortId b) const;

    const fabric::Map *map_;
    std::map<MapPortId, std::string> hosts_;
};

/// "node01: reason", unless the reason (or its place) begins with the node already, or there is no node.
std::string by_node(const std::string &node, const std::string &reason);

/// The port at the other end, or {no_node, 0}. Safe for any id.
MapPortId peer_of(const fabric::Map &map, MapPortId port) noexcept;
/// Nothing when the map has no such port.
std::optional<fabric::MapPort> find_port(const fabric::Map &map, MapPortId port) noexcept;

} // namespace fabric_check
