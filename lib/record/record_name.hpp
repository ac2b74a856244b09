// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fabric_check {

/// What a file in the spool's records/ is.
enum class RecordKind : std::uint8_t { start, mid, end, scout_start, scout_end, failed };
const char *to_string(RecordKind kind) noexcept; ///< "start", "mid", "scout-end", "failed", ...

/// The name of a record: "<job>.<node>.<time_ns>.<kind>". The node is percent-encoded so that it holds no dot, slash or
/// control byte; a name is valid only in the one form that file_name() writes.
struct RecordName {
    std::uint32_t job_id = 0;
    std::string node;
    std::int64_t time_ns = 0;
    RecordKind kind = RecordKind::start;
    bool operator==(const RecordName &) const = default;

    std::string file_name() const;
};

/// Nothing for what is not a record's name (temporary files, payloads, strangers' files).
std::optional<RecordName> parse_record_name(std::string_view file_name);

/// What a host may be called: 1 to 255 printable ASCII characters without blanks and slashes, not starting with '.' or
/// '-'.
bool valid_node_name(std::string_view name) noexcept;

inline constexpr std::string_view payload_suffix = ".payload"; ///< of the file beside a signed digest

} // namespace fabric_check
