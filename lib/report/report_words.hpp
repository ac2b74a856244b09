// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fabric_check {

/// The verdict of a report in one or two plain sentences.
std::string verdict_sentence(const nlohmann::ordered_json &report);
/// What a counter, or one of "width", "speed", "state", "hot", means; empty when nobody knows.
std::string counter_words(const std::string &counter);
/// Why a cable was full, by the word in the report.
std::string hot_words(const std::string &cause);
/// A reason for a missing value, explained where it is one word.
std::string reason_words(const std::string &reason);
/// 12000 -> "12,000".
std::string with_commas(std::uint64_t value);
/// Lines of at most `columns` broken at blanks; longer words stay whole. Each line ends with a newline.
std::string wrapped(const std::string &words, std::size_t columns, const std::string &first_indent,
                    const std::string &indent);

} // namespace fabric_check
