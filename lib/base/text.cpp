// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <ctime>

namespace fabric_check {

namespace {

constexpr std::string_view blanks = " \t\r\n";

bool is_plain(unsigned char c) noexcept {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) {
        return true;
    }
    // '<' and '>' name links and directions, brackets and commas hostlists. '=' separates key and value, '%' escapes.
    return std::string_view("-._~:/<>+()[],@#").find(static_cast<char>(c)) != std::string_view::npos;
}

} // namespace

std::string_view trim(std::string_view text) noexcept {
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(at + 1);
    }
}

std::optional<std::uint64_t> parse_u64(std::string_view text, int base) noexcept {
    if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) {
        text.remove_prefix(2);
    }
    std::uint64_t value = 0;
    const char *end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value, base);
    if (error != std::errc() || stopped != end) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) noexcept {
    if (const auto whole = parse_u64(text)) {
        return whole;
    }
    if (text.ends_with('B')) {
        text.remove_suffix(1);
    }
    const auto prefix = text.empty() ? std::string_view::npos : std::string_view("kMGTPE").find(text.back());
    double factor = 1;
    if (prefix != std::string_view::npos) {
        text.remove_suffix(1);
        for (std::size_t step = 0; step <= prefix; ++step) {
            factor *= 1000;
        }
    }
    double value = 0;
    const char *end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    // 2^64 is the first double that does not fit.
    if (error != std::errc() || stopped != end || !(value >= 0) || !(value * factor < 18446744073709551616.0)) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(std::round(value * factor));
}

std::string percent_encode(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (is_plain(byte)) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", byte);
        }
    }
    return out;
}

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f) {
            out += c;
        } else {
            out += fmt::format("\\x{:02x}", byte);
        }
    }
    return out;
}

std::string human_bytes(std::uint64_t bytes, std::string_view gap) {
    if (bytes < 1000) {
        return fmt::format("{}{}B", bytes, gap);
    }
    constexpr std::string_view prefixes = "kMGTPE";
    double value = static_cast<double>(bytes) / 1000.0;
    std::size_t prefix = 0;
    // 999.95 and more would print as 1000.0 of the lower prefix.
    while (value >= 999.95 && prefix + 1 < prefixes.size()) {
        value /= 1000.0;
        ++prefix;
    }
    return fmt::format("{:.1f}{}{}B", value, gap, prefixes[prefix]);
}

std::string format_time(std::int64_t seconds) {
    const std::time_t time = seconds;
    std::tm parts{};
    if (gmtime_r(&time, &parts) == nullptr) {
        return fmt::format("@{}", seconds);
    }
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900L, parts.tm_mon + 1, parts.tm_mday,
                       parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string format_local_time(std::int64_t seconds) {
    const std::time_t time = seconds;
    std::tm parts{};
    if (localtime_r(&time, &parts) == nullptr) {
        return fmt::format("@{}", seconds);
    }
    const long minutes = (parts.tm_gmtoff < 0 ? -parts.tm_gmtoff : parts.tm_gmtoff) / 60;
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{:02}:{:02}", parts.tm_year + 1900L, parts.tm_mon + 1,
                       parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_gmtoff < 0 ? '-' : '+',
                       minutes / 60, minutes % 60);
}

} // namespace fabric_check
