// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace fabric_check::mad {
namespace {

struct MKeyFileTest : testing::Test {
    std::string directory, path;
    MKeyFileTest() {
        char name[] = "/tmp/fabric-check-m-key-XXXXXX";
        directory = mkdtemp(name);
        path = directory + "/key";
    }
    ~MKeyFileTest() override {
        unlink(path.c_str());
        rmdir(directory.c_str());
    }
    Result<std::uint64_t> read(const std::string &text, mode_t mode = 0600) {
        std::ofstream(path) << text;
        chmod(path.c_str(), mode);
        return read_m_key(path);
    }
};

TEST_F(MKeyFileTest, NoFileIsKeyZero) { EXPECT_EQ(read_m_key("").value(), 0U); }

TEST_F(MKeyFileTest, HexadecimalIsReadWithAndWithoutPrefixAndNewline) {
    EXPECT_EQ(read("0x0123456789abcdef\n").value(), 0x0123456789abcdefULL);
    EXPECT_EQ(read("FFFFFFFFFFFFFFFF").value(), ~0ULL);
    EXPECT_EQ(read("  1\n").value(), 1U);
}

TEST_F(MKeyFileTest, WhatIsNoHexadecimalNumberOf64BitsIsRefusedWithoutShowingIt) {
    for (const std::string text : {"", "0x", "\n", "secret", "12 34", "0x1ffffffffffffffff", "-1", "0x0x1"}) {
        const auto key = read(text);
        ASSERT_FALSE(key) << text;
        EXPECT_EQ(key.error().code, Errc::usage) << text;
        EXPECT_THAT(key.error().message, testing::StartsWith("mad.m_key_file " + path + ": write the subnet's M_Key"));
        EXPECT_THAT(key.error().message, testing::Not(testing::HasSubstr("secret")));
    }
    EXPECT_FALSE(read("1" + std::string(300, ' ') + "x")) << "more than a key";
}

TEST_F(MKeyFileTest, AFileThatOthersMayReadIsRefusedWithTheRemedy) {
    for (const mode_t mode : {0640, 0604, 0620, 0601}) {
        const auto key = read("0x1", mode);
        ASSERT_FALSE(key) << mode;
        EXPECT_EQ(key.error().code, Errc::denied);
        EXPECT_THAT(key.error().message, testing::EndsWith("chmod 0600 " + path));
    }
}

TEST_F(MKeyFileTest, AMissingFileAndADirectoryAreNamed) {
    const auto missing = read_m_key(path);
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, testing::HasSubstr(path));
    const auto folder = read_m_key(directory);
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().message, "mad.m_key_file " + directory + ": not a regular file");
}

TEST_F(MKeyFileTest, ASessionIsRefusedBeforeAnyPortIsOpened) {
    std::ofstream(path) << "nothing";
    chmod(path.c_str(), 0600);
    Config config;
    config.mad.m_key_file = path;
    const auto session = open_session(config);
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().code, Errc::usage);
}

} // namespace
} // namespace fabric_check::mad
