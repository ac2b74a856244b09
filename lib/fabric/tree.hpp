// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/routes.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fabric_check::fabric {

/// Where an endpoint enters the fabric: the switch and its port facing it (port 0: the endpoint is the switch itself).
struct Attachment {
    std::uint32_t node = no_node; ///< no_node: attached to no switch
    std::uint8_t port = 0;
};
Attachment attachment(const Map &map, const Endpoint &endpoint);

/// All routes to one destination: under destination routing they form an in-tree. Scratch is kept between walks, so
/// that a walk costs the switches on the way only. Not thread-safe.
class RouteTree {
public:
    explicit RouteTree(const LftView &lfts);

    /// Follows the tables from every switch in `from` towards `destination`.
    void walk(const Endpoint &destination, std::span<const std::uint32_t> from);

    /// Switches whose packets arrive, every one after the switch it sends to.
    const std::vector<std::uint32_t> &order() const { return order_; }
    bool arrives(std::uint32_t node) const { return epoch_[node] == now_ && state_[node] == State::arrives; }
    std::uint8_t port(std::uint32_t node) const { return port_[node]; }
    /// The next switch, or no_node where the port faces the destination.
    std::uint32_t next(std::uint32_t node) const { return next_[node]; }

    struct Failure {
        std::string why;
        std::uint32_t at = no_node;
    };
    /// Why packets from a visited switch that does not arrive are lost.
    const Failure &failure(std::uint32_t node) const { return failures_[cause_[node]]; }

private:
    enum class State : std::uint8_t { open, arrives, fails };
    /// One step; false when the walk ends here (arrived, or failed with a cause).
    bool step(const Endpoint &destination, std::uint32_t node);
    void fail(std::uint32_t node, std::string why);

    const LftView *lfts_;
    std::uint32_t now_ = 0;
    std::vector<std::uint32_t> epoch_, next_, cause_;
    std::vector<State> state_;
    std::vector<std::uint8_t> port_;
    std::vector<std::uint32_t> order_, path_;
    std::vector<Failure> failures_;
};

} // namespace fabric_check::fabric
