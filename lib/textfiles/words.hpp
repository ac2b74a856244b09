// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

/// The small change of reading lines.
namespace fabric_check::textfiles {

inline bool is_blank(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\r';
}

/// Blanks off both ends.
inline std::string_view strip(std::string_view text) noexcept {
    while (!text.empty() && is_blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_blank(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

/// Letters, digits and _, a letter first.
inline bool is_word(std::string_view text) noexcept {
    return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// Words with single blanks between: "packet_seq_err", "RNR received" (irdma has such files).
inline bool is_words(std::string_view text) noexcept {
    while (text.size() <= 64) {
        const auto blank = text.find(' ');
        if (!is_word(text.substr(0, blank))) {
            return false;
        }
        if (blank == std::string_view::npos) {
            return true;
        }
        text.remove_prefix(blank + 1);
    }
    return false;
}

/// What drivers call their statistics: "rx_prio3_pause", "port.rx_bytes", "[0]: rx_ucast_packets", "tx-0.packets".
inline bool is_statistic(std::string_view text) noexcept {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return c >= 0x20 && c < 0x7f && c != '/' && c != '"';
    });
}

/// Fields of perfquery's output that select or describe and count nothing.
inline bool is_selector(std::string_view name) noexcept {
    return name == "PortSelect" || name == "CounterSelect" || name == "CounterSelect2";
}

/// All of it; nothing on overflow.
inline std::optional<std::uint64_t> decimal(std::string_view text) noexcept {
    std::uint64_t value = 0;
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && stopped == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Decimal, or hexadecimal with 0x.
inline std::optional<std::uint64_t> number(std::string_view text) noexcept {
    return text.starts_with("0x") ? parse_u64(text, 16) : decimal(text);
}

/// The next word of a line, taken off its front.
inline std::string_view next_word(std::string_view &line) noexcept {
    line = strip(line);
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
}

} // namespace fabric_check::textfiles
