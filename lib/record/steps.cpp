// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/steps.hpp"

#include "record/intervals_codec.hpp"

#include <limits>

namespace fabric_check {
namespace {

constexpr std::size_t longest_name = 64;
constexpr auto max_32 = std::numeric_limits<std::uint32_t>::max();

} // namespace

std::string step_name(std::string_view program) {
    program = program.substr(program.find_last_of('/') + 1); // npos + 1 is 0
    std::string name;
    for (const char c : program.substr(0, longest_name))
        name += c >= ' ' && c <= '~' ? c : '?';
    return name;
}

nlohmann::ordered_json step_json(const StepRecord &step) {
    return {{"step", step.id},
            {"name", step.name},
            {"nodes", step.nodes},
            {"start_ns", step.start_ns},
            {"end_ns", step.end_ns},
            {"ports", moves_json({step.start_ns, step.end_ns, step.ports})}};
}

StepRecord decode_step(const JsonReader &reader) {
    StepRecord step;
    step.id = static_cast<std::uint32_t>(reader.number("step", max_32));
    step.name = step_name(reader.text("name", 256));
    step.nodes = static_cast<std::uint32_t>(reader.number("nodes", max_32));
    step.start_ns = reader.time("start_ns");
    step.end_ns = reader.time("end_ns");
    if (step.end_ns != 0 && step.end_ns < step.start_ns)
        refuse(reader.path("end_ns"), "ends before it begins");
    Interval interval{step.start_ns, step.end_ns, {}};
    decode_moves(reader, "ports", interval);
    step.ports = std::move(interval.ports);
    return step;
}

std::vector<StepRecord> decode_steps(const JsonReader &reader, const char *key) {
    std::vector<StepRecord> steps;
    reader.array(key, most_steps, [&](const JsonValue &value, const JsonPath &path) {
        steps.push_back(decode_step(JsonReader(value, path)));
    });
    return steps;
}

} // namespace fabric_check
