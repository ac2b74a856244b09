// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/hops.hpp"

#include <algorithm>

namespace fabric_check::fabric {
namespace {

bool is_switch(const Map &map, std::uint32_t node) {
    return node < map.nodes.size() && map.nodes[node].kind == NodeKind::switch_node;
}

} // namespace

Hops::Hops(const Map &map) : map_(&map), neighbours_(map.nodes.size()) {
    for (std::uint32_t n = 0; n < map.nodes.size(); ++n) {
        if (!is_switch(map, n))
            continue;
        for (const MapPort &port : map.nodes[n].ports)
            if (port.peer != n && is_switch(map, port.peer)) {
                neighbours_[n].push_back(port.peer);
                neighbours_[port.peer].push_back(n);
            }
    }
    for (auto &list : neighbours_) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
}

const std::vector<std::uint16_t> &Hops::distances(std::uint32_t to) {
    auto [found, fresh] = distances_.try_emplace(to);
    if (!fresh)
        return found->second;
    std::vector<std::uint16_t> &distance = found->second;
    distance.assign(map_->nodes.size(), far);
    std::vector<std::uint32_t> queue{to};
    distance[to] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const std::uint16_t next = std::uint16_t(std::min<unsigned>(distance[queue[i]] + 1U, far - 1U));
        for (const std::uint32_t peer : neighbours_[queue[i]])
            if (distance[peer] == far) {
                distance[peer] = next;
                queue.push_back(peer);
            }
    }
    return distance;
}

std::uint32_t Hops::minimal_set(std::uint32_t from, std::uint32_t to) {
    const auto [found, fresh] = set_of_.try_emplace(std::uint64_t(from) << 32 | to, 0);
    if (!fresh)
        return found->second;
    std::vector<std::uint8_t> ports;
    const auto &distance = distances(to);
    const auto &all = map_->nodes[from].ports;
    for (std::size_t p = 1; p < all.size() && p < 256 && distance[from] != far; ++p)
        if (is_switch(*map_, all[p].peer) && distance[all[p].peer] + 1 == distance[from])
            ports.push_back(std::uint8_t(p));
    const auto [number, unseen] = numbers_.try_emplace({from, std::move(ports)}, std::uint32_t(sets_.size()));
    if (unseen)
        sets_.push_back(number->first.second);
    found->second = number->second;
    return number->second;
}

double Hops::rate(std::uint32_t node, std::uint8_t port) {
    const auto &ports = map_->nodes[node].ports;
    if (port < ports.size() && ports[port].rate.data_gbps > 0)
        return ports[port].rate.data_gbps;
    guessed_ = true;
    if (usual_rate_ == 0) {
        std::map<double, unsigned> seen;
        for (const MapNode &each : map_->nodes)
            if (each.kind == NodeKind::switch_node)
                for (const MapPort &link : each.ports)
                    if (link.rate.data_gbps > 0 && is_switch(*map_, link.peer))
                        ++seen[link.rate.data_gbps];
        const auto most = std::max_element(seen.begin(), seen.end(),
                                           [](const auto &a, const auto &b) { return a.second < b.second; });
        usual_rate_ = most == seen.end() ? 1 : most->first;
    }
    return usual_rate_;
}

} // namespace fabric_check::fabric
