// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/discover.hpp"

#include "fabric/fabrics.hpp"
#include "mad/fake_switches.hpp"

#include <infiniband/ibnetdisc.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>

namespace fabric_check::fabric {
namespace {

namespace ft = testing;
using mad::FakeSwitches;
using mad::MadClass;

/// libibnetdisc's structures, as a discovery leaves them.
struct Discovered {
    ibnd_fabric_t fabric{};
    std::deque<ibnd_node_t> nodes;
    std::deque<ibnd_port_t> ports;
    std::deque<std::vector<ibnd_port_t *>> tables;

    ibnd_node_t &node(int type, std::uint64_t guid, const char *description, int count, int lid = 0) {
        ibnd_node_t &one = nodes.emplace_back();
        one = {};
        one.type = type;
        one.guid = guid;
        one.numports = count;
        one.smalid = static_cast<std::uint16_t>(lid);
        std::strncpy(one.nodedesc, description, sizeof one.nodedesc - 1);
        one.ports = tables.emplace_back(static_cast<std::size_t>(count) + 1, nullptr).data();
        if (nodes.size() > 1)
            nodes[nodes.size() - 2].next = &one;
        fabric.nodes = &nodes.front();
        return one;
    }
    ibnd_port_t &port(ibnd_node_t &node, int number, std::uint64_t guid = 0, int lid = 0, int lmc = 0) {
        ibnd_port_t &one = ports.emplace_back();
        one = {};
        one.node = &node;
        one.portnum = number;
        one.guid = guid;
        one.base_lid = static_cast<std::uint16_t>(lid);
        one.lmc = static_cast<std::uint8_t>(lmc);
        mad_set_field(one.info, 0, IB_PORT_STATE_F, 4);
        mad_set_field(one.info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
        mad_set_field(one.info, 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
        mad_set_field(one.info, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 4);
        node.ports[number] = &one;
        return one;
    }
    static void link(ibnd_port_t &one, ibnd_port_t &other) {
        one.remoteport = &other;
        other.remoteport = &one;
    }
};

struct Pair : Discovered {
    ibnd_node_t &leaf = node(IB_NODE_SWITCH, 0xb1, "leaf01", 4, 7);
    ibnd_node_t &host = node(IB_NODE_CA, 0xa1, "node01 mlx5_0", 1);
    ibnd_port_t &down = port(leaf, 2);
    ibnd_port_t &up = port(host, 1, 0xa11, 12, 1);
    Pair() {
        link(down, up);
        mad_set_field(port(leaf, 0).info, 0, IB_PORT_CAPMASK_F, 0x4000);
        mad_set_field(up.info, 0, IB_PORT_CAPMASK_F, 0x4000);
    }
};

TEST(Topology, SwitchesHostsLinksAndLidsAreTaken) {
    Pair pair;
    const MapDraft map = map_of(pair.fabric);
    ASSERT_EQ(map.nodes.size(), 2U);
    const DraftNode &leaf = map.nodes[0], &host = map.nodes[1];
    EXPECT_EQ(leaf.kind, NodeKind::switch_node);
    EXPECT_EQ(leaf.description, "leaf01");
    EXPECT_EQ(leaf.lid, 7);
    ASSERT_EQ(leaf.ports.size(), 5U);
    EXPECT_EQ(leaf.ports[2].peer, 1U);
    EXPECT_EQ(leaf.ports[2].peer_port, 1);
    EXPECT_EQ(leaf.ports[1].peer, no_node);
    EXPECT_EQ(host.kind, NodeKind::host);
    EXPECT_EQ(host.ports[1].guid, 0xa11U);
    EXPECT_EQ(host.ports[1].lid, 12);
    EXPECT_EQ(host.ports[1].lmc, 1);
    EXPECT_EQ(leaf.ports[2].rate.speed, "HDR");
    EXPECT_EQ(host.ports[1].rate.lanes, 4U);
    EXPECT_EQ(map.by_lid(13), 1U) << "indexed, LMC ranges included";
}

TEST(Topology, ExtendedSpeedIsBelievedOnlyWithPortZerosCapability) {
    Pair pair;
    mad_set_field(pair.leaf.ports[0]->info, 0, IB_PORT_CAPMASK_F, 0);
    const MapDraft map = map_of(pair.fabric);
    EXPECT_EQ(map.nodes[0].ports[2].rate.speed, "QDR");
    EXPECT_EQ(map.nodes[1].ports[1].rate.speed, "HDR") << "a host's port tells for itself";
}

TEST(Topology, Fdr10IsToldFromQdrByTheVendorsPortInfo) {
    Pair pair;
    mad_set_field(pair.down.info, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 0);
    mad_set_field(pair.down.ext_info, 0, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F, 1);
    EXPECT_EQ(map_of(pair.fabric).nodes[0].ports[2].rate.speed, "FDR10");
}

TEST(Topology, AggregationNodesAndRoutersAreNoHosts) {
    Pair pair;
    pair.node(IB_NODE_CA, 0xa2, "Mellanox Technologies Aggregation Node", 1);
    pair.node(IB_NODE_ROUTER, 0xa3, "router", 1);
    const MapDraft map = map_of(pair.fabric);
    EXPECT_EQ(map.nodes[2].kind, NodeKind::other);
    EXPECT_EQ(map.nodes[3].kind, NodeKind::other);
}

TEST(Topology, PeerPortBeyondThePeersPortsIsNoLink) {
    Pair pair;
    pair.up.portnum = 9;
    EXPECT_EQ(map_of(pair.fabric).nodes[0].ports[2].peer, no_node);
}

TEST(Topology, UnterminatedDescriptionAndMissingPortTableAreSurvived) {
    Pair pair;
    std::memset(pair.host.nodedesc, 'x', sizeof pair.host.nodedesc);
    pair.host.ports = nullptr;
    const MapDraft map = map_of(pair.fabric);
    EXPECT_EQ(map.nodes[1].description, std::string(65, 'x'));
}

TEST(Topology, EmptyFabricIsAnEmptyMap) {
    EXPECT_TRUE(map_of(ibnd_fabric_t{}).nodes.empty());
}

struct TablesTest : ::testing::Test {
    MapDraft truth = ft::two_switches(ft::collapsed());
    MapDraft map = truth;
    TablesTest() {
        for (DraftNode &node : map.nodes)
            node.lft.clear();
    }
    void read(FakeSwitches &fabric) {
        mad::Engine engine(fabric.transport);
        read_tables(engine, map, Deadline::never());
    }
};

TEST_F(TablesTest, EveryBlockUpToTheTopLidIsRead) {
    truth.nodes[0].lft.resize(65, no_route); // top LID 64: a block of its own
    truth.nodes[0].lft[64] = 5;
    FakeSwitches fabric(truth);
    read(fabric);
    ASSERT_EQ(map.nodes[0].lft.size(), 128U);
    EXPECT_EQ(map.nodes[0].lft[64], 5);
    EXPECT_EQ(map.nodes[0].lft[1], 1);
    ASSERT_EQ(map.nodes[1].lft.size(), 64U);
    EXPECT_EQ(map.nodes[1].lft[12], 27);
    EXPECT_EQ(map.nodes[1].lft[60], no_route);
    EXPECT_TRUE(map.problems.empty());
}

TEST_F(TablesTest, SilentSwitchIsAProblemAndTheOthersAreRead) {
    FakeSwitches fabric(truth);
    fabric.silent = {{MadClass::smp, 42}};
    read(fabric);
    EXPECT_TRUE(map.nodes[1].lft.empty());
    EXPECT_EQ(map.nodes[0].lft.size(), 64U);
    ASSERT_EQ(map.problems.size(), 1U);
    EXPECT_EQ(map.problems[0].where, "SwitchB");
    EXPECT_EQ(map.problems[0].reason, "SwitchInfo: no answer; its forwarding table is not known");
    EXPECT_EQ(map.adaptive_routing, AdaptiveRouting::unknown);
}

TEST_F(TablesTest, LostBlockIsNoRouteNeverItsNeighbourAgain) {
    truth.nodes[0].lft.resize(130, 7);
    FakeSwitches fabric(truth);
    fabric.transport.answer = [&fabric](const mad::Sent &sent) {
        if (sent.to.lid == 41 && sent.attribute == 0x19 && sent.modifier == 2)
            return std::vector<mad::FakeTransport::Event>{{fabric.delay, mad::reply_to(sent, {}, 0x1c)}};
        return fabric.answer(sent);
    };
    read(fabric);
    ASSERT_EQ(map.nodes[0].lft.size(), 192U);
    EXPECT_EQ(map.nodes[0].lft[127], 7);
    EXPECT_EQ(map.nodes[0].lft[128], no_route);
    ASSERT_EQ(map.problems.size(), 1U);
    EXPECT_EQ(map.problems[0].reason, "forwarding table, LIDs 128-191: refused");
}

TEST_F(TablesTest, SwitchWithoutALidIsAProblem) {
    map.nodes[1].lid = 0;
    FakeSwitches fabric(truth);
    read(fabric);
    ASSERT_EQ(map.problems.size(), 1U);
    EXPECT_EQ(map.problems[0].reason, "no LID: no subnet manager has routed this switch");
}

TEST_F(TablesTest, AdaptiveRoutingIsOffWhereRefusedOnWhereEnabledUnknownWhereSilent) {
    FakeSwitches refused(truth);
    read(refused);
    EXPECT_EQ(map.adaptive_routing, AdaptiveRouting::off);
    FakeSwitches enabled(truth);
    enabled.adaptive_status = 0;
    enabled.adaptive_enabled = true;
    read(enabled);
    EXPECT_EQ(map.adaptive_routing, AdaptiveRouting::on);
    FakeSwitches disabled(truth);
    disabled.adaptive_status = 0;
    read(disabled);
    EXPECT_EQ(map.adaptive_routing, AdaptiveRouting::off);
    FakeSwitches silent(truth);
    silent.adaptive_status.reset();
    read(silent);
    EXPECT_EQ(map.adaptive_routing, AdaptiveRouting::unknown);
    EXPECT_EQ(map.nodes[0].lft.size(), 64U) << "silence to the vendor's attribute costs no table";
    EXPECT_TRUE(map.problems.empty());
}

TEST_F(TablesTest, ProgressReachesTheTotal) {
    FakeSwitches fabric(truth);
    mad::Engine engine(fabric.transport);
    std::size_t last = 0, of = 0;
    read_tables(engine, map, Deadline::never(), [&](std::string_view, std::size_t done, std::size_t total) {
        last = done;
        of = total;
    });
    EXPECT_EQ(last, 2U);
    EXPECT_EQ(of, 2U);
}

TEST(AdaptiveRoutingOf, ConfigurationHasTheLastWord) {
    Config config;
    EXPECT_EQ(adaptive_routing_of(config, AdaptiveRouting::on), AdaptiveRouting::on);
    config.adaptive_routing = "off";
    EXPECT_EQ(adaptive_routing_of(config, AdaptiveRouting::on), AdaptiveRouting::off);
    config.adaptive_routing = "on";
    EXPECT_EQ(adaptive_routing_of(config, AdaptiveRouting::unknown), AdaptiveRouting::on);
}

TEST(Discover, WithoutAnInfiniBandPortTheErrorSaysWhatIsMissing) {
    Config config;
    config.mad.device = "no_such_card";
    config.mad.port = 1;
    const auto map = discover(config);
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().code, Errc::unavailable);
    EXPECT_EQ(map.error().message, "umad of no_such_card:1: there is no such port on this host");
}

} // namespace
} // namespace fabric_check::fabric
