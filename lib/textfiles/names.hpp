// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/table.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fabric_check::textfiles {

/// Counters' names as files write them, each looked up in the table once: files repeat the same few hundred names for
/// ever. What it gives out lives as long as it.
class Names {
public:
    using Id = std::uint32_t;
    static constexpr Id none = ~Id{0};

    struct Name {
        std::string_view canonical;
        Id same = 0;           ///< the first id with this canonical name
        bool known = false;    ///< there is a row for it
        bool wide = false;     ///< a 64-bit copy of a counter
        std::uint64_t cap = UINT64_MAX; ///< of the field that the classic counters have for it
        bool setting = false;  ///< counts nothing
    };

    /// none: not seen before.
    Id find(std::string_view written) const {
        const auto at = ids_.find(written);
        return at == ids_.end() ? none : at->second;
    }
    Id add(std::string_view written);
    const Name &operator[](Id id) const noexcept { return names_[id]; }
    std::size_t size() const noexcept { return names_.size(); }
    /// Canonical names in alphabetical order.
    struct Order {
        std::vector<Id> rank_of; ///< by id
        std::vector<Id> by_rank; ///< an id with that canonical name
    };
    Order order() const;

private:
    std::deque<std::string> texts_; // does not move what it holds
    std::vector<Name> names_;
    std::unordered_map<std::string_view, Id> ids_, canonical_;
};

} // namespace fabric_check::textfiles
