// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/reach.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace fabric_check::fabric {

/// So many equal items.
struct Items {
    double size;
    std::size_t count;
};

/// The net data rates of a switch's links in a set, by port, in Gb/s.
std::vector<double> rates_of(const SwitchGraph &graph, SwitchGraph::Number at, const PortSet &set);

/// What each of these links gets of the items, each item whole to the link that it leaves the least busy by its rate, the
/// first of equals, large ones first. The cost does not grow with the counts.
std::vector<double> spread_items(std::span<const double> rates, std::vector<Items> items);

/// The best a switch could do with these items over links of these rates: the busiest link's sizes over its rate, by
/// spread_items(), as an exact answer is a packing problem. Zero without links or items.
double best_even_spread(std::span<const double> rates, std::vector<Items> items);

/// What links would carry if every switch divided what it has for a destination over all its links at equal remaining
/// hops, by their rate: the measure that no routing of the same topology beats. Batches of targets add up.
class EvenSpread {
public:
    using Number = SwitchGraph::Number;

    explicit EvenSpread(const SwitchGraph &graph) : graph_(graph), load_(graph.edges().size(), 0) {}

    /// Flows of which so many start at `at` for the target in this place of the batch, all its destinations together.
    struct Start {
        Number at;
        std::uint8_t place;
        double flows;
    };
    /// `reach` has run for the batch.
    void add(const Reach &reach, std::span<const Start> starts);
    /// The busiest link's flows over its rate.
    double busiest() const;
    /// The same of one link; 0 where nothing passes.
    double share(Number at, std::uint8_t port) const;

private:
    const SwitchGraph &graph_;
    std::vector<double> load_; ///< by edge
    std::vector<double> here_; ///< by switch and target
    std::vector<std::uint64_t> some_; ///< by switch: targets for which there is something here
    std::vector<Reach::Class> classes_;
};

} // namespace fabric_check::fabric
