// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "snapshot/model.hpp"

#include <cstdint>
#include <optional>

namespace fabric_check {

/// Why a counter has no delta.
enum class NoDelta : std::uint8_t {
    absent_before, ///< the other side has it
    absent_after,
    absent,        ///< neither side has it
    unsupported,   ///< the port says it has no such counter
    unparsable,
    denied,
    timed_out,
    reset,         ///< it went down: somebody reset it
    saturated,     ///< the after-value is at its verified cap
    width_changed, ///< read from fields of different width: two counters, not one
    frozen,        ///< it stood still while its port moved data
    implausible,   ///< more than the link carries in the time
};
const char *to_string(NoDelta why) noexcept; ///< "reset", "saturated", "absent at start", ...

/// No value on one side at least (true), or values that prove nothing (false).
constexpr bool is_missing(NoDelta why) noexcept { return why < NoDelta::reset; }

/// Neither side has it, or none was ever there.
constexpr bool is_nowhere(NoDelta why) noexcept { return why == NoDelta::absent || why == NoDelta::unsupported; }

/// END minus START of one counter, or the reason there is none. Counter's own unit.
struct Delta {
    std::optional<std::uint64_t> value;
    NoDelta why = NoDelta::absent; ///< meaningful only without a value
    bool operator==(const Delta &) const = default;
};
using Deltas = ByCounter<Delta>;

/// Null: the side does not have the counter. width: bits of the field when the readings do not say; 0: no cap. A value
/// above its cap disproves the width, and no cap applies.
Delta delta_of(const Reading *before, const Reading *after, std::uint8_t width) noexcept;
/// Over the union of both sides' counters, widths from the table.
Deltas deltas_of(const Counters &before, const Counters &after);

} // namespace fabric_check
