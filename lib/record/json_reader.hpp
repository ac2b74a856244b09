// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "record/json_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace fabric_check {

/// Thrown inside a decoder and caught at its boundary (decode_json); never leaves the library.
struct JsonRefused {
    std::string message;
};

/// Where a value stands: "snapshot.ports[0].lid". Put into words only when something is refused. Refers to the place
/// around it, and to the key's text: not to outlive them.
struct JsonPath {
    static constexpr auto no_index = static_cast<std::size_t>(-1);
    const JsonPath *around = nullptr;
    std::string_view key;
    std::size_t index = no_index; ///< of an element of an array
    std::string text() const;
};

/// A strict view of one JSON object that came from a stranger: every access names the key it wanted in the refusal.
/// Keys nobody asks for are ignored, so that a newer release's records still read. Readers of what is inside it refer to
/// it.
class JsonReader {
public:
    JsonReader(const JsonValue &value, const JsonPath &path); ///< refuses what is not an object

    bool has(const char *key) const;
    std::uint64_t number(const char *key, std::uint64_t maximum) const;
    std::int64_t time(const char *key) const;           ///< 0 ... 2^63-1
    double real(const char *key, double maximum) const; ///< 0 ... maximum
    bool boolean(const char *key) const;
    /// At most `limit` bytes. Without NUL.
    std::string text(const char *key, std::size_t limit = 4096) const;
    std::uint64_t guid(const char *key) const; ///< "0x" and 16 hexadecimal digits
    JsonReader object(const char *key) const;
    /// Calls `each` for the elements of an array of at most `limit`.
    void array(const char *key, std::size_t limit,
               const std::function<void(const JsonValue &, const JsonPath &)> &each) const;
    JsonValue at(const char *key) const;
    JsonPath path(const char *key) const { return {&path_, key}; }

private:
    JsonValue value_;
    JsonPath path_;
    mutable JsonValue::Iterator last_; ///< the member found last
};

[[noreturn]] void refuse(const std::string &path, const std::string &what);
[[noreturn]] void refuse(const JsonPath &path, const std::string &what);
std::string guid_text(std::uint64_t guid); ///< "0x0002c90000000001"

/// Parses `text` and lets `decode` read it. Errc::malformed "WHAT: key: reason" for anything odd; nothing is thrown.
template <class T>
Result<T> decode_json(const std::string &text, std::string_view what, std::string_view schema,
                      const std::function<T(const JsonReader &)> &decode);

namespace detail {
Status with_json(const std::string &text, std::string_view what, std::string_view schema,
                 const std::function<void(const JsonReader &)> &decode);
}

template <class T>
Result<T> decode_json(const std::string &text, std::string_view what, std::string_view schema,
                      const std::function<T(const JsonReader &)> &decode) {
    T decoded;
    const auto status =
        detail::with_json(text, what, schema, [&](const JsonReader &reader) { decoded = decode(reader); });
    if (!status)
        return status.error();
    return decoded;
}

} // namespace fabric_check
