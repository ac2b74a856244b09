// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sample/block.hpp"
#include "sample/pass.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::sample {

/// Makes blocks of the ring out of passes over the fabric. What a port did since it was last read is never guessed: a port
/// that was silent has no rate in the interval in which it answers again, but what its errors moved by is known.
class Differ {
public:
    explicit Differ(Layout layout);
    const Layout &layout() const noexcept { return layout_; }
    /// Is there a pass to measure against?
    bool based() const noexcept { return from_ns_ != 0; }
    std::int64_t base_ns() const noexcept { return from_ns_; }
    void forget(); ///< what was read before: the next pass begins anew

    /// What lies between the accepted pass and this one. Nothing without an accepted one, or when this one is not later
    /// (a clock was set back).
    std::optional<Block> block(const Pass &pass) const;
    /// From now on this one is measured against.
    void accept(const Pass &pass);

private:
    struct Base {
        bool known = false;  ///< it was read at least once
        bool silent = false; ///< in the last pass
        std::int64_t time_ns = 0;
        Counters values; ///< last known of each counter
        std::vector<std::string> unread; ///< counters that were known and could not be read since; sorted
    };
    std::vector<const SwitchPort *> by_column(const Pass &pass) const;
    void compare(std::uint32_t column, const Base &base, const SwitchPort &now, Block &block,
                 std::map<std::string, std::uint32_t, std::less<>> &names) const;

    Layout layout_;
    std::int64_t from_ns_ = 0;
    std::vector<Base> bases_; ///< by column
};

/// Does the ring keep what it moved by? What is judged or told of a switch port; never traffic, waiting, or what grows on
/// a sound link.
bool keeps_movement(std::string_view counter) noexcept;

} // namespace fabric_check::sample
