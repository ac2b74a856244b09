// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/routes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fabric_check::fabric {

/// The switches of a view under numbers of their own, without holes, by GUID, so that answers do not depend on the order in
/// which a map has them; and the links between them. The view must outlive it. It is made for every question: it is kept
/// small, and what the map's records say is looked up there.
class SwitchGraph {
public:
    using Number = std::uint16_t; ///< InfiniBand has fewer LIDs than this
    static constexpr Number nowhere = 0xffff;

    /// A link between two different switches that is known from both ends and not down, seen from one of them.
    struct Edge {
        std::uint32_t mirror; ///< the same link in edges(), seen from the other end
        Number to;
        std::uint8_t port; ///< of the near switch
    };
    /// Where the ports of one switch lead.
    class Next {
    public:
        Next(const Number *to, unsigned ports) : to_(to), ports_(ports) {}
        /// A switch; nowhere for ports to hosts, to the switch itself, to nothing, and for numbers it does not have.
        Number operator[](std::size_t port) const { return port < ports_ ? to_[port] : nowhere; }

    private:
        const Number *to_;
        unsigned ports_;
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
    /// A table may send to links that edges() leaves out as down or half known.
    Next next(Number number) const { return {next_.data() + first_port_[number], ports(number)}; }
    unsigned ports(Number number) const { return first_port_[number + 1U] - first_port_[number]; } ///< port 0 included
    /// A number for each port of all switches, from 0 to places().
    std::uint32_t place(Number number, std::uint8_t port) const { return first_port_[number] + port; }
    std::size_t places() const { return next_.size(); }
    /// Net data rate of any port of the switch in Gb/s, for weighing; an unknown one is taken as the most frequent known one
    /// between switches.
    double rate(Number number, std::uint8_t port) const { return weights_[record(number, port).rate]; }
    bool rate_known(Number number, std::uint8_t port) const { return image_->rates[record(number, port).rate].data_gbps > 0; }

private:
    const image::PortRecord &record(Number number, std::uint8_t port) const {
        return image_->ports[image_->nodes[nodes_[number]].first_port + port];
    }
    void number_switches();
    void join(const LftView &lfts);
    void weigh();
    void find_subnets();

    const image::Image *image_;
    std::vector<std::uint32_t> nodes_;
    std::vector<Number> numbers_; ///< by node
    std::vector<Edge> edges_;
    std::vector<std::uint32_t> first_;
    std::vector<std::uint32_t> first_port_; ///< into next_
    std::vector<Number> next_;
    std::vector<double> weights_; ///< by the map's link rates
    std::vector<std::uint32_t> subnets_;
    std::uint32_t subnet_count_ = 0;
};

} // namespace fabric_check::fabric
