// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/log.hpp"
#include "config/config.hpp"
#include "job/hook_environment.hpp"

#include <cstdint>
#include <functional>

namespace fabric_check {

/// The work of an EpilogSlurmctld: files the ticket in the state directory, which needs no spool, and starts the
/// finisher with `start` where its lock is free. Failures are logged; nothing is thrown.
void run_controller_hook(const ControllerHookEnvironment &environment, const Config &config, std::int64_t now_ns,
                         Log &log, const std::function<Status()> &start) noexcept;

/// A whole EpilogSlurmctld from the process's environment. Always 0, at once: Slurm holds dependents until it returns.
int controller_hook_main() noexcept;

} // namespace fabric_check
