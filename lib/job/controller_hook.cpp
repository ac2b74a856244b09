// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/controller_hook.hpp"

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "job/programs.hpp"

#include <cstdlib>

namespace fabric_check {

void run_controller_hook(const ControllerHookEnvironment &environment, const Config &config, std::int64_t now_ns,
                         Log &log, const std::function<Status()> &start) noexcept {
    try {
        auto ticket = environment.ticket;
        ticket.time_ns = now_ns;
        const auto prefix = "epilogctld: job " + std::to_string(ticket.job_id) + ": ";
        for (const auto &remark : environment.remarks)
            log.warning(prefix + remark);
        if (environment.mode == Mode::off)
            return;
        const StateLayout state{config.state};
        if (auto filed = file_ticket(state, ticket); !filed) {
            log.error(prefix + "no ticket filed, the job gets no line: " + filed.error().message +
                      "; the state directory must be writable by SlurmUser");
            return;
        }
        log.info(prefix + "ticket filed");
        {
            // A finisher that is about to leave looks at the queue once more after it has let go of the lock.
            const auto lock = FileLock::try_lock(state.finisher_lock());
            if (!lock && lock.error().code == Errc::unavailable)
                return;
        }
        if (auto started = start(); !started)
            log.error(prefix + "finisher not started: " + started.error().message +
                      "; the ticket waits for the systemd timer");
    } catch (const std::exception &error) {
        log.error(std::string("epilogctld: ") + error.what());
    }
}

int controller_hook_main() noexcept {
    try {
        std::string config_error;
        const auto config = config_or_defaults(config_path(), &config_error);
        Log log({.ident = "fabric-check-epilogctld",
                 .file = config.log_file,
                 .syslog = config.syslog,
                 .standard_error = false,
                 .level = Log::Level::info});
        if (!config_error.empty())
            log.error("epilogctld: going on with defaults: " + config_error);
        const auto fallback = parse_mode(config.default_mode).value_or(Mode::report);
        const auto environment =
            controller_hook_environment([](const char *key) { return std::getenv(key); }, fallback);
        if (!environment) {
            if (environment.error().code != Errc::not_found)
                log.error("epilogctld: " + environment.error().message);
            return 0;
        }
        const auto done = run_within(std::chrono::milliseconds(config.hooks.budget_ms), [&] {
            run_controller_hook(*environment, config, wall_ns(), log, [&]() -> Status {
                const auto program = find_program(config, "fabric-check-finisher");
                if (!program)
                    return program.error();
                return start_detached({*program});
            });
            return 0;
        });
        if (!done)
            log.error("epilogctld: job " + std::to_string(environment->ticket.job_id) + ": " + done.error().message);
    } catch (...) { // out of memory: the job completes all the same
    }
    return 0;
}

} // namespace fabric_check
