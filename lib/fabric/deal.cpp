// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/deal.hpp"

#include "fabric/tree.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <unordered_set>

namespace fabric_check::fabric {

namespace {

constexpr std::size_t lids_per_block = 64;

std::uint64_t port_guid(const Map &map, const Endpoint &endpoint) {
    const auto &ports = map.nodes()[endpoint.node].ports;
    return endpoint.port < ports.size() ? ports[endpoint.port].guid : 0;
}

/// End ports by switch, as opensm counts them: whatever is no switch.
std::uint32_t end_ports(const Map &map, std::uint32_t node) {
    std::uint32_t count = 0;
    for (const MapPort port : map.nodes()[node].ports)
        count += port.peer != no_node && map.nodes()[port.peer].kind != NodeKind::switch_node ? 1 : 0;
    return count;
}

} // namespace

std::vector<DealtLid> deal_order(const Map &map) {
    struct Placed {
        std::uint32_t load;
        std::uint64_t switch_guid;
        std::uint8_t port;
        DealtLid dealt;
    };
    std::vector<Placed> all;
    std::unordered_map<std::uint32_t, std::uint32_t> loads;
    for (const Endpoint &endpoint : all_host_endpoints(map)) {
        const Attachment at = attachment(map, endpoint);
        if (at.node == no_node)
            continue;
        const auto [load, fresh] = loads.try_emplace(at.node, 0);
        if (fresh)
            load->second = end_ports(map, at.node);
        all.push_back({load->second, map.nodes()[at.node].guid, at.port, {endpoint.lid, at.node, port_guid(map, endpoint)}});
    }
    std::sort(all.begin(), all.end(), [](const Placed &a, const Placed &b) {
        return std::tuple(b.load, a.switch_guid, a.dealt.at, a.port) < std::tuple(a.load, b.switch_guid, b.dealt.at, b.port);
    });
    std::vector<DealtLid> out;
    out.reserve(all.size());
    for (const Placed &one : all)
        out.push_back(one.dealt);
    return out;
}

Deal::Deal(const Map &map, const Query &query, std::size_t limit) : map_(&map), lfts_(map), hops_(lfts_) {
    collect(query);
    spread(limit);
    if (too_many_)
        return;
    place_in_rounds();
    take_blocks();
}

void Deal::collect(const Query &query) {
    std::unordered_set<std::uint16_t> seen;
    std::unordered_set<std::uint32_t> from;
    for (const auto *endpoints : {&query.job, &query.services}) {
        std::vector<std::tuple<std::uint64_t, std::uint8_t, Hot>> placed;
        for (const Endpoint &endpoint : *endpoints) {
            if (endpoint.node >= map_->nodes().size() || endpoint.lid == 0 || endpoint.lid >= 0xc000)
                continue;
            const Attachment at = attachment(*map_, endpoint);
            if (at.node == no_node || !seen.insert(endpoint.lid).second)
                continue;
            if (from.insert(at.node).second)
                sources_.push_back(at.node);
            placed.emplace_back(map_->nodes()[at.node].guid, at.port,
                                Hot{endpoint.lid, at.node, port_guid(*map_, endpoint)});
        }
        // Those of one switch together: on the way back its links are dealt to them in turn.
        std::sort(placed.begin(), placed.end(), [](const auto &a, const auto &b) {
            return std::tuple(std::get<0>(a), std::get<1>(a), std::get<2>(a).lid) <
                   std::tuple(std::get<0>(b), std::get<1>(b), std::get<2>(b).lid);
        });
        for (const auto &[guid, port, hot] : placed) {
            hot_.push_back(hot);
            guids_.push_back(hot.guid);
        }
    }
}

void Deal::spread(std::size_t limit) {
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> passed; // by destination switch: who can be on the way
    std::unordered_map<std::uint32_t, std::size_t> number;                // of a switch among tables_
    for (const Hot &hot : hot_) {
        auto [found, fresh] = passed.try_emplace(hot.at);
        std::vector<std::uint32_t> &on_the_way = found->second;
        if (fresh) {
            std::vector<bool> seen(map_->nodes().size(), false);
            for (const std::uint32_t source : sources_)
                if (source != hot.at) {
                    seen[source] = true;
                    on_the_way.push_back(source);
                }
            seen[hot.at] = true;
            for (std::size_t i = 0; i < on_the_way.size(); ++i)
                for (const std::uint8_t port : hops_.ports(hops_.minimal_set(on_the_way[i], hot.at)))
                    if (const std::uint32_t peer = map_->nodes()[on_the_way[i]].ports[port].peer; !seen[peer]) {
                        seen[peer] = true;
                        on_the_way.push_back(peer);
                    }
        }
        entries_ += on_the_way.size();
        if (entries_ > limit) {
            too_many_ = true;
            tables_.clear();
            return;
        }
        for (const std::uint32_t node : on_the_way) {
            const std::uint32_t set = hops_.minimal_set(node, hot.at);
            if (hops_.ports(set).empty())
                continue;
            const auto [at, unseen] = number.try_emplace(node, tables_.size());
            if (unseen)
                tables_.push_back({node, {}, {}});
            tables_[at->second].items.push_back({hot.lid, set, 0, 0});
        }
    }
}

void Deal::place_in_rounds() {
    const std::vector<DealtLid> order = deal_order(*map_);
    std::unordered_map<std::uint16_t, std::pair<std::uint32_t, std::size_t>> place; // LID -> (switch, place on it)
    std::vector<std::pair<std::uint32_t, std::size_t>> leaves;                      // in order, with their ports
    for (const DealtLid &dealt : order) {
        if (leaves.empty() || leaves.back().first != dealt.at)
            leaves.emplace_back(dealt.at, 0);
        place[dealt.lid] = {dealt.at, leaves.back().second++};
    }
    for (Table &table : tables_) {
        std::unordered_map<std::uint32_t, std::size_t> dealt; // by set: LIDs so far
        std::unordered_map<std::uint32_t, std::size_t> before; // by leaf: LIDs of its set before it
        for (const auto &[leaf, ports] : leaves) {
            if (leaf == table.node)
                continue;
            std::size_t &so_far = dealt[hops_.minimal_set(table.node, leaf)];
            before[leaf] = so_far;
            so_far += ports;
        }
        for (Item &item : table.items) {
            const std::size_t size = hops_.ports(item.set).size();
            const auto at = place.find(item.lid);
            // LIDs out of the order, such as a switch's, come after all others.
            const std::size_t position = at == place.end() ? dealt[item.set]++ : before[at->second.first] + at->second.second;
            item.round = static_cast<std::uint32_t>(position / size);
        }
        table.deal.resize(table.items.size());
        std::iota(table.deal.begin(), table.deal.end(), 0U);
        std::stable_sort(table.deal.begin(), table.deal.end(), [&table](std::uint32_t a, std::uint32_t b) {
            const Item &one = table.items[a], &other = table.items[b];
            return std::pair(one.set, one.round) < std::pair(other.set, other.round);
        });
    }
}

void Deal::take_blocks() {
    std::unordered_map<std::uint16_t, std::uint32_t> at; // block -> index into base_
    for (Table &table : tables_) {
        at.clear();
        for (Item &item : table.items) {
            const auto number = static_cast<std::uint16_t>(item.lid / lids_per_block);
            const auto [found, fresh] = at.try_emplace(number, static_cast<std::uint32_t>(base_.size()));
            if (fresh) {
                LftBlock &block = base_.emplace_back();
                block.switch_guid = map_->nodes()[table.node].guid;
                block.block = number;
                for (std::size_t entry = 0; entry < lids_per_block; ++entry)
                    block.ports[entry] = lfts_.at(table.node, static_cast<std::uint16_t>(number * lids_per_block + entry));
            }
            item.block = found->second;
        }
    }
}

std::vector<LftBlock> Deal::blocks(const Choose &choose) const {
    std::vector<LftBlock> out = base_;
    std::vector<std::uint8_t> ports;
    for (const Table &table : tables_) {
        ports.assign(table.items.size(), no_route);
        choose(table, ports);
        for (std::size_t i = 0; i < ports.size(); ++i)
            out[table.items[i].block].ports[table.items[i].lid % lids_per_block] = ports[i];
    }
    return out;
}

std::vector<LftBlock> Deal::first_in_turn() const {
    return blocks([this](const Table &table, std::span<std::uint8_t> ports) {
        std::array<unsigned, 256> paths{};
        for (std::size_t i = 0; i < ports.size(); ++i) {
            const auto &set = hops_.ports(table.items[i].set);
            ports[i] = *std::min_element(set.begin(), set.end(),
                                         [&paths](std::uint8_t a, std::uint8_t b) { return paths[a] < paths[b]; });
            ++paths[ports[i]];
        }
    });
}

std::vector<LftBlock> Deal::by_lot(Lots &lots) const {
    return blocks([this, &lots](const Table &table, std::span<std::uint8_t> ports) {
        for (std::size_t i = 0; i < ports.size(); ++i) {
            const auto &set = hops_.ports(table.items[i].set);
            ports[i] = set[lots.below(set.size())];
        }
    });
}

std::vector<LftBlock> Deal::by_lot_among_least_used(Lots &lots) const {
    return blocks([this, &lots](const Table &table, std::span<std::uint8_t> ports) {
        const auto key = [&table](std::uint32_t i) { return std::pair(table.items[i].set, table.items[i].round); };
        const std::vector<std::uint32_t> &order = table.deal;
        // Within a round every port of a set is dealt once.
        std::vector<std::uint8_t> left;
        for (std::size_t k = 0; k < order.size(); ++k) {
            if (k == 0 || key(order[k]) != key(order[k - 1]) || left.empty())
                left = hops_.ports(table.items[order[k]].set);
            const std::size_t drawn = lots.below(left.size());
            ports[order[k]] = left[drawn];
            left[drawn] = left.back();
            left.pop_back();
        }
    });
}

} // namespace fabric_check::fabric
