// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/hook_environment.hpp"

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "record/record_name.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace fabric_check {
namespace {

constexpr std::size_t value_limit = 4UL * 1024 * 1024;
constexpr std::size_t short_limit = 1024;

std::string value(const Environment &environment, const char *name, std::size_t limit = short_limit) {
    const char *text = environment(name);
    return text == nullptr ? std::string() : std::string(text, strnlen(text, limit));
}

std::optional<std::uint32_t> number(const Environment &environment, const char *name) {
    const auto parsed = parse_u64(value(environment, name));
    if (!parsed || *parsed >= std::numeric_limits<std::uint32_t>::max() - 1) // NO_VAL and INFINITE
        return std::nullopt;
    return static_cast<std::uint32_t>(*parsed);
}

Error odd(const char *variable, const std::string &text, const char *wanted) {
    return {Errc::usage, std::string(variable) + ": " +
                             (text.empty() ? "not set" : "\"" + printable(text).substr(0, 200) + "\"") + ", " + wanted +
                             " was expected; is this run by Slurm?"};
}

Result<std::uint32_t> job_id(const Environment &environment) {
    const auto id = number(environment, "SLURM_JOB_ID");
    if (!id || *id == 0)
        return odd("SLURM_JOB_ID", value(environment, "SLURM_JOB_ID"), "a job id");
    return *id;
}

Mode wished_mode(const Environment &environment, Mode fallback, std::vector<std::string> &remarks) {
    const char *text = environment("SPANK_FABRIC_CHECK");
    if (text == nullptr)
        return fallback;
    if (const auto mode = parse_mode(std::string_view(text, strnlen(text, short_limit))))
        return *mode;
    remarks.push_back("SPANK_FABRIC_CHECK: unknown mode \"" + printable(value(environment, "SPANK_FABRIC_CHECK")) +
                      "\" (valid: " + valid_modes + "); taken as the site's default, " + to_string(fallback));
    return fallback;
}

std::string node_list(const Environment &environment) {
    auto text = value(environment, "SLURM_JOB_NODELIST", value_limit);
    return text.empty() ? value(environment, "SLURM_NODELIST", value_limit) : text;
}

} // namespace

Result<NodeHookEnvironment> node_hook_environment(const Environment &environment, Mode fallback) {
    NodeHookEnvironment hook;
    const auto id = job_id(environment);
    if (!id)
        return id.error();
    hook.job_id = *id;
    hook.node = value(environment, "SLURMD_NODENAME");
    if (!valid_node_name(hook.node))
        return odd("SLURMD_NODENAME", hook.node, "a node name");
    hook.mode = wished_mode(environment, fallback, hook.remarks);

    hook.node_list = node_list(environment);
    auto nodes = expand_hostlist(hook.node_list);
    if (!nodes || nodes->empty()) {
        hook.remarks.push_back("SLURM_JOB_NODELIST: " + (nodes ? std::string("not set") : nodes.error().message) +
                               "; this node alone is read");
        nodes = std::vector<std::string>{hook.node};
        hook.node_list = hook.node;
    }
    hook.nodes = std::move(*nodes);
    const auto found = std::find(hook.nodes.begin(), hook.nodes.end(), hook.node);
    hook.index = static_cast<std::size_t>(found - hook.nodes.begin());
    if (found == hook.nodes.end())
        hook.remarks.push_back("SLURM_JOB_NODELIST does not name this node; no scout here");
    return hook;
}

std::string hook_prefix(Phase phase, const NodeHookEnvironment &environment) {
    return std::string(phase == Phase::start ? "prolog" : "epilog") + ": job " + std::to_string(environment.job_id) + " " +
           environment.node + ": ";
}

Result<ControllerHookEnvironment> controller_hook_environment(const Environment &environment, Mode fallback) {
    ControllerHookEnvironment hook;
    auto &ticket = hook.ticket;
    const auto id = job_id(environment);
    if (!id)
        return id.error();
    ticket.job_id = *id;
    ticket.nodes = node_list(environment);
    if (ticket.nodes.empty())
        return Error{Errc::not_found, "SLURM_JOB_NODELIST: not set; the job never had nodes"};
    ticket.uid = number(environment, "SLURM_JOB_UID").value_or(0);
    ticket.user = value(environment, "SLURM_JOB_USER");
    ticket.partition = value(environment, "SLURM_JOB_PARTITION");
    ticket.name = value(environment, "SLURM_JOB_NAME");
    ticket.cluster = value(environment, "SLURM_CLUSTER_NAME");
    ticket.restart_count =
        number(environment, "SLURM_JOB_RESTART_COUNT").value_or(number(environment, "SLURM_RESTART_COUNT").value_or(0));
    ticket.array_job_id = number(environment, "SLURM_ARRAY_JOB_ID").value_or(0);
    ticket.array_task_id = number(environment, "SLURM_ARRAY_TASK_ID");
    ticket.het_job_id = number(environment, "SLURM_HET_JOB_ID").value_or(0);
    ticket.het_job_offset = number(environment, "SLURM_HET_JOB_OFFSET").value_or(0);
    ticket.start = number(environment, "SLURM_JOB_START_TIME").value_or(0);
    ticket.end = number(environment, "SLURM_JOB_END_TIME").value_or(0);
    hook.mode = wished_mode(environment, fallback, hook.remarks);
    return hook;
}

} // namespace fabric_check
