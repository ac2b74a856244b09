// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "snapshot/model.hpp"
#include "textfiles/counter_list.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::textfiles {

/// What kind of name a port has in somebody's file.
enum class KeyKind : std::uint8_t {
    none,   ///< the file does not say which port
    device, ///< "mlx5_0:1", "node07/mlx5_0:1": from sysfs paths, `rdma statistic` and snapshots
    lid,    ///< "lid 12:1", "SwitchA:25": as the fabric knows it, from perfquery and ibqueryerrors
    netdev, ///< "eth0": from ethtool
};

/// What wrote a part of a file.
enum class Tool : std::uint8_t { perfquery, ethtool, tree }; ///< tree: grep over sysfs, and `rdma statistic`

/// Counters of one port out of one file.
struct PortCounters {
    KeyKind kind = KeyKind::none;
    std::string port;    ///< empty for KeyKind::none
    std::string file;    ///< the first that told of it
    std::string driver;  ///< kernel driver; empty if not known
    std::string boot_id; ///< of the node; empty if not known
    std::int64_t time_ns = 0; ///< when it was read, since the epoch; 0: not known
    LinkLayer link_layer = LinkLayer::unknown;
    bool card = false;  ///< a card's own hw_counters/: `port` is the card, and settle_cards() finds out which port it is
    bool apart = false; ///< its file names ports to other counters of the same tool: it is none of those
    std::string node; ///< as a snapshot names it; empty if not known
    std::shared_ptr<const HcaPort> hca; ///< the port as a snapshot tells it, without its counters; null: from elsewhere
    CounterList counters;
};

/// Something in a file that was not understood or not used.
struct TextProblem {
    std::string file;
    std::size_t line = 0; ///< 0: the file as a whole
    std::string what;
    std::string text() const; ///< "FILE:LINE: what"
    bool operator==(const TextProblem &) const = default;
};

struct Parsed {
    std::vector<PortCounters> ports;
    std::vector<TextProblem> problems; ///< by line
};

/// Reads, in any mixture and recognised line by line: perfquery's output (classic, extended, details; any number of
/// "# Port" blocks), ibqueryerrors', `grep -H . …/hw_counters/*` with or without grep's complaints, `ethtool -S` (of
/// several devices under headings "eth0:" or "# eth0"), `rdma statistic` in lines, tables and JSON, and our own
/// snapshots. Blank lines, banners and comments are passed over; anything else is a problem with its line. `file` is
/// named in problems. Hostile bytes are expected.
Parsed parse_text(std::string_view content, const std::string &file);

/// Adds `more` under the port it belongs to. Returns the counters that were there already with another value: they have
/// none any more, for nobody knows which is right.
std::vector<std::string> merge(std::vector<PortCounters> &ports, PortCounters more,
                               OnDispute dispute = OnDispute::no_value);
/// How that is told. `first`: where the other value stands, "line 4", or empty.
std::string given_twice(std::string_view what, std::string_view first = {});

} // namespace fabric_check::textfiles
