// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/controller_hook.hpp"

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "job/hook_guard.hpp"
#include "job/own_node.hpp"
#include "job/programs.hpp"
#include "job/scout_calls.hpp"

#include <cstdlib>
#include <fmt/format.h>

namespace fabric_check {
namespace {

const char *variable(const char *name) { return std::getenv(name); } // NOLINT(concurrency-mt-unsafe): no threads

const char *name_of(Phase phase) noexcept { return phase == Phase::start ? "prologctld" : "epilogctld"; }

std::string prefix_of(Phase phase, const ControllerHookEnvironment &environment) {
    return fmt::format("{}: job {}: ", name_of(phase), environment.ticket.job_id);
}

Log log_of(Phase phase, const Config &config) {
    return program_log(std::string("fabric-check-") + name_of(phase), config);
}

/// The readings are to be of the job's start and end: before anything else.
void see_to_scout(Phase phase, const ControllerHookEnvironment &environment, const Config &config,
                  ControllerHookWorld &world) {
    const auto prefix = prefix_of(phase, environment);
    for (const auto &remark : environment.remarks)
        world.log->warning(prefix + remark);
    if (environment.mode == Mode::off || config.scout != scout_on_controller)
        return;
    if (auto started = world.start_scout(); !started)
        world.log->error(prefix + "scout not started: " + started.error().message);
}

Status start_scout(Phase phase, const Config &config) {
    const auto program = find_program(config, "fabric-check-scout");
    if (!program)
        return program.error();
    return start_detached({*program, to_string(phase), own_node_name(), std::to_string(config.hooks.budget_ms)});
}

void work_of(Phase phase, const GuardLine &line) {
    std::string config_error;
    const auto config = config_or_defaults(config_path(), &config_error);
    line.set_budget(std::chrono::milliseconds(config.hooks.budget_ms));
    auto log = log_of(phase, config);
    if (!config_error.empty())
        log.error(fmt::format("{}: going on with defaults: {}", name_of(phase), config_error));
    const auto fallback = parse_mode(config.default_mode).value_or(Mode::report);
    const auto environment = controller_hook_environment(variable, fallback);
    if (!environment) {
        if (environment.error().code != Errc::not_found)
            log.error(fmt::format("{}: {}", name_of(phase), environment.error().message));
        return;
    }
    ControllerHookWorld world;
    world.log = &log;
    world.start_scout = [&] { return start_scout(phase, config); };
    world.start_finisher = [&]() -> Status {
        const auto program = find_program(config, "fabric-check-finisher");
        if (!program)
            return program.error();
        return start_detached({*program});
    };
    if (phase == Phase::start)
        run_controller_prolog(*environment, config, world);
    else
        run_controller_hook(*environment, config, wall_ns(), world);
}

template <Phase phase> int work(const GuardLine &line, void *) noexcept {
    try {
        work_of(phase, line);
    } catch (...) { // NOLINT(bugprone-empty-catch): out of memory; the job goes on all the same
    }
    return 0;
}

template <Phase phase> void late(const char *reason) noexcept {
    try {
        auto log = log_of(phase, config_or_defaults(config_path(), nullptr));
        const char *job = variable("SLURM_JOB_ID");
        log.error(fmt::format("{}: job {}: {}", name_of(phase), job == nullptr ? "?" : job, reason));
    } catch (...) { // NOLINT(bugprone-empty-catch): there is nobody left to tell
    }
}

} // namespace

void run_controller_prolog(const ControllerHookEnvironment &environment, const Config &config,
                           ControllerHookWorld &world) noexcept {
    try {
        see_to_scout(Phase::start, environment, config, world);
    } catch (const std::exception &error) {
        world.log->error(std::string("prologctld: ") + error.what());
    }
}

void run_controller_hook(const ControllerHookEnvironment &environment, const Config &config, std::int64_t now_ns,
                         ControllerHookWorld &world) noexcept {
    try {
        auto ticket = environment.ticket;
        ticket.time_ns = now_ns;
        const auto prefix = prefix_of(Phase::end, environment);
        see_to_scout(Phase::end, environment, config, world);
        if (environment.mode == Mode::off)
            return;
        const StateLayout state{config.state};
        if (auto filed = file_ticket(state, ticket); !filed) {
            world.log->error(prefix + "no ticket filed, the job gets no line: " + filed.error().message +
                             "; the state directory must be writable by SlurmUser");
            return;
        }
        world.log->info(prefix + "ticket filed");
        {
            // A finisher that is about to leave looks at the queue once more after it has let go of the lock.
            const auto lock = FileLock::try_lock(state.finisher_lock());
            if (!lock && lock.error().code == Errc::unavailable)
                return;
        }
        if (auto started = world.start_finisher(); !started)
            world.log->error(prefix + "finisher not started: " + started.error().message +
                             "; the ticket waits for the systemd timer");
    } catch (const std::exception &error) {
        world.log->error(std::string("epilogctld: ") + error.what());
    }
}

int controller_hook_main(Phase phase, int argc, char **argv) noexcept {
    if (phase == Phase::start)
        return run_hook(argc, argv, {"fabric-check-prologctld", work<Phase::start>, late<Phase::start>});
    return run_hook(argc, argv, {"fabric-check-epilogctld", work<Phase::end>, late<Phase::end>});
}

} // namespace fabric_check
