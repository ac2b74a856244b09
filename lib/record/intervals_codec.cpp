// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/intervals_codec.hpp"

#include <limits>

namespace fabric_check {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t max_ports = 1024;
constexpr std::size_t max_counters = 2048;
constexpr std::size_t max_name = 256;
constexpr auto max_value = std::numeric_limits<std::uint64_t>::max();

NoDelta why_from(const JsonReader &reader) {
    const auto text = reader.text("why", max_name);
    for (unsigned i = 0; i < 32; ++i)
        if (text == to_string(static_cast<NoDelta>(i)))
            return static_cast<NoDelta>(i);
    refuse(reader.path("why"), "unknown reason");
}

/// An object of objects: "mlx5_0:1" -> "PortXmitData" -> value.
template <class Each> void two_levels(const JsonReader &reader, const char *key, const Each &each) {
    const auto check = [](const JsonValue &object, const JsonPath &where, std::size_t limit) {
        if (!object.is_object())
            refuse(where, "not an object");
        if (object.size() > limit)
            refuse(where, "more than " + std::to_string(limit) + " entries");
        for (const auto member : object)
            if (const auto name = member.key(); name.empty() || name.size() > max_name || name.find('\0') != std::string::npos)
                refuse(where, "bad name");
    };
    const auto ports = reader.at(key);
    const auto path = reader.path(key);
    check(ports, path, max_ports);
    for (const auto counters : ports) {
        const auto port = counters.key();
        const JsonPath where{&path, port};
        check(counters, where, max_counters);
        for (const auto value : counters) {
            const auto counter = value.key();
            each(port, counter, value, JsonPath{&where, counter});
        }
    }
}

ordered_json moves_json(const CounterMoves &moves, const Interval &interval) {
    const bool whole = moves.from_ns == interval.from_ns && moves.to_ns == interval.to_ns;
    if (moves.lost.empty() && whole)
        return moves.delta;
    ordered_json out;
    if (moves.delta != 0) {
        out["delta"] = moves.delta;
        if (!whole) {
            out["from_ns"] = moves.from_ns;
            out["to_ns"] = moves.to_ns;
        }
    }
    if (!moves.lost.empty()) {
        auto &lost = out["lost"] = ordered_json::array();
        for (const auto &span : moves.lost)
            lost.push_back({{"from_ns", span.from_ns}, {"to_ns", span.to_ns}, {"why", to_string(span.why)}});
    }
    return out;
}

void check_span(const JsonPath &path, std::int64_t from_ns, std::int64_t to_ns) {
    if (to_ns < from_ns)
        refuse(path, "ends before it begins");
}

CounterMoves decode_counter(const JsonValue &value, const JsonPath &path, const Interval &interval) {
    if (const auto delta = value.whole()) {
        if (*delta == 0)
            refuse(path, "0 is not stored");
        return {*delta, interval.from_ns, interval.to_ns, {}};
    }
    const JsonReader reader(value, path);
    CounterMoves moves;
    if (reader.has("delta")) {
        moves.delta = reader.number("delta", max_value);
        if (moves.delta == 0)
            refuse(path, "0 is not stored");
        moves.from_ns = reader.has("from_ns") ? reader.time("from_ns") : interval.from_ns;
        moves.to_ns = reader.has("to_ns") ? reader.time("to_ns") : interval.to_ns;
        check_span(path, moves.from_ns, moves.to_ns);
    }
    if (reader.has("lost")) {
        reader.array("lost", most_lost_spans, [&](const JsonValue &span, const JsonPath &where) {
            const JsonReader lost(span, where);
            moves.lost.push_back({lost.time("from_ns"), lost.time("to_ns"), why_from(lost)});
            check_span(where, moves.lost.back().from_ns, moves.lost.back().to_ns);
        });
    }
    if (moves.delta == 0 && moves.lost.empty())
        refuse(path, "neither moved nor lost");
    return moves;
}

} // namespace

ordered_json moves_json(const Interval &interval) {
    auto ports = ordered_json::object();
    for (const auto &[port, counters] : interval.ports) {
        auto &out = ports[port] = ordered_json::object();
        for (const auto &[counter, moves] : counters)
            out[counter] = moves_json(moves, interval);
    }
    return ports;
}

void decode_moves(const JsonReader &reader, const char *key, Interval &interval) {
    two_levels(reader, key,
               [&](const std::string &port, const std::string &counter, const JsonValue &value, const JsonPath &path) {
                   interval.ports[port].emplace(counter, decode_counter(value, path, interval));
               });
}

ordered_json intervals_json(const Intervals &intervals) {
    auto out = ordered_json::array();
    for (const auto &interval : intervals)
        out.push_back({{"from_ns", interval.from_ns}, {"to_ns", interval.to_ns}, {"ports", moves_json(interval)}});
    return out;
}

Intervals decode_intervals(const JsonReader &reader, const char *key) {
    Intervals intervals;
    reader.array(key, most_intervals, [&](const JsonValue &value, const JsonPath &path) {
        const JsonReader one(value, path);
        Interval interval{one.time("from_ns"), one.time("to_ns"), {}};
        if (interval.to_ns <= interval.from_ns)
            refuse(path, "ends before it begins");
        if (!intervals.empty() && intervals.back().to_ns != interval.from_ns)
            refuse(path, "does not begin where the one before ends");
        decode_moves(one, "ports", interval);
        intervals.push_back(std::move(interval));
    });
    return intervals;
}

ordered_json bases_json(const Bases &bases) {
    auto ports = ordered_json::object();
    for (const auto &[port, counters] : bases) {
        auto &out = ports[port] = ordered_json::object();
        for (const auto &[counter, base] : counters)
            out[counter] = {{"value", base.reading.value.value_or(0)},
                            {"width", base.reading.width},
                            {"time_ns", base.time_ns}};
    }
    return ports;
}

Bases decode_bases(const JsonReader &reader, const char *key) {
    Bases bases;
    two_levels(reader, key,
               [&](const std::string &port, const std::string &counter, const JsonValue &value, const JsonPath &path) {
                   const JsonReader base(value, path);
                   bases[port][counter] = {Reading::of(base.number("value", max_value),
                                                       static_cast<std::uint8_t>(base.number("width", 64))),
                                           base.time("time_ns")};
               });
    return bases;
}

} // namespace fabric_check
