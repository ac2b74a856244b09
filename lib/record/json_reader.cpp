// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/json_reader.hpp"

#include "base/text.hpp"

#include <cmath>
#include <limits>

namespace fabric_check {

void refuse(const std::string &path, const std::string &what) {
    throw JsonRefused{path + ": " + what};
}

std::string guid_text(std::uint64_t guid) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text = "0x";
    for (int shift = 60; shift >= 0; shift -= 4)
        text += digits[(guid >> shift) & 15];
    return text;
}

void refuse(const JsonPath &path, const std::string &what) {
    refuse(path.text(), what);
}

std::string JsonPath::text() const {
    auto text = around != nullptr ? around->text() : std::string();
    if (index != no_index)
        return text + "[" + std::to_string(index) + "]";
    if (!text.empty() && !key.empty())
        text += '.';
    return text.append(key);
}

JsonReader::JsonReader(const JsonValue &value, const JsonPath &path)
    : value_(value), path_(path), last_(value.begin()) {
    if (!value.is_object()) {
        const auto text = path_.text();
        refuse(text.empty() ? "document" : text, "not an object");
    }
}

bool JsonReader::has(const char *key) const {
    return value_.find(key, last_).has_value();
}

JsonValue JsonReader::at(const char *key) const {
    const auto found = value_.find(key, last_);
    if (!found)
        refuse(path(key), "missing");
    return *found;
}

std::uint64_t JsonReader::number(const char *key, std::uint64_t maximum) const {
    const auto number = at(key).whole();
    if (!number)
        refuse(path(key), "not a whole number");
    if (*number > maximum)
        refuse(path(key), "above " + std::to_string(maximum));
    return *number;
}

std::int64_t JsonReader::time(const char *key) const {
    return static_cast<std::int64_t>(number(key, std::numeric_limits<std::int64_t>::max()));
}

double JsonReader::real(const char *key, double maximum) const {
    const auto number = at(key).real();
    if (!number)
        refuse(path(key), "not a number");
    if (!std::isfinite(*number) || *number < 0 || *number > maximum)
        refuse(path(key), "out of range");
    return *number;
}

bool JsonReader::boolean(const char *key) const {
    const auto value = at(key);
    if (!value.is_boolean())
        refuse(path(key), "not true or false");
    return value.boolean();
}

std::string JsonReader::text(const char *key, std::size_t limit) const {
    const auto value = at(key);
    if (!value.is_string())
        refuse(path(key), "not a string");
    auto text = value.text();
    if (text.size() > limit)
        refuse(path(key), "longer than " + std::to_string(limit) + " bytes");
    if (text.find('\0') != std::string::npos)
        refuse(path(key), "holds a NUL byte");
    return text;
}

std::uint64_t JsonReader::guid(const char *key) const {
    const auto value = text(key);
    const bool form = value.size() == 18 && value.starts_with("0x");
    const auto guid = form ? parse_u64(std::string_view(value).substr(2), 16) : std::nullopt;
    if (!guid)
        refuse(path(key), "not a GUID like 0x0002c90000000001");
    return *guid;
}

JsonReader JsonReader::object(const char *key) const {
    return {at(key), path(key)};
}

void JsonReader::array(const char *key, std::size_t limit,
                       const std::function<void(const JsonValue &, const JsonPath &)> &each) const {
    const auto value = at(key);
    const auto place = path(key);
    if (!value.is_array())
        refuse(place, "not an array");
    if (value.size() > limit)
        refuse(place, "more than " + std::to_string(limit) + " elements");
    JsonPath element{&place, {}, 0};
    for (const auto each_value : value) {
        each(each_value, element);
        ++element.index;
    }
}

namespace detail {

Status with_json(const std::string &text, std::string_view what, std::string_view schema,
                 const std::function<void(const JsonReader &)> &decode) {
    const auto malformed = [&](const std::string &reason) {
        return Error{Errc::malformed, std::string(what) + ": " + reason};
    };
    try {
        JsonTree document;
        if (!document.parse(text))
            return malformed("not JSON");
        const JsonReader reader(document.root(), {});
        if (const auto found = reader.text("schema"); found != schema)
            return malformed("schema: \"" + printable(found) + "\" where \"" + std::string(schema) + "\" was expected");
        decode(reader);
        return {};
    } catch (const JsonRefused &refused) {
        return malformed(printable(refused.message));
    } catch (const std::exception &error) {
        return malformed(error.what());
    }
}

} // namespace detail
} // namespace fabric_check
