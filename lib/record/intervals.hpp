// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "snapshot/model.hpp"
#include "verdict/delta.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fabric_check {

/// A stretch of time in which a counter's events are lost. Nanoseconds since the epoch.
struct LostSpan {
    std::int64_t from_ns = 0, to_ns = 0;
    NoDelta why = NoDelta::reset;
    bool operator==(const LostSpan &) const = default;
};

/// What one counter did in one interval. It moved by `delta` between from_ns and to_ns, which may be narrower than the
/// interval where several were merged, and begins earlier where the counter could not be read for a time.
struct CounterMoves {
    std::uint64_t delta = 0;
    std::int64_t from_ns = 0, to_ns = 0; ///< of the delta; both 0 without one
    std::vector<LostSpan> lost;          ///< in order of time, most_lost_spans at most
    bool operator==(const CounterMoves &) const = default;
};

/// What moved, or was lost, between two readings of a node. A counter that did neither is not in it.
struct Interval {
    std::int64_t from_ns = 0, to_ns = 0;
    std::map<std::string, std::map<std::string, CounterMoves>> ports; ///< by port ("mlx5_0:1"), by counter
    bool operator==(const Interval &) const = default;
};
using Intervals = std::vector<Interval>; ///< one after the other, without gaps

inline constexpr std::size_t most_intervals = 48;
inline constexpr std::size_t most_lost_spans = 16; ///< of one counter in one interval; beyond it neighbours are joined

/// The last reading of a counter that had a value, and when it was.
struct BaseReading {
    Reading reading;
    std::int64_t time_ns = 0;
    bool operator==(const BaseReading &) const = default;
};
using Bases = std::map<std::string, std::map<std::string, BaseReading>>; ///< by port, by counter

/// Is it kept per interval? What is judged, and the data counters.
bool is_tracked(std::string_view counter) noexcept;

/// The tracked counters of the snapshot that have a value.
Bases bases_of(const NodeSnapshot &snapshot);

/// Appends the interval from `last_ns` to the snapshot, measured against `bases`, which move on to it. A counter without
/// a value keeps its base, so that nothing is lost if it can be read again later; `closing`: there will be no later, it is
/// lost. At most most_intervals are kept: beyond, the adjacent pair that is shortest together becomes one. False, and
/// nothing is changed, when the snapshot is not later than last_ns. O(counters + intervals).
bool fold(Intervals &intervals, Bases &bases, std::int64_t last_ns, const NodeSnapshot &snapshot, bool closing);

/// `b` follows `a`. Deltas are summed, lost spans kept.
Interval merged(Interval a, const Interval &b);

/// One movement of a counter, for "when".
struct Movement {
    std::int64_t from_ns = 0, to_ns = 0;
    std::uint64_t delta = 0;
    bool operator==(const Movement &) const = default;
};

/// A counter over all intervals.
struct CounterTotal {
    std::uint64_t delta = 0;   ///< over everything that is known
    std::int64_t lost_ns = 0;  ///< how long its events are lost
    std::vector<LostSpan> lost;
    std::vector<Movement> moves;
};
/// The counters of a port that moved or were lost in any interval.
std::map<std::string, CounterTotal> totals_of(const Intervals &intervals, const std::string &port);

/// Do they lead from one moment to the other without a gap? Empty: no.
bool spans(const Intervals &intervals, std::int64_t from_ns, std::int64_t to_ns) noexcept;

} // namespace fabric_check
