// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/switch_graph.hpp"

#include <algorithm>
#include <utility>

namespace fabric_check::fabric {

void SwitchGraph::number_switches() {
    numbers_.assign(image_->nodes.size(), nowhere);
    for (std::uint32_t n = 0; n < image_->nodes.size(); ++n)
        if (image_->nodes[n].kind == std::uint8_t(NodeKind::switch_node) && nodes_.size() < nowhere)
            nodes_.push_back(n);
    std::sort(nodes_.begin(), nodes_.end(), [this](std::uint32_t a, std::uint32_t b) {
        return std::pair(image_->nodes[a].guid, a) < std::pair(image_->nodes[b].guid, b);
    });
    first_port_.assign(1, 0);
    for (std::size_t s = 0; s < nodes_.size(); ++s) {
        numbers_[nodes_[s]] = Number(s);
        first_port_.push_back(first_port_.back() + image_->nodes[nodes_[s]].ports);
    }
}

void SwitchGraph::join(const LftView &lfts) {
    const auto down = [&lfts](std::uint32_t node, std::uint8_t port) {
        return !lfts.down().empty() && lfts.down().contains({node, port});
    };
    next_.assign(first_port_.back(), nowhere);
    first_.assign(nodes_.size() + 1, 0);
    std::vector<std::uint8_t> rank(next_.size(), 0); // of the edge at a port among those of its switch
    edges_.reserve(next_.size());
    for (Number s = 0, end = Number(nodes_.size()); s < end; ++s) {
        const image::NodeRecord &node = image_->nodes[nodes_[s]];
        for (std::uint32_t p = 1; p < node.ports; ++p) {
            const image::PortRecord &port = image_->ports[node.first_port + p];
            // A cable from a switch to itself leads nowhere.
            if (port.peer == no_node || port.peer == nodes_[s] || numbers_[port.peer] == nowhere)
                continue;
            next_[first_port_[s] + p] = numbers_[port.peer];
            const image::PortRecord &away = image_->ports[image_->nodes[port.peer].first_port + port.peer_port];
            if (port.peer_port == 0 || away.peer != nodes_[s] || away.peer_port != p ||
                down(nodes_[s], std::uint8_t(p)) || down(port.peer, port.peer_port))
                continue;
            rank[first_port_[s] + p] = std::uint8_t(edges_.size() - first_[s]);
            edges_.push_back({0, numbers_[port.peer], std::uint8_t(p)});
        }
        first_[s + 1U] = std::uint32_t(edges_.size());
    }
    // What is an edge from one end is one from the other: all that was asked above is the same from there.
    for (Number s = 0, end = Number(nodes_.size()); s < end; ++s)
        for (std::uint32_t e = first_[s]; e < first_[s + 1U]; ++e)
            edges_[e].mirror = first_[edges_[e].to] + rank[place(edges_[e].to, record(s, edges_[e].port).peer_port)];
}

void SwitchGraph::weigh() {
    std::vector<std::size_t> seen(image_->rates.size(), 0);
    for (Number s = 0, end = Number(nodes_.size()); s < end; ++s)
        for (unsigned p = 1; p < ports(s); ++p)
            if (next(s)[p] != nowhere)
                ++seen[record(s, std::uint8_t(p)).rate];
    double usual = 1;
    std::size_t most = 0;
    for (std::size_t r = 0; r < seen.size(); ++r)
        if (seen[r] > most && image_->rates[r].data_gbps > 0) {
            most = seen[r];
            usual = image_->rates[r].data_gbps;
        }
    for (const LinkRate &rate : image_->rates)
        weights_.push_back(rate.data_gbps > 0 ? rate.data_gbps : usual);
}

/// Links that are down join, too.
void SwitchGraph::find_subnets() {
    constexpr std::uint32_t none_yet = 0xffffffff;
    subnets_.assign(nodes_.size(), none_yet);
    std::vector<Number> queue;
    for (Number s = 0, end = Number(nodes_.size()); s < end; ++s) {
        if (subnets_[s] != none_yet)
            continue;
        subnets_[s] = subnet_count_;
        queue.assign(1, s);
        for (std::size_t i = 0; i < queue.size(); ++i)
            for (unsigned p = 0; p < ports(queue[i]); ++p)
                if (const Number to = next(queue[i])[p]; to != nowhere && subnets_[to] == none_yet) {
                    subnets_[to] = subnet_count_;
                    queue.push_back(to);
                }
        ++subnet_count_;
    }
}

SwitchGraph::SwitchGraph(const LftView &lfts) : image_(&lfts.map().image()) {
    number_switches();
    join(lfts);
    weigh();
    find_subnets();
}

} // namespace fabric_check::fabric
