// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "record/json_reader.hpp"
#include "record/json_writer.hpp"
#include "snapshot/model.hpp"

#include <limits>
#include <string>
#include <vector>

namespace fabric_check {

/// Pieces that records of nodes and of scouts share. The decoders throw JsonRefused: call them within decode_json.
inline constexpr std::size_t max_name = 256;

template <class T> constexpr std::uint64_t max_of = std::numeric_limits<T>::max();

/// The enumerator whose to_string is the key's text.
template <class Enum, std::size_t N> Enum one_of(const JsonReader &reader, const char *key, const Enum (&values)[N]) {
    const auto text = reader.text(key, max_name);
    for (const auto value : values)
        if (text == to_string(value))
            return value;
    refuse(reader.path(key), "unknown value \"" + text + "\"");
}

void encode(JsonWriter &json, const LinkRate &rate);
LinkRate decode_rate(const JsonReader &rate);

void encode(JsonWriter &json, const std::vector<Problem> &problems); ///< with its key, "problems"
std::vector<Problem> decode_problems(const JsonReader &reader);

std::string decode_node_name(const JsonReader &reader, const char *key);
void check_counter_name(const std::string &name, const JsonPath &path);
std::uint8_t checked_width(std::uint64_t width, const JsonPath &path, bool or_none);
Reading decode_missing(const std::string &reason, const JsonPath &path);

/// The names and widths of ports' counters, which are the same for port after port, are said once:
/// "layouts": [{"LinkDownedCounter": 8, "PortXmitData": 64, ...}], and with a port "layout": 0, "counters": "3,absent": one
/// value in its order for each of them, or why there is none, in one string, as a parser has to keep each JSON value.
class LayoutWriter {
public:
    std::size_t number_of(const Counters &counters);
    void write(JsonWriter &json) const; ///< with its key
    static void write_readings(JsonWriter &json, const Counters &counters); ///< with their key

private:
    std::vector<Counters> all_; ///< their names and widths count
};

class LayoutReader {
public:
    static constexpr std::size_t most_layouts = 1 << 18;  ///< one a switch port
    static constexpr std::size_t most_counters = 1 << 15; ///< a network device has up to 16384 statistics
    static constexpr std::size_t most_readings = 1 << 23; ///< what can be had from few bytes has to have an end

    /// `around` has the "layouts"; none are needed. `most`: readings of all ports and layouts together.
    explicit LayoutReader(const JsonReader &around, std::size_t most = most_readings);
    Counters readings(const JsonReader &port);

private:
    void count(std::size_t readings, const JsonPath &path);

    std::vector<Counters> all_;
    std::size_t left_;
};

/// The members of "scout": what a scout read. Switches and rates stand in tables, too: the record of a job of ten thousand
/// nodes has tens of thousands of ports.
void encode_into(JsonWriter &json, const ScoutSnapshot &snapshot);
ScoutSnapshot decode_scout_snapshot(const JsonReader &reader);

} // namespace fabric_check
