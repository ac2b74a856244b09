// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "fabric/map.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::sample {

/// A switch port by what outlives maps.
struct PortId {
    std::uint64_t guid = 0; ///< the switch's node GUID
    std::uint8_t port = 0;
    auto operator<=>(const PortId &) const = default;
};

inline constexpr std::uint32_t no_peer = UINT32_MAX;
inline constexpr std::size_t most_ports = std::size_t{1} << 18;

/// One column of the ring: a switch port with a cable in it.
struct LayoutPort {
    PortId id;
    std::uint32_t line_mbps = 0;   ///< the link's data rate, Mb/s; 0: not known, and then no rates are kept
    std::uint32_t peer = no_peer;  ///< the column of the link's other end; no_peer: a host's
    double line_bytes_s() const noexcept { return line_mbps * 1e6 / 8; }
    bool operator==(const LayoutPort &) const = default;
};

/// The columns of a ring file, sorted by id.
struct Layout {
    std::vector<LayoutPort> ports;
    std::optional<std::uint32_t> find(const PortId &id) const; ///< its column
    bool operator==(const Layout &) const = default;
};

/// Every switch port of the map that has a link to a host or a switch. Switches without a LID are left out: nobody can
/// ask them.
Layout layout_of(const fabric::Map &map);

std::string encode_layout(const Layout &layout);
/// Refuses what is not sorted, and peers that are not each other's.
Result<Layout> decode_layout(std::string_view bytes);

} // namespace fabric_check::sample
