// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

using testing::Builder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

DraftNode described(const std::string &text, NodeKind kind = NodeKind::host) {
    DraftNode node;
    node.description = text;
    node.kind = kind;
    node.guid = 0x1234;
    return node;
}

TEST(HostName, IsTheFirstWordAndTheCardTheSecond) {
    EXPECT_EQ(host_name_of("node01 mlx5_0"), "node01");
    EXPECT_EQ(card_name_of("node01 mlx5_0"), "mlx5_0");
    EXPECT_EQ(card_name_of("node01 HCA-1"), "HCA-1");
}

TEST(HostName, TrailingAndLeadingBlanksAreNoPartOfIt) {
    EXPECT_EQ(host_name_of("  node01\tmlx5_0  "), "node01");
    EXPECT_EQ(host_name_of("node01   "), "node01");
    EXPECT_EQ(card_name_of("node01   "), "");
}

TEST(HostName, AFactoryTextNamesNoHost) {
    EXPECT_EQ(host_name_of("MT4129 ConnectX7   Mellanox Technologies"), "");
    EXPECT_EQ(card_name_of("MT4129 ConnectX7   Mellanox Technologies"), "");
    EXPECT_EQ(host_name_of(""), "");
}

TEST(ClassifyAdapter, AggregationNodesAndGatewaysAreNoHosts) {
    EXPECT_EQ(classify_adapter("Mellanox Technologies Aggregation Node"), NodeKind::other);
    EXPECT_EQ(classify_adapter("skyway01 Gateway"), NodeKind::other);
    EXPECT_EQ(classify_adapter("bx01 BridgeX gateway, port 1"), NodeKind::other);
    EXPECT_EQ(classify_adapter("node01 mlx5_0"), NodeKind::host);
    EXPECT_EQ(classify_adapter("nfs-gateway07 mlx5_0"), NodeKind::host);
    EXPECT_EQ(classify_adapter("gateway HCA-1"), NodeKind::host);
}

TEST(MapIndex, FindsBaseLidsAndLmcRanges) {
    Builder b;
    const auto s = b.add_switch("s", 4, 9);
    const auto h = b.add_host("h mlx5_0", 16);
    b.map.nodes[h].ports[1].lmc = 2;
    b.map.index();
    EXPECT_EQ(b.map.by_lid(9), s);
    EXPECT_EQ(b.map.port_of_lid(9), 0);
    for (std::uint16_t lid = 16; lid < 20; ++lid)
        EXPECT_EQ(b.map.by_lid(lid), h) << lid;
    EXPECT_EQ(b.map.port_of_lid(19), 1);
    EXPECT_EQ(b.map.by_lid(15), no_node);
    EXPECT_EQ(b.map.by_lid(20), no_node);
}

TEST(MapIndex, AnLmcRangeNeverHidesABaseLid) {
    Builder b;
    const auto wide = b.add_host("wide", 4);
    const auto narrow = b.add_host("narrow", 6);
    b.map.nodes[wide].ports[1].lmc = 2;
    b.map.index();
    EXPECT_EQ(b.map.by_lid(5), wide);
    EXPECT_EQ(b.map.by_lid(6), narrow);
}

TEST(MapIndex, LidZeroAndMulticastLidsBelongToNobody) {
    Builder b;
    b.add_host("down", 0);
    b.add_host("odd", 0xffff);
    b.add_host("multicast", 0xc000);
    b.add_host("last", 0xbfff);
    b.map.index();
    EXPECT_EQ(b.map.by_lid(0), no_node);
    EXPECT_EQ(b.map.by_lid(0xffff), no_node);
    EXPECT_EQ(b.map.by_lid(0xc000), no_node);
    EXPECT_EQ(b.map.by_lid(0xbfff), 3U);
}

TEST(MapIndex, AnImpossibleLmcMakesNoRange) {
    Builder b;
    const auto h = b.add_host("h", 4);
    b.map.nodes[h].ports[1].lmc = 8;
    b.map.index();
    EXPECT_EQ(b.map.by_lid(4), h);
    EXPECT_EQ(b.map.by_lid(5), no_node);
}

TEST(MapIndex, OneNameGivesEveryRailAndEveryCard) {
    Builder b;
    b.add_host("node01 mlx5_0", 1, 2);
    b.add_host("node01 mlx5_1", 5);
    b.add_host("node010 mlx5_0", 7);
    b.map.index();
    EXPECT_THAT(Map(b.map).by_name("node01"), ElementsAre(Pair(0U, 1), Pair(0U, 2), Pair(1U, 1)));
    EXPECT_THAT(Map(b.map).by_name("node02"), IsEmpty());
}

TEST(MapIndex, AShortNameFindsAHostThatUsesItsFullOne) {
    Builder b;
    b.add_host("node01.cluster.example mlx5_0", 1);
    b.map.index();
    EXPECT_THAT(Map(b.map).by_name("node01"), ElementsAre(Pair(0U, 1)));
    EXPECT_THAT(Map(b.map).by_name("node01.cluster.example"), ElementsAre(Pair(0U, 1)));
}

TEST(MapIndex, AggregationNodesAreNotFoundByName) {
    Builder b;
    const auto h = b.add_host("sharp Aggregation Node", 1);
    b.map.nodes[h].kind = NodeKind::other;
    b.map.index();
    EXPECT_THAT(Map(b.map).by_name("sharp"), IsEmpty());
}

TEST(MapIndex, PortGuidsGiveNodeAndPort) {
    Builder b;
    b.add_host("other", 9);
    const auto h = b.add_host("node01", 1, 2);
    b.map.index();
    std::uint8_t port = 0;
    EXPECT_EQ(b.map.by_port_guid(b.map.nodes[h].ports[2].guid, &port), h);
    EXPECT_EQ(port, 2);
    EXPECT_EQ(b.map.by_port_guid(0xdead, nullptr), no_node);
    EXPECT_EQ(b.map.by_guid(b.map.nodes[h].guid), h);
    EXPECT_EQ(b.map.by_guid(0), no_node);
}

TEST(MapIndex, AMapWithoutIndexFindsNothing) {
    MapDraft map;
    EXPECT_EQ(map.by_lid(1), no_node);
    EXPECT_EQ(map.port_of_lid(1), 0);
    EXPECT_EQ(map.by_guid(1), no_node);
}

TEST(DisplayName, ManagedSwitchesAreCalledByTheirOwnName) {
    MapDraft map;
    map.nodes = {described("MF0;leaf03:MQM9701/U1", NodeKind::switch_node),
                 described("MF0;core:MCS8500/L02/U1", NodeKind::switch_node),
                 described("SwitchA", NodeKind::switch_node), described("  ", NodeKind::switch_node),
                 described("Quantum Mellanox Technologies", NodeKind::switch_node)};
    map.nodes[4].guid = 0x99;
    map.index();
    EXPECT_EQ(map.display_name(0), "leaf03");
    EXPECT_EQ(map.display_name(1), "core/L02");
    EXPECT_EQ(map.display_name(2), "SwitchA");
    EXPECT_EQ(map.display_name(3), "0x0000000000001234");
    EXPECT_EQ(map.display_name(4), "0x0000000000000099");
    EXPECT_EQ(map.display_name(99), "nothing");
}

TEST(DisplayName, SwitchesOfOneNameCarryTheirGuid) {
    Builder b;
    b.add_switch("leaf", 1, 1);
    b.add_switch("leaf", 1, 2);
    b.add_switch("spine", 1, 3);
    b.map.index();
    EXPECT_EQ(b.map.display_name(0), "leaf[0x0000000000000b00]");
    EXPECT_EQ(b.map.display_name(2), "spine");
}

TEST(DisplayName, HostileDescriptionsAreMadePrintable) {
    MapDraft map;
    map.nodes = {described("a\x1b[31mb", NodeKind::switch_node)};
    map.index();
    EXPECT_EQ(map.display_name(0), "a\\x1b[31mb");
}

} // namespace
} // namespace fabric_check::fabric
