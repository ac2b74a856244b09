// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

using testing::Builder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::size_t> lids_per_port(const Group &group) {
    std::vector<std::size_t> out;
    for (const GroupPort &port : group.ports)
        out.push_back(port.lids.size());
    return out;
}

const Group *group_at(const Routes &routes, std::uint32_t node, Direction direction) {
    for (const Group &group : routes.groups)
        if (group.node == node && group.direction == direction)
            return &group;
    return nullptr;
}

TEST(CollapsedTable, UsesThreeOfEightLinksAtImbalanceThree) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    const Routes routes = analyse(LftView(map), testing::clients_and_servers(map));
    ASSERT_EQ(routes.worst, 0);
    const Group &worst = routes.groups[0];
    EXPECT_EQ(worst.node, 1U);
    EXPECT_EQ(worst.direction, Direction::from);
    EXPECT_EQ(worst.available, 8U);
    EXPECT_EQ(worst.used, 3U);
    EXPECT_EQ(worst.lids, 12U);
    EXPECT_THAT(lids_per_port(worst), ElementsAre(6, 5, 1, 0, 0, 0, 0, 0));
    EXPECT_DOUBLE_EQ(worst.imbalance, 3.0);
    EXPECT_DOUBLE_EQ(routes.imbalance, 3.0);
    EXPECT_EQ(group_name(map, worst), "SwitchB>SwitchA");
    EXPECT_THAT(worst.ports[0].lids, ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_DOUBLE_EQ(worst.ports[0].flows, 48);
    EXPECT_THAT(routes.unreachable, IsEmpty());
    EXPECT_THAT(routes.warnings, IsEmpty());
}

TEST(CollapsedTable, TheOtherDirectionIsEven) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    const Routes routes = analyse(LftView(map), testing::clients_and_servers(map));
    const Group *to = group_at(routes, 0, Direction::to);
    ASSERT_NE(to, nullptr);
    EXPECT_EQ(to->used, 8U);
    EXPECT_DOUBLE_EQ(to->imbalance, 1.0);
    EXPECT_EQ(routes.groups.size(), 2U) << "nothing inside the job passes a link between switches";
}

TEST(CollapsedTable, PredictsWhatTheLinksCarry) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    Query query = testing::clients_and_servers(map);
    query.rate_per_node_gib_s = 7.62;
    query.flat_ceiling_gib_s = 22.6;
    const Routes routes = analyse(LftView(map), query);
    EXPECT_EQ(routes.ceiling.links, 3U);
    EXPECT_NEAR(routes.ceiling.gib_s, 67.8, 1e-9);
    EXPECT_NEAR(routes.ceiling.predicted_gib_s, 52.82, 1e-9);
}

TEST(CollapsedTable, WithoutARateNothingIsPredicted) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    const Routes routes = analyse(LftView(map), testing::clients_and_servers(map));
    EXPECT_EQ(routes.ceiling.predicted_gib_s, 0);
    EXPECT_NEAR(routes.ceiling.gib_s, 67.8, 1e-9) << "4X HDR is 22.6 without a table";
}

TEST(EvenTable, IsNoImbalance) {
    const MapDraft map = testing::two_switches(testing::even());
    const Routes routes = analyse(LftView(map), testing::clients_and_servers(map));
    EXPECT_DOUBLE_EQ(routes.imbalance, 1.0) << "2 of 12 LIDs on the busiest of 8 ports cannot be better";
    for (const Group &group : routes.groups)
        EXPECT_DOUBLE_EQ(group.imbalance, 1.0);
}

TEST(Analyse, NamesThePortsAndSwitchesOnTheWay) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    const Routes routes = analyse(LftView(map), testing::clients_and_servers(map));
    EXPECT_THAT(routes.switches, ElementsAre(0, 1));
    EXPECT_THAT(routes.ports_on_routes.at(1), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 25, 26, 27));
    EXPECT_THAT(routes.ports_on_routes.at(0),
                ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20));
}

TEST(Analyse, SourcesAreThoseWhoseFlowsPass) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    const Routes routes = analyse(LftView(map), testing::clients_and_servers(map));
    EXPECT_THAT(testing::sources_of(routes, routes.groups[0], 2), ElementsAre(~0U, ~1U, ~2U, ~3U, ~4U, ~5U, ~6U, ~7U));
    EXPECT_THAT(testing::sources_of(routes, routes.groups[0], 3), IsEmpty());
    const Group *to = group_at(routes, 0, Direction::to);
    EXPECT_THAT(testing::sources_of(routes, *to, 0), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TEST(Analyse, SourcesCanBeLeftOut) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    Query query = testing::clients_and_servers(map);
    query.want_sources = false;
    EXPECT_THAT(analyse(LftView(map), query).groups[0].ports[0].senders, IsEmpty());
}

TEST(Analyse, AJobOnOneSwitchHasNoGroupButItsFacingPorts) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    Query query = testing::clients_and_servers(map);
    query.services.clear();
    const Routes routes = analyse(LftView(map), query);
    EXPECT_THAT(routes.groups, IsEmpty());
    EXPECT_EQ(routes.worst, -1);
    EXPECT_DOUBLE_EQ(routes.imbalance, 1.0);
    EXPECT_EQ(routes.ceiling.links, 0U);
    EXPECT_EQ(routes.ports_on_routes.at(0).size(), 12U);
    EXPECT_EQ(routes.ports_on_routes.count(1), 0U);
}

TEST(Analyse, AServiceThatIsInTheJobCountsOnce) {
    const MapDraft map = testing::two_switches(testing::even());
    Query query = testing::clients_and_servers(map);
    query.job = query.services;
    const Routes routes = analyse(LftView(map), query);
    EXPECT_THAT(routes.groups, IsEmpty());
    EXPECT_THAT(routes.warnings, IsEmpty());
}

TEST(Analyse, EvenTrafficInSeveralDirectionsIsNoImbalance) {
    const MapDraft map = testing::two_switches(testing::even());
    Query query = testing::clients_and_servers(map);
    std::vector<std::string> missing;
    query.job = endpoints_by_name(map, {"node01", "node02", "stor01", "stor02"}, missing);
    query.services = endpoints_by_name(map, {"node03", "stor03"}, missing);
    const Routes routes = analyse(LftView(map), query);
    EXPECT_EQ(routes.groups.size(), 6U);
    EXPECT_DOUBLE_EQ(routes.imbalance, 1.0);
}

TEST(Analyse, ASlowLinkIsNoEqualMember) {
    MapDraft map = testing::two_switches({25, 26});
    for (unsigned p = 27; p <= 32; ++p) {
        map.nodes[1].ports[p] = {};
        map.nodes[0].ports[p - 12] = {};
    }
    map.nodes[1].ports[25].rate = testing::rate_of(4, "EDR", 100);
    Query query = testing::clients_and_servers(map);
    const Routes routes = analyse(LftView(map), query);
    const Group *from = group_at(routes, 1, Direction::from);
    ASSERT_NE(from, nullptr);
    EXPECT_EQ(from->available, 2U);
    EXPECT_DOUBLE_EQ(from->imbalance, 1.5) << "6 LIDs over 100 Gb/s, where 4 and 8 would do";
}

TEST(Analyse, AnUnknownRateIsWeighedLikeTheOthersAndSaidSo) {
    MapDraft map = testing::two_switches(testing::even());
    map.nodes[1].ports[25].rate = {};
    const Routes routes = analyse(LftView(map), testing::clients_and_servers(map));
    EXPECT_DOUBLE_EQ(routes.imbalance, 1.0);
    EXPECT_THAT(routes.warnings, ElementsAre(HasSubstr("unknown rate"))) << "no ceiling is asked of it: not in the worst group";
}

TEST(Analyse, ASingleLinkCannotBeImbalanced) {
    MapDraft map = testing::two_switches({25});
    for (unsigned p = 26; p <= 32; ++p) {
        map.nodes[1].ports[p] = {};
        map.nodes[0].ports[p - 12] = {};
    }
    for (unsigned lid = 21; lid <= 28; ++lid)
        map.nodes[0].lft[lid] = 13;
    const Routes routes = analyse(LftView(map), testing::clients_and_servers(map));
    ASSERT_EQ(routes.groups.size(), 2U);
    EXPECT_EQ(routes.groups[0].available, 1U);
    EXPECT_DOUBLE_EQ(routes.groups[0].imbalance, 1.0);
    EXPECT_DOUBLE_EQ(routes.imbalance, 1.0);
}

/// SwitchA and SwitchB, two links between them, and a way round by SwitchC.
MapDraft triangle() {
    Builder b;
    const auto s = b.add_switch("SwitchA", 6, 41), t = b.add_switch("SwitchB", 6, 42), c = b.add_switch("SwitchC", 6, 43);
    b.link(s, 1, t, 1);
    b.link(s, 2, t, 2);
    b.link(s, 3, c, 1);
    b.link(c, 2, t, 3);
    b.attach(b.add_host("node01 mlx5_0", 1), s, 5);
    b.attach(b.add_host("node02 mlx5_0", 2), t, 5);
    b.route(s, 2, 3);
    b.route(c, 2, 2);
    b.route(t, 1, 1);
    b.map.index();
    return std::move(b.map);
}

TEST(Analyse, ALongerWayIsAUsedPortThatIsNotMinimal) {
    const MapDraft map = triangle();
    Query query;
    query.job = all_host_endpoints(map);
    const Routes routes = analyse(LftView(map), query);
    const Group *out = group_at(routes, 0, Direction::inside);
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(out->available, 2U);
    EXPECT_EQ(out->used, 1U);
    EXPECT_THAT(lids_per_port(*out), ElementsAre(0, 0, 1));
    EXPECT_TRUE(out->ports[0].minimal);
    EXPECT_FALSE(out->ports[2].minimal);
    EXPECT_THAT(out->peers, ElementsAre(1, 2));
    EXPECT_EQ(group_name(map, *out), "SwitchA>SwitchB+1");
    EXPECT_THAT(routes.switches, ElementsAre(0, 1, 2));
}

TEST(Analyse, ALoopIsNamedAndItsFlowsCountNowhere) {
    MapDraft map = triangle();
    map.nodes[2].lft[2] = 1;
    Query query;
    query.job = all_host_endpoints(map);
    const Routes routes = analyse(LftView(map), query);
    ASSERT_EQ(routes.unreachable.size(), 1U);
    EXPECT_EQ(routes.unreachable[0].lid, 2);
    EXPECT_EQ(routes.unreachable[0].why, "loop at SwitchA>SwitchC");
    EXPECT_EQ(routes.unreachable[0].at, 0U);
    EXPECT_EQ(group_at(routes, 0, Direction::inside), nullptr);
    EXPECT_NE(group_at(routes, 1, Direction::inside), nullptr) << "the way back is whole";
}

struct DeadEnd {
    std::uint8_t entry;
    const char *why;
};

class DeadEnds : public ::testing::TestWithParam<DeadEnd> {};

TEST_P(DeadEnds, AreNamedWithTheirSwitch) {
    MapDraft map = triangle();
    map.nodes[2].lft[2] = GetParam().entry;
    Query query;
    query.job = all_host_endpoints(map);
    const Routes routes = analyse(LftView(map), query);
    ASSERT_EQ(routes.unreachable.size(), 1U);
    EXPECT_EQ(routes.unreachable[0].why, GetParam().why);
    EXPECT_EQ(routes.unreachable[0].at, 2U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeadEnds,
                         ::testing::Values(DeadEnd{0xff, "no entry at SwitchC"},
                                           DeadEnd{0, "SwitchC takes it for its own LID"},
                                           DeadEnd{77, "SwitchC sends it to port 77, which it does not have"},
                                           DeadEnd{4, "SwitchC:4 leads nowhere"}));

TEST(Analyse, AWrongHostAtTheEndIsNamed) {
    MapDraft map = triangle();
    map.nodes[1].lft[1] = 5;
    Query query;
    query.job = all_host_endpoints(map);
    const Routes routes = analyse(LftView(map), query);
    ASSERT_EQ(routes.unreachable.size(), 1U);
    EXPECT_EQ(routes.unreachable[0].why, "SwitchB:5 leads to node02");
}

TEST(Analyse, AnUnpluggedHostIsListed) {
    MapDraft map = triangle();
    map.nodes[3].ports[1].peer = no_node;
    Query query;
    query.job = all_host_endpoints(map);
    const Routes routes = analyse(LftView(map), query);
    ASSERT_EQ(routes.unreachable.size(), 1U);
    EXPECT_EQ(routes.unreachable[0].lid, 1);
    EXPECT_EQ(routes.unreachable[0].why, "attached to no switch");
}

TEST(Analyse, ASwitchLoopedToItselfIsNoGroup) {
    MapDraft map = triangle();
    map.nodes[0].ports[4].peer = 0;
    map.nodes[0].ports[4].peer_port = 6;
    map.nodes[0].ports[6].peer = 0;
    map.nodes[0].ports[6].peer_port = 4;
    map.nodes[0].lft[2] = 4;
    Query query;
    query.job = all_host_endpoints(map);
    const Routes routes = analyse(LftView(map), query);
    ASSERT_EQ(routes.unreachable.size(), 1U);
    EXPECT_EQ(routes.unreachable[0].why, "loop at SwitchA");
}

TEST(Analyse, EndpointsWithoutALidAreWarnedAbout) {
    const MapDraft map = triangle();
    Query query;
    query.job = all_host_endpoints(map);
    query.job.push_back({"node03", 3, 1, 0});
    query.job.push_back({"node04", 999, 1, 7});
    const Routes routes = analyse(LftView(map), query);
    EXPECT_THAT(routes.warnings, ElementsAre(HasSubstr("node03:1 (LID 0)"), HasSubstr("node04:1 (LID 7)")));
}

TEST(Analyse, ASwitchCanBeADestination) {
    const MapDraft map = [] {
        MapDraft m = triangle();
        m.nodes[0].lft.resize(64, no_route);
        m.nodes[0].lft[42] = 2;
        return m;
    }();
    Query query;
    query.job = {*endpoint_by_lid(map, 1), *endpoint_by_lid(map, 42)};
    const Routes routes = analyse(LftView(map), query);
    EXPECT_THAT(routes.unreachable, IsEmpty());
    const Group *out = group_at(routes, 0, Direction::inside);
    ASSERT_NE(out, nullptr);
    EXPECT_THAT(lids_per_port(*out), ElementsAre(0, 1));
}

TEST(LftView, LiveBlocksCoverTheMapAndOthersFallBack) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    LftBlock block;
    block.switch_guid = map.nodes[1].guid;
    block.ports.fill(no_route);
    block.ports[1] = 32;
    const LftView view(map, {block});
    EXPECT_EQ(view.at(1, 1), 32);
    EXPECT_EQ(view.at(1, 2), no_route) << "the live block holds, even where it is empty";
    EXPECT_EQ(view.at(0, 1), 1) << "another switch";
    EXPECT_EQ(LftView(map).at(1, 1), 25);
    EXPECT_EQ(view.at(1, 64), no_route) << "past the table";
    EXPECT_EQ(view.at(1, 0xffff), no_route);
}

TEST(LftView, BlocksOfUnknownSwitchesAreIgnored) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    LftBlock block;
    block.switch_guid = 0xdead;
    EXPECT_EQ(LftView(map, {block}).at(1, 1), 25);
}

/// The port as a scout read it.
SwitchPort read_as(const MapDraft &map, std::uint32_t node, unsigned port, const char *state) {
    SwitchPort out;
    out.switch_guid = map.nodes[node].guid;
    out.port = port;
    out.state = state;
    return out;
}

TEST(LinkThatIsDown, IsNotAvailableThoughTheMapHasIt) {
    // Twelve clients over seven links: two on each of five, one on each of two. With eight links nothing changes but the
    // count; with three clients to a link the best of seven is what the imbalance is over.
    const MapDraft map = testing::two_switches({25, 26, 27, 28, 29, 30, 31});
    const Routes routes = analyse(LftView(map, {}, {read_as(map, 0, 20, "DOWN")}), testing::clients_and_servers(map));
    const Group *from = group_at(routes, 1, Direction::from);
    ASSERT_NE(from, nullptr);
    EXPECT_EQ(from->available, 7U) << "seen from the other end of the link";
    EXPECT_EQ(from->used, 7U);
    EXPECT_EQ(from->ports.size(), 7U);
    EXPECT_THAT(routes.warnings, ::testing::Contains(HasSubstr("SwitchA:20<->SwitchB:32 is in the map but not up")));
}

TEST(LinkThatIsDown, StaysInTheGroupWhileTheTableUsesIt) {
    const MapDraft map = testing::two_switches({25, 26, 27, 28, 29, 30, 31, 32});
    const Routes routes = analyse(LftView(map, {}, {read_as(map, 1, 32, "INIT")}), testing::clients_and_servers(map));
    const Group *from = group_at(routes, 1, Direction::from);
    ASSERT_NE(from, nullptr);
    EXPECT_EQ(from->available, 7U);
    ASSERT_EQ(from->ports.size(), 8U);
    EXPECT_FALSE(from->ports[7].minimal);
    EXPECT_THAT(from->ports[7].lids, ElementsAre(8));
}

TEST(LinkThatIsDown, IsOneThatWasReadSoAndLeadsToASwitch) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    EXPECT_THAT(LftView(map, {}, {read_as(map, 1, 32, "ACTIVE"), read_as(map, 1, 31, ""), read_as(map, 1, 1, "DOWN"),
                                  read_as(map, 1, 200, "DOWN")})
                    .down(),
                IsEmpty());
}

TEST(PayloadCeiling, ComesFromTheTableOrIsScaledFromHdr) {
    const PayloadCeilings table{{"4X HDR", 22.6}, {"4X NDR", 45}};
    EXPECT_DOUBLE_EQ(payload_ceiling_gib_s(testing::hdr(), table), 22.6);
    EXPECT_DOUBLE_EQ(payload_ceiling_gib_s(testing::rate_of(4, "NDR", 400), table), 45);
    EXPECT_DOUBLE_EQ(payload_ceiling_gib_s(testing::rate_of(4, "EDR", 100), table), 11.3);
    EXPECT_DOUBLE_EQ(payload_ceiling_gib_s({}, table), 0);
    EXPECT_DOUBLE_EQ(payload_ceiling_gib_s(testing::rate_of(4, "EDR", 100), {}), 11.3);
}

TEST(EndpointsByName, NamesWhatIsMissingAndWhy) {
    MapDraft map = testing::two_switches(testing::even());
    map.nodes[map.by_lid(3)].ports[1].lid = 0;
    map.index();
    std::vector<std::string> missing;
    const auto found = endpoints_by_name(map, {"node01", "node99", "node03"}, missing);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].lid, 1);
    EXPECT_THAT(missing, ElementsAre("node99: not in the map", "node03: in the map, but no port of it has a LID"));
}

TEST(EndpointByLid, GivesTheHostOrNothing) {
    const MapDraft map = testing::two_switches(testing::even());
    EXPECT_EQ(endpoint_by_lid(map, 7)->name, "node07");
    EXPECT_EQ(endpoint_by_lid(map, 41)->name, "SwitchA");
    EXPECT_FALSE(endpoint_by_lid(map, 99));
    EXPECT_FALSE(endpoint_by_lid(map, 0));
}

TEST(LinkName, NamesBothEndsSwitchFirst) {
    const MapDraft map = testing::two_switches(testing::even());
    EXPECT_EQ(link_name(map, 0, 13), "SwitchA:13<->SwitchB:25");
    EXPECT_EQ(link_name(map, 1, 25), "SwitchB:25<->SwitchA:13");
    EXPECT_EQ(link_name(map, 0, 7), "SwitchA:7<->node07/mlx5_0:1");
    EXPECT_EQ(link_name(map, map.by_lid(7), 1), "SwitchA:7<->node07/mlx5_0:1");
    EXPECT_EQ(link_name(map, 0, 40), "SwitchA:40") << "nothing there";
    EXPECT_EQ(link_name(map, 99, 1), "nothing");
}

TEST(Shapes, OfACollapsedTable) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    std::vector<std::string> missing;
    Query query;
    query.job = endpoints_by_name(map, testing::names("node", 12), missing);
    for (const auto &each : endpoints_by_name(map, testing::names("stor", 8), missing))
        query.job.push_back(each);
    const Shapes shapes = shape_loads(LftView(map), query);
    EXPECT_DOUBLE_EQ(shapes.many_to_many.max_link_flows, 48);
    EXPECT_DOUBLE_EQ(shapes.many_to_many.ideal, 16);
    EXPECT_DOUBLE_EQ(shapes.many_to_many.factor, 3);
    EXPECT_EQ(link_name(map, shapes.many_to_many.node, shapes.many_to_many.port), "SwitchB:25<->SwitchA:13");
    EXPECT_DOUBLE_EQ(shapes.one_to_many.max_link_flows, 6);
    EXPECT_DOUBLE_EQ(shapes.one_to_many.ideal, 2);
    EXPECT_DOUBLE_EQ(shapes.one_to_many.factor, 3);
    EXPECT_DOUBLE_EQ(shapes.many_to_one.max_link_flows, 12) << "twelve clients into one server";
    EXPECT_DOUBLE_EQ(shapes.many_to_one.factor, 1) << "packets to one LID cannot be split";
}

TEST(Shapes, WithoutALinkOnTheWayNameNone) {
    const MapDraft map = testing::two_switches(testing::collapsed());
    const Shapes shapes = shape_loads(LftView(map), {testing::clients_and_servers(map).job, {}, 0, {}, 0, true});
    EXPECT_EQ(shapes.many_to_many.node, no_node);
    EXPECT_DOUBLE_EQ(shapes.many_to_many.max_link_flows, 0);
    EXPECT_DOUBLE_EQ(shapes.many_to_many.factor, 1);
}

/// What the lists of groups are filled from agrees with what was counted.
void expect_all_lids_listed(const Routes &routes) {
    for (const Group &group : routes.groups)
        for (const GroupPort &port : group.ports)
            EXPECT_EQ(port.lids.size(), port.lid_count) << group.node << ":" << unsigned(port.port);
}

TEST(Analyse, AHostsPortThatItsSwitchTakesForALinkIsInNoGroup) {
    testing::Builder b;
    const auto a = b.add_switch("a", 8, 50), z = b.add_switch("z", 8, 51);
    b.link(a, 1, z, 1);
    b.attach(b.add_host("n1", 1), a, 3);
    b.attach(b.add_host("n2", 2), z, 4);
    b.map.nodes[z].ports[4].peer = a; // n2 says that it is there
    b.map.nodes[z].ports[4].peer_port = 5;
    b.route(a, 2, 1);
    b.route(z, 1, 1);
    b.map.index();
    const Map map(b.map);
    Query query;
    query.job = all_host_endpoints(map);
    const Routes routes = analyse(LftView(map), query);
    EXPECT_EQ(routes.groups.size(), 2U);
    expect_all_lids_listed(routes);
    for (const Group &group : routes.groups)
        for (const GroupPort &port : group.ports)
            EXPECT_EQ(testing::sources_of(routes, group, std::size_t(&port - group.ports.data())).size(),
                      port.lid_count)
                << "the one host of the other side";
    query.want_shapes = true;
    EXPECT_EQ(analyse(LftView(map), query).shapes->one_to_many.max_link_flows, 1);
}

TEST(Analyse, AHostThatTwoSwitchesClaimIsInNoGroupOfTheSecond) {
    testing::Builder b;
    const auto a = b.add_switch("a", 8, 50), z = b.add_switch("z", 8, 51);
    b.link(a, 1, z, 1);
    b.attach(b.add_host("n1", 1), a, 3);
    b.attach(b.add_host("n2", 2), a, 4);
    b.attach(b.add_host("n3", 3), z, 5);
    b.map.nodes[z].ports[4].peer = b.map.nodes[a].ports[4].peer; // n2 says that it is at a
    b.map.nodes[z].ports[4].peer_port = 1;
    b.route(a, 3, 1);
    b.route(z, 1, 1);
    b.route(z, 2, 4);
    b.map.index();
    const Map map(b.map);
    Query query;
    query.job = all_host_endpoints(map);
    const Routes routes = analyse(LftView(map), query);
    expect_all_lids_listed(routes);
    for (const Group &group : routes.groups)
        for (const GroupPort &port : group.ports)
            EXPECT_EQ(port.port, 1);
}

} // namespace
} // namespace fabric_check::fabric
