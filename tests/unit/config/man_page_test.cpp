// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.hpp"
#include "config/config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace fabric_check {
namespace {

const char *const page_file = FABRIC_CHECK_SOURCE_DIR "/man/fabric-check.toml.5";

std::string escaped(std::string text) {
    for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 4) {
        text.replace(at, 1, "\\(dq");
    }
    return text;
}

TEST(ManPage, HasEveryKeyOfTheTableWithItsTypeAndDefault) {
    const auto page = read_file(page_file, 1 << 20);
    ASSERT_TRUE(page.ok()) << page.error().message;
    for (const ConfigKey &key : config_keys()) {
        const std::string section = key.section;
        const std::size_t start = section.empty() ? page->find(".Ss Top level") : page->find(".Ss Section [" + section + "]");
        ASSERT_NE(start, std::string::npos) << "no section " << section;
        if (section == "munge.addresses") {
            continue; // its keys are node names
        }
        const bool quoted = section == "payload_ceilings";
        const std::string name = quoted ? "\"\\(dq" + std::string(key.name) + "\\(dq\"" : key.name;
        const std::size_t at = page->find(".It Li " + name + " Pq ", start);
        ASSERT_LT(at, page->find("\n.Ss ", start + 1)) << "section [" << section << "] has no key " << key.name;
        const std::string line = page->substr(at, page->find('\n', at) - at);
        EXPECT_NE(line.find(key.type), std::string::npos) << line;
        EXPECT_NE(line.find(escaped(key.fallback)), std::string::npos) << line << " should say " << key.fallback;
    }
}

TEST(ManPage, HasNoKeyThatTheTableDoesNotKnow) {
    const auto page = read_file(page_file, 1 << 20);
    ASSERT_TRUE(page.ok()) << page.error().message;
    std::size_t items = 0;
    for (std::size_t at = 0; (at = page->find("\n.It Li ", at)) != std::string::npos; ++at) {
        ++items;
    }
    const auto keys = config_keys();
    const auto named = std::count_if(keys.begin(), keys.end(),
                                     [](const ConfigKey &key) { return std::string(key.section) != "munge.addresses"; });
    EXPECT_EQ(items, static_cast<std::size_t>(named));
}

} // namespace
} // namespace fabric_check
