// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "job/scout_pass.hpp"
#include "record/credential.hpp"
#include "snapshot/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fabric_check {

/// With `scout` naming a host, the job's first nodes ask that host to read the switches: by a signed file in the spool's
/// requests/, which the service on that host serves and removes.
struct ScoutCall {
    std::uint32_t job_id = 0;
    Phase phase = Phase::start;
    std::string node;        ///< who asks
    std::string host;        ///< who is asked
    std::int64_t time_ns = 0;///< when
    std::string nodes;       ///< of the job, as a host list
    bool operator==(const ScoutCall &) const = default;
};

/// JSON, "schema": "fabric-check/scout-request/1". Decoding is strict; the bytes may be anybody's. Fuzzed.
std::string encode_scout_call(const ScoutCall &call);
Result<ScoutCall> decode_scout_call(const std::string &text);

/// Files it, signed for root, who runs the service.
Status file_scout_call(const Config &config, const ScoutCall &call, Signer &signer);

/// Serves what lies in the spool's requests/ for this host, oldest first, and returns: a scout pass for each job and phase
/// (two nodes that ask for the same are served at once), its record in the spool, the request removed. Refused, logged and
/// removed are requests that are not signed by root or SlurmUser, were copied, say something else than their name, or are
/// older than a minute: a reading that late would be of another time. Other hosts' requests are left alone, and removed by
/// whoever sees them after an hour. At most 64 requests a call; a flood costs no more than its listing.
///
/// To be called every 100 to 200 ms by a service that runs as root on that host; an empty directory costs one readdir.
/// Nothing is done where config.scout is not `host`, nor while another process on this host serves. The error is the first
/// one that matters to the service itself (spool or munged away); the requests stay.
Status serve_scout_requests(const Config &config, const std::string &host, ScoutWorld &world, const Deadline &deadline);

} // namespace fabric_check
