// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/reading.hpp"
#include "sample/codes.hpp"
#include "sample/layout.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::sample {

/// What happened to a counter, or to a port, in an interval. Values are the counter's own, in its own unit.
enum class EventKind : std::uint8_t {
    moved,     ///< from `before` to `after`; of counters of traffic and waiting this is a code instead
    reset,     ///< somebody reset it: it was `before` at the interval's start, and is `after`, which is less
    saturated, ///< it reached its cap, `after`
    unread,    ///< it could not be read any more, for the reason `why`; `before` was its last value
    silent,    ///< nothing of the port could be read in this pass, for the reason `why`
};

struct Event {
    std::uint32_t port = 0; ///< column of the layout
    std::uint32_t name = 0; ///< index into Block::names; not for silent
    EventKind kind = EventKind::moved;
    Absence why = Absence::absent;
    std::uint64_t before = 0, after = 0;
    bool operator==(const Event &) const = default;
};

/// All that is kept of one interval: what lies between two passes over the fabric.
struct Block {
    std::int64_t from_ns = 0, to_ns = 0; ///< beginnings of the two passes, since the epoch
    std::vector<std::uint8_t> xmit, rcv; ///< rate codes by column
    std::vector<std::uint8_t> wait;      ///< wait codes by column; unknown_code: not known
    std::vector<std::string> names;      ///< of counters with events
    std::vector<Event> events;           ///< by column
    bool operator==(const Block &) const = default;
};

inline constexpr std::size_t most_events = std::size_t{1} << 20; ///< of one block; beyond, encode_block drops
inline constexpr std::size_t most_names = 4096;

/// Column by column, and compressed. What a link's end received is kept as the difference from what the other end sent.
std::string encode_block(const Layout &layout, const Block &block);
/// Refuses what is not of this layout, and anything a reader could stumble over.
Result<Block> decode_block(const Layout &layout, std::string_view bytes);

} // namespace fabric_check::sample
