// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/reading.hpp"
#include "snapshot/model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::textfiles {

/// What kind of name a port has in somebody's file.
enum class KeyKind : std::uint8_t {
    none,   ///< the file does not say which port
    device, ///< "mlx5_0:1", "node07/mlx5_0:1": from sysfs paths and snapshots
    lid,    ///< "lid 12:1": from perfquery
};

/// Counters of one port out of one file.
struct PortCounters {
    KeyKind kind = KeyKind::none;
    std::string port;   ///< empty for KeyKind::none
    std::string driver; ///< kernel driver; empty if not known
    Counters counters;  ///< canonical names
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
    std::vector<TextProblem> problems;
};

/// Reads perfquery's output (classic and extended, any number of "# Port" blocks), `grep -H . …/hw_counters/*` with or
/// without grep's complaints, and mixtures of them; recognised line by line. Blank lines, banners and comments are
/// passed over; anything else is a problem with its line. `file` is named in problems. Hostile bytes are expected.
Parsed parse_text(std::string_view content, const std::string &file);

/// Adds `more` under the port it belongs to; a 64-bit reading wins over a narrow one. Returns the counters that were
/// there already with another value (the first one is kept).
std::vector<std::string> merge(std::vector<PortCounters> &ports, PortCounters more);

} // namespace fabric_check::textfiles
