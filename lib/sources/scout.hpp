// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "fabric/map.hpp"
#include "fabric/routes.hpp"

#include <map>
#include <string>
#include <vector>

namespace fabric_check::sample {
class Board;
}

namespace fabric_check {

/// What a scout is to read.
struct ScoutRequest {
    std::string node;                   ///< where it runs
    std::vector<std::string> job_nodes;
    std::vector<std::string> services;  ///< host names outside the job
    /// Port GUIDs by node name, as earlier verified records taught (the spool's map/hosts.json); may be empty.
    std::map<std::string, std::vector<std::uint64_t>> known_guids;
    Deadline deadline = Deadline::never();
    Phase phase = Phase::start;
    sample::Board *board = nullptr; ///< readings that jobs share; null: none are
};

namespace mad {
class Engine;
}

/// One pipelined pass: LFT blocks of the job's and services' LIDs on every switch their routes pass (live, followed
/// until the walk closes), then PortInfo and PMA counters of the ports facing them and of every member of the groups on
/// the way. Counters that do not answer are Readings with a reason; only "no umad at all" is an Error.
/// Hosts are matched by port GUID, falling back to NodeDescription; hosts not in the map are problems.
///
/// With a board, links between switches that others read are not asked again: a START takes a reading that is younger
/// than config.sample.share_ms, an END one that was answered after this scout began, as an older one lacks some of the
/// job's traffic. Ports facing hosts are always asked: another job's traffic would be in an older reading. Each reading
/// has its own time.
Result<ScoutSnapshot> scout(mad::Engine &engine, const fabric::Map &map, const ScoutRequest &request,
                            const Config &config);

/// Endpoints of job and services as a scout matched them, for fabric::analyse.
fabric::Query query_from(const fabric::Map &map, const std::vector<HostMatch> &hosts, const Config &config);

/// The same matching without a fabric, for the command line.
std::vector<HostMatch> match_hosts(const fabric::Map &map, const ScoutRequest &request, std::vector<Problem> &problems);

} // namespace fabric_check
