// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/delta.hpp"

#include <functional>
#include <string>
#include <vector>

namespace fabric_check {

enum class Outcome : std::uint8_t { clean, live, unusable, incomplete, no_traffic };

struct Unread {
    std::string counter;
    std::string reason; ///< "reset", "saturated", "absent at end", ...
    Layer layer = Layer::ungraded;
    bool missing = false; ///< true: no value on one side at least; false: values without evidence
};

struct LiveCounter {
    std::string counter;
    std::uint64_t delta = 0;
    Layer layer = Layer::ungraded;
};

/// The verdict on one port: the rules of the design, exactly.
struct PortVerdict {
    Outcome outcome = Outcome::clean;
    Layer layer = Layer::ungraded;     ///< lowest live layer when outcome is live
    std::vector<LiveCounter> live;     ///< sorted by name
    std::vector<Unread> unread;        ///< missing required, and unreadable graded, sorted by name
    /// "clean", "physical", ..., "unusable", "incomplete", "no-traffic"
    std::string word() const;
    /// What the verdict rests on: live counters of the layer; missing or unreadable ones.
    std::vector<std::string> detail() const;
};

/// Rates and bars of one port. What the functions refer to must outlive the call only.
struct PortRules {
    /// Must the counter be there? (required_in_ib bound to the port's kind, or the whole profile for `diff`.)
    std::function<bool(const CounterInfo &)> required;
    /// Graded where present; empty: as the table says.
    std::function<bool(const CounterInfo &)> graded;
    double congestion_per_gb = 1000;
    std::optional<std::uint64_t> bytes; ///< moved over the port; nullopt: not known, never no-traffic
    std::uint64_t min_bytes = 0;        ///< below this: no-traffic (diff: 1)
    bool list_live_when_incomplete = true; ///< diff: false
};

/// A counter the table requires of another kind of port is a gap here when only one side has it; one it requires of
/// none is a gap nowhere. Congestion is a rate: without known bytes a congestion counter that moved is unreadable.
PortVerdict judge_port(const Deltas &deltas, const PortRules &rules);

/// Bytes from the data counters (times four, once): transmitted and received; nullopt where there is no delta.
std::optional<std::uint64_t> xmit_bytes(const Deltas &deltas);
std::optional<std::uint64_t> rcv_bytes(const Deltas &deltas);

} // namespace fabric_check
