// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/import.hpp"
#include "fabric/routes.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace fabric_check::fabric {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string fixtures = FABRIC_CHECK_SOURCE_DIR "/tests/fixtures/routes/";
const std::string topology = fixtures + "article.ibnetdiscover";

/// A leaf of four ports (GUID 0xb1, LID 9) with node01 (LID 5, port GUID 0xa2) on port 3.
MapDraft leaf() {
    return import_topology({{"topo", "Switch 4 \"S-b1\" # \"leaf\" enhanced port 0 lid 9 lmc 0\n"
                                     "[3] \"H-a1\"[1](a2) # \"node01 mlx5_0\" lid 5 4xHDR\n"
                                     "Ca 1 \"H-a1\" # \"node01 mlx5_0\"\n"}})
        .value();
}

std::vector<std::string> problems(const MapDraft &map) {
    std::vector<std::string> out;
    for (const Problem &problem : map.problems)
        out.push_back(problem.where + ": " + problem.reason);
    return out;
}

std::uint8_t entry(const MapDraft &map, std::uint16_t lid) { return LftView(map).at(0, lid); }

class Formats : public ::testing::TestWithParam<const char *> {};

TEST_P(Formats, OfOneTableGiveTheSameRoutes) {
    const auto map = import_files({topology}, {fixtures + GetParam()});
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_THAT(problems(*map), IsEmpty());
    EXPECT_NE(map->built_ns, 0);
    EXPECT_THAT(map->source, HasSubstr(GetParam()));
    const std::uint32_t b = map->by_lid(42);
    const LftView lfts(*map);
    for (std::uint16_t lid = 1; lid <= 12; ++lid)
        EXPECT_EQ(lfts.at(b, lid), lid <= 6 ? 25 : lid <= 11 ? 26 : 27) << "LID " << lid;
    EXPECT_EQ(lfts.at(map->by_lid(41), 28), 20);
    EXPECT_EQ(lfts.at(b, 29), no_route);
}

INSTANTIATE_TEST_SUITE_P(Tools, Formats,
                         ::testing::Values("article.opensm-lfts.dump", "article.ibroute", "article.fdbs"),
                         [](const auto &name) {
                             std::string out = name.param;
                             for (char &c : out)
                                 c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                             return out;
                         });

TEST(ImportTables, SaturatedAndUnreachableEntriesAreNoRoute) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0x0-0x16] of switch Lid 9 guid 0x00000000000000b1 (leaf):\n"
                                          "0x0001 255 : (illegal port)\n0x0002 UNREACHABLE\n0x0005 003 :\n"}}));
    EXPECT_EQ(entry(map, 1), no_route);
    EXPECT_EQ(entry(map, 2), no_route);
    EXPECT_EQ(entry(map, 5), 3);
    EXPECT_THAT(problems(map), IsEmpty());
}

TEST(ImportTables, ASwitchIsFoundByItsLidWhenTheHeadHasNoGuid) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0-5] of switch Lid 9 ('leaf'):\r\n0x0005 003\r\n"}}));
    EXPECT_EQ(entry(map, 5), 3);
}

TEST(ImportTables, ATableOfAnotherFabricIsNamedAndLeftOut) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0-5] of switch DR path slid 0; dlid 0; 0,1 guid 0xdead (x):\n"
                                          "0x0005 001\n"
                                          "Unicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n0x0005 003\n"}}));
    EXPECT_EQ(entry(map, 5), 3);
    EXPECT_THAT(problems(map), ElementsAre("t:1: the table of 0x000000000000dead, which is no switch of the topology, is "
                                           "left out"));
}

TEST(ImportTables, NothingButForeignTablesIsAnError) {
    MapDraft map = leaf();
    const Status status = import_tables(map, {{"t", "Unicast lids [0-5] of switch Lid 3 guid 0xdead (x):\n0x0005 001\n"}});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Errc::malformed);
    EXPECT_THAT(status.error().message, HasSubstr("t: no forwarding table of this fabric in it"));
}

TEST(ImportTables, WarningsInBetweenAreNamedAndCostNothingElse) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n"
                                          "ibwarn: [77] dump: failed\n0x0005 003 # x\n3 lids dumped \n"}}));
    EXPECT_EQ(entry(map, 5), 3);
    EXPECT_THAT(problems(map), ElementsAre("t:2: not understood: 'ibwarn: [77] dump: failed'"));
}

TEST(ImportTables, MulticastTablesAreNotMistakenForUnicast) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n0x0005 003\n"
                                          "Multicast mlids [0xc000-0xc3ff] of switch Lid 9 guid 0xb1 (leaf):\n"
                                          "            0   1\n MLid\n0xc000      x\n0xc001  001\n1 valid mlids dumped\n"}}));
    EXPECT_EQ(entry(map, 5), 3);
    EXPECT_THAT(problems(map), IsEmpty());
}

TEST(ImportTables, OutOfRangeEntriesAreNamedOnceAndLeftOut) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n0xc000 001\n0x0001 256\n"
                                          "0xffffffffffffffffff 1\n0xbfff 001\n"}}));
    EXPECT_EQ(entry(map, 0xbfff), 1);
    EXPECT_EQ(map.nodes[0].lft.size(), 0xc000U);
    EXPECT_THAT(problems(map), ElementsAre("t:2: LID 0xc000 by port 1 is left out: out of range",
                                           "t:4: not understood: '0xffffffffffffffffff 1'"));
}

TEST(ImportTables, APortTheSwitchDoesNotHaveIsKeptAndNamed) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n0x0005 077\n"}}));
    EXPECT_EQ(entry(map, 5), 77) << "the walk says where it ends";
    EXPECT_THAT(problems(map), ElementsAre("t:2: port 77 of leaf, which has 4"));
}

TEST(ImportTables, TwoTablesOfOneSwitchThatDifferAreNamed) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"a", "Unicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n0x0005 003\n"},
                                    {"b", "Unicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n0x0005 002\n"}}));
    EXPECT_EQ(entry(map, 5), 2);
    EXPECT_THAT(problems(map), ElementsAre("b:2: leaf has LID 0x5 by port 2 here and 3 before; the last is kept"));
}

TEST(ImportTables, LidsOfAnotherTimeAreNoticed) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0-9] of switch Lid 9 guid 0xb1 (leaf):\n"
                                          "0x0005 002 # Channel Adapter portguid 0x00000000000000ff: 'node02 mlx5_0'\n"
                                          "0x0009 000 # Switch portguid 0x00000000000000b1: 'leaf'\n"}}));
    EXPECT_THAT(problems(map), ElementsAre(HasSubstr("t:2: 1 of 2 entries, from this line on, name another port")));
}

TEST(ImportTables, APortGuidOrTheDescriptionSufficesToAgree) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0-9] of switch Lid 9 guid 0xb1 (leaf):\n"
                                          "0x0005 003 # Channel Adapter portguid 0x00000000000000a2: 'renamed'\n"
                                          "0x0005 003 # Channel Adapter portguid 0x00000000000000a3: 'node01 mlx5_0'\n"
                                          "0x0007 003 # Channel Adapter portguid 0x0000000000000077: 'a vport'\n"}}));
    EXPECT_THAT(problems(map), IsEmpty());
}

TEST(ImportTables, ASwitchWithoutATableIsNamed) {
    const auto map = import_files({topology}, {});
    ASSERT_TRUE(map);
    MapDraft with = *map;
    ASSERT_TRUE(import_tables(with, {{"t", "Unicast lids [0-5] of switch Lid 41 (SwitchA):\n0x0005 005\n"}}));
    EXPECT_THAT(problems(with),
                ElementsAre("tables: SwitchB has no forwarding table: routes end there"));
}

TEST(ImportTables, EntriesBeforeAnyHeadAreNamed) {
    MapDraft map = leaf();
    EXPECT_FALSE(import_tables(map, {{"t", "0x0005 003\n0x0006 003\n"}}));
    EXPECT_THAT(problems(map), ElementsAre("t:1: entries before any switch's head are left out"));
}

class Files : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = ::testing::TempDir() + "import-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }
    static std::string slurp(const std::string &path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string gzip(const std::string &text, const char *mode = "wb") {
        const std::string path = directory_ + "/packed.gz";
        gzFile out = gzopen(path.c_str(), mode);
        EXPECT_EQ(gzwrite(out, text.data(), unsigned(text.size())), int(text.size()));
        gzclose(out);
        return path;
    }
    std::string directory_;
};

TEST_F(Files, GzipIsReadLikePlainText) {
    const std::string text = slurp(topology);
    const auto read = read_text(gzip(text));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, text);
    EXPECT_EQ(read_text(topology).value(), text);
}

TEST_F(Files, EveryMemberOfAGzipFileIsRead) {
    gzip("first\n");
    EXPECT_EQ(read_text(gzip("second\n", "ab")).value(), "first\nsecond\n");
}

TEST_F(Files, ATruncatedGzipFileIsNamed) {
    const std::string path = gzip(slurp(topology));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 10);
    const auto read = read_text(path);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::malformed);
    EXPECT_THAT(read.error().message, HasSubstr("packed.gz: gzip data end early"));
}

TEST_F(Files, DamagedGzipDataAreNamed) {
    const std::string path = gzip(slurp(topology));
    std::string bytes = slurp(path);
    bytes[bytes.size() / 2] = char(bytes[bytes.size() / 2] ^ 0x55);
    std::ofstream(path, std::ios::binary) << bytes << bytes;
    EXPECT_FALSE(read_text(path));
}

TEST_F(Files, AGzipBombIsRefused) {
    const auto read = read_text(gzip(std::string(1 << 20, '0')), 1 << 16);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr("unpacks to more than 65536 bytes"));
}

TEST_F(Files, AMissingFileIsNamed) {
    const auto map = import_files({topology}, {directory_ + "/none"});
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, Errc::not_found);
    EXPECT_THAT(map.error().message, HasSubstr("/none"));
}

} // namespace
} // namespace fabric_check::fabric
