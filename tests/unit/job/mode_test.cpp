// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/mode.hpp"
#include "job/plugin.hpp"

#include <gtest/gtest.h>

namespace fabric_check {
namespace {

TEST(Mode, IsReportForAnOptionWithoutArgumentHoweverSlurmSaysSo) {
    EXPECT_EQ(mode_from_option(nullptr), Mode::report);
    EXPECT_EQ(mode_from_option("(null)"), Mode::report);
}

TEST(Mode, IsTakenExactly) {
    EXPECT_EQ(mode_from_option("report"), Mode::report);
    EXPECT_EQ(mode_from_option("off"), Mode::off);
    for (const auto *text : {"", "Report", "reports", "of", " off", "off ", "on", "1", ",", "report,", ",step", "step,,report",
                             "off,step", "step,off", "report step", "report, step"})
        EXPECT_FALSE(mode_from_option(text)) << text;
}

TEST(Mode, CombinesAndHasOneForm) {
    for (const auto *text : {"step", "report,step", "step,report", "step,step"}) {
        EXPECT_EQ(mode_from_option(text), Mode::report_step) << text;
    }
    EXPECT_STREQ(to_string(Mode::report_step), "report,step");
    EXPECT_STREQ(to_string(Mode::report), "report");
    EXPECT_STREQ(to_string(Mode::off), "off");
    for (const auto mode : {Mode::report, Mode::off, Mode::report_step})
        EXPECT_EQ(parse_mode(to_string(mode)), mode);
}

TEST(Plugin, RefusesAnUnknownModeAndListsTheValidOnes) {
    std::optional<Mode> mode;
    EXPECT_EQ(choose_mode("fast", mode), "unknown mode \"fast\" for --fabric-check (valid: report | step | report,step | off)");
    EXPECT_FALSE(mode);
    EXPECT_EQ(choose_mode("", mode), "unknown mode \"\" for --fabric-check (valid: report | step | report,step | off)");
    EXPECT_FALSE(mode);
    EXPECT_EQ(choose_mode("off", mode), "");
    EXPECT_EQ(mode, Mode::off);
}

TEST(Plugin, KeepsEscapesOffTheTerminal) {
    std::optional<Mode> mode;
    EXPECT_EQ(choose_mode("\x1b[31m\xff", mode), "unknown mode \"?[31m?\" for --fabric-check (valid: report | step | report,step | off)");
    EXPECT_EQ(choose_mode(std::string(65, 'x').c_str(), mode),
              "unknown mode \"" + std::string(64, 'x') + "...\" for --fabric-check (valid: report | step | report,step | off)");
}

std::string check(std::vector<std::string> arguments) {
    std::vector<char *> pointers;
    for (auto &argument : arguments)
        pointers.push_back(argument.data());
    return check_plugstack_arguments(static_cast<int>(pointers.size()), pointers.data());
}

TEST(Plugin, AcceptsItsConfigurationFile) {
    EXPECT_EQ(check({}), "");
    EXPECT_EQ(check({"config=/etc/fabric-check/fabric-check.toml"}), "");
}

TEST(Plugin, TakesItsArguments) {
    std::string config = "config=/x", budget = "step_ms=1000";
    char *arguments[] = {config.data(), budget.data()};
    const auto taken = plugin_arguments(2, arguments);
    EXPECT_EQ(taken.config, "/x");
    EXPECT_EQ(taken.step_ms, 1000U);
    EXPECT_EQ(plugin_arguments(0, nullptr).step_ms, 50U);
}

TEST(Plugin, QuotesTheFirstUnknownPlugstackArgument) {
    EXPECT_EQ(check({"config=/x", "confg=/x", "y"}),
              "plugstack.conf: unknown argument \"confg=/x\" (valid: config=FILE, step_ms=1...1000)");
    for (const auto *odd : {"step_ms=", "step_ms=0", "step_ms=1001", "step_ms=-1", "step_ms=5x"})
        EXPECT_EQ(check({odd}), "plugstack.conf: unknown argument \"" + std::string(odd) + "\" (valid: config=FILE, step_ms=1...1000)");
    EXPECT_EQ(check({"config="}), "plugstack.conf: unknown argument \"config=\" (valid: config=FILE, step_ms=1...1000)");
}

} // namespace
} // namespace fabric_check
