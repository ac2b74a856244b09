// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/uplinks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace fabric_check::fabric {

namespace {

constexpr unsigned no_tier = 0xffffffff;

/// The switches with hosts, but for those of them that link more than half of the others: a server at a spine makes no
/// leaf of it. Where most of them do, as in a group that links all with all, they are all leaves.
std::vector<std::uint32_t> leaves_of(const Map &map) {
    std::vector<std::uint32_t> out, spines;
    for (std::uint32_t n = 0; n < map.nodes().size(); ++n) {
        const auto &ports = map.nodes()[n].ports;
        if (map.is_switch(n) && std::any_of(ports.begin(), ports.end(), [&map](const auto &port) {
                return port.peer < map.nodes().size() && map.nodes()[port.peer].kind == NodeKind::host;
            }))
            out.push_back(n);
    }
    for (const std::uint32_t n : out) {
        std::set<std::uint32_t> beside;
        for (const MapPort port : map.nodes()[n].ports)
            if (port.peer != n && std::binary_search(out.begin(), out.end(), port.peer))
                beside.insert(port.peer);
        if (2 * beside.size() > out.size() - 1)
            spines.push_back(n);
    }
    if (2 * spines.size() < out.size())
        std::erase_if(out, [&spines](std::uint32_t n) { return std::binary_search(spines.begin(), spines.end(), n); });
    return out;
}

std::vector<unsigned> distances_to_hosts(const Map &map) {
    std::vector<unsigned> tier(map.nodes().size(), no_tier);
    std::vector<std::uint32_t> queue = leaves_of(map);
    for (const std::uint32_t n : queue)
        tier[n] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i)
        for (const MapPort port : map.nodes()[queue[i]].ports)
            if (map.is_switch(port.peer) && tier[port.peer] == no_tier) {
                tier[port.peer] = tier[queue[i]] + 1;
                queue.push_back(port.peer);
            }
    return tier;
}

} // namespace

unsigned Tier::usual() const {
    std::map<unsigned, std::size_t> count;
    for (const auto &[node, links] : uplinks)
        ++count[links];
    const auto most = std::max_element(count.begin(), count.end(),
                                       [](const auto &a, const auto &b) { return a.second < b.second; });
    return most == count.end() ? 0 : most->first;
}

std::vector<Tier> tiers_of(const Map &map) {
    const std::vector<unsigned> tier = distances_to_hosts(map);
    std::map<unsigned, std::vector<std::pair<std::uint32_t, unsigned>>> up, across;
    for (std::uint32_t n = 0; n < map.nodes().size(); ++n) {
        if (tier[n] == no_tier)
            continue;
        unsigned above = 0, beside = 0;
        for (const MapPort port : map.nodes()[n].ports) {
            if (!map.is_switch(port.peer) || port.peer == n || tier[port.peer] == no_tier)
                continue;
            above += tier[port.peer] > tier[n] ? 1 : 0;
            beside += tier[port.peer] == tier[n] ? 1 : 0;
        }
        up[tier[n]].emplace_back(n, above);
        across[tier[n]].emplace_back(n, beside);
    }
    std::vector<Tier> out;
    for (auto &[number, links] : up) {
        const auto some = [](const auto &all) {
            return std::any_of(all.begin(), all.end(), [](const auto &one) { return one.second > 0; });
        };
        auto &counted = some(links) ? links : across[number];
        if (!some(counted))
            continue;
        std::stable_sort(counted.begin(), counted.end(),
                         [](const auto &a, const auto &b) { return a.second < b.second; });
        out.push_back({number, std::move(counted)});
    }
    return out;
}

} // namespace fabric_check::fabric
