// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check {

std::string_view trim(std::string_view text) noexcept; ///< blanks, tabs, CR, LF at both ends
std::vector<std::string_view> split(std::string_view text, char separator); ///< empty parts kept
/// All of `text` as a number; base 10, or 16 with or without 0x. Nothing on overflow, sign, blank or trailing bytes.
std::optional<std::uint64_t> parse_u64(std::string_view text, int base = 10) noexcept;
/// "1000000000000", "1TB", "1.5G", "64kB": decimal prefixes, an optional B; whole bytes, rounded. Nothing on overflow or
/// anything else.
std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept;
/// RFC 3986 style: everything but letters, digits and -._~:/>+()[],%-free punctuation listed in text.cpp becomes %XX.
/// Never yields blank, '|', quote, ';', control or non-ASCII bytes.
std::string percent_encode(std::string_view text);
/// Hostile bytes for a terminal or a log: control and non-ASCII bytes become \xNN.
std::string printable(std::string_view text);
/// 3000000000000 -> "3.0TB"; decimal prefixes; below 1 kB "999B". `gap` stands before the unit.
std::string human_bytes(std::uint64_t bytes, std::string_view gap = {});
/// RFC 3339 in UTC with seconds.
std::string format_time(std::int64_t seconds);
/// The same in the local time zone with its offset: "2026-02-28T23:59:59+01:00".
std::string format_local_time(std::int64_t seconds);

} // namespace fabric_check
