// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/switch_graph.hpp"

#include <algorithm>

namespace fabric_check::fabric {

/// Leaves the edges whose other end is an edge too; `edge_at` follows.
void SwitchGraph::drop_half_known(const image::Image &image, std::vector<std::uint32_t> &edge_at) {
    std::vector<Edge> kept;
    std::vector<std::uint32_t> first(1, 0), at(edge_at.size(), no_edge);
    for (Number s = 0; s < nodes_.size(); ++s) {
        for (const Edge &edge : edges(s)) {
            const std::uint32_t place = image.nodes[nodes_[s]].first_port + edge.port;
            const image::PortRecord &port = image.ports[place];
            if (edge_at[image.nodes[port.peer].first_port + port.peer_port] == no_edge)
                continue;
            at[place] = std::uint32_t(kept.size());
            kept.push_back(edge);
        }
        first.push_back(std::uint32_t(kept.size()));
    }
    edges_ = std::move(kept);
    first_ = std::move(first);
    edge_at = std::move(at);
}

SwitchGraph::SwitchGraph(const LftView &lfts) {
    const image::Image &image = lfts.map().image();
    numbers_.assign(image.nodes.size(), nowhere);
    for (std::uint32_t n = 0; n < image.nodes.size(); ++n)
        if (image.nodes[n].kind == std::uint8_t(NodeKind::switch_node) && nodes_.size() < nowhere)
            nodes_.push_back(n);
    std::sort(nodes_.begin(), nodes_.end(), [&image](std::uint32_t a, std::uint32_t b) {
        return std::pair(image.nodes[a].guid, a) < std::pair(image.nodes[b].guid, b);
    });
    for (std::size_t s = 0; s < nodes_.size(); ++s)
        numbers_[nodes_[s]] = Number(s);
    next_.resize(nodes_.size());
    ports_.resize(nodes_.size());
    first_.assign(nodes_.size() + 1, 0);
    std::vector<std::size_t> rate_seen(image.rates.size(), 0);
    std::vector<std::uint32_t> edge_at; // by place in the map's ports
    edge_at.assign(image.ports.size(), no_edge);
    for (Number s = 0; s < nodes_.size(); ++s) {
        const image::NodeRecord &node = image.nodes[nodes_[s]];
        next_[s].fill(nowhere);
        ports_[s] = node.ports;
        first_[s] = std::uint32_t(edges_.size());
        for (std::uint32_t p = 1; p < node.ports; ++p) {
            const image::PortRecord &port = image.ports[node.first_port + p];
            // A cable from a switch to itself leads nowhere.
            if (port.peer == no_node || port.peer == nodes_[s] || numbers_[port.peer] == nowhere)
                continue;
            next_[s][p] = numbers_[port.peer];
            ++rate_seen[port.rate];
            const image::PortRecord &away = image.ports[image.nodes[port.peer].first_port + port.peer_port];
            const bool mirrored = away.peer == nodes_[s] && away.peer_port == p;
            if (port.peer_port == 0 || !mirrored ||
                (!lfts.down().empty() && lfts.down().contains({nodes_[s], std::uint8_t(p)})))
                continue;
            edge_at[node.first_port + p] = std::uint32_t(edges_.size());
            edges_.push_back({numbers_[port.peer], std::uint8_t(p), no_edge, image.rates[port.rate].data_gbps});
        }
    }
    first_[nodes_.size()] = std::uint32_t(edges_.size());
    drop_half_known(image, edge_at);
    double usual_rate = 1;
    std::size_t most = 0;
    for (std::size_t r = 0; r < rate_seen.size(); ++r)
        if (rate_seen[r] > most && image.rates[r].data_gbps > 0) {
            most = rate_seen[r];
            usual_rate = image.rates[r].data_gbps;
        }
    for (Number s = 0; s < nodes_.size(); ++s)
        for (std::uint32_t e = first_[s]; e < first_[s + 1U]; ++e) {
            Edge &edge = edges_[e];
            const image::PortRecord &port = image.ports[image.nodes[nodes_[s]].first_port + edge.port];
            edge.mirror = edge_at[image.nodes[port.peer].first_port + port.peer_port];
            if (!(edge.rate > 0))
                edge.rate = usual_rate;
        }
    subnets_.assign(nodes_.size(), no_edge);
    std::vector<Number> queue;
    for (Number s = 0; s < nodes_.size(); ++s) {
        if (subnets_[s] != no_edge)
            continue;
        subnets_[s] = subnet_count_;
        queue.assign(1, s);
        for (std::size_t i = 0; i < queue.size(); ++i)
            for (const Number to : next_[queue[i]]) // links that are down join, too
                if (to != nowhere && subnets_[to] == no_edge) {
                    subnets_[to] = subnet_count_;
                    queue.push_back(to);
                }
        ++subnet_count_;
    }
    for (Number s = 0; s < nodes_.size(); ++s) {
        const image::NodeRecord &node = image.nodes[nodes_[s]];
        first_port_.push_back(std::uint32_t(rates_.size()));
        for (const image::PortRecord &port : image.ports.subspan(node.first_port, node.ports)) {
            const double rate = image.rates[port.rate].data_gbps;
            rates_.push_back(rate > 0 ? rate : usual_rate);
            known_.push_back(rate > 0);
        }
    }
}

} // namespace fabric_check::fabric
