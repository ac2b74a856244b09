// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/log.hpp"
#include "config/config.hpp"
#include "job/hook_environment.hpp"

#include <cstdint>
#include <functional>

namespace fabric_check {

/// The outside world of a controller hook.
struct ControllerHookWorld {
    Log *log = nullptr;
    std::function<Status()> start_finisher;
    std::function<Status()> start_scout; ///< for this job, detached
};

/// The work of an EpilogSlurmctld: with `scout = "controller"` starts the scout; files the ticket in the state directory, which
/// needs no spool, and starts the finisher where its lock is free. Failures are logged; nothing is thrown.
void run_controller_hook(const ControllerHookEnvironment &environment, const Config &config, std::int64_t now_ns,
                         ControllerHookWorld &world) noexcept;
/// The work of a PrologSlurmctld: with `scout = "controller"` starts the scout, and nothing else.
void run_controller_prolog(const ControllerHookEnvironment &environment, const Config &config,
                           ControllerHookWorld &world) noexcept;

/// A whole EpilogSlurmctld, or PrologSlurmctld, from the process's environment; see run_hook. Always 0, at once: Slurm holds the
/// job, or its dependents, until it returns.
int controller_hook_main(Phase phase, int argc, char **argv) noexcept;

} // namespace fabric_check
