// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/hops.hpp"

#include <algorithm>

namespace fabric_check::fabric {
Hops::Hops(const LftView &lfts) : lfts_(&lfts), map_(&lfts.map()), neighbours_(map_->nodes().size()) {
    for (std::uint32_t n = 0; n < map_->nodes().size(); ++n) {
        if (!map_->is_switch(n))
            continue;
        const auto &ports = map_->nodes()[n].ports;
        for (std::size_t p = 0; p < ports.size(); ++p)
            if (leads_on(n, p)) {
                neighbours_[n].push_back(ports[p].peer);
                neighbours_[ports[p].peer].push_back(n);
            }
    }
    for (auto &list : neighbours_) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
}

bool Hops::leads_on(std::uint32_t node, std::size_t port) const {
    const std::uint32_t peer = map_->nodes()[node].ports[port].peer;
    return peer != node && map_->is_switch(peer) &&
           (lfts_->down().empty() || !lfts_->down().contains({node, std::uint8_t(port)}));
}

const std::vector<std::uint16_t> &Hops::distances(std::uint32_t to) {
    auto [found, fresh] = distances_.try_emplace(to);
    if (!fresh)
        return found->second;
    std::vector<std::uint16_t> &distance = found->second;
    distance.assign(map_->nodes().size(), far);
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
    const auto &all = map_->nodes()[from].ports;
    for (std::size_t p = 1; p < all.size() && p < 256 && distance[from] != far; ++p)
        if (leads_on(from, p) && distance[all[p].peer] + 1 == distance[from])
            ports.push_back(std::uint8_t(p));
    const auto [number, unseen] = numbers_.try_emplace({from, std::move(ports)}, std::uint32_t(sets_.size()));
    if (unseen)
        sets_.push_back(number->first.second);
    found->second = number->second;
    return number->second;
}

} // namespace fabric_check::fabric
