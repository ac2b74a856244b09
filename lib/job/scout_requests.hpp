// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "job/scout_calls.hpp"
#include "job/scout_pass.hpp"

#include <string>

namespace fabric_check {

/// Strict; the bytes may be anybody's. Fuzzed.
Result<ScoutCall> decode_scout_call(const std::string &text);

/// Serves what lies in the spool's requests/, oldest first, and returns: a scout pass for each job and phase (nodes of a job
/// that ask for the same are served at once), its record in the spool, the requests removed. Refused, logged and removed are
/// requests that are not signed by root or SlurmUser, were copied, say something else than their name, ask another host (there
/// is one in the configuration), or are older than a minute: a reading that late would be of another time. At most 64 requests
/// a call; a flood costs no more than its listing, and is served last where it is forged to be new.
///
/// To be called every 100 to 200 ms by a service that runs as root on that host; an empty directory costs one readdir.
/// Nothing is done where config.scout is not `host`, nor while another process on this host serves. The error is the first
/// one that matters to the service itself (spool or munged away); requests that were not opened yet stay.
Status serve_scout_requests(const Config &config, const std::string &host, ScoutWorld &world, const Deadline &deadline);

} // namespace fabric_check
