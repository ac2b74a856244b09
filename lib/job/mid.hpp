// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "record/credential.hpp"
#include "snapshot/model.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fabric_check {

/// The outside world of `fabric-check mid`.
struct MidWorld {
    Signer *signer = nullptr;
    std::function<NodeSnapshot(const std::string &node)> read; ///< this node's ports, now
};

/// What became of one job's record.
struct MidJob {
    std::uint32_t job_id = 0;
    std::string node;
    std::int64_t start_ns = 0, time_ns = 0; ///< of START and of this reading
    std::size_t intervals = 0;              ///< kept since START
    std::string skipped;                    ///< why there is no record, where that is as it should be
};

struct MidResult {
    bool busy = false; ///< another one is at it: nothing was done
    std::vector<MidJob> jobs;
    std::optional<Error> problem; ///< the first; the jobs before and behind it were done all the same
};

/// Reads this node's ports once and writes a MID record for each job whose START stands in `node_state` and whose Epilog
/// has not run; its predecessor goes. No MADs, no Slurm. Safe at any time, also twice at once. Leaves at the deadline.
MidResult run_mid(const Config &config, const std::string &node, MidWorld &world, const Deadline &deadline);

/// The same as JSON, "schema": "fabric-check/mid/1".
std::string mid_json(const MidResult &result);

} // namespace fabric_check
