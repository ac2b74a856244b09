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

/// Serves the oldest of what lies in the spool's requests/ and returns: one scout pass for a job and phase (nodes of a
/// job that ask for the same are served at once), its record in the spool, the requests removed. True: there may be
/// more, which is for the next call, with a deadline of its own. Refused, logged and removed are requests that are not
/// signed by root or SlurmUser, say something else than their name, ask another host (there is one in the
/// configuration), or are older than a minute: a reading that late would be of another time. A copy has to have the
/// same name, and the same minute. What is no file, or not root's, SlurmUser's or nobody's (root's, squashed), was not
/// left by a node: it is taken away where that can be, and never counts. At most 64 requests are looked at in a call; a
/// flood costs no more than its listing.
///
/// To be called every 100 to 200 ms by a service that runs as root on that host; an empty directory costs one readdir.
/// Nothing is done where config.scout is not `host`, nor while another process on this host serves. The error is one
/// that matters to the service itself (spool or munged away): what was asked for stays and is tried again by a later
/// call, which should not follow at once.
Result<bool> serve_scout_request(const Config &config, const std::string &host, ScoutWorld &world,
                                 const Deadline &deadline);

} // namespace fabric_check
