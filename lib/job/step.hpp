// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "config/config.hpp"
#include "job/node_state.hpp"
#include "record/steps.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check {

/// What the step recorder is asked: fabric-check-step start|end JOB STEP NODES node=NAME name=PROGRAM.
struct StepRequest {
    bool end = false;
    NodeJob job; ///< node empty: the job's only one here
    std::uint32_t step_id = 0, nodes = 1;
    std::string name;
};
/// Nothing for anything odd.
std::optional<StepRequest> parse_step_request(const std::vector<std::string_view> &arguments);

/// Reads this node's ports at one end of a step. At the start the reading is left in the job's state; at the end what happened
/// since goes to the steps that the Epilog puts into END. Beyond `step_records` steps nothing is read any more. Touches
/// nothing but node_state: no spool, no Munge, no MADs. Errc::not_found: the job has no state here (mode off, Prolog cut
/// short, ended). Errc::no_answer: enough steps, or no start of this one.
Status record_step(const Config &config, const StepRequest &request,
                   const std::function<NodeSnapshot(const std::string &node)> &read);

/// The steps that were recorded of a job, those without an end among them. What cannot be read is left out.
StepRecords recorded_steps(const NodeStateStore &store, const NodeJob &job, unsigned limit);

/// One line of the file of steps that ended.
Result<StepRecord> decode_step_line(const std::string &line);

/// A whole recorder, from its arguments. 0: recorded.
int step_main(int argc, char **argv) noexcept;

} // namespace fabric_check
