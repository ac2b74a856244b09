// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/routes.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace fabric_check::fabric {

/// The switches of a view under numbers of their own, without holes, by GUID, so that answers do not depend on the order in
/// which a map has them; and the links between them. The view must outlive it.
class SwitchGraph {
public:
    using Number = std::uint16_t; ///< InfiniBand has fewer LIDs than this
    static constexpr Number nowhere = 0xffff;

    /// A link between two different switches that is known from both ends and not down, seen from one of them.
    struct Edge {
        Number to;
        std::uint8_t port;    ///< of the near switch
        std::uint32_t mirror; ///< the same link in edges(), seen from the other end
        double rate;          ///< net data rate in Gb/s; an unknown one is taken as the most frequent known one
    };

    explicit SwitchGraph(const LftView &lfts);

    std::size_t size() const { return nodes_.size(); }
    std::uint32_t node(Number number) const { return nodes_[number]; }
    Number number(std::uint32_t node) const { return node < numbers_.size() ? numbers_[node] : nowhere; }
    /// The subnet a switch is in: those that links join have the same number, from 0.
    std::uint32_t subnet(Number number) const { return subnets_[number]; }
    std::uint32_t subnets() const { return subnet_count_; }
    /// All edges, switch by switch; those of one switch by port.
    std::span<const Edge> edges() const { return edges_; }
    std::uint32_t first_edge(Number number) const { return first_[number]; }
    std::span<const Edge> edges(Number number) const {
        return std::span(edges_).subspan(first_[number], first_[number + 1U] - first_[number]);
    }
    /// The switch each port leads to; nowhere for ports to hosts, to itself, to nothing, and for numbers that the switch
    /// does not have.
    const std::array<Number, 256> &next(Number number) const { return next_[number]; }
    unsigned ports(Number number) const { return ports_[number]; } ///< port 0 included
    /// Net data rate of any port of the switch in Gb/s, for weighing.
    double rate(Number number, std::uint8_t port) const { return rates_[first_port_[number] + port]; }
    bool rate_known(Number number, std::uint8_t port) const { return known_[first_port_[number] + port]; }

private:
    static constexpr std::uint32_t no_edge = 0xffffffff;
    void drop_half_known(const image::Image &image, std::vector<std::uint32_t> &edge_at);

    std::vector<std::uint32_t> nodes_;
    std::vector<Number> numbers_; ///< by node
    std::vector<Edge> edges_;
    std::vector<std::uint32_t> first_;
    std::vector<std::array<Number, 256>> next_;
    std::vector<std::uint16_t> ports_;
    std::vector<std::uint32_t> subnets_;
    std::uint32_t subnet_count_ = 0;
    std::vector<std::uint32_t> first_port_; ///< into the two below
    std::vector<double> rates_;
    std::vector<bool> known_;
};

} // namespace fabric_check::fabric
