// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/codec_parts.hpp"

#include "base/text.hpp"
#include "record/record_name.hpp"

#include <algorithm>

namespace fabric_check {
namespace {

constexpr std::size_t max_problems = 1 << 16;
constexpr std::size_t longest_reading = 24; // 2^64-1 has 20 digits

/// A reading that is missing has none.
std::uint8_t width_of(const Reading &reading) {
    return reading.value ? reading.width : std::uint8_t{0};
}

} // namespace

void encode(JsonWriter &json, const LinkRate &rate) {
    json.begin_object();
    json.member("lanes", rate.lanes);
    json.member("speed", rate.speed);
    json.member("data_gbps", rate.data_gbps);
    json.member("signalling_gbps", rate.signalling_gbps);
    json.end_object();
}

LinkRate decode_rate(const JsonReader &rate) {
    return {static_cast<unsigned>(rate.number("lanes", 64)), rate.text("speed", max_name), rate.real("data_gbps", 1e6),
            rate.real("signalling_gbps", 1e6)};
}

void encode(JsonWriter &json, const std::vector<Problem> &problems) {
    json.key("problems");
    json.begin_array();
    for (const auto &problem : problems) {
        json.begin_object();
        json.member("where", problem.where);
        json.member("counter", problem.counter);
        json.member("reason", problem.reason);
        json.end_object();
    }
    json.end_array();
}

std::vector<Problem> decode_problems(const JsonReader &reader) {
    std::vector<Problem> problems;
    reader.array("problems", max_problems, [&](const JsonValue &value, const JsonPath &path) {
        const JsonReader problem(value, path);
        problems.push_back({problem.text("where"), problem.text("counter", max_name), problem.text("reason")});
    });
    return problems;
}

std::string decode_node_name(const JsonReader &reader, const char *key) {
    auto node = reader.text(key, max_name);
    if (!valid_node_name(node))
        refuse(reader.path(key), "not a node name");
    return node;
}

void check_counter_name(const std::string &name, const JsonPath &path) {
    if (name.empty() || name.size() > max_name || name.find('\0') != std::string::npos)
        refuse(path, "bad counter name");
}

std::uint8_t checked_width(std::uint64_t width, const JsonPath &path, bool or_none) {
    const bool known = width == 4 || width == 8 || width == 16 || width == 32 || width == 64;
    if (!known && !(or_none && width == 0))
        refuse(path, "not 4, 8, 16, 32 or 64");
    return static_cast<std::uint8_t>(width);
}

Reading decode_missing(const std::string &reason, const JsonPath &path) {
    const auto why = absence_from(reason.c_str());
    if (!why)
        refuse(path, "unknown reason");
    return Reading::missing(*why);
}

std::size_t LayoutWriter::number_of(const Counters &counters) {
    // Ports of one kind follow one another, and there are few kinds.
    const auto at = std::find_if(all_.rbegin(), all_.rend(), [&](const Counters &layout) {
        return std::equal(counters.begin(), counters.end(), layout.begin(), layout.end(),
                          [](const auto &a, const auto &b) { return a.first == b.first && width_of(a.second) == width_of(b.second); });
    });
    if (at != all_.rend())
        return static_cast<std::size_t>(all_.rend() - at) - 1;
    all_.push_back(counters);
    return all_.size() - 1;
}

void LayoutWriter::write(JsonWriter &json) const {
    json.key("layouts");
    json.begin_array();
    for (const auto &layout : all_) {
        json.begin_object();
        for (const auto &[name, reading] : layout)
            json.member(name, unsigned{width_of(reading)});
        json.end_object();
    }
    json.end_array();
}

void LayoutWriter::write_readings(JsonWriter &json, const Counters &counters) {
    std::string text;
    for (const auto &[name, reading] : counters) {
        if (!text.empty())
            text += ',';
        if (reading.value)
            text += std::to_string(*reading.value);
        else
            text += to_string(reading.absence);
    }
    json.member("counters", text);
}

void LayoutReader::count(std::size_t readings, const JsonPath &path) {
    if (readings > left_)
        refuse(path, "too many readings in all");
    left_ -= readings;
}

LayoutReader::LayoutReader(const JsonReader &around, std::size_t most) : left_(most) {
    if (!around.has("layouts"))
        return;
    around.array("layouts", most_layouts, [&](const JsonValue &value, const JsonPath &path) {
        if (!value.is_object())
            refuse(path, "not an object");
        if (value.size() > most_counters)
            refuse(path, "more than " + std::to_string(most_counters) + " counters");
        Counters layout;
        layout.reserve(value.size());
        for (const auto width : value) {
            const auto name = width.key();
            check_counter_name(name, path);
            const auto bits = width.whole();
            if (!bits)
                refuse({&path, name}, "not a whole number");
            if (!layout.try_emplace(name, Reading::of(0, checked_width(*bits, {&path, name}, true))).second)
                refuse({&path, name}, "twice");
        }
        count(layout.size(), path);
        all_.push_back(std::move(layout));
    });
}

Counters LayoutReader::readings(const JsonReader &port) {
    const auto number = port.number("layout", max_of<std::uint32_t>);
    if (number >= all_.size())
        refuse(port.path("layout"), "there are only " + std::to_string(all_.size()) + " of them");
    const auto &layout = all_[static_cast<std::size_t>(number)];
    const auto path = port.path("counters");
    const auto text = port.text("counters", layout.size() * longest_reading);
    count(layout.size(), path);
    auto counters = layout;
    std::string_view rest = text;
    std::size_t fields = 0;
    for (auto &[name, reading] : counters) {
        if (rest.empty())
            break;
        ++fields;
        const auto field = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), field.size() + 1));
        if (const auto value = parse_u64(field))
            reading.value = *value;
        else
            reading = decode_missing(std::string(field), {&path, name});
    }
    if (fields != layout.size() || !rest.empty() || text.ends_with(','))
        refuse(path, "not the " + std::to_string(layout.size()) + " counters of its layout");
    return counters;
}

} // namespace fabric_check
