// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/programs.hpp"

#include <gtest/gtest.h>

namespace fabric_check {
namespace {

struct Answer {
    bool answered;
    std::string text;
};

Answer ask(std::vector<std::string> words) {
    std::vector<char *> arguments;
    for (auto &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::testing::internal::CaptureStdout();
    const bool answered =
        answer_about_program(static_cast<int>(words.size()), arguments.data(), "Does what it says.");
    (void)std::fflush(stdout);
    return {answered, ::testing::internal::GetCapturedStdout()};
}

TEST(Program, TellsItsVersion) {
    const auto answer = ask({"/usr/libexec/fabric-check/fabric-check-prolog", "--version"});
    EXPECT_TRUE(answer.answered);
    EXPECT_EQ(answer.text, "fabric-check-prolog " FABRIC_CHECK_VERSION "\n");
}

TEST(Program, TellsWhatItIsFor) {
    for (const auto *option : {"--help", "-h"}) {
        const auto answer = ask({"fabric-check-finisher", option});
        EXPECT_TRUE(answer.answered);
        EXPECT_EQ(answer.text, "usage: fabric-check-finisher\nDoes what it says.\nOther arguments: --help, --version. "
                               "See fabric-check-hooks(8).\n");
    }
}

TEST(Program, IsSilentOtherwise) {
    for (const auto &words : std::vector<std::vector<std::string>>{{"a"}, {}, {"a", "-v"}, {"a", ""}, {"a", "--help", "b"}}) {
        const auto answer = ask(words);
        EXPECT_FALSE(answer.answered);
        EXPECT_EQ(answer.text, "");
    }
}

} // namespace
} // namespace fabric_check
