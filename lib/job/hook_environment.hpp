// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "job/mode.hpp"
#include "job/ticket.hpp"
#include "snapshot/model.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fabric_check {

/// One variable of the environment; a null pointer when it is not set.
using Environment = std::function<const char *(const char *name)>;

/// What Slurm tells a Prolog or Epilog.
struct NodeHookEnvironment {
    std::uint32_t job_id = 0;
    std::string node;               ///< SLURMD_NODENAME
    std::vector<std::string> nodes; ///< of the job, in Slurm's order
    std::string node_list;          ///< the same as Slurm wrote it
    std::size_t index = 0;          ///< of this node among them; nodes.size() when it is not there
    Mode mode = Mode::report;
    std::vector<std::string> remarks; ///< to log: what was odd and how it was taken
};

/// Accepts SLURM_JOB_NODELIST (23.02 and later) and SLURM_NODELIST (before). SPANK_FABRIC_CHECK comes from the user and
/// is only a wish: anything but a known mode is logged and becomes `fallback`. A missing or odd job id or node name is
/// an error naming the variable. Hostile bytes welcome. Fuzzed.
Result<NodeHookEnvironment> node_hook_environment(const Environment &environment, Mode fallback);

/// What a hook's messages begin with: "prolog: job 7 node01: ".
std::string hook_prefix(Phase phase, const NodeHookEnvironment &environment);

struct ControllerHookEnvironment {
    Ticket ticket; ///< time_ns still to be set
    Mode mode = Mode::report;
    std::vector<std::string> remarks;
};

/// What Slurm tells an EpilogSlurmctld. A job that never had nodes is Errc::not_found.
Result<ControllerHookEnvironment> controller_hook_environment(const Environment &environment, Mode fallback);

} // namespace fabric_check
