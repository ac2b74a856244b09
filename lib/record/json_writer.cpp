// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/json_writer.hpp"

#include <charconv>
#include <cmath>

namespace fabric_check {
namespace {

constexpr char digits[] = "0123456789abcdef";
constexpr char32_t replacement = 0xfffd;

bool is_plain(unsigned char c) noexcept {
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/// One character of UTF-8 at the front of `text`, which is not empty; of what is none, one byte goes and U+FFFD stands for
/// it. Over-long forms, surrogates and what lies beyond Unicode are none.
char32_t take_character(std::string_view &text) noexcept {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const auto first = byte(0);
    const std::size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : (first & 0xf0) == 0xe0 ? 3
                                                    : first >= 0xf0 && first < 0xf5                       ? 4
                                                                                                           : 0;
    char32_t character = length == 1 ? first : first & (0x7fU >> length);
    bool good = length != 0 && length <= text.size();
    for (std::size_t i = 1; good && i < length; ++i) {
        good = (byte(i) & 0xc0) == 0x80;
        character = character << 6 | (byte(i) & 0x3f);
    }
    if (length == 3)
        good = good && character >= 0x800 && (character < 0xd800 || character > 0xdfff);
    if (length == 4)
        good = good && character >= 0x10000 && character <= 0x10ffff;
    text.remove_prefix(good ? length : 1);
    return good ? character : replacement;
}

void append_unit(std::string &out, std::uint32_t unit) {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
        out += digits[unit >> shift & 15];
}

} // namespace

void JsonWriter::separate() {
    if (!first_)
        out_ += ',';
    first_ = false;
}

void JsonWriter::open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
}

void JsonWriter::close(char bracket) {
    out_ += bracket;
    first_ = false;
}

void JsonWriter::string(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
        std::size_t plain = 0;
        while (plain < text.size() && is_plain(static_cast<unsigned char>(text[plain])))
            ++plain;
        out_.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty())
            break;
        const auto character = take_character(text);
        switch (character) {
        case '"':
            out_ += "\\\"";
            break;
        case '\\':
            out_ += "\\\\";
            break;
        case '\b':
            out_ += "\\b";
            break;
        case '\f':
            out_ += "\\f";
            break;
        case '\n':
            out_ += "\\n";
            break;
        case '\r':
            out_ += "\\r";
            break;
        case '\t':
            out_ += "\\t";
            break;
        default:
            if (character >= 0x10000) {
                append_unit(out_, 0xd7c0U + (character >> 10));
                append_unit(out_, 0xdc00U + (character & 0x3ffU));
            } else {
                append_unit(out_, character);
            }
        }
    }
    out_ += '"';
}

void JsonWriter::key(std::string_view name) {
    separate();
    string(name);
    out_ += ':';
    first_ = true;
}

void JsonWriter::value(std::string_view text) {
    separate();
    string(text);
}

void JsonWriter::value(bool yes) { raw(yes ? "true" : "false"); }

void JsonWriter::value(std::uint64_t number) {
    char text[20];
    raw({text, std::to_chars(text, text + sizeof text, number).ptr});
}

void JsonWriter::value(std::int64_t number) {
    char text[20];
    raw({text, std::to_chars(text, text + sizeof text, number).ptr});
}

void JsonWriter::value(double number) {
    if (!std::isfinite(number))
        return raw("null");
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    const std::string_view shown(text, end);
    raw(shown);
    if (shown.find_first_of(".e") == std::string_view::npos)
        out_ += ".0"; // still a number with a fraction to whoever reads it
}

void JsonWriter::guid(std::uint64_t guid) {
    std::string text = "0x";
    for (int shift = 60; shift >= 0; shift -= 4)
        text += digits[guid >> shift & 15];
    value(std::string_view(text));
}

void JsonWriter::raw(std::string_view json) {
    separate();
    out_ += json;
}

} // namespace fabric_check
