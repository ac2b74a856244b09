// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace fabric_check {

/// Why a counter was not read. Missing is not zero.
enum class Absence : std::uint8_t {
    absent,      ///< there is no such file or field
    unsupported, ///< the port says it has no such counter ("N/A (no PMA)", capability bit off, EINVAL)
    denied,      ///< permission
    unparsable,  ///< there, but not a number
    timed_out,   ///< no answer in time
};

/// One reading of one counter. Units are the counter's own (data counters: octets / 4).
struct Reading {
    std::optional<std::uint64_t> value;
    Absence absence = Absence::absent; ///< meaningful only without a value
    /// Bits of the field this value was read from (4, 8, 16, 32, 64); 0 where the table's width applies. A 64-bit
    /// copy of a classic counter says 64 here, so that its narrow cap does not apply.
    std::uint8_t width = 0;

    static Reading of(std::uint64_t v, std::uint8_t bits = 0) { return {v, Absence::absent, bits}; }
    static Reading missing(Absence why) { return {std::nullopt, why, 0}; }
    bool operator==(const Reading &) const = default;
};

/// "absent", "unsupported", ...: as it stands in records and reports.
const char *to_string(Absence absence) noexcept;
std::optional<Absence> absence_from(const char *text) noexcept;

} // namespace fabric_check
