// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/identities.hpp"

#include "fabric/import_text.hpp"

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

/// Calls visit(node, port, LID, LMC) for every port that may have a LID, in the index' order.
template <class Visit> void each_lid(const MapDraft &map, Visit &&visit) {
    for (std::uint32_t n = 0; n < map.nodes.size(); ++n) {
        const DraftNode &node = map.nodes[n];
        if (is_switch(node)) {
            visit(n, std::uint8_t(0), node.lid, node.ports.empty() ? std::uint8_t(0) : node.ports[0].lmc);
            continue;
        }
        for (std::size_t p = 0; p < node.ports.size() && p < 256; ++p)
            visit(n, std::uint8_t(p), node.ports[p].lid, node.ports[p].lmc);
    }
}

void check_lids(MapDraft &map) {
    Few problems(map.problems, "topology", "LIDs are claimed twice");
    each_lid(map, [&](std::uint32_t n, std::uint8_t p, std::uint16_t lid, std::uint8_t) {
        if (!is_unicast(lid) || map.by_lid(lid) == no_node || (map.by_lid(lid) == n && map.port_of_lid(lid) == p))
            return;
        problems.add([&] {
            return Problem{fmt::format("LID {}", lid), "",
                           fmt::format("claimed by {} and {}; the first keeps it", place(map, map.by_lid(lid), map.port_of_lid(lid)),
                                       place(map, n, p))};
        });
    });
}

/// Of each port the first LID above its own that somebody else has too.
void check_lmc_ranges(MapDraft &map) {
    Few problems(map.problems, "topology", "ports' alternate LIDs (LMC) are other ports' too");
    each_lid(map, [&](std::uint32_t n, std::uint8_t p, std::uint16_t lid, std::uint8_t lmc) {
        if (!is_unicast(lid) || lmc == 0 || lmc > max_lmc || map.by_lid(lid) != n || map.port_of_lid(lid) != p)
            return;
        for (std::uint32_t other = lid + 1U; other < lid + (1U << lmc) && is_unicast(other); ++other) {
            const std::uint32_t holder = map.by_lid(std::uint16_t(other));
            const std::uint8_t port = map.port_of_lid(std::uint16_t(other));
            if (holder == n && port == p)
                continue;
            problems.add([&] {
                return Problem{fmt::format("LID {}", other), "",
                               fmt::format("claimed by {} and, as an alternate LID (LID {}, LMC {}), by {}; the first keeps it",
                                           place(map, holder, port), lid, lmc, place(map, n, p))};
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
    check_lids(map);
    check_lmc_ranges(map);
    check_guids(map);
}

} // namespace fabric_check::fabric
