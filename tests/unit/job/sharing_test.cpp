// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/sharing.hpp"

#include "base/hostlist.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using ::testing::ElementsAre;

JobInstance job(std::uint32_t id, const std::string &nodes, std::int64_t start, std::int64_t end) {
    JobInstance instance;
    instance.job.id = id;
    instance.job.cluster = "lab";
    instance.job.nodes = nodes;
    instance.job.node_names = *expand_hostlist(nodes);
    instance.job.start = start;
    instance.job.end = end;
    return instance;
}

std::vector<const JobInstance *> pointers(const std::vector<JobInstance> &jobs) {
    std::vector<const JobInstance *> out;
    for (const auto &one : jobs)
        out.push_back(&one);
    return out;
}

TEST(SharingGroups, AsksOnceForJobsOfTheSameTime) {
    const std::vector<JobInstance> jobs = {job(1, "node[01-02]", 1000, 1010), job(2, "node03", 1005, 1020)};
    const auto groups = sharing_groups(pointers(jobs));
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_EQ(groups[0].nodes, "node[01-03]");
    EXPECT_EQ(groups[0].start, 1000);
    EXPECT_EQ(groups[0].end, 1020);
    EXPECT_THAT(groups[0].members, ElementsAre(0U, 1U));
}

TEST(SharingGroups, DoesNotAskForAWeekOnBehalfOfASecond) {
    const std::vector<JobInstance> jobs = {job(1, "node01", 1000, 1001), job(2, "node02", 601'000, 601'001)};
    EXPECT_EQ(sharing_groups(pointers(jobs)).size(), 2U);
}

TEST(SharingGroups, KeepsClustersApart) {
    std::vector<JobInstance> jobs = {job(1, "node01", 1000, 1001), job(2, "node02", 1000, 1001)};
    jobs[1].job.cluster = "other";
    EXPECT_EQ(sharing_groups(pointers(jobs)).size(), 2U);
}

TEST(SharingGroups, LeavesOutWhatHasNoNodes) {
    const std::vector<JobInstance> jobs = {job(1, "", 1000, 1001)};
    EXPECT_TRUE(sharing_groups(pointers(jobs)).empty());
}

TEST(OthersOf, CountsOnlyThoseOnItsOwnNodesInItsOwnTime) {
    const std::vector<JobInstance> jobs = {job(1, "node[01-02]", 1000, 1010), job(2, "node03", 1005, 1020)};
    const auto all = pointers(jobs);
    const std::vector<JobInstance> records = {
        jobs[0], jobs[1], job(3, "node02", 1009, 0),    job(4, "node02", 1010, 1015),
        job(5, "node03", 990, 1005), job(6, "node03", 1015, 1016), job(7, "node01", 0, 0)};
    const auto others = others_of(sharing_groups(all)[0], all, records);
    ASSERT_EQ(others.size(), 2U);
    EXPECT_THAT(others[0], ElementsAre(3U));
    EXPECT_THAT(others[1], ElementsAre(6U));
}

TEST(OthersOf, TakesSlurmdbdsWordForOneJobsNodes) {
    const std::vector<JobInstance> jobs = {job(1, "node01", 1000, 1010)};
    const auto all = pointers(jobs);
    EXPECT_THAT(others_of(sharing_groups(all)[0], all, {jobs[0], job(2, "elsewhere", 1000, 1010)})[0], ElementsAre(2U));
}

} // namespace
} // namespace fabric_check
