// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/sharing.hpp"

#include "base/hostlist.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

namespace fabric_check {
namespace {

constexpr std::int64_t extra_s = 600; ///< that a question may ask for beside the longest job's own time

std::int64_t end_of(const JobInstance &instance) {
    return std::max(instance.job.end, instance.job.start + 1);
}

/// As the database has them, where the names were not expanded.
std::vector<std::string> nodes_of(const JobInstance &instance) {
    if (!instance.job.node_names.empty())
        return instance.job.node_names;
    auto names = expand_hostlist(instance.job.nodes);
    return names ? std::move(*names) : std::vector<std::string>();
}

} // namespace

std::vector<SharingGroup> sharing_groups(const std::vector<const JobInstance *> &instances) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < instances.size(); ++i)
        if (!instances[i]->job.nodes.empty() && !instances[i]->job.cluster.empty())
            order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const auto &left = instances[a]->job, &right = instances[b]->job;
        return std::tie(left.cluster, left.start) < std::tie(right.cluster, right.start);
    });

    std::vector<SharingGroup> groups;
    std::vector<std::string> names;
    std::int64_t longest = 0;
    const auto close = [&] {
        if (!groups.empty() && groups.back().members.size() > 1)
            groups.back().nodes = fold_hostlist(names);
        names.clear();
    };
    for (const auto i : order) {
        const auto &job = instances[i]->job;
        const auto end = end_of(*instances[i]);
        const auto length = std::max(longest, end - job.start);
        const bool joins = !groups.empty() && groups.back().cluster == job.cluster &&
                           std::max(groups.back().end, end) - groups.back().start <= 2 * length + extra_s;
        if (joins) {
            groups.back().end = std::max(groups.back().end, end);
            longest = length;
        } else {
            close();
            groups.push_back({{}, job.cluster, job.nodes, job.start, end});
            longest = end - job.start;
        }
        groups.back().members.push_back(i);
        const auto more = nodes_of(*instances[i]);
        names.insert(names.end(), more.begin(), more.end());
    }
    close();
    return groups;
}

std::vector<std::vector<std::uint32_t>> others_of(const SharingGroup &group,
                                                  const std::vector<const JobInstance *> &instances,
                                                  const std::vector<JobInstance> &records) {
    std::vector<std::vector<std::uint32_t>> result;
    // One job's question was for its own nodes, and slurmdbd has compared them.
    const bool alone = group.members.size() == 1;
    std::unordered_map<std::string, std::vector<const JobInstance *>> on_node;
    if (!alone)
        for (const auto &record : records)
            for (const auto &node : nodes_of(record))
                on_node[node].push_back(&record);
    for (const auto member : group.members) {
        const auto &job = instances[member]->job;
        std::set<std::uint32_t> others;
        const auto consider = [&](const JobInstance &other) {
            const bool overlaps =
                other.job.start != 0 && other.job.start < job.end && (other.job.end == 0 || other.job.end > job.start);
            if (overlaps && other.job.id != job.id)
                others.insert(other.job.id);
        };
        if (alone)
            std::for_each(records.begin(), records.end(), consider);
        else
            for (const auto &node : nodes_of(*instances[member]))
                if (const auto found = on_node.find(node); found != on_node.end())
                    for (const auto *other : found->second)
                        consider(*other);
        result.emplace_back(others.begin(), others.end());
    }
    return result;
}

} // namespace fabric_check
