// SPDX-License-Identifier: GPL-2.0-or-later
// What the built hooks need to start: nothing, or C's own library where there is no static one.
#include <cstdio>
#include <gmock/gmock.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

class HookLinks : public ::testing::TestWithParam<const char *> {
protected:
    static std::string program() { return std::string(FABRIC_CHECK_BINARY_DIR) + "/bin/" + GetParam(); }
    static std::vector<std::string> needed() {
        const auto command = "readelf -d " + program() + " 2>/dev/null | sed -n 's/.*NEEDED.*\\[\\(.*\\)\\]/\\1/p'";
        std::vector<std::string> names;
        const std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
        char buffer[4096];
        while (pipe && fgets(buffer, sizeof buffer, pipe.get()) != nullptr) {
            names.emplace_back(buffer);
            names.back().pop_back();
        }
        return names;
    }
    void SetUp() override {
        if (access(program().c_str(), X_OK) != 0)
            GTEST_SKIP() << program() << " is not built";
#if defined(__SANITIZE_ADDRESS__)
        GTEST_SKIP() << "a sanitizer is a shared library";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
        GTEST_SKIP() << "a sanitizer is a shared library";
#endif
#endif
    }
};

TEST_P(HookLinks, NeedsNothingButTheCLibrary) {
    for (const auto &name : needed())
        EXPECT_THAT(name, ::testing::AnyOf("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"));
}

TEST_P(HookLinks, NeedsNothingOfSlurm) {
    EXPECT_THAT(needed(), ::testing::Not(::testing::Contains(::testing::StartsWith("libslurm"))));
}

INSTANTIATE_TEST_SUITE_P(All, HookLinks,
                         ::testing::Values("fabric-check-prolog", "fabric-check-epilog", "fabric-check-step",
                                           "fabric-check-prologctld", "fabric-check-epilogctld"));

} // namespace
