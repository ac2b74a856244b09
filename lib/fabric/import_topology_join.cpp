// SPDX-License-Identifier: GPL-2.0-or-later
//
// What can be said of a topology only when all of it is read.
#include "fabric/import_topology.hpp"

namespace fabric_check::fabric {
namespace {

constexpr std::size_t problems_named = 50;

/// Adds the first of many problems, and how many more there were.
class Few {
public:
    Few(std::vector<Problem> &out, std::string where, std::string_view what) : out_(out), where_(std::move(where)), what_(what) {}
    Few(const Few &) = delete;
    Few &operator=(const Few &) = delete;
    ~Few() {
        if (count_ > problems_named) {
            out_.push_back({where_, "", fmt::format("{} more {}", count_ - problems_named, what_)});
        }
    }
    template <class Make> void add(Make &&make) {
        if (++count_ <= problems_named) {
            out_.push_back(make());
        }
    }

private:
    std::vector<Problem> &out_;
    std::string where_;
    std::string_view what_;
    std::size_t count_ = 0;
};

} // namespace

/// Both ends of a link must agree; where only one end speaks, its word is taken.
void TopologyReader::join_halves() {
    const auto far_end = [this](const Half &half) -> DraftPort & {
        const DraftPort &near = map_.nodes[half.node].ports[half.port];
        return map_.nodes[near.peer].ports[near.peer_port];
    };
    std::vector<const Half *> broken;
    for (const Half &half : halves_) {
        const DraftPort &back = far_end(half);
        if (back.peer != no_node && (back.peer != half.node || back.peer_port != half.port)) {
            broken.push_back(&half);
        }
    }
    for (const Half &half : halves_) {
        DraftPort &near = map_.nodes[half.node].ports[half.port], &back = far_end(half);
        if (back.peer == no_node) {
            back.peer = half.node;
            back.peer_port = half.port;
            back.rate = near.rate;
        } else if ((back.peer != half.node || back.peer_port != half.port) &&
                   std::find(broken.begin(), broken.end(), &half) == broken.end()) {
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

void TopologyReader::check_lids() {
    std::vector<std::uint32_t> owners(0xc000, no_node);
    Few problems(map_.problems, "topology", "LIDs are claimed by two nodes");
    const auto claim = [&](std::uint16_t lid, std::uint32_t node) {
        if (lid == 0 || lid >= owners.size()) {
            return;
        }
        if (owners[lid] == no_node) {
            owners[lid] = node;
        }
        if (owners[lid] != node) {
            problems.add([&] {
                return Problem{fmt::format("LID {}", lid), "",
                               fmt::format("claimed by {} and {}; the first keeps it", map_.display_name(owners[lid]),
                                           map_.display_name(node))};
            });
        }
    };
    for (std::uint32_t n = 0; n < map_.nodes.size(); ++n) {
        if (map_.nodes[n].kind == NodeKind::switch_node) {
            claim(map_.nodes[n].lid, n);
            continue;
        }
        for (const DraftPort &port : map_.nodes[n].ports) {
            claim(port.lid, n);
        }
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
                                 fmt::format("{} nodes are known from their neighbours only, the first {}: the file was "
                                             "cut short or edited",
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
    check_lids();
    MapDraft out = std::move(map_);
    *this = TopologyReader();
    return out;
}

} // namespace fabric_check::fabric
