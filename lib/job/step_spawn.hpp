// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace fabric_check {

/// What the SPANK plugin does in the step daemon, without Slurm and without any library but C's and C++'s.

/// One end of a step, as SPANK tells it.
struct StepMoment {
    bool end = false;
    std::uint32_t job_id = 0, step_id = 0, nodes = 1;
    std::string program; ///< the step's argv[0], from the user
    std::string node;    ///< SLURMD_NODENAME of the daemon's own environment; empty: not known
    std::string config;  ///< empty: the default
};

/// A batch script, the external step, an interactive one and what else is not the user's srun.
bool is_plain_step(std::uint32_t step_id) noexcept;

/// The step recorder's arguments. Nothing in them begins with a dash that the user chose.
std::vector<std::string> step_command(const std::string &program, const StepMoment &moment);

/// fabric-check-step: beside the plugin as it is built (../bin), else where it was configured to be installed. Empty: not
/// there.
std::string find_step_recorder(const std::string &plugin_file);

/// Runs a command with nothing of our environment but FABRIC_CHECK_CONFIG, output to /dev/null, for `budget` at the longest;
/// then it is killed. True: it ended with 0 in time. Allocates before it forks; never throws.
bool run_recorder(const std::vector<std::string> &command, const std::string &config,
                  std::chrono::milliseconds budget) noexcept;

} // namespace fabric_check
