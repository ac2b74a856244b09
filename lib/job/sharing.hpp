// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "job/accounting.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fabric_check {

/// Jobs whose neighbours one question answers: they ran at about the same time.
struct SharingGroup {
    std::vector<std::size_t> members; ///< indexes into the instances
    std::string cluster, nodes;       ///< of all of them
    std::int64_t start = 0, end = 0;  ///< from the first one's start to the last one's end, seconds since the epoch
};

/// Groups of jobs of one cluster, each asked for over not much more time than its longest job took. Jobs without nodes
/// or cluster are in none. Pure.
std::vector<SharingGroup> sharing_groups(const std::vector<const JobInstance *> &instances);

/// Of each instance of the group (in the order of `members`): the jobs among `records` that held one of its nodes while
/// it ran, by id, ascending. Pure.
std::vector<std::vector<std::uint32_t>> others_of(const SharingGroup &group,
                                                  const std::vector<const JobInstance *> &instances,
                                                  const std::vector<JobInstance> &records);

} // namespace fabric_check
