// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/routes.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace fabric_check::fabric {
namespace {

constexpr const char *reference_link = "4X HDR";
constexpr double reference_gbps = 200;   ///< net data rate of 4X HDR
constexpr double reference_gib_s = 22.6; ///< its payload, as measured

std::string port_name(const Map &map, std::uint32_t n, unsigned port) {
    if (n >= map.nodes().size())
        return "nothing";
    const MapNode node = map.nodes()[n];
    if (node.kind == NodeKind::host) {
        const std::string card = printable(node.card_name());
        if (!card.empty())
            return fmt::format("{}/{}:{}", map.display_name(n), card, port);
    }
    return fmt::format("{}:{}", map.display_name(n), port);
}

Endpoint endpoint_at(const Map &map, std::uint32_t n, std::uint8_t port) {
    const MapNode node = map.nodes()[n];
    const bool is_switch = node.kind == NodeKind::switch_node;
    return {map.display_name(n), n, port, is_switch ? node.lid : node.ports[port].lid};
}

bool usable_lid(std::uint16_t lid) { return lid != 0 && lid < 0xc000; }

} // namespace

const char *to_string(Direction direction) noexcept {
    switch (direction) {
    case Direction::inside:
        return "inside";
    case Direction::from:
        return "from";
    case Direction::to:
        return "to";
    }
    return "inside";
}

std::size_t unreachable_lids(const std::vector<Unreachable> &lost) {
    std::set<std::uint16_t> lids;
    for (const Unreachable &each : lost)
        lids.insert(each.lid);
    return lids.size();
}

double link_ceiling_gib_s(const LinkRate &rate, const Query &query) {
    return query.flat_ceiling_gib_s > 0 ? query.flat_ceiling_gib_s : payload_ceiling_gib_s(rate, query.ceilings);
}

double payload_ceiling_gib_s(const LinkRate &rate, const PayloadCeilings &table) {
    const auto own = table.find(fmt::format("{}X {}", rate.lanes, rate.speed));
    if (own != table.end())
        return own->second;
    const auto reference = table.find(reference_link);
    return (reference == table.end() ? reference_gib_s : reference->second) * rate.data_gbps / reference_gbps;
}

LftView::LftView(Map seen, const std::vector<LftBlock> &live, const std::vector<SwitchPort> &ports)
    : map_(std::move(seen)) {
    const Map &map = map_;
    for (const LftBlock &block : live) {
        const std::uint32_t node = map.by_guid(block.switch_guid);
        const std::size_t begin = std::size_t(block.block) * block.ports.size(), end = begin + block.ports.size();
        if (node == no_node || map.nodes()[node].kind != NodeKind::switch_node || end > 0x10000)
            continue;
        const auto stored = map.nodes()[node].lft();
        auto &table = patched_.try_emplace(node, stored.begin(), stored.end()).first->second;
        if (table.size() < end)
            table.resize(end, no_route);
        std::copy(block.ports.begin(), block.ports.end(), table.begin() + std::ptrdiff_t(begin));
    }
    for (const SwitchPort &port : ports) {
        const std::uint32_t node = map.by_guid(port.switch_guid);
        if ((port.state != "DOWN" && port.state != "INIT") || node == no_node || port.port >= map.nodes()[node].ports.size())
            continue;
        const MapPort link = map.nodes()[node].ports[port.port];
        if (link.peer == no_node || map.nodes()[link.peer].kind != NodeKind::switch_node)
            continue;
        down_.emplace(node, std::uint8_t(port.port));
        down_.emplace(link.peer, link.peer_port);
    }
}

std::span<const std::uint8_t> LftView::row(std::uint32_t switch_node) const {
    if (!patched_.empty())
        if (const auto patched = patched_.find(switch_node); patched != patched_.end())
            return patched->second;
    return map_.nodes()[switch_node].lft();
}

std::vector<Endpoint> endpoints_by_name(const Map &map, const std::vector<std::string> &names,
                                        std::vector<std::string> &missing) {
    std::vector<Endpoint> out;
    for (const std::string &name : names) {
        const auto ports = map.by_name(name);
        const std::size_t before = out.size();
        for (const auto &[node, port] : ports)
            if (usable_lid(map.nodes()[node].ports[port].lid)) {
                out.push_back(endpoint_at(map, node, port));
                out.back().name = name;
            }
        if (ports.empty())
            missing.push_back(fmt::format("{}: not in the map", printable(name)));
        else if (out.size() == before)
            missing.push_back(fmt::format("{}: in the map, but no port of it has a LID", printable(name)));
    }
    return out;
}

std::vector<Endpoint> all_host_endpoints(const Map &map) {
    std::vector<Endpoint> out;
    for (std::uint32_t n = 0; n < map.nodes().size(); ++n)
        if (map.nodes()[n].kind == NodeKind::host)
            for (std::size_t p = 1; p < map.nodes()[n].ports.size() && p < 256; ++p)
                if (usable_lid(map.nodes()[n].ports[p].lid))
                    out.push_back(endpoint_at(map, n, std::uint8_t(p)));
    return out;
}

std::optional<Endpoint> endpoint_by_lid(const Map &map, std::uint16_t lid) {
    const std::uint32_t node = map.by_lid(lid);
    if (node == no_node)
        return std::nullopt;
    Endpoint out = endpoint_at(map, node, map.port_of_lid(lid));
    out.lid = lid;
    return out;
}

std::string group_name(const Map &map, const Group &group) {
    std::string name = map.display_name(group.node) + ">";
    if (group.peers.empty())
        return name + "nothing";
    name += map.display_name(group.peers[0]);
    if (group.peers.size() > 1)
        name += fmt::format("+{}", group.peers.size() - 1);
    return name;
}

std::string link_name(const Map &map, std::uint32_t node, std::uint8_t port) {
    std::string near = port_name(map, node, port);
    if (node >= map.nodes().size() || port >= map.nodes()[node].ports.size() ||
        map.nodes()[node].ports[port].peer == no_node)
        return near;
    const MapPort link = map.nodes()[node].ports[port];
    const std::string away = port_name(map, link.peer, link.peer_port);
    // A host link is named from its switch, whichever end was asked for.
    const bool host_end = map.nodes()[node].kind != NodeKind::switch_node && link.peer < map.nodes().size() &&
                          map.nodes()[link.peer].kind == NodeKind::switch_node;
    return host_end ? away + "<->" + near : near + "<->" + away;
}

} // namespace fabric_check::fabric
