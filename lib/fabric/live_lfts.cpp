// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/live_lfts.hpp"

#include "mad/attributes.hpp"
#include "mad/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace fabric_check::fabric {

namespace {

constexpr unsigned lids_per_block = 64;

class Walk {
public:
    Walk(mad::Engine &engine, const Map &map, const std::function<void(std::uint32_t)> &first_visit)
        : engine_(engine), map_(map), first_visit_(first_visit) {}

    void follow(std::uint32_t node, std::uint16_t lid) {
        if (node >= map_.nodes().size() || map_.nodes()[node].kind != NodeKind::switch_node)
            return; // arrived
        if (!visited_.insert(std::uint64_t{node} << 16U | lid).second)
            return;
        if (switches_.insert(node).second && first_visit_)
            first_visit_(node);
        Block &block = blocks_[key(node, lid / lids_per_block)];
        if (block.answered)
            step(node, lid, block);
        else
            block.waiting.push_back(lid);
        if (!block.asked)
            ask(node, lid / lids_per_block, block);
    }

    LiveLfts result() && {
        LiveLfts live;
        live.switches.assign(switches_.begin(), switches_.end());
        for (const auto &[where, block] : blocks_)
            if (block.ports)
                live.blocks.push_back(
                    {map_.nodes()[where.first].guid, static_cast<std::uint16_t>(where.second), *block.ports});
        std::sort(live.blocks.begin(), live.blocks.end(), [](const LftBlock &a, const LftBlock &b) {
            return std::pair(a.switch_guid, a.block) < std::pair(b.switch_guid, b.block);
        });
        live.problems = std::move(problems_);
        return live;
    }

private:
    struct Block {
        bool asked = false, answered = false;
        std::optional<std::array<std::uint8_t, lids_per_block>> ports;
        std::vector<std::uint16_t> waiting; ///< LIDs whose routes go on from here
    };
    using Key = std::pair<std::uint32_t, unsigned>;
    static Key key(std::uint32_t node, unsigned block) { return {node, block}; }

    void ask(std::uint32_t node, unsigned number, Block &block) {
        block.asked = true;
        const std::uint16_t lid = map_.nodes()[node].lid;
        if (lid == 0) {
            answer(node, number, {});
            return;
        }
        engine_.submit({.lid = lid, .attribute = mad::attribute::linear_forwarding_table, .modifier = number},
                       [this, node, number](const mad::Reply &reply) { answer(node, number, reply); });
    }

    void answer(std::uint32_t node, unsigned number, const mad::Reply &reply) {
        Block &block = blocks_[key(node, number)];
        block.answered = true;
        if (reply.outcome == mad::Outcome::ok)
            block.ports = mad::decode_lft_block(reply.data);
        if (!block.ports)
            problems_.push_back({map_.display_name(node), "",
                                 fmt::format("forwarding table, LIDs {}-{}: {}; the map's was used",
                                             number * lids_per_block, number * lids_per_block + lids_per_block - 1,
                                             reply.outcome == mad::Outcome::unsupported ? "refused" : "no answer")});
        for (const std::uint16_t lid : std::exchange(block.waiting, {}))
            step(node, lid, block);
    }

    void step(std::uint32_t node, std::uint16_t lid, const Block &block) {
        const MapNode at = map_.nodes()[node];
        std::uint8_t port = no_route;
        if (block.ports)
            port = (*block.ports)[lid % lids_per_block];
        else if (const auto lft = at.lft(); lid < lft.size())
            port = lft[lid];
        if (port == 0 || port == no_route || port >= at.ports.size())
            return; // the switch itself, or a dead end
        const MapPort out = at.ports[port];
        if (out.peer != no_node)
            follow(out.peer, lid);
    }

    mad::Engine &engine_;
    const Map &map_;
    const std::function<void(std::uint32_t)> &first_visit_;
    std::unordered_set<std::uint64_t> visited_; ///< switch << 16 | LID
    std::set<std::uint32_t> switches_;
    std::map<Key, Block> blocks_; ///< nodes of a std::map do not move
    std::vector<Problem> problems_;
};

} // namespace

LiveLfts read_live_lfts(mad::Engine &engine, const Map &map, const std::vector<Destination> &destinations,
                        Deadline deadline, const std::function<void(std::uint32_t)> &first_visit) {
    Walk walk(engine, map, first_visit);
    for (const Destination &destination : destinations)
        for (const std::uint32_t from : destination.from)
            walk.follow(from, destination.lid);
    engine.run(deadline);
    return std::move(walk).result();
}

} // namespace fabric_check::fabric
