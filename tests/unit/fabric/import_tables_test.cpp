// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/import.hpp"
#include "fabric/routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

const std::string leaf_head = "Unicast lids [0-9] of switch Lid 9 guid 0xb1 (leaf):\n";

TEST(ImportTables, TwoFilesThatDisagreeAreToldOnceWithWhatIsKept) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"a", leaf_head + "0x0005 003\n0x0006 001\n0x0007 001\n"},
                                    {"b", leaf_head + "0x0005 002\n0x0006 001\n0x0007 002\n"}}));
    EXPECT_EQ(entry(map, 5), 2);
    EXPECT_THAT(problems(map),
                ElementsAre("b:1: disagrees with a in 2 of 3 entries, at 1 of 1 switches (first: leaf has LID 5 by port 2 here and "
                            "by port 3 there); what is here is kept. These are tables of two engines, or of two times: import one "
                            "of them, and compare with the other by routes --versus-lfts a"));
}

TEST(ImportTables, EachTwoFilesThatDisagreeAreToldApart) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"a", leaf_head + "0x0005 003\n"}, {"b", leaf_head + "0x0005 002\n"},
                                    {"c", leaf_head + "0x0005 001\n"}}));
    EXPECT_THAT(problems(map), ElementsAre(HasSubstr("b:1: disagrees with a in 1 of 1"), HasSubstr("c:1: disagrees with b in 1 of 1")));
}

TEST(ImportTables, FilesThatCompleteEachOtherOrAgreeAreNoProblem) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"a", leaf_head + "0x0005 003\n"}, {"b", leaf_head + "0x0005 003\n0x0006 001\n"},
                                    {"c", leaf_head + "0x0007 002\n"}}));
    EXPECT_EQ(entry(map, 5), 3);
    EXPECT_EQ(entry(map, 6), 1);
    EXPECT_EQ(entry(map, 7), 2);
    EXPECT_THAT(problems(map), IsEmpty());
}

TEST(ImportTables, EntriesOfTheFirstFileAloneAreKeptAndCountedWhereTheyDisagree) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"a", leaf_head + "0x0005 003\n0x0006 001\n"}, {"b", leaf_head + "0x0005 002\n"}}));
    EXPECT_EQ(entry(map, 6), 1);
    EXPECT_THAT(problems(map), ElementsAre(HasSubstr("in 1 of 1 entries, at 1 of 1 switches (first: leaf has LID 5 by port 2 here and "
                                                     "by port 3 there); what is here is kept, with 1 entry that only the other has.")));
}

TEST(ImportTables, ARouteThatTheSecondFileClosesIsADisagreement) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"a", leaf_head + "0x0005 003\n"}, {"b", leaf_head + "0x0005 : UNREACHABLE\n"}}));
    EXPECT_EQ(entry(map, 5), no_route);
    EXPECT_THAT(problems(map), ElementsAre(HasSubstr("(first: leaf has LID 5 by no port here and by port 3 there)")));
}

TEST(ImportTables, OneTableThatContradictsItselfIsNamedByItsLine) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"b", leaf_head + "0x0005 003\n0x0005 002\n"}}));
    EXPECT_EQ(entry(map, 5), 2);
    EXPECT_THAT(problems(map), ElementsAre("b:3: leaf has LID 0x5 by port 2 here and 3 before; the last is kept"));
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
    EXPECT_THAT(problems(map), Contains("t:1: entries before any switch's head are left out"));
}

TEST(ImportTables, LinesMayBeOfAnyToolAndVintage) {
    for (const char *rows : {"0x0005 003\n", "0x0005 003 \n", "0x0005 003\r\n", "  0x0005  003\n", "0x0005\t003\n", "0x5 3\n",
                             "0x0005 : 003  : 01   : yes\n", "0x0005 003 : (Channel Adapter portguid 0xa2: 'node01 mlx5_0')\n"}) {
        MapDraft map = leaf();
        ASSERT_TRUE(import_tables(map, {{"t", std::string("Unicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n") + rows}}))
            << rows;
        EXPECT_EQ(entry(map, 5), 3) << rows;
        EXPECT_THAT(problems(map), IsEmpty()) << rows;
    }
}

TEST(ImportTables, RowsThatRepeatTheirTextAreStillReadOneByOne) {
    const std::string head = "Unicast lids [0-9] of switch Lid 9 guid 0xb1 (leaf):\n";
    const std::string tail = " # Channel Adapter portguid 0x00000000000000a2: 'node01 mlx5_0'\n";
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", head + "0x0005 003" + tail + head + "0x0005 002" + tail}}));
    EXPECT_EQ(entry(map, 5), 2);
    EXPECT_THAT(problems(map), ElementsAre("t:3: tables of one switch in this file disagree in 1 of 1 entries, at 1 of 1 switches "
                                           "(first: leaf has LID 5 by port 2 here and by port 3 there); the last is kept. Import the "
                                           "tables of one engine and one time"));

    map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", head + "0x0005 003" + tail + head + "0x0005 077" + tail}}));
    EXPECT_THAT(problems(map), Contains("t:4: port 77 of leaf, which has 4"));

    map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", head + "0x0005 003" + tail + "0x0005 0x3" + tail}}));
    EXPECT_EQ(entry(map, 5), 3);
    EXPECT_THAT(problems(map), ElementsAre(HasSubstr("t:3: not understood: '0x0005 0x3")));
}

TEST(ImportTables, APortOfAnotherLengthIsNotTakenForItsFirstDigits) {
    const std::string head = "Unicast lids [0-9] of switch Lid 9 guid 0xb1 (leaf):\n";
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", head + "0x0005  003\n0x0004 002 \n" + head + "0x0005 0023\n0x0004 0021 \n"}}));
    EXPECT_EQ(entry(map, 5), 23);
    EXPECT_EQ(entry(map, 4), 21);
}

TEST(ImportTables, LineNumbersCountWhatIsReadAtOnce) {
    const std::string row = "0x0005 003 # Channel Adapter portguid 0x00000000000000a2: 'node01 mlx5_0'\n";
    std::string text = "Unicast lids [0-9] of switch Lid 9 guid 0xb1 (leaf):\n";
    for (int i = 0; i < 100; ++i)
        text += row;
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", text + "noise\n"}}));
    EXPECT_THAT(problems(map), ElementsAre("t:102: not understood: 'noise'"));
}

TEST(ImportTables, EveryRowOfAnotherPortIsCounted) {
    const std::string head = "Unicast lids [0-9] of switch Lid 9 guid 0xb1 (leaf):\n";
    const std::string good = "0x0005 003 # Channel Adapter portguid 0x00000000000000a2: 'node01 mlx5_0'\n";
    const std::string strange = "0x0005 003 # Channel Adapter portguid 0x00000000000000ff: 'node02 mlx5_0'\n";
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", head + good + good + strange + strange + good}}));
    EXPECT_THAT(problems(map), ElementsAre(HasSubstr("t:4: 2 of 5 entries, from this line on, name another port")));
}

TEST(ImportTables, AGuidOfAnotherSwitchAtALidOfOursIsNotOurs) {
    MapDraft map = leaf();
    EXPECT_FALSE(import_tables(map, {{"t", "Unicast lids [0-5] of switch Lid 9 guid 0xdead ('other'):\n0x0005 003\n"}}));
    EXPECT_THAT(problems(map), Contains(HasSubstr("the table of 0x000000000000dead (LID 9), which is no switch")));
}

TEST(ImportTables, ASystemGuidInTheHeadIsForgivenWhereLidAndNameAgree) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0-5] of switch Lid 9 guid 0xdead ('leaf'):\n0x0005 003\n"}}));
    EXPECT_EQ(entry(map, 5), 3);
}

TEST(ImportTables, AnUnfinishedRowIsLeftOutAndNamed) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n0x0005 003\n0x0006 00"}}));
    EXPECT_EQ(entry(map, 6), no_route);
    EXPECT_THAT(problems(map), ElementsAre("t:3: not understood: '0x0006 00'",
                                           "t:3: the file ends in the middle of a line: it may have been cut short"));
}

TEST(ImportTables, ADestinationCutInItsGuidIsNoOtherPort) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n"
                                          "0x0005 003 # Channel Adapter portguid 0x00000"}}));
    EXPECT_EQ(entry(map, 5), 3);
    EXPECT_THAT(problems(map), ElementsAre("t:2: the file ends in the middle of a line: it may have been cut short"));
}

TEST(ImportTables, ATableWithoutItsEndIsNamedWhereTheToolWritesOne) {
    for (const char *text : {"Unicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n0x0004 002\n5 lids dumped\n"
                             "Unicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n0x0005 003\n",
                             "\n\n\nUnicast lids [0-5] of switch Lid 9 guid 0xb1 (leaf):\n  Lid  Out   Destination\n"
                             "       Port     Info \n0x0005 003\n"}) {
        MapDraft map = leaf();
        ASSERT_TRUE(import_tables(map, {{"t", text}}));
        EXPECT_EQ(entry(map, 5), 3);
        EXPECT_THAT(problems(map), ElementsAre("t:4: the table of leaf lacks its end ('lids dumped'): it was cut short"));
    }
}

TEST(ImportTables, ATableWithFewerRowsThanItsEndSaysIsNamed) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "Unicast lids [0x0-0x5] of switch Lid 9 guid 0xb1 (leaf):\n  Lid  Out   Destination\n"
                                          "       Port     Info \n0x0005 003 \n3 valid lids dumped \n"}}));
    EXPECT_THAT(problems(map), ElementsAre("t:5: the table of leaf had 3 rows, 1 of them are here"));
}

TEST(ImportTables, TheLidThatIbrouteLosesIsNamedOnce) {
    MapDraft map = import_topology({{"topo", "Switch 4 \"S-b1\" # \"leaf\" enhanced port 0 lid 9 lmc 0\n"
                                        "[3] \"H-a1\"[1](a2) # \"node01 mlx5_0\" lid 64 4xHDR\n"
                                        "Ca 1 \"H-a1\" # \"node01 mlx5_0\"\n"}})
                  .value();
    const std::string table = "Unicast lids [0x0-0x40] of switch Lid 9 guid 0xb1 (leaf):\n  Lid  Out   Destination\n"
                              "0x0009 000 \n1 valid lids dumped \n";
    ASSERT_TRUE(import_tables(map, {{"t", table + table}}));
    EXPECT_THAT(problems(map), ElementsAre(HasSubstr("t:4: LID 64, the highest, is missing from the table of leaf: ibroute and dump_fts lose")));
}

TEST(ImportTables, ShortTablesOfFdbsFilesAreNamed) {
    MapDraft map = leaf();
    ASSERT_TRUE(import_tables(map, {{"t", "# of ibdiagnet\nFile version: 1\nosm_ucast_mgr_dump_ucast_routes: Switch 0xb1\nLID    : Port : Hops : Optimal\n"
                                          "0x0005 : 003  : 00   : yes\n0x000A : UNREACHABLE\n"
                                          "osm_ucast_mgr_dump_ucast_routes: Switch 0xb1\n0x0005 : 003  : 00   : yes\n"}}));
    EXPECT_THAT(problems(map), ElementsAre("t:7: the table of leaf ends at LID 5, others at 10: it was cut short"));
}

} // namespace
} // namespace fabric_check::fabric
