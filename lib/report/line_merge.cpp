// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/line.hpp"

#include <array>
#include <string_view>

namespace fabric_check {

namespace {

constexpr std::string_view separator = " ; ";
constexpr std::size_t column_limit = 65535; // a MySQL `text`; slurmdbd's columns are cut there without a word

constexpr std::array<std::string_view, 10> words{"physical",          "pause-storm", "lossless-broken", "transport-retry",
                                                 "routing-imbalance", "congestion",  "clean",           "unusable",
                                                 "incomplete",        "no-traffic"};

bool is_key(std::string_view key) noexcept {
    if (key.empty()) {
        return false;
    }
    for (const char c : key) {
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_') {
            return false;
        }
    }
    return true;
}

bool is_value(char c) noexcept { return c > ' ' && c < 0x7f && c != '|' && c != '"' && c != '\'' && c != ';'; }

/// Length of a line of ours at the start of `text`: "fabric=WORD", then "key=value" after single spaces; 0: none. Somebody
/// else's words that merely begin with fabric= have no verdict there, or go on with something that is no key=value.
std::size_t our_length(std::string_view text) noexcept {
    constexpr std::string_view first = "fabric=";
    if (!text.starts_with(first)) {
        return 0;
    }
    std::size_t at = first.size();
    const auto end_of_value = [&text](std::size_t from) {
        while (from < text.size() && is_value(text[from])) {
            ++from;
        }
        return from;
    };
    std::size_t end = end_of_value(at);
    bool known = false;
    for (const std::string_view word : words) {
        known = known || text.substr(at, end - at) == word;
    }
    if (!known) {
        return 0;
    }
    while (end + 1 < text.size() && text[end] == ' ' && text.substr(end, separator.size()) != separator) {
        const std::size_t equals = text.find('=', end + 1);
        if (equals == std::string_view::npos || !is_key(text.substr(end + 1, equals - end - 1))) {
            break; // whether what was read so far stands alone is for the caller to see
        }
        at = equals + 1;
        end = end_of_value(at);
    }
    return end;
}

struct Segment {
    std::size_t at = std::string_view::npos;
    std::size_t length = 0;
};

/// A segment ends with the field, blanks at its end included, or before a separator, be it one without its last blank at
/// the end of the field.
bool ends_segment(std::string_view after) noexcept {
    return after.starts_with(separator) || after == " ;" || after.find_first_not_of(' ') == std::string_view::npos;
}

/// Our first segment at or after `from`: right there, or after a separator. Separators may share a blank: "a ; ; b".
Segment find_ours(std::string_view field, std::size_t from) noexcept {
    std::size_t next = from;
    while (from <= field.size()) {
        const std::size_t length = our_length(field.substr(from));
        if (length > 0 && ends_segment(field.substr(from + length))) {
            return {from, length};
        }
        next = field.find(separator, next);
        if (next == std::string_view::npos) {
            break;
        }
        from = next + separator.size();
        ++next;
    }
    return {};
}

} // namespace

std::string merge_field(const std::string &existing, const std::string &line) {
    std::string merged = existing;
    const Segment ours = find_ours(merged, 0);
    if (ours.at != std::string::npos) {
        merged.replace(ours.at, ours.length, line);
        // A second one can only be ours, too, left by an interrupted update.
        for (Segment again = find_ours(merged, ours.at + line.size()); again.at != std::string::npos;
             again = find_ours(merged, ours.at + line.size())) {
            merged.erase(again.at - separator.size(), again.length + separator.size());
        }
    } else if (merged.empty() || merged.ends_with(separator)) {
        merged += line;
    } else {
        merged += separator;
        merged += line;
    }
    return merged.size() <= column_limit ? merged : std::string();
}

std::string our_segment(const std::string &field) {
    const Segment ours = find_ours(field, 0);
    return ours.at == std::string::npos ? std::string() : field.substr(ours.at, ours.length);
}

} // namespace fabric_check
