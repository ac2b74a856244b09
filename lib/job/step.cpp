// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/step.hpp"

#include "base/text.hpp"
#include "job/own_node.hpp"
#include "record/intervals_codec.hpp"
#include "record/record_name.hpp"
#include "sources/sysfs.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <unistd.h>

namespace fabric_check {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t steps_limit = 64UL * 1024 * 1024;
constexpr std::size_t start_limit = 4UL * 1024 * 1024;
constexpr std::string_view start_prefix = "step.";
constexpr const char *start_schema = "fabric-check/step-start/1";
constexpr const char *step_schema = "fabric-check/step/1";

/// A step that has begun: the record to be, and the readings it is measured against.
struct StepStart {
    StepRecord step;
    Bases bases;
};

std::string encode_start(const StepStart &start) {
    ordered_json json;
    json["schema"] = start_schema;
    json["record"] = step_json(start.step);
    json["bases"] = bases_json(start.bases);
    return json.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

Result<StepStart> decode_start(const std::string &text) {
    return decode_json<StepStart>(text, "step", start_schema, [](const JsonReader &reader) {
        return StepStart{decode_step(reader.object("record")), decode_bases(reader, "bases")};
    });
}

std::string start_file(const std::string &directory, std::uint32_t step_id) {
    return directory + "/" + std::string(start_prefix) + std::to_string(step_id);
}

std::vector<std::string_view> lines_of(const std::string &text) {
    auto lines = split(text, '\n');
    std::erase_if(lines, [](std::string_view line) { return line.empty(); });
    return lines;
}

/// One write: steps that end together do not mix.
Status append_line(const std::string &path, const std::string &line) {
    const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return errno_error(path, errno);
    const auto written = write(fd, line.data(), line.size());
    const int error = errno;
    close(fd);
    if (written != static_cast<ssize_t>(line.size()))
        return errno_error(path, written < 0 ? error : ENOSPC);
    return {};
}

std::size_t count_steps(const std::string &directory, const std::vector<std::string> &names) {
    std::size_t count = 0;
    for (const auto &name : names)
        count += name.starts_with(start_prefix) ? 1 : 0;
    const auto text = read_file(directory + "/steps", steps_limit, true);
    return count + (text ? lines_of(*text).size() : 0);
}

Status begin(const std::string &directory, const StepRequest &request, unsigned limit,
             const std::function<NodeSnapshot()> &read) {
    const auto names = list_directory(directory);
    if (!names)
        return names.error();
    if (count_steps(directory, *names) >= limit) {
        if (limit != 0)
            (void)append_line(directory + "/more", {}).ok();
        return Error{Errc::no_answer, "enough steps of this job are recorded"};
    }
    const auto snapshot = read();
    StepStart start;
    start.step = {request.step_id, step_name(request.name), request.nodes, snapshot.time_ns, 0, {}};
    start.bases = bases_of(snapshot);
    // Not write_file_atomic: nobody reads it before the step ends, and syncing a disk may take longer than a step may wait.
    return append_line(start_file(directory, request.step_id), encode_start(start));
}

Status finish(const std::string &directory, const StepRequest &request, const std::function<NodeSnapshot()> &read) {
    const auto path = start_file(directory, request.step_id);
    const auto text = read_file(path, start_limit, true);
    if (!text)
        return text.error().code == Errc::not_found ? Error{Errc::no_answer, "no start of this step was recorded"}
                                                    : text.error();
    auto start = decode_start(*text);
    if (!start)
        return Error{Errc::malformed, path + ": " + start.error().message};
    const auto snapshot = read();
    const auto last = bases_of(snapshot);
    Intervals one;
    const auto before = start->bases;
    if (!fold(one, start->bases, start->step.start_ns, snapshot, true))
        return Error{Errc::no_answer, "the clock went backwards"};
    auto &step = start->step;
    step.end_ns = snapshot.time_ns;
    step.ports = std::move(one[0].ports);
    for (const auto &[port, counters] : last)
        for (const auto &[counter, base] : counters)
            if (const auto known = before.find(port); known != before.end() && !known->second.contains(counter))
                step.ports[port][counter].lost = {{step.start_ns, step.end_ns, NoDelta::absent_before}};
    ordered_json json;
    json["schema"] = step_schema;
    json.update(step_json(step));
    const auto line = json.dump(-1, ' ', true, ordered_json::error_handler_t::replace) + "\n";
    if (auto written = append_line(directory + "/steps", line); !written)
        return written;
    (void)unlink(path.c_str());
    return {};
}

Result<NodeJob> job_here(const NodeStateStore &store, const NodeJob &wanted) {
    const auto jobs = store.list();
    if (!jobs)
        return jobs.error();
    for (const auto &job : *jobs)
        if (job.job_id == wanted.job_id && (wanted.node.empty() || job.node == wanted.node))
            return job;
    return Error{Errc::not_found, "job " + std::to_string(wanted.job_id) + " has no state here"};
}

} // namespace

std::optional<StepRequest> parse_step_request(const std::vector<std::string_view> &arguments) {
    constexpr std::string_view node = "node=", name = "name=";
    if (arguments.size() != 6 || (arguments[0] != "start" && arguments[0] != "end") || !arguments[4].starts_with(node) ||
        !arguments[5].starts_with(name))
        return std::nullopt;
    StepRequest request;
    request.end = arguments[0] == "end";
    std::uint32_t *const numbers[] = {&request.job.job_id, &request.step_id, &request.nodes};
    for (std::size_t i = 0; i < std::size(numbers); ++i) {
        const auto number = parse_u64(arguments[i + 1]);
        if (!number || *number > std::numeric_limits<std::uint32_t>::max())
            return std::nullopt;
        *numbers[i] = static_cast<std::uint32_t>(*number);
    }
    request.job.node = arguments[4].substr(node.size());
    request.name = arguments[5].substr(name.size());
    if (request.job.job_id == 0 || (!request.job.node.empty() && !valid_node_name(request.job.node)))
        return std::nullopt;
    return request;
}

Status record_step(const Config &config, const StepRequest &request,
                   const std::function<NodeSnapshot(const std::string &node)> &read) {
    const auto name = request.job.node.empty() ? own_node_name() : request.job.node;
    const NodeStateStore store(config.expand(config.node_state, name));
    const auto job = job_here(store, request.job);
    if (!job)
        return job.error();
    const auto here = [&] { return read(job->node); };
    return request.end ? finish(store.directory(*job), request, here)
                       : begin(store.directory(*job), request, config.step_records, here);
}

Result<StepRecord> decode_step_line(const std::string &line) {
    return decode_json<StepRecord>(line, "step", step_schema, decode_step);
}

StepRecords recorded_steps(const NodeStateStore &store, const NodeJob &job, unsigned limit) {
    StepRecords records;
    const auto directory = store.directory(job);
    const auto names = list_directory(directory);
    if (!names)
        return records;
    const auto room = [&] { return records.steps.size() < std::min<std::size_t>(limit, most_steps); };
    if (const auto text = read_file(directory + "/steps", steps_limit, true))
        for (const auto line : lines_of(*text)) {
            auto step = decode_step_line(std::string(line));
            if (step && room())
                records.steps.push_back(std::move(*step));
        }
    for (const auto &name : *names) {
        if (name == "more")
            records.more = true;
        if (!name.starts_with(start_prefix) || !room())
            continue;
        if (const auto text = read_file(fmt::format("{}/{}", directory, name), start_limit, true))
            if (auto start = decode_start(*text))
                records.steps.push_back(std::move(start->step));
    }
    return records;
}

int step_main(int argc, char **argv) noexcept {
    try {
        if (argc < 1)
            return exit_status::usage;
        const auto request = parse_step_request({argv + 1, argv + argc});
        if (!request)
            return exit_status::usage;
        const auto config = config_or_defaults(config_path(), nullptr);
        const auto done = record_step(config, *request, [&](const std::string &node) {
            return read_node(node, config.expand(config.sysfs_root, node), config.expand(config.proc_root, node));
        });
        return done ? exit_status::done : exit_code(done.error().code);
    } catch (...) {
        return exit_status::environment;
    }
}

} // namespace fabric_check
