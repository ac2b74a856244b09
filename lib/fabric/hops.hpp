// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map.hpp"
#include "fabric/routes.hpp"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fabric_check::fabric {

/// Hop counts between switches, and which ports of a switch lead one hop nearer to another: computed when first asked
/// for, kept afterwards. Links that are down lead nowhere. The view must outlive it and must not change. Not thread-safe.
class Hops {
public:
    explicit Hops(const LftView &lfts);

    /// A set of a switch's output ports at equal remaining hops towards `to`, as a number. Sets of one switch that hold
    /// the same ports have the same number. Empty for from == to and where no link leads there.
    std::uint32_t minimal_set(std::uint32_t from, std::uint32_t to);
    /// The ports of a set, sorted.
    const std::vector<std::uint8_t> &ports(std::uint32_t set) const { return sets_[set]; }

private:
    static constexpr std::uint16_t far = 0xffff;
    const std::vector<std::uint16_t> &distances(std::uint32_t to);

    /// A link of this switch that is up and leads to another switch.
    bool leads_on(std::uint32_t node, std::size_t port) const;

    const LftView *lfts_;
    const Map *map_;
    std::vector<std::vector<std::uint32_t>> neighbours_; ///< by node; switches only, either end's word suffices
    std::unordered_map<std::uint32_t, std::vector<std::uint16_t>> distances_;
    std::unordered_map<std::uint64_t, std::uint32_t> set_of_; ///< key: from << 32 | to
    std::map<std::pair<std::uint32_t, std::vector<std::uint8_t>>, std::uint32_t> numbers_;
    std::vector<std::vector<std::uint8_t>> sets_;
};

} // namespace fabric_check::fabric
