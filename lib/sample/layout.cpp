// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/layout.hpp"

#include "sample/bytes.hpp"

#include <algorithm>
#include <cmath>

namespace fabric_check::sample {

std::optional<std::uint32_t> Layout::find(const PortId &id) const {
    const auto at = std::lower_bound(ports.begin(), ports.end(), id,
                                     [](const LayoutPort &port, const PortId &wanted) { return port.id < wanted; });
    if (at == ports.end() || at->id != id)
        return std::nullopt;
    return static_cast<std::uint32_t>(at - ports.begin());
}

Layout layout_of(const fabric::Map &map) {
    Layout layout;
    const auto nodes = map.nodes();
    std::vector<std::pair<PortId, PortId>> links;
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        const fabric::MapNode node = nodes[n];
        if (node.kind != fabric::NodeKind::switch_node || node.lid == 0)
            continue;
        for (std::size_t p = 1; p < std::min<std::size_t>(node.ports.size(), 256); ++p) {
            const fabric::MapPort port = node.ports[p];
            if (port.peer == fabric::no_node || layout.ports.size() == most_ports)
                continue;
            const PortId id{node.guid, static_cast<std::uint8_t>(p)};
            const double mbps = std::clamp(port.rate.data_gbps * 1000, 0.0, 4e9);
            layout.ports.push_back({id, static_cast<std::uint32_t>(std::lround(mbps)), no_peer});
            if (map.is_switch(port.peer))
                links.push_back({id, {nodes[port.peer].guid, port.peer_port}});
        }
    }
    const auto before = [](const LayoutPort &a, const LayoutPort &b) { return a.id < b.id; };
    std::sort(layout.ports.begin(), layout.ports.end(), before);
    layout.ports.erase(std::unique(layout.ports.begin(), layout.ports.end(),
                                   [](const LayoutPort &a, const LayoutPort &b) { return a.id == b.id; }),
                       layout.ports.end());
    for (const auto &[one, other] : links) {
        const auto a = layout.find(one), b = layout.find(other);
        if (a && b && *a != *b && layout.ports[*a].peer == no_peer && layout.ports[*b].peer == no_peer) {
            layout.ports[*a].peer = *b;
            layout.ports[*b].peer = *a;
        }
    }
    return layout;
}

std::string encode_layout(const Layout &layout) {
    std::string out;
    ByteWriter writer(out);
    writer.number(layout.ports.size());
    for (const LayoutPort &port : layout.ports) {
        writer.u64(port.id.guid);
        writer.u8(port.id.port);
        writer.u32(port.line_mbps);
        writer.u32(port.peer);
    }
    return out;
}

Result<Layout> decode_layout(std::string_view bytes) {
    constexpr std::size_t port_size = 17;
    ByteReader reader(bytes);
    Layout layout;
    layout.ports.resize(reader.count(port_size, most_ports));
    for (LayoutPort &port : layout.ports) {
        port.id.guid = reader.u64();
        port.id.port = reader.u8();
        port.line_mbps = reader.u32();
        port.peer = reader.u32();
    }
    bool right = reader.ok() && reader.at_end();
    for (std::uint32_t i = 0; right && i < layout.ports.size(); ++i) {
        const LayoutPort &port = layout.ports[i];
        right = i == 0 || layout.ports[i - 1].id < port.id;
        if (port.peer != no_peer)
            right = right && port.peer < layout.ports.size() && port.peer != i && layout.ports[port.peer].peer == i;
    }
    if (!right)
        return Error{Errc::malformed, "not a list of switch ports"};
    return layout;
}

} // namespace fabric_check::sample
