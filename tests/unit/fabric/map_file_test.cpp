// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.hpp"
#include "fabric/fabrics.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>

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
        map_.subnet_manager = SubnetManager{0xa02, 1, 5, 3};
        map_.nodes[2].ports[1].lmc = 1;
        map_.nodes[3].description = "quotes \" and [brackets] and blanks  ";
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    std::string saved() {
        const Map map(map_);
        id_ = map.id();
        EXPECT_TRUE(save_map(map, path_));
        return read_file(path_, 1 << 24).value();
    }
    static Result<Map> parse(const std::string &bytes) {
        return parse_map({reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()}, "some.fcm");
    }
    /// The bytes with all checksums made right again but the tables'.
    static std::string resealed(std::string bytes) {
        image::Header header{};
        if (bytes.size() < sizeof(header))
            return bytes;
        std::memcpy(&header, bytes.data(), sizeof(header));
        for (image::SectionRecord &section : header.at)
            if (section.offset <= bytes.size() && section.size <= bytes.size() - section.offset)
                section.sum = image::checksum(bytes.data() + section.offset, section.size);
        header.sum = image::checksum(header.at.data(), sizeof(header.at));
        std::memcpy(bytes.data(), &header, sizeof(header));
        return bytes;
    }
    static std::size_t offset_of(const std::string &bytes, image::Section section) {
        image::Header header{};
        std::memcpy(&header, bytes.data(), sizeof(header));
        return header.at[section].offset;
    }

    std::uint64_t id_ = 0;
    std::string directory_, path_;
    MapDraft map_;
};

TEST_F(MapFile, EverythingComesBackAsItWas) {
    saved();
    const auto loaded = load_map(path_);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->built_ns(), map_.built_ns);
    EXPECT_EQ(loaded->source(), "live");
    EXPECT_EQ(loaded->adaptive_routing(), AdaptiveRouting::off);
    EXPECT_EQ(loaded->problems(), map_.problems);
    EXPECT_EQ(loaded->id(), id_);
    EXPECT_NE(loaded->id(), 0U);
    EXPECT_EQ(loaded->subnet_manager(), map_.subnet_manager);
    EXPECT_TRUE(loaded->image().bytes->mapped()) << "a local file is memory-mapped";
    ASSERT_EQ(loaded->nodes().size(), map_.nodes.size());
    for (std::size_t n = 0; n < map_.nodes.size(); ++n) {
        const DraftNode &was = map_.nodes[n];
        const MapNode is = loaded->nodes()[n];
        EXPECT_EQ(is.guid, was.guid);
        EXPECT_EQ(is.description, was.description);
        EXPECT_EQ(is.kind, was.kind);
        EXPECT_EQ(is.lid, was.lid);
        EXPECT_EQ(std::vector<std::uint8_t>(is.lft().begin(), is.lft().end()), was.lft);
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
    const auto first = id_;
    map_.nodes[1].lft[1] = 32;
    saved();
    const auto second = id_;
    EXPECT_NE(first, second);
    map_.nodes[1].description = "SwitchC";
    saved();
    EXPECT_NE(second, id_);
}

TEST_F(MapFile, TheIdIsOfTheFabricAndNotOfTheTime) {
    saved();
    const auto first = id_;
    map_.built_ns += 5;
    map_.source = "somewhere else";
    saved();
    EXPECT_EQ(first, id_);
}

TEST_F(MapFile, AnEmptyMapIsAMap) {
    map_ = MapDraft{};
    const auto loaded = parse(saved());
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(loaded->nodes().empty());
}

TEST_F(MapFile, TheLargestPortNumberAndTableFit) {
    map_.nodes[0].ports.resize(256);
    map_.nodes[0].ports[255].lid = 7;
    map_.nodes[0].lft.assign(0x10000, 3);
    const auto loaded = parse(saved());
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->nodes()[0].ports.size(), 256U);
    EXPECT_EQ(loaded->nodes()[0].lft().size(), 0x10000U);
}

TEST_F(MapFile, ANodeWithMorePortsThanInfiniBandHasIsNotWritten) {
    map_.nodes[0].ports.resize(257);
    const auto status = open_draft(map_, path_);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Errc::malformed);
    EXPECT_THAT(status.error().message, HasSubstr("257 ports"));
    EXPECT_TRUE(Map(map_).nodes().empty());
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
    bytes[8] = 3;
    const auto loaded = parse(bytes);
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr("map of version 3, this program reads version 2"));
}

TEST_F(MapFile, AFlippedBitIsNoticedAnywhere) {
    const std::string bytes = saved();
    const std::size_t tables = offset_of(bytes, image::lfts);
    const auto good = parse(bytes);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string bad = bytes;
        bad[at] = char(bad[at] ^ 0x10);
        const auto loaded = parse(bad);
        if (!loaded || !loaded->damaged_tables().empty())
            continue;
        // Between sections and between tables lies nothing.
        for (std::uint32_t n = 0; n < good->nodes().size(); ++n)
            EXPECT_TRUE(std::ranges::equal(loaded->nodes()[n].lft(), good->nodes()[n].lft())) << "byte " << at;
        EXPECT_TRUE(bytes[at] == 0 || (at >= tables && bytes[at] == '\xff')) << "byte " << at;
    }
}

TEST_F(MapFile, ADamagedTableIsNoneAndIsNamedWhenItIsLookedAt) {
    std::string bytes = saved();
    bytes[offset_of(bytes, image::lfts) + 1] ^= 1;
    const auto loaded = parse(bytes);
    ASSERT_TRUE(loaded) << "the tables are not read to open a map";
    EXPECT_TRUE(loaded->nodes()[0].lft().empty());
    EXPECT_TRUE(loaded->nodes()[0].lft_damaged());
    EXPECT_FALSE(loaded->nodes()[1].lft_damaged());
    EXPECT_EQ(loaded->damaged_tables(), std::vector<std::string>{"SwitchA"});
    const Routes routes = analyse(LftView(*loaded), testing::clients_and_servers(*loaded));
    EXPECT_THAT(routes.warnings, ::testing::Contains(HasSubstr("the forwarding table of SwitchA does not match its checksum")));
    EXPECT_THAT(routes.unreachable, ::testing::Not(::testing::IsEmpty()));
}

TEST_F(MapFile, EveryTruncationIsAnError) {
    const std::string bytes = saved();
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(parse(bytes.substr(0, size))) << size << " bytes";
    const auto cut = parse(bytes.substr(0, bytes.size() - 1));
    EXPECT_THAT(cut.error().message, HasSubstr(fmt::format("ends early: {} bytes of {}", bytes.size() - 1, bytes.size())));
    EXPECT_THAT(parse(bytes.substr(0, 100)).error().message, HasSubstr("ends inside its header"));
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
            bad[sizeof(image::Header) + random() % (bad.size() - sizeof(image::Header))] = char(random());
        const auto loaded = parse(resealed(bad));
        if (loaded)
            for (const MapNode &node : loaded->nodes())
                for (const MapPort &port : node.ports)
                    if (port.peer != no_node) {
                        ASSERT_LT(port.peer, loaded->nodes().size());
                        ASSERT_LT(port.peer_port, loaded->nodes()[port.peer].ports.size());
                    }
    }
}

TEST_F(MapFile, ALinkToANodeThatIsNotThereIsRefused) {
    map_.nodes[0].ports[13].peer = 500;
    const auto loaded = open_draft(map_, "some.fcm");
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr("a port is linked to node 500 of 22"));
}

TEST_F(MapFile, ALinkToAPortThatIsNotThereIsRefused) {
    map_.nodes[0].ports[13].peer_port = 200;
    const auto loaded = open_draft(map_, "some.fcm");
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr("a link ends at port 200 of node 1, which has 41"));
}

TEST_F(MapFile, AHalfKnownLinkIsData) {
    map_.nodes[1].ports[25].peer = no_node;
    EXPECT_TRUE(parse(saved()));
}

} // namespace
} // namespace fabric_check::fabric
