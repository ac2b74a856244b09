// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "record/intervals.hpp"
#include "record/json_reader.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fabric_check {

/// One job step on one node: what its ports' counters did between the step's start and end there.
struct StepRecord {
    std::uint32_t id = 0;
    std::string name;         ///< of its program, from the user: printable ASCII, 64 bytes at most
    std::uint32_t nodes = 1;  ///< how many the step has
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;  ///< 0: not read
    std::map<std::string, std::map<std::string, CounterMoves>> ports; ///< as in Interval
    bool operator==(const StepRecord &) const = default;
};

/// All that a node recorded of a job's steps.
struct StepRecords {
    std::vector<StepRecord> steps; ///< in order of their ends
    bool more = false;             ///< there were more than `step_records`
    bool operator==(const StepRecords &) const = default;
};

inline constexpr std::size_t most_steps = 10000; ///< of one job on one node: the highest value of step_records

/// A step name as it may stand anywhere: printable ASCII, shortened; the last part of a path.
std::string step_name(std::string_view program);

nlohmann::ordered_json step_json(const StepRecord &step);
/// Throws JsonRefused: call it within decode_json.
StepRecord decode_step(const JsonReader &reader);
std::vector<StepRecord> decode_steps(const JsonReader &reader, const char *key);

} // namespace fabric_check
