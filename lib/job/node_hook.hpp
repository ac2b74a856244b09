// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "base/log.hpp"
#include "config/config.hpp"
#include "job/hook_environment.hpp"
#include "record/credential.hpp"
#include "snapshot/model.hpp"

#include <functional>

namespace fabric_check {

/// The outside world of a node hook.
struct NodeHookWorld {
    Signer *signer = nullptr;
    Log *log = nullptr;
    /// Turns this process into fabric-check-scout, or runs it; the last thing that a hook does. The error: it is not there.
    std::function<Status()> scout;
};

/// The work of a Prolog (Phase::start) or Epilog (Phase::end) until the deadline: reads this node's ports and writes the
/// record before anything is asked of the fabric. Then, on the job's first config.scouts nodes, and where config.scout says
/// head-node, the switches are read by the scout; where it names a host, that host is asked to. What fails is logged and
/// recorded as far as it can be; nothing is thrown or returned.
void run_node_hook(Phase phase, const NodeHookEnvironment &environment, const Config &config, NodeHookWorld &world,
                   const Deadline &deadline) noexcept;

/// A whole Prolog or Epilog in its budget, from the process's environment; see run_hook. Always 0.
int node_hook_main(Phase phase, int argc, char **argv) noexcept;

} // namespace fabric_check
