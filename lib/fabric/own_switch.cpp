// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/own_switch.hpp"

#include "fabric/map.hpp"

#include <utility>

namespace fabric_check::fabric {

namespace {

template <class AnyMap, class Nodes>
void watch(mad::Engine &engine, const AnyMap &map, const Nodes &nodes, mad::Vl15Memory memory = nullptr) {
    const std::uint64_t guid = engine.options().own_guid;
    std::uint8_t port = 0;
    const std::uint32_t own = guid == 0 ? no_node : map.by_port_guid(guid, &port);
    if (own == no_node || port >= nodes[own].ports.size())
        return;
    const auto link = nodes[own].ports[port];
    if (link.peer != no_node && nodes[link.peer].kind == NodeKind::switch_node && nodes[link.peer].lid != 0)
        mad::watch_vl15(engine, nodes[link.peer].lid, link.peer_port, std::move(memory));
}

} // namespace

void watch_own_switch(mad::Engine &engine, const Map &map, mad::Vl15Memory memory) {
    watch(engine, map, map.nodes(), std::move(memory));
}
void watch_own_switch(mad::Engine &engine, const MapDraft &map) { watch(engine, map, map.nodes); }

} // namespace fabric_check::fabric
