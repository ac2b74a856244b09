// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "base/log.hpp"
#include "config/config.hpp"
#include "fabric/map.hpp"
#include "record/credential.hpp"
#include "snapshot/model.hpp"
#include "sources/scout.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fabric_check {

/// The outside world of a scout.
struct ScoutWorld {
    Signer *signer = nullptr;
    Log *log = nullptr;
    /// Reads the switches; a real one opens umad first. The error is recorded as the scout's problem.
    std::function<Result<ScoutSnapshot>(const fabric::Map &, const ScoutRequest &)> scout;
    /// Starts `fabric-check map build` on its own.
    std::function<Status()> start_map_build;
};

/// What one scout is to do.
struct ScoutTask {
    std::uint32_t job_id = 0;
    Phase phase = Phase::start;
    std::string host;               ///< where it runs; its record bears this name
    std::vector<std::string> nodes; ///< of the job
    std::string prefix;             ///< of its messages: "prolog: job 7 node01: "
};

/// One pass over the switches of a job, and the signed record of it in the spool. Everything it could not read stands in the
/// record as a problem; the error says why there is no record. Leaves by the deadline.
Status run_scout_pass(const ScoutTask &task, const Config &config, ScoutWorld &world, const Deadline &deadline);

/// The real world: Munge, umad as configured, and this program's own `fabric-check`.
ScoutWorld real_scout_world(const Config &config, Signer &signer, Log &log);

} // namespace fabric_check
