// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fabric_check {

/// One ended job instance waiting for its verdict: what the controller hook's environment said. Zero and empty mean
/// that it did not say.
struct Ticket {
    std::uint32_t job_id = 0;
    std::int64_t time_ns = 0; ///< when the hook ran
    std::string nodes;        ///< hostlist
    std::uint32_t uid = 0;
    std::string user, partition, name, cluster;
    std::uint32_t restart_count = 0; ///< as Slurm counts it; at a requeue already one more than the instance had
    std::uint32_t array_job_id = 0;
    std::optional<std::uint32_t> array_task_id;
    std::uint32_t het_job_id = 0, het_job_offset = 0;
    std::int64_t start = 0, end = 0; ///< seconds since the epoch; Slurm 23.02 and later
    bool operator==(const Ticket &) const = default;

    std::string file_name() const; ///< "<job>.<time_ns>.json"
};

std::string encode_ticket(const Ticket &ticket);
/// Strict; the file's content is only as trustworthy as the state directory.
Result<Ticket> decode_ticket(const std::string &text);

/// Files in the state directory on the controller.
struct StateLayout {
    std::string root;
    std::string tickets() const { return root + "/tickets"; }
    std::string finisher_lock() const { return root + "/finisher.lock"; }
};

Status file_ticket(const StateLayout &state, const Ticket &ticket);
/// All tickets, oldest first. A file that does not decode is moved aside as NAME.bad and named in `problems`.
Result<std::vector<Ticket>> list_tickets(const StateLayout &state, std::vector<std::string> *problems);
Status remove_ticket(const StateLayout &state, const Ticket &ticket); ///< gone already: no error

} // namespace fabric_check
