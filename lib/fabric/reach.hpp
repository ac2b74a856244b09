// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/switch_graph.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace fabric_check::fabric {

/// Output ports of one switch.
class PortSet {
public:
    void insert(std::uint8_t port) { words_[port / 64] |= std::uint64_t(1) << (port % 64); }
    bool contains(std::uint8_t port) const { return (words_[port / 64] >> (port % 64) & 1) != 0; }
    unsigned size() const;
    std::vector<std::uint8_t> ports() const; ///< sorted
    bool operator==(const PortSet &) const = default;

private:
    std::array<std::uint64_t, 4> words_{};
};

/// Which ports lead one hop nearer to each of up to 64 target switches, for all switches at once: breadth first from all
/// targets together, a bit for each (in words, as M. Then et al. do it, The More the Merrier, VLDB 2014: one pass over an
/// edge serves every search whose front is there). The graph must outlive it.
class Reach {
public:
    static constexpr std::size_t width = 64;
    using Number = SwitchGraph::Number;

    explicit Reach(const SwitchGraph &graph);
    /// At most `width` different targets.
    void run(std::span<const Number> targets);

    /// Targets at equal remaining hops through the same ports.
    struct Class {
        std::uint64_t targets; ///< bit by place in run()'s targets
        PortSet ports;         ///< empty: this switch is the target, or no link leads there
    };
    /// Splits run()'s targets by the ports of this switch (partition refinement).
    void classes(Number at, std::vector<Class> &out) const;

    /// The switches at 0, 1, 2 ... hops, with the targets they are so far from.
    const std::vector<std::vector<std::pair<Number, std::uint64_t>>> &levels() const { return levels_; }
    /// Targets for which this edge leads one hop nearer.
    std::uint64_t nearer(std::uint32_t edge) const { return nearer_[edge]; }

private:
    const SwitchGraph *graph_;
    std::uint64_t all_ = 0;
    std::vector<std::uint64_t> seen_, next_, nearer_;
    std::vector<std::vector<std::pair<Number, std::uint64_t>>> levels_;
};

} // namespace fabric_check::fabric
