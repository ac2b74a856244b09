// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/import.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string two_nodes = "Switch\t4 \"S-00000000000000b1\"\t\t# \"leaf 1\" enhanced port 0 lid 9 lmc 0\n"
                              "[3]\t\"H-00000000000000a1\"[1](a2) \t\t# \"node01 mlx5_0\" lid 5 4xHDR\n"
                              "\n"
                              "Ca\t1 \"H-00000000000000a1\"\t\t# \"node01 mlx5_0\"\n"
                              "[1](a2) \t\"S-00000000000000b1\"[3]\t\t# lid 5 lmc 2 \"leaf 1\" lid 9 4xHDR\n";

MapDraft imported(const std::string &text) {
    auto map = import_topology({{"topo", text}});
    EXPECT_TRUE(map) << map.error().message;
    return map ? std::move(map).value() : MapDraft{};
}

std::vector<std::string> problems(const MapDraft &map) {
    std::vector<std::string> out;
    for (const Problem &problem : map.problems)
        out.push_back(problem.where + ": " + problem.reason);
    return out;
}

/// What `two_nodes` holds, however it is written.
void expect_two_nodes(const MapDraft &map) {
    ASSERT_EQ(map.nodes.size(), 2U);
    const DraftNode &leaf = map.nodes[0], &host = map.nodes[1];
    EXPECT_EQ(leaf.kind, NodeKind::switch_node);
    EXPECT_EQ(leaf.guid, 0xb1U);
    EXPECT_EQ(leaf.description, "leaf 1");
    EXPECT_EQ(leaf.lid, 9);
    EXPECT_EQ(leaf.ports.size(), 5U);
    EXPECT_EQ(leaf.ports[3].peer, 1U);
    EXPECT_EQ(leaf.ports[3].peer_port, 1);
    EXPECT_EQ(host.kind, NodeKind::host);
    EXPECT_EQ(host.guid, 0xa1U);
    EXPECT_EQ(host_name_of(host.description), "node01");
    EXPECT_EQ(host.ports[1].guid, 0xa2U);
    EXPECT_EQ(host.ports[1].lid, 5);
    EXPECT_EQ(host.ports[1].peer, 0U);
    EXPECT_EQ(host.ports[1].peer_port, 3);
    EXPECT_EQ(map.by_lid(5), 1U) << "indexed";
}

TEST(ImportTopology, ReadsSwitchHostAndLink) {
    const MapDraft map = imported(two_nodes);
    expect_two_nodes(map);
    EXPECT_EQ(map.nodes[1].ports[1].lmc, 2);
    EXPECT_EQ(map.nodes[0].ports[3].rate.lanes, 4U);
    EXPECT_EQ(map.nodes[0].ports[3].rate.speed, "HDR");
    EXPECT_DOUBLE_EQ(map.nodes[0].ports[3].rate.data_gbps, 200);
    EXPECT_THAT(problems(map), IsEmpty());
}

TEST(ImportTopology, CarriageReturnsAreNoContent) {
    std::string text;
    for (const char c : two_nodes)
        text += c == '\n' ? "\r\n" : std::string(1, c);
    const MapDraft map = imported(text);
    expect_two_nodes(map);
    EXPECT_THAT(problems(map), IsEmpty());
}

TEST(ImportTopology, LostTabsAndBlanksAreNoLoss) {
    std::string text;
    for (const char c : two_nodes)
        if (c != '\t')
            text += c;
    const MapDraft map = imported(text);
    expect_two_nodes(map);
    EXPECT_THAT(problems(map), IsEmpty());
}

TEST(ImportTopology, HeadersOfAllVintagesAreKnown) {
    const MapDraft map = imported("#\n# Topology file: generated on Tue\n#\n# Max of 3 hops discovered\nChassis 1 (guid 0x1)\n"
                             "Non-Chassis Nodes\nHostname: x\nvendid=0x2c9\ndevid=0x1\nsysimgguid=0x1\t\t# Chassis 1\n"
                             "switchguid=0xb1(b1)\ncaguid=0xa1\nrtguid=0x1\n" +
                             two_nodes);
    expect_two_nodes(map);
    EXPECT_THAT(problems(map), IsEmpty());
}

TEST(ImportTopology, AWarningInBetweenIsNamedAndTheRestUsed) {
    const MapDraft map = imported("src/query_smp.c:195; umad (DR path) bad status 110; Connection timed out\n" + two_nodes);
    expect_two_nodes(map);
    EXPECT_THAT(problems(map), ElementsAre("topo:1: not understood: 'src/query_smp.c:195; umad (DR path) bad status 110; "
                                           "Connection timed out'"));
}

TEST(ImportTopology, OldFormatsLackSpeedsAndPortGuids) {
    const MapDraft map = imported("Switch 4 \"S-b1\"  # \"leaf 1\" base port 0 lid 9 lmc 0\n"
                             "[3]  \"H-a1\"[1]  # \"node01\" lid 5\n");
    ASSERT_EQ(map.nodes.size(), 2U);
    EXPECT_EQ(map.nodes[1].ports[1].lid, 5);
    EXPECT_EQ(map.nodes[1].ports[1].guid, 0U);
    EXPECT_EQ(map.nodes[0].ports[3].rate, LinkRate{});
}

TEST(ImportTopology, FullInformationHelpsWhereTheToolDidNotKnowTheSpeed) {
    const MapDraft map = imported("Switch 4 \"S-b1\" # \"leaf\" base port 0 lid 9 lmc 0\n"
                             "[1] \"S-b2\"[1] # \"spine\" lid 8 4x??? s=4 w=2 v=4 e=8\n"
                             "[2] \"S-b2\"[2] # \"spine\" lid 8 ??HDR s=4 w=16 v=4 e=4\n"
                             "[3] \"S-b2\"[3] # \"spine\" lid 8 4xFDR10 s=4 w=2 v=4\n"
                             "[4] \"S-b2\"[4] # \"spine\" lid 8 1xSDR s=1 w=1 v=1\n");
    const auto &ports = map.nodes[0].ports;
    EXPECT_EQ(ports[1].rate.speed, "NDR");
    EXPECT_EQ(ports[2].rate.lanes, 2U);
    EXPECT_EQ(ports[3].rate.speed, "FDR10");
    EXPECT_DOUBLE_EQ(ports[4].rate.data_gbps, 2);
}

TEST(ImportTopology, QuotesBracketsHashesAndBlanksInDescriptionsAreData) {
    const MapDraft map = imported("Switch 4 \"S-b1\" # \"a \"quoted\" [1] # name  \" base port 0 lid 9 lmc 0\n"
                             "[1] \"H-a1\"[1](a2) # \"node\"01\" lid 7\" lid 5 4xHDR\n");
    EXPECT_EQ(map.nodes[0].description, "a \"quoted\" [1] # name  ");
    EXPECT_EQ(map.nodes[0].lid, 9);
    EXPECT_EQ(map.nodes[1].description, "node\"01\" lid 7");
    EXPECT_EQ(map.nodes[1].ports[1].lid, 5);
}

TEST(ImportTopology, AggregationNodesAndRoutersAreNoHosts) {
    const MapDraft map = imported("Switch 4 \"S-b1\" # \"leaf\" base port 0 lid 9 lmc 0\n"
                             "[1] \"H-a1\"[1](a1) # \"Mellanox Technologies Aggregation Node\" lid 5 4xHDR\n"
                             "[2] \"R-c1\"[1](c1) # \"router\" lid 6 4xHDR\n"
                             "Rt 1 \"R-c1\" # \"router\"\n"
                             "[1](c1) \"S-b1\"[2] # lid 6 lmc 0 \"leaf\" lid 9 4xHDR\n");
    EXPECT_EQ(map.nodes[1].kind, NodeKind::other);
    EXPECT_EQ(map.nodes[2].kind, NodeKind::other);
    EXPECT_EQ(map.by_lid(6), 2U);
}

TEST(ImportTopology, ASwitchLinkedToItselfIsData) {
    const MapDraft map = imported("Switch 4 \"S-b1\" # \"leaf\" base port 0 lid 9 lmc 0\n"
                             "[1] \"S-b1\"[2] # \"leaf\" lid 9 4xHDR\n"
                             "[2] \"S-b1\"[1] # \"leaf\" lid 9 4xHDR\n"
                             "[3] \"S-b1\"[3] # \"leaf\" lid 9 4xHDR\n");
    ASSERT_EQ(map.nodes.size(), 1U);
    EXPECT_EQ(map.nodes[0].ports[1].peer_port, 2);
    EXPECT_EQ(map.nodes[0].ports[3].peer_port, 3);
    EXPECT_THAT(problems(map), IsEmpty());
}

TEST(ImportTopology, PortsOfAChassisListingHaveExternalNumbers) {
    const MapDraft map = imported("Switch 24 \"S-b1\" # \"line\" base port 0 lid 9 lmc 0\n"
                             "[13][ext 7]\t\"H-a1\"[1](a2) # \"node01\" lid 5 4xSDR\n"
                             "[14]\t\"S-b2\"[3][ext 2] # \"other\" lid 8 4xSDR\n");
    EXPECT_EQ(map.nodes[0].ports[13].peer_port, 1);
    EXPECT_EQ(map.nodes[0].ports[14].peer_port, 3);
}

TEST(ImportTopology, ACutTailLosesThatNodeOnly) {
    const std::string cut = two_nodes.substr(0, two_nodes.find("Ca"));
    const MapDraft map = imported(cut);
    expect_two_nodes(map);
    EXPECT_THAT(problems(map), ElementsAre(HasSubstr("a node is known from its neighbours only, 'node01 mlx5_0'")));
}

TEST(ImportTopology, ALineCutInItsMiddleKeepsItsLink) {
    const MapDraft map = imported("Switch 4 \"S-b1\" # \"leaf\" base port 0 lid 9 lmc 0\n[1]\t\"S-b2\"[7]\t\t# \"MF0;le");
    ASSERT_EQ(map.nodes.size(), 2U);
    EXPECT_EQ(map.nodes[1].ports[7].peer, 0U) << "known from one end, taken from both";
}

TEST(ImportTopology, EndsThatDisagreeLoseTheirLinkAndAreNamed) {
    const MapDraft map = imported("Switch 4 \"S-b1\" # \"x\" base port 0 lid 1 lmc 0\n[1] \"S-b2\"[1] # \"y\" lid 2 4xHDR\n"
                             "Switch 4 \"S-b2\" # \"y\" base port 0 lid 2 lmc 0\n[1] \"S-b1\"[2] # \"x\" lid 1 4xHDR\n");
    EXPECT_EQ(map.nodes[0].ports[1].peer, no_node);
    EXPECT_THAT(problems(map), ElementsAre("topo:2: the other end names another neighbour; the link is left out"));
    EXPECT_EQ(map.nodes[1].ports[1].peer, 0U) << "nothing contradicts b2:1 to b1:2";
    EXPECT_EQ(map.nodes[0].ports[2].peer, 1U);
}

TEST(ImportTopology, APortWithTwoNeighboursKeepsTheFirst) {
    const MapDraft map = imported("Switch 4 \"S-b1\" # \"x\" base port 0 lid 1 lmc 0\n[1] \"S-b2\"[1] # \"y\" lid 2 4xHDR\n"
                             "[1] \"S-b3\"[1] # \"z\" lid 3 4xHDR\n");
    EXPECT_EQ(map.nodes[0].ports[1].peer, 1U);
    EXPECT_THAT(problems(map), Contains("topo:3: this port has another neighbour before; the first is kept"));
}

TEST(ImportTopology, OneLidOfTwoNodesIsNamed) {
    const MapDraft map = imported("Switch 4 \"S-b1\" # \"x\" base port 0 lid 7 lmc 0\n[1] \"S-b2\"[1] # \"y\" lid 7 4xHDR\n"
                             "Switch 4 \"S-b2\" # \"y\" base port 0 lid 7 lmc 0\n[1] \"S-b1\"[1] # \"x\" lid 7 4xHDR\n");
    EXPECT_THAT(problems(map), ElementsAre("LID 7: claimed by x and y; the first keeps it"));
    EXPECT_EQ(map.by_lid(7), 0U);
}

TEST(ImportTopology, TwoPortsOfOneCardWithOneLidAreNamed) {
    const MapDraft map = imported("Ca 2 \"H-a1\" # \"node01 mlx5_0\"\n"
                             "[1](a2) \"S-b1\"[1] # lid 5 lmc 0 \"x\" lid 1 4xHDR\n[2](a3) \"S-b1\"[2] # lid 5 lmc 0 \"x\" lid 1 4xHDR\n"
                             "Switch 4 \"S-b1\" # \"x\" base port 0 lid 1 lmc 0\n");
    EXPECT_THAT(problems(map), ElementsAre("LID 5: claimed by node01/mlx5_0:1 and node01/mlx5_0:2; the first keeps it"));
}

TEST(ImportTopology, TwoHeadsOfOneGuidAndOtherNamesAreNamed) {
    const MapDraft map = imported("Switch 4 \"S-b1\" # \"x\" base port 0 lid 1 lmc 0\n"
                             "Switch 4 \"S-b1\" # \"y\" base port 0 lid 1 lmc 0\n");
    EXPECT_THAT(problems(map), ElementsAre("topo:2: node GUID 0x00000000000000b1 is 'y' here and 'x' before: two nodes of one GUID, or "
                                           "one that was renamed; taken for one"));
}

TEST(ImportTopology, OneNodeInTwoFilesIsNoProblem) {
    const std::string text = "Switch 4 \"S-b1\" # \"x\" base port 0 lid 1 lmc 0\n";
    const auto map = import_topology({{"a", text}, {"b", text}});
    ASSERT_TRUE(map);
    EXPECT_THAT(problems(*map), IsEmpty());
}

TEST(ImportTopology, LidZeroAnd65535AreData) {
    const MapDraft map = imported("Switch 4 \"S-b1\" # \"x\" base port 0 lid 0 lmc 0\n"
                             "[1] \"H-a1\"[1](a2) # \"n\" lid 65535 4xHDR\n"
                             "[2] \"H-a3\"[1](a4) # \"m\" lid 65535 4xHDR\n"
                             "Ca 1 \"H-a1\" # \"n\"\nCa 1 \"H-a3\" # \"m\"\n");
    EXPECT_EQ(map.by_lid(0xffff), no_node);
    EXPECT_THAT(problems(map), IsEmpty());
}

TEST(ImportTopology, ImpossiblePortsAndLidsAreNamed) {
    const MapDraft map = imported("Switch 300 \"S-b1\" # \"x\" base port 0 lid 70000 lmc 0\n"
                             "[255] \"S-b1\"[1] # \"x\" lid 1 4xHDR\n[1] \"S-b1\"[999999999999] # \"x\" lid 1 4xHDR\n");
    EXPECT_THAT(problems(map), ElementsAre("topo:1: a node of 300 ports; InfiniBand has 254",
                                           "topo:1: LID 70000 of 'x' is none", "topo:2: port 255 or 1 is none",
                                           "topo:3: port 1 or 999999999999 is none"));
}

TEST(ImportTopology, APortBeforeAnyHeadIsNamed) {
    const MapDraft map = imported("[1] \"S-b1\"[1] # \"x\" lid 1 4xHDR\n" + two_nodes);
    EXPECT_THAT(problems(map), ElementsAre("topo:1: a port before any node's head"));
}

TEST(ImportTopology, TablesInTheSameFileAreNamedOnceAndNotRead) {
    const MapDraft map = imported(two_nodes + "Unicast lids [0x0-0x3] of switch Lid 1 guid 0x00000000000000b1 (x):\n"
                                              "  Lid  Out   Destination\n       Port     Info \n0x0001 000 : (x)\n0x0002 001 : (y)\n");
    expect_two_nodes(map);
    ASSERT_EQ(problems(map).size(), 1U);
    EXPECT_THAT(problems(map)[0], ::testing::EndsWith("forwarding tables begin here and are not read: give them as a file of their own"));
}

TEST(ImportTopology, ManyProblemsAreCountedNotListed) {
    std::string text = two_nodes;
    for (int i = 0; i < 60; ++i)
        text += "noise\n";
    const MapDraft map = imported(text);
    ASSERT_EQ(map.problems.size(), 51U);
    EXPECT_EQ(map.problems.back().reason, "10 more lines were not understood or contradict others");
}

TEST(ImportTopology, SeveralFilesMakeOneFabric) {
    const std::size_t middle = two_nodes.find("\nCa");
    auto map = import_topology({{"one", two_nodes.substr(0, middle)}, {"two", two_nodes.substr(middle)}});
    ASSERT_TRUE(map);
    expect_two_nodes(*map);
    EXPECT_THAT(problems(*map), IsEmpty());
}

TEST(ImportTopology, ALidThatMayBeHalfOneIsLeftOut) {
    const MapDraft map = imported("Switch 4 \"S-b1\" # \"leaf\" base port 0 lid 9 lmc 0\n[1] \"H-a1\"[1](a2) # \"node01\" lid 5");
    EXPECT_EQ(map.nodes[1].ports[1].lid, 0) << "it may have been 57";
    EXPECT_EQ(map.nodes[1].description, "node01");
    EXPECT_THAT(problems(map), Contains("topo:2: the file ends in the middle of a line: it may have been cut short"));
}

TEST(ImportTopology, ManyLinksThatDisagreeAreCountedNotListed) {
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += fmt::format("Switch 200 \"S-{:x}\" # \"s\" base port 0 lid {} lmc 0\n[1] \"S-{:x}\"[1] # \"s\" lid {} 4xHDR\n",
                            0x100 + i, 100 + i, 0x100 + (i + 1) % 60, 100 + (i + 1) % 60);
    const MapDraft map = imported(text);
    EXPECT_THAT(problems(map), Contains("topology: 10 more links whose ends disagree are left out"));
}

TEST(ImportTopology, AFileWithoutANodeIsAnError) {
    const auto map = import_topology({{"topo", "nothing here\n"}});
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, Errc::malformed);
    EXPECT_EQ(map.error().message, "topo: no ibnetdiscover output in it");
}

TEST(ImportTopology, TablesInItsPlaceAreRecognised) {
    const auto map = import_topology({{"lfts", "Unicast lids [0-1] of switch Lid 4 guid 0x1 ('x'):\n0x0001 001 #\n"}});
    ASSERT_FALSE(map);
    EXPECT_THAT(map.error().message, HasSubstr("these are forwarding tables"));
}

} // namespace
} // namespace fabric_check::fabric
