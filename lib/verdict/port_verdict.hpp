// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/bar.hpp"
#include "verdict/delta.hpp"

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
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
    std::string bar; ///< the one it crossed: "0", "1000 per GB", "12 per hour"
    std::string bar_note() const; ///< "more than 1000 per GB"; empty where none is tolerated
};

/// The verdict on one port: the rules of the design, exactly.
struct PortVerdict {
    Outcome outcome = Outcome::clean;
    Layer layer = Layer::ungraded; ///< lowest live layer when outcome is live
    std::vector<LiveCounter> live; ///< sorted by name
    std::vector<LiveCounter> below; ///< errors that moved and did not cross the site's bar, sorted by name
    std::vector<Unread> unread;    ///< missing required, and unreadable graded, sorted by name
    /// "clean", "physical", ..., "unusable", "incomplete", "no-traffic"
    std::string word() const;
    /// What the verdict rests on: live counters of the layer; missing or unreadable ones.
    std::vector<std::string> detail() const;
};

/// What one port is, what it moved, and the bars. What it refers to must outlive the call only.
struct PortRules {
    Profile profile = Profile::ib;
    PortKind kind = PortKind::hca;
    std::string_view driver;    ///< of a card, as sysfs names it; empty: not known
    bool whole_profile = false; ///< every counter of the profile must be there, whatever the port is (diff --profile)
    /// Not graded here although the table grades it; empty: none.
    std::function<bool(const CounterInfo &)> ungraded;
    double congestion_per_gb = 1000;    ///< bar of the layer congestion; all other layers tolerate nothing
    const Bars *bars = nullptr;         ///< come first
    std::optional<std::uint64_t> bytes; ///< moved over the port, both ways; nullopt: not known, never no-traffic
    /// One way each, where known: pauses received hold back what is sent, and the reverse.
    std::optional<std::uint64_t> sent, received;
    double seconds = 0;                    ///< between the readings; 0: not known
    std::uint64_t min_bytes = 0;           ///< below this: no-traffic (diff: 1)
    bool list_live_when_incomplete = true; ///< diff: false
};

/// A counter the table requires of another kind of port, or of cards with the capability, is a gap here when only one
/// side has it; one it requires of none is a gap nowhere. A rate without what it is a rate of is unreadable. Families are graded for the priorities
/// with flow control: those that have an rx_prio<n>_pause. Without any, and without 802.3x pauses, a RoCE port is
/// incomplete.
PortVerdict judge_port(const Deltas &deltas, const PortRules &rules);

/// The counters that tell the bytes of a port each way; the first that is there counts.
inline constexpr std::array sent_byte_counters{"PortXmitData", "tx_vport_rdma_unicast_bytes", "tx_bytes_phy"};
inline constexpr std::array received_byte_counters{"PortRcvData", "rx_vport_rdma_unicast_bytes", "rx_bytes_phy"};

/// Bytes transmitted and received. From the port's data counters (times four, once); where the port has none from those
/// of its network device: of RDMA, else all on the wire, else of the priorities with flow control, else of the
/// device. nullopt where there is no delta.
std::optional<std::uint64_t> xmit_bytes(const Deltas &deltas);
std::optional<std::uint64_t> rcv_bytes(const Deltas &deltas);

} // namespace fabric_check
