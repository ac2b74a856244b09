// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.hpp"
#include "fabric/fabrics.hpp"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>
#include <zlib.h>

namespace fabric_check::fabric {
namespace {

using ::testing::HasSubstr;

class MapFile : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = ::testing::TempDir() + "map-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
        path_ = directory_ + "/map.fcm";
        map_ = testing::two_switches(testing::collapsed());
        map_.built_ns = 1234567890123456789;
        map_.source = "live";
        map_.adaptive_routing = AdaptiveRouting::off;
        map_.problems = {{"SwitchA:13", "", "half known"}};
        map_.nodes[2].ports[1].lmc = 1;
        map_.nodes[3].description = "quotes \" and [brackets] and blanks  ";
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    std::string saved() {
        EXPECT_TRUE(save_map(map_, path_));
        return read_file(path_, 1 << 24).value();
    }
    static Result<Map> parse(const std::string &bytes) {
        return parse_map({reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()}, "some.fcm");
    }
    /// The bytes with both checksums made right again.
    static std::string resealed(std::string bytes) {
        std::size_t at = 40, entry = 16;
        for (int i = 0; i < 2; ++i, entry += 12) {
            std::size_t length = 0;
            for (int k = 7; k >= 0; --k)
                length = length << 8 | std::uint8_t(bytes[entry + std::size_t(k)]);
            if (at + length > bytes.size())
                break;
            const auto sum = crc32(0, reinterpret_cast<const Bytef *>(bytes.data()) + at, uInt(length));
            for (unsigned k = 0; k < 4; ++k)
                bytes[entry + 8 + k] = char(sum >> (8 * k) & 0xff);
            at += length;
        }
        return bytes;
    }

    std::string directory_, path_;
    Map map_;
};

TEST_F(MapFile, EverythingComesBackAsItWas) {
    ASSERT_TRUE(save_map(map_, path_));
    const auto loaded = load_map(path_);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->built_ns, map_.built_ns);
    EXPECT_EQ(loaded->source, "live");
    EXPECT_EQ(loaded->adaptive_routing, AdaptiveRouting::off);
    EXPECT_EQ(loaded->problems, map_.problems);
    EXPECT_EQ(loaded->id, map_.id);
    EXPECT_NE(loaded->id, 0U);
    ASSERT_EQ(loaded->nodes.size(), map_.nodes.size());
    for (std::size_t n = 0; n < map_.nodes.size(); ++n) {
        const MapNode &was = map_.nodes[n], &is = loaded->nodes[n];
        EXPECT_EQ(is.guid, was.guid);
        EXPECT_EQ(is.description, was.description);
        EXPECT_EQ(is.kind, was.kind);
        EXPECT_EQ(is.lid, was.lid);
        EXPECT_EQ(is.lft, was.lft);
        ASSERT_EQ(is.ports.size(), was.ports.size());
        for (std::size_t p = 0; p < was.ports.size(); ++p) {
            EXPECT_EQ(is.ports[p].peer, was.ports[p].peer);
            EXPECT_EQ(is.ports[p].peer_port, was.ports[p].peer_port);
            EXPECT_EQ(is.ports[p].rate, was.ports[p].rate);
            EXPECT_EQ(is.ports[p].guid, was.ports[p].guid);
            EXPECT_EQ(is.ports[p].lid, was.ports[p].lid);
            EXPECT_EQ(is.ports[p].lmc, was.ports[p].lmc);
        }
    }
}

TEST_F(MapFile, ALoadedMapIsIndexed) {
    const auto loaded = parse(saved());
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->by_lid(12), map_.by_lid(12));
    EXPECT_EQ(loaded->by_lid(2), 3U) << "LID 2 is node02's own and not node01's alternate";
}

TEST_F(MapFile, TheIdChangesWithOneTableEntryAndOneDescription) {
    saved();
    const auto first = map_.id;
    map_.nodes[1].lft[1] = 32;
    saved();
    const auto second = map_.id;
    EXPECT_NE(first, second);
    map_.nodes[1].description = "SwitchC";
    saved();
    EXPECT_NE(second, map_.id);
}

TEST_F(MapFile, AnEmptyMapIsAMap) {
    map_ = Map{};
    const auto loaded = parse(saved());
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(loaded->nodes.empty());
}

TEST_F(MapFile, TheLargestPortNumberAndTableFit) {
    map_.nodes[0].ports.resize(256);
    map_.nodes[0].ports[255].lid = 7;
    map_.nodes[0].lft.assign(0x10000, 3);
    const auto loaded = parse(saved());
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->nodes[0].ports.size(), 256U);
    EXPECT_EQ(loaded->nodes[0].lft.size(), 0x10000U);
}

TEST_F(MapFile, ANodeWithMorePortsThanInfiniBandHasIsNotWritten) {
    map_.nodes[0].ports.resize(257);
    const Status status = save_map(map_, path_);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Errc::malformed);
    EXPECT_THAT(status.error().message, HasSubstr("257 ports"));
    EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(MapFile, AFailedWriteLeavesTheOldMap) {
    const std::string before = saved();
    map_.nodes[0].ports.resize(257);
    EXPECT_FALSE(save_map(map_, path_));
    EXPECT_EQ(read_file(path_, 1 << 24).value(), before);
}

TEST_F(MapFile, AMissingFileIsNamed) {
    const auto loaded = load_map(directory_ + "/none.fcm");
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, Errc::not_found);
    EXPECT_THAT(loaded.error().message, HasSubstr("none.fcm"));
}

TEST_F(MapFile, AnotherFileIsRefusedByItsMagic) {
    const auto loaded = parse("#!/bin/sh\necho this is no map at all, but it is long enough\n");
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, Errc::malformed);
    EXPECT_THAT(loaded.error().message, HasSubstr("some.fcm: not a fabric map"));
}

TEST_F(MapFile, AnotherVersionIsRefusedByNumber) {
    std::string bytes = saved();
    bytes[8] = 2;
    const auto loaded = parse(bytes);
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr("map of version 2, this program reads version 1"));
}

TEST_F(MapFile, AFlippedBitIsNoticedAnywhere) {
    const std::string bytes = saved();
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string bad = bytes;
        bad[at] = char(bad[at] ^ 0x10);
        EXPECT_FALSE(parse(bad)) << "byte " << at;
    }
}

TEST_F(MapFile, EveryTruncationIsAnError) {
    const std::string bytes = saved();
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(parse(bytes.substr(0, size))) << size << " bytes";
    const auto cut = parse(bytes.substr(0, bytes.size() - 1));
    EXPECT_THAT(cut.error().message, HasSubstr("ends inside its forwarding tables"));
}

TEST_F(MapFile, BytesAtTheEndAreAnError) {
    const auto loaded = parse(saved() + "x");
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr("1 bytes too many"));
}

TEST_F(MapFile, HostileBytesUnderARightChecksumNeverCrash) {
    const std::string bytes = saved();
    std::mt19937 random(1);
    for (int i = 0; i < 3000; ++i) {
        std::string bad = bytes;
        for (int k = 0; k < 4; ++k)
            bad[40 + random() % (bad.size() - 40)] = char(random());
        const auto loaded = parse(resealed(bad));
        if (loaded)
            for (const MapNode &node : loaded->nodes)
                for (const MapPort &port : node.ports)
                    if (port.peer != no_node) {
                        ASSERT_LT(port.peer, loaded->nodes.size());
                        ASSERT_LT(port.peer_port, loaded->nodes[port.peer].ports.size());
                    }
    }
}

TEST_F(MapFile, ALinkToANodeThatIsNotThereIsRefused) {
    map_.nodes[0].ports[13].peer = 500;
    const auto loaded = parse(saved());
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr("node 0 is linked to node 500 of 22"));
}

TEST_F(MapFile, ALinkToAPortThatIsNotThereIsRefused) {
    map_.nodes[0].ports[13].peer_port = 200;
    const auto loaded = parse(saved());
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr("a link ends at port 200 of node 1, which has 41"));
}

TEST_F(MapFile, AHalfKnownLinkIsData) {
    map_.nodes[1].ports[25].peer = no_node;
    EXPECT_TRUE(parse(saved()));
}

} // namespace
} // namespace fabric_check::fabric
