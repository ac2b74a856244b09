// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"
#include "record/credential.hpp"
#include "snapshot/model.hpp"

#include <cstdint>
#include <string>

namespace fabric_check {

/// Values of config.scout that are no host's name.
inline constexpr const char *scout_on_head_node = "head-node";
inline constexpr const char *scout_on_controller = "controller";

/// With `scout` naming a host, the job's first nodes ask that host to read the switches: by a signed file in the spool's
/// requests/, which the service on that host serves and removes (job/scout_requests.hpp).
struct ScoutCall {
    std::uint32_t job_id = 0;
    Phase phase = Phase::start;
    std::string node;         ///< who asks
    std::string host;         ///< who is asked
    std::int64_t time_ns = 0; ///< when
    std::string nodes;        ///< of the job, as a host list
    bool operator==(const ScoutCall &) const = default;

    std::string file_name() const; ///< a record's name: of the node, the time and the kind of what is asked for
};

/// JSON, "schema": "fabric-check/scout-request/1".
std::string encode_scout_call(const ScoutCall &call);

std::string requests_directory(const Config &config); ///< in the spool; mode 1777 like records/

/// Files it, signed for root, who runs the service.
Status file_scout_call(const Config &config, const ScoutCall &call, Signer &signer);

} // namespace fabric_check
