// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/flows.hpp"

#include <cstdint>
#include <span>

namespace fabric_check::fabric {

/// Single routes, from what a FlowCounter kept of them.
class RouteMatrix {
public:
    using Number = SwitchGraph::Number;
    RouteMatrix(const SwitchGraph &graph, const FlowCounter &counter) : graph_(graph), counter_(counter) {}

    const SwitchGraph &graph() const { return graph_; }
    const FlowCounter &counter() const { return counter_; }

    /// Calls visit(switch, port) for each link between switches on the way from a switch to a destination; false, perhaps
    /// after some calls, when no counted flow went there.
    template <class Visit> bool walk(Number from, const FlowCounter::Destination &to, Visit &&visit) const {
        Number at = from;
        for (std::size_t hops = 0; hops <= graph_.size(); ++hops) {
            if (at == to.at && to.port == 0)
                return true;
            const std::uint8_t *row = counter_.ports(at);
            const std::uint8_t out = row == nullptr ? no_route : row[to.column];
            if (at == to.at && out == to.port) // whatever the switch says of its port
                return true;
            const Number next = graph_.next(at)[out];
            if (next == SwitchGraph::nowhere)
                return false;
            visit(at, out);
            at = next;
        }
        return false;
    }

private:
    const SwitchGraph &graph_;
    const FlowCounter &counter_;
};

/// What one link between switches carries in one direction when everybody of a rail sends to everybody of it.
struct LinkUse {
    SwitchGraph::Number at;
    std::uint8_t port;
    std::uint32_t flows, lids; ///< neither is 0
};

/// An endpoint that sends and receives.
struct Participant {
    SwitchGraph::Number at;
    const FlowCounter::Destination *destination;
    double host_rate; ///< of its own link, Gb/s
    unsigned rail;
};

/// The worst sender's loads: each participant to all others of its rail. `links` has every link that they use.
ShapeLoad one_to_many(const RouteMatrix &routes, std::span<const Participant> participants, std::span<const LinkUse> links);
/// The worst receiver's loads: all others of its rail to each participant, whose flows the counter has added up. They have
/// one LID, which goes whole over one link of a group: the ideal is the fastest link of that group.
ShapeLoad many_to_one(const RouteMatrix &routes, std::span<const Participant> participants, std::span<const LinkUse> links);
/// Over `bisections` random halves, seeded; rails apart.
std::optional<EffectiveBisection> effective_bisection(const RouteMatrix &routes, std::span<const Participant> participants,
                                                      unsigned bisections, unsigned seed);

} // namespace fabric_check::fabric
