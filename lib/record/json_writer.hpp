// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fabric_check {

/// Writes compact JSON straight into a string, without a tree in between: a hook writes hundreds of counters and has a few
/// milliseconds. Output is ASCII: what is not becomes \uXXXX, and what is not UTF-8 U+FFFD. The caller sees to it that
/// what it opens it closes, and that every value in an object has its key.
class JsonWriter {
public:
    explicit JsonWriter(std::string &out) noexcept : out_(out) {}

    void begin_object() { open('{'); }
    void end_object() { close('}'); }
    void begin_array() { open('['); }
    void end_array() { close(']'); }
    void key(std::string_view name);

    void value(std::string_view text);
    void value(const char *text) { value(std::string_view(text)); }
    void value(bool yes);
    void value(double number); ///< shortest form that reads back the same; what is not finite: null
    void value(std::uint64_t number);
    void value(std::int64_t number);
    void value(unsigned number) { value(std::uint64_t{number}); }
    void guid(std::uint64_t guid); ///< "0x0002c90000000001"
    void raw(std::string_view json); ///< JSON already, as it is

    template <class T> void member(std::string_view name, const T &what) {
        key(name);
        value(what);
    }

private:
    void separate();
    void open(char bracket);
    void close(char bracket);
    void string(std::string_view text);

    std::string &out_;
    bool first_ = true;
};

} // namespace fabric_check
