// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/record_name.hpp"

#include "base/text.hpp"

#include <array>
#include <limits>

namespace fabric_check {
namespace {

constexpr std::array kinds = {RecordKind::start,       RecordKind::mid,       RecordKind::end,
                              RecordKind::scout_start, RecordKind::scout_end, RecordKind::failed};

bool plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

std::string encode_node(std::string_view node) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string text;
    for (const char c : node) {
        if (plain(c)) {
            text += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        text += '%';
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::optional<std::string> decode_node(std::string_view text) {
    std::string node;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            node += text[i];
            continue;
        }
        const auto byte = text.size() - i > 2 ? parse_u64(text.substr(i + 1, 2), 16) : std::nullopt;
        if (!byte)
            return std::nullopt;
        node += static_cast<char>(*byte);
        i += 2;
    }
    return node;
}

} // namespace

const char *to_string(RecordKind kind) noexcept {
    switch (kind) {
    case RecordKind::start:
        return "start";
    case RecordKind::mid:
        return "mid";
    case RecordKind::end:
        return "end";
    case RecordKind::scout_start:
        return "scout-start";
    case RecordKind::scout_end:
        return "scout-end";
    case RecordKind::failed:
        return "failed";
    }
    return "unknown";
}

std::string RecordName::file_name() const {
    return std::to_string(job_id) + "." + encode_node(node) + "." + std::to_string(time_ns) + "." + to_string(kind);
}

std::optional<RecordName> parse_record_name(std::string_view file_name) {
    const auto parts = split(file_name, '.');
    if (parts.size() != 4)
        return std::nullopt;
    const auto job = parse_u64(parts[0]);
    auto node = decode_node(parts[1]);
    const auto time = parse_u64(parts[2]);
    if (!job || *job == 0 || *job > std::numeric_limits<std::uint32_t>::max() || !node || !valid_node_name(*node) ||
        !time || *time > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return std::nullopt;
    for (const auto kind : kinds) {
        if (parts[3] != to_string(kind))
            continue;
        RecordName name{static_cast<std::uint32_t>(*job), std::move(*node), static_cast<std::int64_t>(*time), kind};
        // "007" and "7", "%41" and "A" would be two files of one name.
        if (name.file_name() != file_name)
            return std::nullopt;
        return name;
    }
    return std::nullopt;
}

bool valid_node_name(std::string_view name) noexcept {
    if (name.empty() || name.size() > 255 || name.front() == '.' || name.front() == '-')
        return false;
    for (const char c : name)
        if (c <= ' ' || c > '~' || c == '/')
            return false;
    return true;
}

} // namespace fabric_check
