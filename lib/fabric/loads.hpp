// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/hops.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fabric_check::fabric {

/// The best a switch could do with `count` equal items over links of these rates: the busiest link's items over its
/// rate. Zero without links.
double best_even_spread(const std::vector<double> &rates, std::size_t count);

/// Flows on directed inter-switch links, and what the busiest would carry were every group spread evenly.
class Loads {
public:
    explicit Loads(Hops &hops) : hops_(&hops) {}

    /// One destination's `flows` leave `node` by `port`, and could have left by any port of `set`.
    void add(std::uint32_t node, std::uint8_t port, std::uint32_t set, double flows);

    struct Busiest {
        double weighted = 0; ///< flows over link rate
        double flows = 0;
        std::uint32_t node = no_node;
        std::uint8_t port = 0;
    };
    Busiest busiest() const;
    /// Greedy, longest first: at each switch every destination, its flows together (a LID cannot be split), goes to
    /// that port of its set which it loads least. Never worse than busiest().
    Busiest ideal() const;
    void clear() { switches_.clear(); }

private:
    struct Item {
        double flows;
        std::uint32_t set;
        std::uint8_t port;
    };
    Hops *hops_;
    std::unordered_map<std::uint32_t, std::vector<Item>> switches_;
};

} // namespace fabric_check::fabric
