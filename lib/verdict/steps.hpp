// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/job_verdict.hpp"
#include "verdict/ports.hpp"

#include <vector>

namespace fabric_check {

/// A verdict for every step that was recorded, by the host ports alone: no switch is read at a step's ends. The rules are
/// those of the job's ports. A node of the step without both readings makes it incomplete. In order of their starts.
std::vector<StepVerdict> judge_steps(const JobEvidence &evidence, const PortSet &set, const Grading &grading,
                                     const Config::Known &known);

} // namespace fabric_check
