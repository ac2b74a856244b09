// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/process.hpp"
#include "job/hook_guard.hpp"
#include "job/node_hook.hpp"
#include "job/node_state.hpp"
#include "job/programs.hpp"

#include <cerrno>
#include <cstdlib>
#include <unistd.h>

namespace fabric_check {
namespace {

using std::chrono::milliseconds;

const char *variable(const char *name) { return std::getenv(name); } // NOLINT(concurrency-mt-unsafe): no threads

const char *name_of(Phase phase) noexcept { return phase == Phase::start ? "prolog" : "epilog"; }

Log log_of(Phase phase, const Config &config) {
    return program_log(std::string("fabric-check-") + name_of(phase), config);
}

/// Under the same guard, within what is left of the same budget, as the same process.
Status become_scout(const Config &config, Phase phase, const std::string &node, const Deadline &deadline) {
    const auto program = find_program(config, "fabric-check-scout");
    if (!program)
        return program.error();
    std::string path = *program, which = to_string(phase), host = node, left = std::to_string(deadline.left().count());
    char *arguments[] = {path.data(), which.data(), host.data(), left.data(), nullptr};
    default_signals();
    ::execv(path.c_str(), arguments);
    return errno_error(path, errno);
}

void work_of(Phase phase, const GuardLine &line) {
    const auto began = Deadline::Clock::now();
    std::string config_error;
    const auto config = config_or_defaults(config_path(), &config_error);
    const milliseconds budget(config.hooks.budget_ms);
    if (budget != milliseconds(Config::Hooks{}.budget_ms))
        line.set_budget(budget);
    const auto spent = std::chrono::duration_cast<milliseconds>(Deadline::Clock::now() - began);
    const auto deadline = Deadline::after(std::max(budget - spent, milliseconds(1)));
    auto log = log_of(phase, config);
    const auto fallback = parse_mode(config.default_mode).value_or(Mode::report);
    const auto environment = node_hook_environment(variable, fallback);
    if (!environment) {
        log.error(std::string(name_of(phase)) + ": " + environment.error().message);
        return;
    }
    if (environment->mode == Mode::off)
        return;
    const auto prefix = hook_prefix(phase, *environment);
    if (!config_error.empty())
        log.error(prefix + "going on with defaults: " + config_error);
    for (const auto &remark : environment->remarks)
        log.warning(prefix + remark);
    const auto signer = munge_signer(config.munge.socket);
    NodeHookWorld world;
    world.signer = signer.get();
    world.log = &log;
    world.scout = [&] { return become_scout(config, phase, environment->node, deadline); };
    run_node_hook(phase, *environment, config, world, deadline);
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
        const auto config = config_or_defaults(config_path(), nullptr);
        const auto environment = node_hook_environment(variable, Mode::report);
        if (!environment)
            return;
        log_of(phase, config).error(hook_prefix(phase, *environment) + reason);
        if (phase == Phase::end) // the job runs no more
            (void)NodeStateStore(config.expand(config.node_state, environment->node))
                .remove({environment->job_id, environment->node})
                .ok();
    } catch (...) { // NOLINT(bugprone-empty-catch): there is nobody left to tell
    }
}

} // namespace

int node_hook_main(Phase phase, int argc, char **argv) noexcept {
    if (phase == Phase::start)
        return run_hook(argc, argv, {"fabric-check-prolog", work<Phase::start>, late<Phase::start>});
    return run_hook(argc, argv, {"fabric-check-epilog", work<Phase::end>, late<Phase::end>});
}

} // namespace fabric_check
