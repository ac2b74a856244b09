// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/tree.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace fabric_check::fabric {
namespace {
constexpr std::size_t loop_names = 8; ///< switches of a loop that are named
}

Attachment attachment(const Map &map, const Endpoint &endpoint) {
    if (endpoint.node >= map.nodes().size())
        return {};
    const MapNode node = map.nodes()[endpoint.node];
    if (node.kind == NodeKind::switch_node)
        return {endpoint.node, 0};
    if (endpoint.port >= node.ports.size())
        return {};
    const MapPort port = node.ports[endpoint.port];
    if (port.peer >= map.nodes().size() || map.nodes()[port.peer].kind != NodeKind::switch_node)
        return {};
    return {port.peer, port.peer_port};
}

RouteTree::RouteTree(const LftView &lfts) : lfts_(&lfts) {
    const std::size_t size = lfts.map().nodes().size();
    epoch_.assign(size, 0);
    next_.assign(size, no_node);
    cause_.assign(size, 0);
    state_.assign(size, State::open);
    port_.assign(size, no_route);
}

void RouteTree::fail(std::uint32_t node, std::string why) {
    cause_[node] = std::uint32_t(failures_.size());
    failures_.push_back({std::move(why), node});
    state_[node] = State::fails;
}

bool RouteTree::step(const Endpoint &destination, std::uint32_t node) {
    const Map &map = lfts_->map();
    epoch_[node] = now_;
    state_[node] = State::open;
    next_[node] = no_node;
    port_[node] = 0;
    if (node == destination.node) {
        state_[node] = State::arrives;
        return false;
    }
    const std::uint8_t out = lfts_->at(node, destination.lid);
    port_[node] = out;
    const auto &ports = map.nodes()[node].ports;
    const auto name = [&map, node] { return map.display_name(node); };
    if (out == no_route)
        fail(node, fmt::format("no entry at {}", name()));
    else if (out == 0)
        fail(node, fmt::format("{} takes it for its own LID", name()));
    else if (out >= ports.size())
        fail(node, fmt::format("{} sends it to port {}, which it does not have", name(), out));
    else if (ports[out].peer >= map.nodes().size())
        fail(node, fmt::format("{}:{} leads nowhere", name(), out));
    else if (ports[out].peer == destination.node && map.nodes()[destination.node].kind != NodeKind::switch_node) {
        if (ports[out].peer_port == destination.port)
            state_[node] = State::arrives;
        else
            fail(node, fmt::format("{}:{} leads to port {} of its host, the LID is port {}'s", name(), out,
                                   ports[out].peer_port, destination.port));
    } else if (map.nodes()[ports[out].peer].kind != NodeKind::switch_node)
        fail(node, fmt::format("{}:{} leads to {}", name(), out, map.display_name(ports[out].peer)));
    else {
        next_[node] = ports[out].peer;
        return true;
    }
    return false;
}

void RouteTree::walk(const Endpoint &destination, std::span<const std::uint32_t> from) {
    ++now_;
    order_.clear();
    failures_.clear();
    for (const std::uint32_t start : from) {
        path_.clear();
        std::uint32_t node = start;
        while (epoch_[node] != now_) {
            path_.push_back(node);
            if (!step(destination, node))
                break;
            node = next_[node];
        }
        if (epoch_[node] == now_ && state_[node] == State::open) {
            // Back on this walk's own path: everything from there on turns in a circle.
            const auto begin = std::find(path_.begin(), path_.end(), node);
            const std::uint32_t first = *std::min_element(begin, path_.end());
            std::string round = lfts_->map().display_name(first);
            std::size_t named = 1;
            for (std::uint32_t n = next_[first]; n != first; n = next_[n])
                if (++named <= loop_names)
                    round += ">" + lfts_->map().display_name(n);
            if (named > loop_names)
                round += fmt::format(" and {} more", named - loop_names);
            fail(first, fmt::format("loop at {}", round));
            for (auto it = begin; it != path_.end(); ++it) {
                state_[*it] = State::fails;
                cause_[*it] = cause_[first];
            }
        }
        for (auto it = path_.rbegin(); it != path_.rend(); ++it) {
            if (state_[*it] == State::open) {
                state_[*it] = state_[next_[*it]];
                cause_[*it] = cause_[next_[*it]];
            }
            if (state_[*it] == State::arrives)
                order_.push_back(*it);
        }
    }
}

} // namespace fabric_check::fabric
