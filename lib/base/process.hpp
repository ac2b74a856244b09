// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace fabric_check {

/// Runs `work` in a child whose output is /dev/null and leaves after `budget` at the latest, killing the child (a child
/// stuck in the kernel is left behind). Returns the child's exit status, or Errc::timed_out. noexcept in effect: every
/// failure is an Error.
Result<int> run_within(std::chrono::milliseconds budget, const std::function<int()> &work);

/// Starts a program on its own: double fork, setsid, standard streams on /dev/null, every other descriptor closed,
/// signals at their defaults, working directory kept. `environment` adds to the caller's. Returns when it was started.
Status start_detached(const std::vector<std::string> &command, const std::vector<std::string> &environment = {});

/// For a child between fork and exec, or what it does instead: standard streams on /dev/null; every signal at its default,
/// none blocked. Async-signal-safe.
void null_standard_streams() noexcept;
void default_signals() noexcept;

} // namespace fabric_check
