// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/map_draft.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace fabric_check::fabric {
namespace {

constexpr std::uint8_t max_lmc = 7;

} // namespace

void MapDraft::index() {
    lids_.assign(0x10000, {no_node, std::uint8_t(0)});
    guids_.clear();
    port_guids_.clear();
    switch_names_.clear();

    const auto claim = [this](std::uint32_t lid, std::uint32_t node, std::uint8_t port) {
        if (is_unicast(lid) && lids_[lid].first == no_node)
            lids_[lid] = {node, port};
    };
    // Base LIDs first: another port's LMC range never hides one.
    each_lid(nodes, [&](std::uint32_t n, std::uint8_t p, std::uint16_t lid, std::uint8_t) { claim(lid, n, p); });
    each_lid(nodes, [&](std::uint32_t n, std::uint8_t p, std::uint16_t lid, std::uint8_t lmc) {
        if (is_unicast(lid) && lmc != 0 && lmc <= max_lmc)
            for (std::uint32_t i = 1; i < (1U << lmc); ++i)
                claim(lid + i, n, p);
    });
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        if (nodes[n].guid != 0)
            guids_.emplace(nodes[n].guid, n);
        for (std::size_t p = 0; nodes[n].kind != NodeKind::switch_node && p < nodes[n].ports.size() && p < 256; ++p)
            if (nodes[n].ports[p].guid != 0)
                port_guids_.emplace(nodes[n].ports[p].guid, std::pair(n, std::uint8_t(p)));
        if (nodes[n].kind == NodeKind::switch_node)
            ++switch_names_[switch_name_of(nodes[n].description, nodes[n].guid)];
    }
}

std::uint32_t MapDraft::by_lid(std::uint16_t lid) const { return lid < lids_.size() ? lids_[lid].first : no_node; }

std::uint8_t MapDraft::port_of_lid(std::uint16_t lid) const {
    return lid < lids_.size() ? lids_[lid].second : std::uint8_t(0);
}

std::uint32_t MapDraft::by_guid(std::uint64_t node_guid) const {
    const auto found = guids_.find(node_guid);
    return found == guids_.end() ? no_node : found->second;
}

std::uint32_t MapDraft::by_port_guid(std::uint64_t port_guid, std::uint8_t *port) const {
    const auto found = port_guids_.find(port_guid);
    if (found == port_guids_.end())
        return no_node;
    if (port)
        *port = found->second.second;
    return found->second.first;
}

std::string MapDraft::display_name(std::uint32_t n) const {
    if (n >= nodes.size())
        return "nothing";
    const DraftNode &node = nodes[n];
    if (node.kind != NodeKind::switch_node) {
        const std::string_view name = node.kind == NodeKind::host ? host_name_of(node.description) : std::string_view();
        return name.empty() ? guid_text(node.guid) : printable(name);
    }
    std::string name = switch_name_of(node.description, node.guid);
    const auto same = switch_names_.find(name);
    if (same != switch_names_.end() && same->second > 1)
        name += fmt::format("[{}]", guid_text(node.guid));
    return name;
}

} // namespace fabric_check::fabric
