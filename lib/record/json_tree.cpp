// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/json_tree.hpp"

#include <charconv>
#include <limits>

namespace fabric_check {
namespace {

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

std::optional<unsigned> four_hex(std::string_view text) noexcept {
    unsigned value = 0;
    if (text.size() < 4)
        return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + 4, value, 16);
    return error == std::errc() && end == text.data() + 4 ? std::optional(value) : std::nullopt;
}

bool is_high(unsigned code) noexcept {
    return code >= 0xd800 && code <= 0xdbff;
}
bool is_low(unsigned code) noexcept {
    return code >= 0xdc00 && code <= 0xdfff;
}

/// Length of the UTF-8 sequence that begins here with a byte above 0x7f; 0: none does.
std::size_t sequence(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto first = byte(0);
    const std::size_t length = first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3
                                                                : first >= 0xf0 && first <= 0xf4   ? 4
                                                                                                   : 0;
    if (length == 0 || text.size() < length)
        return 0;
    // Neither longer than needed, nor a surrogate, nor above U+10FFFF.
    const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (byte(1) < low || byte(1) > high)
        return 0;
    for (std::size_t i = 2; i < length; ++i)
        if (byte(i) < 0x80 || byte(i) > 0xbf)
            return 0;
    return length;
}

void append_utf8(std::string &out, unsigned code) {
    const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0 | code >> 6);
        put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        put(0xe0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3f));
        put(0x80 | (code & 0x3f));
    } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3f));
        put(0x80 | (code >> 6 & 0x3f));
        put(0x80 | (code & 0x3f));
    }
}

/// Of a string that parsed.
std::string unescaped(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] != '\\') {
            out += raw[i];
            continue;
        }
        switch (const char c = raw[++i]) {
        case 'b':
            out += '\b';
            break;
        case 'f':
            out += '\f';
            break;
        case 'n':
            out += '\n';
            break;
        case 'r':
            out += '\r';
            break;
        case 't':
            out += '\t';
            break;
        case 'u': {
            unsigned code = four_hex(raw.substr(i + 1)).value_or(0xfffd);
            i += 4;
            if (is_high(code)) {
                code = 0x10000 + ((code - 0xd800) << 10) + (four_hex(raw.substr(i + 3)).value_or(0xdc00) - 0xdc00);
                i += 6;
            }
            append_utf8(out, code);
            break;
        }
        default: // a quote or a slash
            out += c;
        }
    }
    return out;
}

/// Reads scalars; every function leaves `at` behind what it read, and false is no JSON.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}
    std::size_t at = 0;

    bool ended() const noexcept { return at >= text_.size(); }
    char next() const noexcept { return ended() ? '\0' : text_[at]; } // which begins nothing
    void blanks() noexcept {
        while (!ended() && (text_[at] == ' ' || text_[at] == '\n' || text_[at] == '\t' || text_[at] == '\r'))
            ++at;
    }
    bool take(char c) noexcept {
        if (next() != c)
            return false;
        ++at;
        return true;
    }
    bool word(std::string_view word) noexcept {
        if (text_.substr(at, word.size()) != word)
            return false;
        at += word.size();
        return true;
    }
    bool digits() noexcept {
        const auto first = at;
        while (is_digit(next()))
            ++at;
        return at > first;
    }
    bool number() noexcept {
        take('-');
        if (!take('0') && !digits())
            return false;
        if (take('.') && !digits())
            return false;
        if (next() == 'e' || next() == 'E') {
            ++at;
            if (next() == '+' || next() == '-')
                ++at;
            return digits();
        }
        return true;
    }
    /// Behind the opening quote; behind the closing one afterwards.
    bool string(bool &escaped) noexcept {
        while (!ended()) {
            const auto c = static_cast<unsigned char>(text_[at]);
            if (c == '"') {
                ++at;
                return true;
            }
            if (c == '\\') {
                escaped = true;
                ++at;
                if (!escape())
                    return false;
            } else if (c < 0x20) {
                return false;
            } else if (c < 0x80) {
                ++at;
            } else {
                const auto length = sequence(text_.substr(at));
                if (length == 0)
                    return false;
                at += length;
            }
        }
        return false;
    }

private:
    bool escape() noexcept {
        const char c = next();
        ++at;
        if (c != 'u')
            return c != '\0' && std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
        const auto code = four_hex(text_.substr(std::min(at, text_.size())));
        if (!code || is_low(*code))
            return false;
        at += 4;
        if (!is_high(*code))
            return true;
        const auto second = word("\\u") ? four_hex(text_.substr(at)) : std::nullopt;
        at += 4;
        return second && is_low(*second);
    }

    std::string_view text_;
};

} // namespace

bool JsonTree::parse(std::string_view text) {
    text_ = text;
    entries_.clear();
    if (text.size() >= std::numeric_limits<std::uint32_t>::max())
        return false;
    entries_.reserve(text.size() / 24 + 8);
    Scanner scan(text);
    std::vector<std::uint32_t> open; ///< containers around what comes next
    const auto here = [&] { return static_cast<std::uint32_t>(scan.at); };
    while (true) {
        Entry entry;
        scan.blanks();
        if (!open.empty() && entries_[open.back()].kind == Kind::object) {
            if (!scan.take('"'))
                return false;
            entry.key_begin = here();
            if (!scan.string(entry.key_escaped))
                return false;
            entry.key_size = here() - 1 - entry.key_begin;
            scan.blanks();
            if (!scan.take(':'))
                return false;
            scan.blanks();
        }
        entry.begin = here();
        const char first = scan.next();
        bool good = true;
        if (first == '"') {
            entry.kind = Kind::string;
            ++scan.at;
            entry.begin = here();
            good = scan.string(entry.escaped);
            entry.size = here() - 1 - entry.begin;
        } else if (first == '{' || first == '[') {
            entry.kind = first == '{' ? Kind::object : Kind::array;
            ++scan.at;
        } else {
            entry.kind = first == 't' || first == 'f' ? Kind::boolean : first == 'n' ? Kind::null : Kind::number;
            good = first == 't'   ? scan.word("true")
                   : first == 'f' ? scan.word("false")
                   : first == 'n' ? scan.word("null")
                                  : scan.number();
            entry.size = here() - entry.begin;
        }
        if (!good)
            return false;
        const auto index = static_cast<std::uint32_t>(entries_.size());
        entry.next = index + 1;
        if (!open.empty())
            ++entries_[open.back()].size;
        entries_.push_back(entry);
        if (entry.kind == Kind::object || entry.kind == Kind::array) {
            open.push_back(index);
            scan.blanks();
            if (scan.next() != (entry.kind == Kind::object ? '}' : ']'))
                continue;
        }
        // Behind a value, or before the end of an empty container.
        while (true) {
            scan.blanks();
            if (open.empty())
                return scan.ended();
            auto &around = entries_[open.back()];
            if (scan.take(around.kind == Kind::object ? '}' : ']')) {
                around.next = static_cast<std::uint32_t>(entries_.size());
                open.pop_back();
                continue;
            }
            if (!scan.take(','))
                return false;
            break;
        }
    }
}

JsonValue JsonTree::root() const {
    return {this, 0};
}

std::optional<std::uint64_t> JsonValue::whole() const noexcept {
    if (!is_number())
        return std::nullopt;
    const auto text = raw();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> JsonValue::real() const noexcept {
    if (!is_number())
        return std::nullopt;
    const auto text = raw();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool JsonValue::boolean() const noexcept {
    return is_boolean() && raw() == "true";
}

std::string JsonValue::text() const {
    return entry().escaped ? unescaped(raw()) : std::string(raw());
}

std::string JsonValue::key() const {
    return entry().key_escaped ? unescaped(raw_key()) : std::string(raw_key());
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
    std::optional<JsonValue> found;
    if (!is_object())
        return found;
    for (const auto member : *this)
        if (member.has_key(key))
            found = member;
    return found;
}

bool JsonValue::has_key(std::string_view key) const {
    return entry().key_escaped ? unescaped(raw_key()) == key : raw_key() == key;
}

std::optional<JsonValue> JsonValue::find(std::string_view key, Iterator &from) const {
    if (!is_object())
        return std::nullopt;
    const auto look = [&](Iterator at, const Iterator &until) {
        while (!(at == until) && !(*at).has_key(key))
            ++at;
        return at;
    };
    auto at = look(from, end());
    if (at == end()) {
        at = look(begin(), from);
        if (at == from)
            return std::nullopt;
    }
    from = at;
    return *at;
}

} // namespace fabric_check
