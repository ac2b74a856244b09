// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/map.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace fabric_check::fabric {
namespace {

constexpr std::uint16_t first_multicast_lid = 0xc000;
constexpr std::uint8_t max_lmc = 7;

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> out;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t begin = text.find_first_not_of(" \t\r\n", at);
        if (begin == std::string_view::npos)
            break;
        const std::size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
        out.push_back(text.substr(begin, end - begin));
        at = end;
    }
    return out;
}

bool factory_text(std::string_view description) noexcept {
    return description.find("Mellanox Technologies") != std::string_view::npos;
}

/// "MF0;leaf03:MQM9700/U1" -> "leaf03"; a chassis' "MF0;core:MCS8500/L02/U1" -> "core/L02", as all its switches share
/// the name before the colon.
std::string managed_name(std::string_view description) {
    const std::size_t semicolon = description.find(';');
    const std::size_t colon = description.rfind(':');
    if (!description.starts_with("MF") || semicolon == std::string_view::npos || colon == std::string_view::npos ||
        colon <= semicolon + 1)
        return {};
    std::string name(description.substr(semicolon + 1, colon - semicolon - 1));
    const auto parts = split(description.substr(colon + 1), '/');
    for (std::size_t i = 1; i < parts.size(); ++i)
        if (parts[i] != "U1" && !parts[i].empty())
            name.append("/").append(parts[i]);
    return name;
}

std::string guid_text(std::uint64_t guid) { return fmt::format("0x{:016x}", guid); }

std::string plain_switch_name(const MapNode &node) {
    const std::string_view description = trim(node.description);
    if (description.empty() || factory_text(description))
        return guid_text(node.guid);
    std::string managed = managed_name(description);
    return managed.empty() ? printable(description) : printable(managed);
}

} // namespace

std::string MapNode::host_name() const {
    if (factory_text(description))
        return {};
    const auto all = words(description);
    return all.empty() ? std::string() : std::string(all[0]);
}

std::string MapNode::card_name() const {
    const auto all = words(description);
    return all.size() == 2 && !factory_text(description) ? std::string(all[1]) : std::string();
}

NodeKind classify_adapter(std::string_view description) noexcept {
    // SHARP's are called "Mellanox Technologies Aggregation Node" by every switch that has one.
    for (const std::string_view mark : {"Aggregation Node", "Gateway", "gateway"})
        if (description.find(mark) != std::string_view::npos)
            return NodeKind::other;
    return NodeKind::host;
}

void Map::index() {
    lids_.assign(0x10000, {no_node, std::uint8_t(0)});
    guids_.clear();
    port_guids_.clear();
    names_.clear();
    switch_names_.clear();

    const auto each_lid = [this](auto &&visit) {
        for (std::uint32_t n = 0; n < nodes.size(); ++n) {
            const MapNode &node = nodes[n];
            if (node.kind == NodeKind::switch_node) {
                visit(n, std::uint8_t(0), node.lid, node.ports.empty() ? std::uint8_t(0) : node.ports[0].lmc);
                continue;
            }
            for (std::size_t p = 0; p < node.ports.size() && p < 256; ++p)
                visit(n, std::uint8_t(p), node.ports[p].lid, node.ports[p].lmc);
        }
    };
    const auto claim = [this](std::uint32_t lid, std::uint32_t node, std::uint8_t port) {
        if (lid != 0 && lid < first_multicast_lid && lids_[lid].first == no_node)
            lids_[lid] = {node, port};
    };
    // Base LIDs first: another port's LMC range never hides one.
    each_lid([&](std::uint32_t n, std::uint8_t p, std::uint16_t lid, std::uint8_t) { claim(lid, n, p); });
    each_lid([&](std::uint32_t n, std::uint8_t p, std::uint16_t lid, std::uint8_t lmc) {
        if (lid != 0 && lid < first_multicast_lid && lmc != 0 && lmc <= max_lmc)
            for (std::uint32_t i = 1; i < (1U << lmc); ++i)
                claim(lid + i, n, p);
    });

    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        const MapNode &node = nodes[n];
        if (node.guid != 0)
            guids_.emplace(node.guid, n);
        if (node.kind == NodeKind::switch_node) {
            ++switch_names_[plain_switch_name(node)];
            continue;
        }
        const std::string name = node.kind == NodeKind::host ? node.host_name() : std::string();
        const std::size_t dot = name.find('.');
        for (std::size_t p = 0; p < node.ports.size() && p < 256; ++p) {
            const MapPort &port = node.ports[p];
            if (port.guid != 0)
                port_guids_.emplace(port.guid, std::pair(n, std::uint8_t(p)));
            if (name.empty() || (port.guid == 0 && port.lid == 0 && port.peer == no_node))
                continue;
            names_.emplace(name, std::pair(n, std::uint8_t(p)));
            if (dot != std::string::npos && dot != 0)
                names_.emplace(name.substr(0, dot), std::pair(n, std::uint8_t(p)));
        }
    }
}

std::uint32_t Map::by_lid(std::uint16_t lid) const { return lid < lids_.size() ? lids_[lid].first : no_node; }

std::uint8_t Map::port_of_lid(std::uint16_t lid) const {
    return lid < lids_.size() ? lids_[lid].second : std::uint8_t(0);
}

std::uint32_t Map::by_guid(std::uint64_t node_guid) const {
    const auto found = guids_.find(node_guid);
    return found == guids_.end() ? no_node : found->second;
}

std::uint32_t Map::by_port_guid(std::uint64_t port_guid, std::uint8_t *port) const {
    const auto found = port_guids_.find(port_guid);
    if (found == port_guids_.end())
        return no_node;
    if (port)
        *port = found->second.second;
    return found->second.first;
}

std::vector<std::pair<std::uint32_t, std::uint8_t>> Map::by_name(const std::string &host) const {
    std::vector<std::pair<std::uint32_t, std::uint8_t>> out;
    const auto [begin, end] = names_.equal_range(host);
    for (auto it = begin; it != end; ++it)
        out.push_back(it->second);
    std::sort(out.begin(), out.end());
    return out;
}

std::string Map::display_name(std::uint32_t n) const {
    if (n >= nodes.size())
        return "nothing";
    const MapNode &node = nodes[n];
    if (node.kind != NodeKind::switch_node) {
        const std::string name = node.kind == NodeKind::host ? printable(node.host_name()) : std::string();
        return name.empty() ? guid_text(node.guid) : name;
    }
    std::string name = plain_switch_name(node);
    const auto same = switch_names_.find(name);
    if (same != switch_names_.end() && same->second > 1)
        name += fmt::format("[{}]", guid_text(node.guid));
    return name;
}

} // namespace fabric_check::fabric
