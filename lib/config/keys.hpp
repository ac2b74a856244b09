// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "config/config.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fabric_check::config {

/// What a string may be.
struct TextRule {
    std::function<std::string &(Config &)> field;
    std::vector<std::string_view> choices; ///< empty: any
    bool path = false;                     ///< absolute
    bool may_be_empty = true;
    bool hostlist = false;
    bool user = false; ///< somebody this host knows
    std::string (*complaint)(const std::string &) = nullptr; ///< what is wrong with a value that is not empty
    std::string_view valid = {};                             ///< what `complaint` lets pass
};
/// A list of strings, none of them empty.
struct TextsRule {
    std::function<std::vector<std::string> &(Config &)> field;
    std::string_view valid;
};
struct IntegerRule {
    std::variant<std::function<unsigned &(Config &)>, std::function<std::uint64_t &(Config &)>> field;
    std::int64_t least = 0, most = std::numeric_limits<std::int32_t>::max();
};
struct NumberRule {
    std::function<double &(Config &)> field;
    double least = 0, most = 0;
    bool above_least = false; ///< the least itself is refused
};
struct BooleanRule {
    std::function<bool &(Config &)> field;
};

/// One key of the file: how it is explained, and how it is taken.
struct Key {
    const char *section; ///< "" top level
    const char *name;
    const char *unit; ///< "" where there is none to tell
    const char *meaning;
    std::variant<TextRule, IntegerRule, NumberRule, BooleanRule, TextsRule> rule;
};

/// In the order of the shipped file.
const std::vector<Key> &keys();

/// One section of the file and what it is about, in the order of the shipped file.
struct Section {
    const char *name;
    const char *about;
    bool free_keys; ///< its keys are the site's own: nodes, link types
};
const std::vector<Section> &sections();

/// The key's value in a configuration, as TOML.
std::string value_of(const Key &key, Config config);
/// "string", "integer", "number", "boolean", "strings"
const char *type_of(const Key &key) noexcept;
/// What the key accepts, for error messages and the shipped file: "report, off"; "1 to 128"; "an absolute path".
std::string valid_values(const Key &key);

/// The text of etc/fabric-check.toml: every key commented out at its default.
std::string shipped_file();

} // namespace fabric_check::config
