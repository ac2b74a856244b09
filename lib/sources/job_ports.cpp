// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/job_ports.hpp"

namespace fabric_check {

SwitchPortKey facing(const fabric::Map &map, const fabric::Endpoint &host) {
    const auto &ports = map.nodes()[host.node].ports;
    if (host.port >= ports.size() || ports[host.port].peer == fabric::no_node)
        return {fabric::no_node, 0};
    return {ports[host.port].peer, ports[host.port].peer_port};
}

std::set<SwitchPortKey> facing_ports(const fabric::Map &map, const fabric::Query &query,
                                     std::vector<Problem> &problems) {
    std::set<SwitchPortKey> ports;
    for (const auto *side : {&query.job, &query.services})
        for (const fabric::Endpoint &host : *side) {
            const SwitchPortKey port = facing(map, host);
            if (port.first == fabric::no_node)
                problems.push_back({host.name, "", "the map does not say which switch port it is on"});
            else
                ports.insert(port);
        }
    return ports;
}

std::set<SwitchPortKey> ports_on_routes(const fabric::Map &map, const fabric::Routes &routes) {
    std::set<SwitchPortKey> ports;
    for (const auto &[node, numbers] : routes.ports_on_routes)
        for (const std::uint8_t number : numbers) {
            ports.emplace(node, number);
            if (number >= map.nodes()[node].ports.size())
                continue;
            const fabric::MapPort link = map.nodes()[node].ports[number];
            if (link.peer != fabric::no_node && map.nodes()[link.peer].kind == fabric::NodeKind::switch_node)
                ports.emplace(link.peer, link.peer_port);
        }
    for (const fabric::Group &group : routes.groups)
        for (const fabric::GroupPort &member : group.ports)
            ports.emplace(group.node, member.port);
    return ports;
}

} // namespace fabric_check
