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

JsonReader::JsonReader(const nlohmann::json &value, std::string path) : value_(&value), path_(std::move(path)) {
    if (!value.is_object())
        refuse(path_.empty() ? "document" : path_, "not an object");
}

std::string JsonReader::path(const char *key) const {
    return path_.empty() ? key : path_ + "." + key;
}

bool JsonReader::has(const char *key) const {
    return value_->contains(key);
}

const nlohmann::json &JsonReader::at(const char *key) const {
    const auto found = value_->find(key);
    if (found == value_->end())
        refuse(path(key), "missing");
    return *found;
}

std::uint64_t JsonReader::number(const char *key, std::uint64_t maximum) const {
    const auto &value = at(key);
    if (!value.is_number_unsigned())
        refuse(path(key), "not a whole number");
    const auto number = value.get<std::uint64_t>();
    if (number > maximum)
        refuse(path(key), "above " + std::to_string(maximum));
    return number;
}

std::int64_t JsonReader::time(const char *key) const {
    return static_cast<std::int64_t>(number(key, std::numeric_limits<std::int64_t>::max()));
}

double JsonReader::real(const char *key, double maximum) const {
    const auto &value = at(key);
    if (!value.is_number())
        refuse(path(key), "not a number");
    const auto number = value.get<double>();
    if (!std::isfinite(number) || number < 0 || number > maximum)
        refuse(path(key), "out of range");
    return number;
}

bool JsonReader::boolean(const char *key) const {
    const auto &value = at(key);
    if (!value.is_boolean())
        refuse(path(key), "not true or false");
    return value.get<bool>();
}

std::string JsonReader::text(const char *key, std::size_t limit) const {
    const auto &value = at(key);
    if (!value.is_string())
        refuse(path(key), "not a string");
    const auto &text = value.get_ref<const std::string &>();
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
                       const std::function<void(const nlohmann::json &, const std::string &)> &each) const {
    const auto &value = at(key);
    if (!value.is_array())
        refuse(path(key), "not an array");
    if (value.size() > limit)
        refuse(path(key), "more than " + std::to_string(limit) + " elements");
    std::size_t index = 0;
    for (const auto &element : value)
        each(element, path(key) + "[" + std::to_string(index++) + "]");
}

namespace detail {

Status with_json(const std::string &text, std::string_view what, std::string_view schema,
                 const std::function<void(const JsonReader &)> &decode) {
    const auto malformed = [&](const std::string &reason) {
        return Error{Errc::malformed, std::string(what) + ": " + reason};
    };
    try {
        const auto document = nlohmann::json::parse(text, nullptr, false);
        if (document.is_discarded())
            return malformed("not JSON");
        const JsonReader reader(document, "");
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
