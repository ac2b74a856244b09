// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/pairing.hpp"

namespace fabric_check {

Pairing pair_records(const std::vector<std::int64_t> &starts, const std::vector<std::int64_t> &ends,
                     const PairingWindow &window) {
    const auto latest_start = window.ticket_ns + window.skew_ns;
    Pairing pairing;
    std::optional<std::int64_t> next_start; ///< the first START of a later instance
    for (std::size_t i = 0; i < starts.size(); ++i) {
        if (starts[i] < window.not_before_ns)
            continue;
        if (starts[i] > latest_start) {
            if (!next_start || starts[i] < *next_start)
                next_start = starts[i];
        } else if (!pairing.start || starts[i] > starts[*pairing.start]) {
            pairing.start = i;
        }
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const bool after =
            pairing.start ? ends[i] > starts[*pairing.start] : ends[i] >= window.ticket_ns - window.skew_ns;
        if (!after || ends[i] < window.not_before_ns || (next_start && ends[i] >= *next_start))
            continue;
        if (!pairing.end || ends[i] < ends[*pairing.end])
            pairing.end = i;
    }
    return pairing;
}

} // namespace fabric_check
