// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/names.hpp"

#include "fabric/routes.hpp"

#include <algorithm>
#include <string_view>

namespace fabric_check {

namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::string_view take_number(std::string_view &text) noexcept {
    std::size_t size = 0;
    while (size < text.size() && is_digit(text[size])) {
        ++size;
    }
    std::string_view number = text.substr(0, size);
    text.remove_prefix(size);
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
}

/// Negative, zero or positive as a comes before b, numbers by their value: "leaf9" before "leaf10".
int compare_naturally(std::string_view a, std::string_view b) noexcept {
    const std::string_view whole_a = a;
    const std::string_view whole_b = b;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const std::string_view x = take_number(a);
            const std::string_view y = take_number(b);
            if (x.size() != y.size()) {
                return x.size() < y.size() ? -1 : 1;
            }
            if (const int order = x.compare(y); order != 0) {
                return order;
            }
        } else if (a.front() != b.front()) {
            return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front()) ? -1 : 1;
        } else {
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    if (a.empty() != b.empty()) {
        return a.empty() ? -1 : 1;
    }
    return whole_a.compare(whole_b);
}

} // namespace

std::string Names::end(MapPortId port) const {
    if (map_ == nullptr || port.first >= map_->nodes().size()) {
        return {};
    }
    const auto host = hosts_.find(port);
    return host != hosts_.end() ? host->second : map_->display_name(port.first) + ":" + std::to_string(port.second);
}

std::string Names::link(MapPortId switch_port) const {
    if (map_ == nullptr || !find_port(*map_, switch_port)) {
        return end(switch_port);
    }
    const MapPortId peer = peer_of(*map_, switch_port);
    const auto host = hosts_.find(peer);
    if (host != hosts_.end()) {
        return end(switch_port) + "<->" + host->second;
    }
    // One cable, one name, whichever end counted.
    const MapPortId first = map_->is_switch(peer.first) && is_before(peer, switch_port) ? peer : switch_port;
    return fabric::link_name(*map_, first.first, first.second);
}

bool Names::is_before(MapPortId a, MapPortId b) const {
    const int names = compare_naturally(map_->display_name(a.first), map_->display_name(b.first));
    return names != 0 ? names < 0 : a < b;
}

std::optional<fabric::MapPort> find_port(const fabric::Map &map, MapPortId port) noexcept {
    if (port.first >= map.nodes().size() || port.second >= map.nodes()[port.first].ports.size()) {
        return std::nullopt;
    }
    return map.nodes()[port.first].ports[port.second];
}

std::string by_node(const std::string &node, const std::string &reason) {
    const bool named = reason.starts_with(node) &&
                       (reason.size() == node.size() || reason[node.size()] == ':' || reason[node.size()] == '/');
    return node.empty() || named ? reason : node + ": " + reason;
}

MapPortId peer_of(const fabric::Map &map, MapPortId port) noexcept {
    const auto found = find_port(map, port);
    if (!found || found->peer >= map.nodes().size()) {
        return {fabric::no_node, std::uint8_t{0}};
    }
    return {found->peer, found->peer_port};
}

} // namespace fabric_check
