// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "base/log.hpp"
#include "config/config.hpp"
#include "fabric/map.hpp"
#include "job/hook_environment.hpp"
#include "record/credential.hpp"
#include "snapshot/model.hpp"
#include "sources/scout.hpp"

#include <functional>

namespace fabric_check {

/// The outside world of a node hook.
struct NodeHookWorld {
    Signer *signer = nullptr;
    Log *log = nullptr;
    /// Reads the switches; a real one opens umad first. The error is recorded as the scout's problem.
    std::function<Result<ScoutSnapshot>(const fabric::Map &, const ScoutRequest &)> scout;
    /// Starts `fabric-check map build` on its own.
    std::function<Status()> start_map_build;
};

/// The work of a Prolog (Phase::start) or Epilog (Phase::end) until the deadline: reads this node's ports and writes
/// the record before any MAD is sent; then, on the job's first config.scouts nodes, reads the switches and writes the
/// scout's record. What fails is logged and recorded as far as it can be; nothing is thrown or returned.
void run_node_hook(Phase phase, const NodeHookEnvironment &environment, const Config &config, NodeHookWorld &world,
                   const Deadline &deadline) noexcept;

/// A whole Prolog or Epilog in its budget, from the process's environment. Always 0: to Slurm a failing Prolog is a
/// node to drain and a job to hold.
int node_hook_main(Phase phase) noexcept;

} // namespace fabric_check
