// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/text.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

/// Reading JSON of an older or newer version, or of another origin: what is missing or of another type reads as nothing.
namespace fabric_check::odd_json {

using nlohmann::ordered_json;

inline const ordered_json &at(const ordered_json &json, const char *key) {
    static const ordered_json nothing;
    if (!json.is_object()) {
        return nothing;
    }
    const auto found = json.find(key);
    return found == json.end() ? nothing : *found;
}
inline double number(const ordered_json &json, const char *key) {
    const ordered_json &value = at(json, key);
    return value.is_number() ? value.get<double>() : 0;
}
/// A stranger's number as a count: 0 for what is none, at most 10^19.
inline std::uint64_t whole(double value) {
    return value > 0 ? static_cast<std::uint64_t>(std::min(value, 1e19)) : 0;
}
/// Safe to print on a terminal.
inline std::string text(const ordered_json &json, const char *key) {
    const ordered_json &value = at(json, key);
    return value.is_string() ? printable(value.get<std::string>()) : std::string();
}
inline bool flag(const ordered_json &json, const char *key, bool fallback) {
    const ordered_json &value = at(json, key);
    return value.is_boolean() ? value.get<bool>() : fallback;
}
inline const ordered_json &list(const ordered_json &json, const char *key) {
    static const ordered_json empty = ordered_json::array();
    const ordered_json &value = at(json, key);
    return value.is_array() ? value : empty;
}

} // namespace fabric_check::odd_json
