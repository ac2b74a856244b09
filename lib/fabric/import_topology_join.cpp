// SPDX-License-Identifier: GPL-2.0-or-later
//
// What can be said of a topology only when all of it is read.
#include "fabric/identities.hpp"
#include "fabric/import_topology.hpp"
#include "fabric/link_rates.hpp"

namespace fabric_check::fabric {

/// Both ends of a link must agree; where only one end speaks, its word is taken.
void TopologyReader::join_halves() {
    const auto far_end = [this](const Half &half) -> DraftPort & {
        const DraftPort &near = map_.nodes[half.node].ports[half.port];
        return map_.nodes[near.peer].ports[near.peer_port];
    };
    std::vector<const Half *> broken;
    std::vector<bool> is_broken(halves_.size(), false);
    for (std::size_t h = 0; h < halves_.size(); ++h) {
        const Half &half = halves_[h];
        const DraftPort &back = far_end(half);
        is_broken[h] = back.peer != no_node && (back.peer != half.node || back.peer_port != half.port);
        if (is_broken[h])
            broken.push_back(&half);
    }
    for (std::size_t h = 0; h < halves_.size(); ++h) {
        const Half &half = halves_[h];
        DraftPort &near = map_.nodes[half.node].ports[half.port], &back = far_end(half);
        if (back.peer == no_node) {
            back.peer = half.node;
            back.peer_port = half.port;
            back.rate = near.rate;
        } else if ((back.peer != half.node || back.peer_port != half.port) && !is_broken[h]) {
            broken.push_back(&half); // two say that they are at the end that says nothing: the first is believed
        }
    }
    Few problems(map_.problems, "topology", "links whose ends disagree are left out");
    for (const Half *half : broken) {
        map_.nodes[half->node].ports[half->port].peer = no_node;
        problems.add([&] {
            return Problem{fmt::format("{}:{}", files_[half->file], half->line), "",
                           "the other end names another neighbour; the link is left out"};
        });
    }
}

void TopologyReader::name_silent_nodes() {
    std::size_t silent = 0;
    std::string example;
    for (std::uint32_t n = 0; n < map_.nodes.size(); ++n) {
        if (!seen_[n].section && ++silent == 1) {
            example = in_quotes(map_.nodes[n].description);
        }
    }
    if (silent > 0) {
        map_.problems.push_back({"topology", "",
                                 silent == 1 ? fmt::format("a node is known from its neighbours only, {}: the file was cut "
                                                           "short or edited",
                                                           example)
                                             : fmt::format("{} nodes are known from their neighbours only, the first {}: the "
                                                           "file was cut short or edited",
                                                           silent, example)});
    }
}

MapDraft TopologyReader::finish() {
    join_halves();
    for (std::uint32_t n = 0; n < map_.nodes.size(); ++n) {
        if (seen_[n].letter == 'H') {
            map_.nodes[n].kind = classify_adapter(map_.nodes[n].description);
        }
    }
    name_silent_nodes();
    map_.index();
    agree_on_rates(map_);
    check_identities(map_);
    MapDraft out = std::move(map_);
    *this = TopologyReader();
    return out;
}

} // namespace fabric_check::fabric
