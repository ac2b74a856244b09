// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/discover.hpp"

#include "mad/attributes.hpp"
#include "sources/sysfs.hpp"

#include <infiniband/ibnetdisc.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace fabric_check::fabric {

namespace {

std::string description_of(const ibnd_node_t &node) {
    std::string text(node.nodedesc, ::strnlen(node.nodedesc, sizeof node.nodedesc));
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n'))
        text.pop_back();
    return text;
}

NodeKind kind_of(const ibnd_node_t &node, std::string_view description) {
    if (node.type == IB_NODE_SWITCH)
        return NodeKind::switch_node;
    return node.type == IB_NODE_CA ? classify_adapter(description) : NodeKind::other;
}

std::optional<mad::PortInfo> info_of(const ibnd_port_t *port) {
    return port ? mad::decode_port_info({port->info, sizeof port->info}) : std::nullopt;
}

bool is_fdr10(const ibnd_port_t &port) {
    ibnd_port_t copy = port;
    return mad_get_field(copy.ext_info, 0, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F) == 1;
}

LinkRate rate_of(const ibnd_port_t &port, bool extended_speeds) {
    const auto info = info_of(&port);
    if (!info)
        return {};
    const LinkRate rate = info->rate(extended_speeds);
    return rate.speed == "QDR" && is_fdr10(port) ? link_rate(rate.lanes, "FDR10") : rate;
}

DraftPort port_of(const ibnd_port_t &port, bool is_switch, bool extended_speeds,
                const std::unordered_map<const ibnd_node_t *, std::uint32_t> &index) {
    DraftPort result;
    result.rate = rate_of(port, extended_speeds);
    if (!is_switch) {
        result.guid = port.guid;
        result.lid = port.base_lid;
        result.lmc = port.lmc;
    }
    const ibnd_port_t *remote = port.remoteport;
    if (remote && remote->node) {
        const auto peer = index.find(remote->node);
        if (peer != index.end() && remote->portnum > 0 && remote->portnum <= remote->node->numports &&
            remote->portnum < no_route) {
            result.peer = peer->second;
            result.peer_port = static_cast<std::uint8_t>(remote->portnum);
        }
    }
    return result;
}

} // namespace

MapDraft map_of(const ibnd_fabric &fabric) {
    MapDraft map;
    std::unordered_map<const ibnd_node_t *, std::uint32_t> index;
    for (const ibnd_node_t *node = fabric.nodes; node; node = node->next)
        index.emplace(node, static_cast<std::uint32_t>(index.size()));
    map.nodes.reserve(index.size());

    for (const ibnd_node_t *node = fabric.nodes; node; node = node->next) {
        DraftNode &to = map.nodes.emplace_back();
        to.guid = node->guid;
        to.description = description_of(*node);
        to.kind = kind_of(*node, to.description);
        const bool is_switch = node->type == IB_NODE_SWITCH;
        to.ports.resize(static_cast<std::size_t>(std::max(node->numports, 0)) + 1);
        if (is_switch) {
            to.lid = node->smalid;
            to.ports[0].lmc = node->smalmc;
        }
        if (!node->ports)
            continue;
        // On a switch, port 0's capabilities say whether the extended speed of all its ports is valid.
        const auto switch_info = is_switch ? info_of(node->ports[0]) : std::nullopt;
        for (int number = 1; number <= node->numports; ++number) {
            const ibnd_port_t *port = node->ports[number];
            if (!port)
                continue;
            const auto own = is_switch ? switch_info : info_of(port);
            to.ports[static_cast<std::size_t>(number)] =
                port_of(*port, is_switch, own && own->extended_speeds(), index);
        }
    }
    map.index();
    return map;
}

} // namespace fabric_check::fabric
