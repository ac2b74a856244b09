// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "record/intervals.hpp"
#include "record/json_reader.hpp"

#include <nlohmann/json.hpp>

namespace fabric_check {

/// Pieces of records and of the node-local state. The decoders throw JsonRefused: call them within decode_json.
nlohmann::ordered_json intervals_json(const Intervals &intervals);
/// Ordered and without gaps, at most most_intervals, spans that do not end before they begin.
Intervals decode_intervals(const JsonReader &reader, const char *key);

/// {"mlx5_0:1": {"PortXmitData": 12, "SymbolErrorCounter": {...}}}; `from_ns` and `to_ns`: of the interval, not repeated.
nlohmann::ordered_json moves_json(const Interval &interval);
void decode_moves(const JsonReader &reader, const char *key, Interval &interval);

nlohmann::ordered_json bases_json(const Bases &bases);
Bases decode_bases(const JsonReader &reader, const char *key);

} // namespace fabric_check
