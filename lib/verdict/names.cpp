// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/names.hpp"

#include "fabric/routes.hpp"

namespace fabric_check {

std::string Names::end(MapPortId port) const {
    if (map_ == nullptr || port.first >= map_->nodes.size()) {
        return {};
    }
    const auto host = hosts_.find(port);
    return host != hosts_.end() ? host->second : map_->display_name(port.first) + ":" + std::to_string(port.second);
}

std::string Names::link(MapPortId switch_port) const {
    if (map_ == nullptr || find_port(*map_, switch_port) == nullptr) {
        return end(switch_port);
    }
    const auto host = hosts_.find(peer_of(*map_, switch_port));
    return host != hosts_.end() ? end(switch_port) + "<->" + host->second
                                : fabric::link_name(*map_, switch_port.first, switch_port.second);
}

const fabric::MapPort *find_port(const fabric::Map &map, MapPortId port) noexcept {
    if (port.first >= map.nodes.size() || port.second >= map.nodes[port.first].ports.size()) {
        return nullptr;
    }
    return &map.nodes[port.first].ports[port.second];
}

MapPortId peer_of(const fabric::Map &map, MapPortId port) noexcept {
    const fabric::MapPort *found = find_port(map, port);
    if (found == nullptr || found->peer >= map.nodes.size()) {
        return {fabric::no_node, std::uint8_t{0}};
    }
    return {found->peer, found->peer_port};
}

bool is_switch(const fabric::Map &map, std::uint32_t node) noexcept {
    return node < map.nodes.size() && map.nodes[node].kind == fabric::NodeKind::switch_node;
}

} // namespace fabric_check
