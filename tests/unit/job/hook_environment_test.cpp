// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/hook_environment.hpp"

#include <gtest/gtest.h>
#include <map>

namespace fabric_check {
namespace {

using Variables = std::map<std::string, std::string>;

Environment of(const Variables &variables) {
    return [&variables](const char *name) -> const char * {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
    };
}

Variables node_variables() {
    return {{"SLURM_JOB_ID", "123"}, {"SLURMD_NODENAME", "node02"}, {"SLURM_JOB_NODELIST", "node[01-03]"}};
}

NodeHookEnvironment node_hook(const Variables &variables, Mode fallback = Mode::report) {
    auto hook = node_hook_environment(of(variables), fallback);
    EXPECT_TRUE(hook) << hook.error().message;
    return *hook;
}

std::string node_error(const Variables &variables) {
    const auto hook = node_hook_environment(of(variables), Mode::report);
    return hook ? "accepted" : hook.error().message;
}

TEST(NodeHookEnvironment, ReadsJobNodeAndPlace) {
    const auto hook = node_hook(node_variables());
    EXPECT_EQ(hook.job_id, 123U);
    EXPECT_EQ(hook.node, "node02");
    EXPECT_EQ(hook.index, 1U);
    EXPECT_EQ(hook.nodes.size(), 3U);
    EXPECT_TRUE(hook.remarks.empty());
}

TEST(NodeHookEnvironment, TakesTheNodeListOfBefore2302) {
    auto variables = node_variables();
    variables.erase("SLURM_JOB_NODELIST");
    variables["SLURM_NODELIST"] = "node[02-04]";
    EXPECT_EQ(node_hook(variables).index, 0U);
}

TEST(NodeHookEnvironment, PrefersTheNodeListOf2302) {
    auto variables = node_variables();
    variables["SLURM_NODELIST"] = "node02";
    EXPECT_EQ(node_hook(variables).nodes.size(), 3U);
}

TEST(NodeHookEnvironment, WithoutANodeListReadsThisNodeAndSaysSo) {
    auto variables = node_variables();
    variables.erase("SLURM_JOB_NODELIST");
    const auto hook = node_hook(variables);
    EXPECT_EQ(hook.nodes, std::vector<std::string>{"node02"});
    ASSERT_EQ(hook.remarks.size(), 1U);
    EXPECT_EQ(hook.remarks[0], "SLURM_JOB_NODELIST: not set; this node alone is read");
}

TEST(NodeHookEnvironment, ANodeThatIsNotListedIsNoScout) {
    auto variables = node_variables();
    variables["SLURMD_NODENAME"] = "other";
    const auto hook = node_hook(variables);
    EXPECT_EQ(hook.index, 3U);
    ASSERT_EQ(hook.remarks.size(), 1U);
    EXPECT_EQ(hook.remarks[0], "SLURM_JOB_NODELIST does not name this node; no scout here");
}

TEST(NodeHookEnvironment, NamesTheVariableThatIsMissingOrOdd) {
    auto variables = node_variables();
    variables.erase("SLURM_JOB_ID");
    EXPECT_EQ(node_error(variables), "SLURM_JOB_ID: not set, a job id was expected; is this run by Slurm?");
    for (const auto *id : {"0", "-1", "12x", "4294967295", "4294967294", "99999999999999999999"}) {
        variables["SLURM_JOB_ID"] = id;
        EXPECT_EQ(node_error(variables),
                  std::string("SLURM_JOB_ID: \"") + id + "\", a job id was expected; is this run by Slurm?");
    }
    variables = node_variables();
    variables["SLURMD_NODENAME"] = "../x";
    EXPECT_EQ(node_error(variables), "SLURMD_NODENAME: \"../x\", a node name was expected; is this run by Slurm?");
}

TEST(NodeHookEnvironment, TakesTheUsersWishOverTheSites) {
    auto variables = node_variables();
    variables["SPANK_FABRIC_CHECK"] = "off";
    EXPECT_EQ(node_hook(variables, Mode::report).mode, Mode::off);
    variables["SPANK_FABRIC_CHECK"] = "report";
    EXPECT_EQ(node_hook(variables, Mode::off).mode, Mode::report);
    EXPECT_EQ(node_hook(node_variables(), Mode::off).mode, Mode::off);
}

TEST(NodeHookEnvironment, AForgedWishBecomesTheSitesDefaultAndIsLogged) {
    auto variables = node_variables();
    variables["SPANK_FABRIC_CHECK"] = "off\n; rm";
    const auto hook = node_hook(variables, Mode::report);
    EXPECT_EQ(hook.mode, Mode::report);
    ASSERT_EQ(hook.remarks.size(), 1U);
    EXPECT_EQ(hook.remarks[0], "SPANK_FABRIC_CHECK: unknown mode \"off\\x0a; rm\" (valid: report | step | report,step | off); taken as the "
                               "site's default, report");
}

Variables controller_variables() {
    return {{"SLURM_JOB_ID", "125"},       {"SLURM_JOB_NODELIST", "node[01-03]"},
            {"SLURM_JOB_UID", "1000"},     {"SLURM_JOB_USER", "ada"},
            {"SLURM_JOB_PARTITION", "p"},  {"SLURM_JOB_NAME", "run"},
            {"SLURM_CLUSTER_NAME", "lab"}, {"SLURM_ARRAY_JOB_ID", "123"},
            {"SLURM_ARRAY_TASK_ID", "0"},  {"SLURM_JOB_START_TIME", "1700000000"}};
}

TEST(ControllerHookEnvironment, FillsTheTicket) {
    const auto variables = controller_variables();
    const auto hook = controller_hook_environment(of(variables), Mode::report);
    ASSERT_TRUE(hook) << hook.error().message;
    const auto &ticket = hook->ticket;
    EXPECT_EQ(ticket.job_id, 125U);
    EXPECT_EQ(ticket.nodes, "node[01-03]");
    EXPECT_EQ(ticket.uid, 1000U);
    EXPECT_EQ(ticket.user, "ada");
    EXPECT_EQ(ticket.cluster, "lab");
    EXPECT_EQ(ticket.array_job_id, 123U);
    EXPECT_EQ(ticket.array_task_id, 0U);
    EXPECT_EQ(ticket.start, 1700000000);
    EXPECT_EQ(ticket.end, 0);
}

TEST(ControllerHookEnvironment, AJobThatIsNoArrayHasNoTask) {
    auto variables = controller_variables();
    variables.erase("SLURM_ARRAY_JOB_ID");
    variables.erase("SLURM_ARRAY_TASK_ID");
    EXPECT_FALSE(controller_hook_environment(of(variables), Mode::report)->ticket.array_task_id);
}

TEST(ControllerHookEnvironment, AJobWithoutNodesHasNothingToJudge) {
    auto variables = controller_variables();
    variables.erase("SLURM_JOB_NODELIST");
    const auto hook = controller_hook_environment(of(variables), Mode::report);
    ASSERT_FALSE(hook);
    EXPECT_EQ(hook.error().code, Errc::not_found);
}

} // namespace
} // namespace fabric_check
