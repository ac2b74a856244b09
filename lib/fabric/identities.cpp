// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/identities.hpp"

#include "fabric/import_text.hpp"

#include <unordered_map>
#include <vector>

namespace fabric_check::fabric {
namespace {

constexpr std::uint8_t max_lmc = 7;

bool is_switch(const DraftNode &node) { return node.kind == NodeKind::switch_node; }

/// "leaf03"; "node01/mlx5_0:1", as the cards of one host share its name.
std::string place(const MapDraft &map, std::uint32_t n, std::uint8_t port) {
    const DraftNode &node = map.nodes[n];
    if (is_switch(node))
        return map.display_name(n);
    const std::string_view card = node.kind == NodeKind::host ? card_name_of(node.description) : std::string_view();
    return fmt::format("{}{}{}:{}", map.display_name(n), card.empty() ? "" : "/", printable(card), port);
}

/// By node: the first of the switches that links join, which is the same for all in a subnet; no_node for what is none.
std::vector<std::uint32_t> subnets_of(const MapDraft &map) {
    std::vector<std::uint32_t> subnet(map.nodes.size(), no_node), queue;
    for (std::uint32_t first = 0; first < map.nodes.size(); ++first) {
        if (!is_switch(map.nodes[first]) || subnet[first] != no_node)
            continue;
        queue.assign(1, first);
        subnet[first] = first;
        for (std::size_t i = 0; i < queue.size(); ++i)
            for (const DraftPort &port : map.nodes[queue[i]].ports)
                if (port.peer < map.nodes.size() && is_switch(map.nodes[port.peer]) && subnet[port.peer] == no_node) {
                    subnet[port.peer] = first;
                    queue.push_back(port.peer);
                }
    }
    return subnet;
}

/// Subnets have LIDs of their own: the first holder of each in each, of the ports without a link as in one.
class Holders {
public:
    explicit Holders(const MapDraft &map) : map_(map), subnets_(subnets_of(map)) {}
    std::uint64_t key(std::uint32_t n, std::uint8_t p, std::uint32_t lid) const {
        const DraftNode &node = map_.nodes[n];
        const std::uint32_t peer = p < node.ports.size() ? node.ports[p].peer : no_node;
        const std::uint32_t subnet = is_switch(node) ? subnets_[n] : peer < subnets_.size() ? subnets_[peer] : no_node;
        return std::uint64_t(subnet) << 16 | lid;
    }
    /// The holder, which the asking port becomes where there is none.
    std::pair<std::uint32_t, std::uint8_t> claim(std::uint32_t n, std::uint8_t p, std::uint32_t lid) {
        return holders_.try_emplace(key(n, p, lid), n, p).first->second;
    }

private:
    const MapDraft &map_;
    std::vector<std::uint32_t> subnets_;
    std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint8_t>> holders_;
};

void check_lids(MapDraft &map, Holders &holders) {
    Few problems(map.problems, "topology", "LIDs are claimed twice");
    each_lid(map.nodes, [&](std::uint32_t n, std::uint8_t p, std::uint16_t lid, std::uint8_t) {
        if (!is_unicast(lid))
            return;
        const auto [holder, port] = holders.claim(n, p, lid);
        if (holder == n && port == p)
            return;
        problems.add([&, node = holder, at = port] {
            return Problem{fmt::format("LID {}", lid), "",
                           fmt::format("claimed by {} and {}; the first keeps it", place(map, node, at), place(map, n, p))};
        });
    });
}

/// Of each port the first LID above its own that somebody else has too.
void check_lmc_ranges(MapDraft &map, Holders &holders) {
    Few problems(map.problems, "topology", "ports' alternate LIDs (LMC) are other ports' too");
    each_lid(map.nodes, [&](std::uint32_t n, std::uint8_t p, std::uint16_t lid, std::uint8_t lmc) {
        if (!is_unicast(lid) || lmc == 0 || lmc > max_lmc || holders.claim(n, p, lid) != std::pair(n, p))
            return;
        for (std::uint32_t other = lid + 1U; other < lid + (1U << lmc) && is_unicast(other); ++other) {
            const auto [holder, port] = holders.claim(n, p, other);
            if (holder == n && port == p)
                continue;
            problems.add([&, node = holder, at = port] {
                return Problem{fmt::format("LID {}", other), "",
                               fmt::format("claimed by {} and, as an alternate LID (LID {}, LMC {}), by {}; the first keeps it",
                                           place(map, node, at), lid, lmc, place(map, n, p))};
            });
            return;
        }
    });
}

/// "'leaf 1', LID 3"
std::string description_of(const DraftNode &node) {
    const std::string text = in_quotes(node.description);
    return is_switch(node) ? fmt::format("switch {}, LID {}", text, node.lid) : text;
}

void check_guids(MapDraft &map) {
    Few nodes(map.problems, "topology", "node GUIDs are claimed twice");
    Few ports(map.problems, "topology", "port GUIDs are claimed twice");
    for (std::uint32_t n = 0; n < map.nodes.size(); ++n) {
        const DraftNode &node = map.nodes[n];
        const std::uint32_t first = node.guid == 0 ? n : map.by_guid(node.guid);
        if (first != n && first != no_node)
            nodes.add([&] {
                return Problem{"node GUID " + guid_text(node.guid), "",
                               fmt::format("claimed by {} and {}; tables with this GUID go to the first",
                                           description_of(map.nodes[first]), description_of(node))};
            });
        for (std::size_t p = 0; !is_switch(node) && p < node.ports.size() && p < 256; ++p) {
            const std::uint64_t guid = node.ports[p].guid;
            std::uint8_t port = 0;
            const std::uint32_t holder = guid == 0 ? no_node : map.by_port_guid(guid, &port);
            if (holder == no_node || (holder == n && port == p))
                continue;
            ports.add([&] {
                return Problem{"port GUID " + guid_text(guid), "",
                               fmt::format("claimed by {} and {}", place(map, holder, port), place(map, n, std::uint8_t(p)))};
            });
        }
    }
}

} // namespace

void check_identities(MapDraft &map) {
    Holders holders(map);
    check_lids(map, holders);
    check_lmc_ranges(map, holders);
    check_guids(map);
}

} // namespace fabric_check::fabric
