// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map.hpp"
#include "job/accounting.hpp"
#include "record/spool.hpp"

#include <string>
#include <vector>

namespace fabric_check::bench {

/// A made-up job on a fat tree of 36-port switches: what its nodes and scouts would have left in the spool.
struct BigJob {
    unsigned nodes = 10'000;
    unsigned cards = 1;             ///< ports of each node
    bool scouts = true;             ///< the first two nodes read every link on the job's routes, and all tables' blocks
    std::uint32_t id = 1;
    std::int64_t start = 0, end = 0; ///< seconds since the epoch
};

std::vector<std::string> node_names(const BigJob &job);
JobInstance instance_of(const BigJob &job);
Ticket ticket_of(const BigJob &job);

/// Signs and writes all of them below records(), without the syncs of the hooks' own writing. Returns the records of
/// nodes (not scouts) that it wrote.
std::vector<RecordName> write_records(const BigJob &job, const fabric::Map &map, const SpoolLayout &spool,
                                      Signer &signer, unsigned workers);

} // namespace fabric_check::bench
