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
    for (const auto *text : {"", "Report", "reports", "of", " off", "off ", "on", "1"})
        EXPECT_FALSE(mode_from_option(text)) << text;
}

TEST(Plugin, RefusesAnUnknownModeAndListsTheValidOnes) {
    std::optional<Mode> mode;
    EXPECT_EQ(choose_mode("fast", mode), "unknown mode \"fast\" for --fabric-check (valid: report, off)");
    EXPECT_FALSE(mode);
    EXPECT_EQ(choose_mode("", mode), "unknown mode \"\" for --fabric-check (valid: report, off)");
    EXPECT_FALSE(mode);
    EXPECT_EQ(choose_mode("off", mode), "");
    EXPECT_EQ(mode, Mode::off);
}

TEST(Plugin, KeepsEscapesOffTheTerminal) {
    std::optional<Mode> mode;
    EXPECT_EQ(choose_mode("\x1b[31m\xff", mode), "unknown mode \"?[31m?\" for --fabric-check (valid: report, off)");
    EXPECT_EQ(choose_mode(std::string(65, 'x').c_str(), mode),
              "unknown mode \"" + std::string(64, 'x') + "...\" for --fabric-check (valid: report, off)");
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

TEST(Plugin, QuotesTheFirstUnknownPlugstackArgument) {
    EXPECT_EQ(check({"config=/x", "confg=/x", "y"}),
              "plugstack.conf: unknown argument \"confg=/x\" (valid: config=FILE)");
    EXPECT_EQ(check({"config="}), "plugstack.conf: unknown argument \"config=\" (valid: config=FILE)");
}

} // namespace
} // namespace fabric_check
