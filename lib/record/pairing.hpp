// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fabric_check {

/// What one end of a job (a ticket) may take of one node's records. Times in nanoseconds since the epoch.
struct PairingWindow {
    std::int64_t ticket_ns = 0;           ///< when the controller hook ran, on the controller's clock
    std::int64_t not_before_ns = 0;       ///< end of the job's previous instance; 0: there was none, or it is not known
    std::int64_t skew_ns = 2'000'000'000; ///< how far a node's clock may be ahead
};

struct Pairing {
    std::optional<std::size_t> start, end; ///< indexes into the times given
};

/// Pairs one node's START and END records (in any order, of any number of instances) for one ticket: START is the
/// newest not later than the ticket and the skew, END the first after that START and before any later START. Without a
/// START, END is the first that is not earlier than the ticket less the skew. Slurm's restart counts are never asked:
/// at a requeue the epilogs see one more than the prologs saw. Pure.
Pairing pair_records(const std::vector<std::int64_t> &starts, const std::vector<std::int64_t> &ends,
                     const PairingWindow &window);

} // namespace fabric_check
