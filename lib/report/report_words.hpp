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
/// The head of a reason, and what the system said at its end: without explanations in brackets or after a semicolon,
/// of paths the last component only; about 60 characters at most.
std::string short_reason(const std::string &reason);
/// Which way a group's traffic flows, by "inside", "from" or "to"; `of_job`: the nodes are a job's.
const char *direction_words(const std::string &direction, bool of_job = true);
/// "45 s", "9 min", "5 h", "3 days".
std::string duration_words(double seconds);
/// 12000 -> "12,000".
std::string with_commas(std::uint64_t value);
/// Lines of at most `columns` broken at blanks; longer words stay whole. Each line ends with a newline.
std::string wrapped(const std::string &words, std::size_t columns, const std::string &first_indent,
                    const std::string &indent);

} // namespace fabric_check
