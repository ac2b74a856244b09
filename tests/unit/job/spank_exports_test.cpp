// SPDX-License-Identifier: GPL-2.0-or-later
// What the built SPANK plugin shows to the program that loads it.
#include <cstdio>
#include <gmock/gmock.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

const std::string plugin = std::string(FABRIC_CHECK_BINARY_DIR) + "/lib/fabric_check_spank.so";

std::vector<std::string> lines_of(const std::string &command) {
    std::vector<std::string> lines;
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
    char buffer[4096];
    while (pipe && fgets(buffer, sizeof buffer, pipe.get()) != nullptr) {
        lines.emplace_back(buffer);
        lines.back().pop_back();
    }
    return lines;
}

class SpankPlugin : public ::testing::Test {
protected:
    void SetUp() override {
        if (access(plugin.c_str(), R_OK) != 0)
            GTEST_SKIP() << plugin << " is not built";
    }
};

TEST_F(SpankPlugin, ExportsItsMetadataAndHooksOnly) {
    EXPECT_THAT(lines_of("nm -D --defined-only --format=just-symbols " + plugin),
                ::testing::UnorderedElementsAre("plugin_name", "plugin_type", "plugin_version", "spank_plugin_version",
                                                "slurm_spank_exit", "slurm_spank_init", "slurm_spank_init_post_opt"));
}

TEST_F(SpankPlugin, NeedsNothingOfSlurmMungeOrInfiniBand) {
    EXPECT_THAT(lines_of("readelf -d " + plugin + " | sed -n 's/.*NEEDED.*\\[\\(.*\\)\\]/\\1/p'"),
                ::testing::IsSubsetOf({"libstdc++.so.6", "libgcc_s.so.1", "libc.so.6", "libm.so.6"}));
}

TEST_F(SpankPlugin, AsksItsLoaderForSpankAndLoggingOnly) {
    for (const auto &symbol : lines_of("nm -D --undefined-only --format=just-symbols " + plugin)) {
        const bool of_slurm = symbol.starts_with("slurm") || symbol.starts_with("spank");
        EXPECT_TRUE(!of_slurm || symbol.starts_with("spank_") || symbol == "slurm_error") << symbol;
    }
}

} // namespace
