// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/remedies.hpp"

#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace fabric_check::fabric {
namespace {

namespace ft = fabric_check::fabric::testing;
using ::testing::HasSubstr;

/// Twelve clients on 6, 5 and 1 of eight links, eight servers: imbalance 3.
struct Collapsed : ::testing::Test {
    MapDraft map = ft::two_switches(ft::collapsed());
    Query query = ft::clients_and_servers(map);
    Collapsed() { query.flat_ceiling_gib_s = 22.6; }

    Routes now() const { return analyse(LftView(map), query); }
    Remedies evaluate(const RemedyOptions &options = {}) const { return evaluate_remedies(map, query, now(), options); }
    const Group &worst(const Routes &routes) const { return routes.groups[std::size_t(routes.worst)]; }
};

TEST_F(Collapsed, NowIsWhatTheTablesDo) {
    const Remedies all = evaluate();
    EXPECT_EQ(all.now.imbalance, 3.0);
    EXPECT_EQ(all.now.group, "SwitchB>SwitchA");
    EXPECT_EQ(all.now.used, 3U);
    EXPECT_EQ(all.now.available, 8U);
    EXPECT_EQ(all.now.busiest_lids, 6);
    EXPECT_NEAR(all.now.ceiling_gib_s, 67.8, 1e-9);
    EXPECT_FALSE(all.aliasing);
}

TEST_F(Collapsed, TheRoutingOrderUsesAllLinks) {
    const RoutingOrder order = evaluate().routing_order;
    ASSERT_EQ(order.not_evaluated, "");
    EXPECT_EQ(order.then.imbalance, 1.0);
    EXPECT_EQ(order.then.used, 8U);
    EXPECT_NEAR(order.then.ceiling_gib_s, 180.8, 1e-9);
    EXPECT_EQ(order.guids.size(), 20U);
    EXPECT_EQ(order.unknown_guids, 0U);
}

TEST_F(Collapsed, TheWorstGroupOfNowIsFoundAgainInOtherTables) {
    const Routes routes = now();
    const Figures same = evaluate().routing_order.group;
    EXPECT_EQ(same.group, "SwitchB>SwitchA");
    EXPECT_EQ(same.used, 8U);
    EXPECT_EQ(same.busiest_lids, 2);
    EXPECT_NEAR(same.ceiling_gib_s, 180.8, 1e-9);
    query.services.clear();
    EXPECT_EQ(figures_of_same(map, now(), query, worst(routes)).group, "") << "nobody goes there any more";
}

TEST_F(Collapsed, PortGuidsThatTheMapLacksAreCounted) {
    map.nodes[map.by_lid(5)].ports[1].guid = 0;
    map.index();
    EXPECT_EQ(evaluate().routing_order.unknown_guids, 1U);
}

TEST_F(Collapsed, ScatterAsOpensmDrawsIsEvenWhereTheJobIsAllThereIs) {
    const Scatter scatter = evaluate().scatter;
    ASSERT_EQ(scatter.not_evaluated, "");
    EXPECT_EQ(scatter.least_used.runs, 100U);
    EXPECT_EQ(scatter.least_used.min, 1.0);
    EXPECT_EQ(scatter.least_used.max, 1.0);
    EXPECT_EQ(scatter.least_used.better, 1.0);
}

TEST_F(Collapsed, ScatterByLotIsALottery) {
    const Distribution lots = evaluate().scatter.by_lot;
    EXPECT_EQ(lots.runs, 100U);
    EXPECT_GE(lots.min, 1.0);
    EXPECT_GT(lots.max, lots.min);
    EXPECT_LE(lots.median, lots.p90);
    EXPECT_GT(lots.better, 0.5) << "six of twelve on one of eight links is rare";
}

TEST_F(Collapsed, TheSeedDecides) {
    RemedyOptions one, other;
    other.seed = 2;
    EXPECT_EQ(evaluate(one).scatter.by_lot.better, evaluate(one).scatter.by_lot.better);
    EXPECT_NE(evaluate(one).other_nodes.not_evaluated, "");
    std::set<double> seen;
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        other.seed = seed;
        seen.insert(evaluate(other).scatter.by_lot.better);
    }
    EXPECT_GT(seen.size(), 1U);
}

TEST_F(Collapsed, MoreLinksRelieveTheBusiestOnceThereIsOneForEachLid) {
    const Routes routes = now();
    const Isls isls = more_links(map, query, worst(routes));
    ASSERT_EQ(isls.not_evaluated, "");
    ASSERT_EQ(isls.steps.size(), 4U);
    EXPECT_EQ(isls.steps[0].busiest_lids, 2) << "12 over 8";
    EXPECT_EQ(isls.steps[0].used, 8U);
    EXPECT_EQ(isls.steps[1].more, 1U);
    EXPECT_EQ(isls.steps[1].busiest_lids, 2) << "12 over 9";
    EXPECT_NEAR(isls.steps[1].ceiling_gib_s, 203.4, 1e-9);
    EXPECT_EQ(isls.steps[2].more, 2U);
    EXPECT_EQ(isls.steps[3].more, 4U);
    EXPECT_EQ(isls.steps[3].links, 12U);
    EXPECT_EQ(isls.steps[3].busiest_lids, 1) << "12 over 12";
    EXPECT_NEAR(isls.steps[3].ceiling_gib_s, 271.2, 1e-9);
    EXPECT_EQ(isls.free_ports, 24U) << "40 ports, 8 servers, 8 links";
}

TEST_F(Collapsed, SlowLinksTakeFewerLidsWhenSpread) {
    for (const unsigned port : {25U, 26U, 27U, 28U})
        map.nodes[1].ports[port].rate = ft::rate_of(4, "EDR", 100);
    const Routes routes = now();
    const Isls isls = more_links(map, query, worst(routes));
    EXPECT_EQ(isls.steps[0].busiest_lids, 2) << "two on each fast link, one on each slow one";
}

TEST_F(Collapsed, LmcSplitsALidOverItsAlternates) {
    const Routes routes = now();
    const Lmc lmc = more_lids(map, query, worst(routes));
    ASSERT_EQ(lmc.steps.size(), 3U);
    EXPECT_EQ(lmc.now, 0U);
    EXPECT_EQ(lmc.steps[0].busiest_lids, 1.5) << "24 over 8, each half a LID";
    EXPECT_EQ(lmc.steps[0].used, 8U);
    EXPECT_EQ(lmc.steps[0].lids_needed, 42U) << "20 hosts twice, 2 switches";
    EXPECT_TRUE(lmc.steps[0].fits);
    EXPECT_EQ(lmc.steps[2].lids_needed, 162U);
    EXPECT_EQ(lmc.steps[2].blocks, 3U);
}

TEST_F(Collapsed, AnLmcThatIsThereIsNotProposed) {
    for (DraftNode &node : map.nodes)
        if (node.kind == NodeKind::host)
            node.ports[1].lmc = 2;
    const Routes routes = now();
    const Lmc lmc = more_lids(map, query, worst(routes));
    EXPECT_EQ(lmc.now, 2U);
    ASSERT_EQ(lmc.steps.size(), 1U);
    EXPECT_EQ(lmc.steps[0].lmc, 3U);
}

TEST(Lmc, LidsRunOut) {
    ft::Builder b;
    const auto a = b.add_switch("A", 200, 40000), z = b.add_switch("B", 200, 40001);
    b.link(a, 199, z, 199);
    b.link(a, 200, z, 200);
    for (unsigned i = 0; i < 130; ++i) {
        DraftNode host;
        host.guid = 0xc000 + i;
        host.description = fmt::format("n{}", i);
        host.kind = NodeKind::host;
        host.ports.resize(101);
        for (unsigned p = 1; p <= 100; ++p)
            host.ports[p].lid = std::uint16_t(1 + i * 100 + p);
        b.map.nodes.push_back(host);
    }
    b.map.index();
    Group group;
    group.node = a;
    group.lids = 4;
    group.ports.resize(2);
    const Lmc lmc = more_lids(b.map, {}, group);
    ASSERT_EQ(lmc.steps.size(), 3U);
    EXPECT_EQ(lmc.steps[1].lids_needed, 52002U);
    EXPECT_TRUE(lmc.steps[0].fits);
    EXPECT_FALSE(lmc.steps[1].fits) << "49,151 unicast LIDs";
}

TEST_F(Collapsed, AJobOnAllNodesHasNoOthers) {
    EXPECT_EQ(evaluate().other_nodes.not_evaluated, "the map has 12 hosts with the cards that most of the job's hosts have, beside the services, and the job has 12 hosts");
}

TEST_F(Collapsed, OtherNodesFindTheBestMixOfLinks) {
    query.job.resize(6); // all six on one link: 6 over the even 1
    const OtherNodes nodes = evaluate().other_nodes;
    ASSERT_EQ(nodes.not_evaluated, "");
    EXPECT_EQ(now().imbalance, 6.0);
    EXPECT_EQ(nodes.then.imbalance, 3.0) << "two on each of the three links cannot be had: one has a single node";
    EXPECT_EQ(nodes.nodes.size(), 6U);
    EXPECT_EQ(nodes.then.busiest_lids, 3);
    EXPECT_EQ(nodes.tried, 40U) << "40 draws; the neighbours from its one switch are the job itself";
    EXPECT_EQ(nodes.all.min, 3.0);
}

TEST_F(Collapsed, ServicesAreNoCandidates) {
    query.job.resize(6);
    for (const std::string &name : evaluate().other_nodes.nodes)
        EXPECT_THAT(name, ::testing::StartsWith("node"));
}

TEST_F(Collapsed, SetsThatAreNotReachedAreNotProposed) {
    query.job.resize(6);
    for (std::uint16_t lid = 7; lid <= 12; ++lid)
        map.nodes[1].lft[lid] = no_route;
    const OtherNodes nodes = evaluate().other_nodes;
    if (nodes.not_evaluated.empty())
        for (const std::string &name : nodes.nodes)
            EXPECT_LT(name, "node07");
}

TEST_F(Collapsed, WhatIsTooLargeIsNotEvaluatedAndSaysSo) {
    RemedyOptions options;
    options.work = 10 * 19; // 20 entries are on the way
    const Remedies all = evaluate(options);
    for (const std::string &why :
         {all.routing_order.not_evaluated, all.scatter.not_evaluated, all.other_nodes.not_evaluated})
        EXPECT_THAT(why, HasSubstr("more than 19 table entries are on the way"));
    EXPECT_EQ(all.isls.not_evaluated, "") << "that is about one group";
}

TEST_F(Collapsed, LessWorkMeansFewerDraws) {
    RemedyOptions options;
    // 20 entries are on the way, and a group counts as 100.
    options.work = (20 + 100 * now().groups.size() + 1) * 60;
    EXPECT_EQ(evaluate(options).scatter.by_lot.runs, 30U) << "each draw in two ways";
}

TEST_F(Collapsed, FewerDrawsThanTheFewestAreNone) {
    RemedyOptions options;
    options.work = (20 + 100 * now().groups.size() + 1) * 2 * (fewest_tries - 1);
    EXPECT_THAT(evaluate(options).scatter.not_evaluated, HasSubstr("too large a question"));
}

TEST_F(Collapsed, WithoutALinkBetweenSwitchesThereIsNothingToDo) {
    query.services.clear();
    const Remedies all = evaluate();
    EXPECT_EQ(all.now.group, "");
    for (const std::string &why : {all.routing_order.not_evaluated, all.scatter.not_evaluated, all.other_nodes.not_evaluated,
                                   all.isls.not_evaluated, all.lmc.not_evaluated})
        EXPECT_EQ(why, "no link between switches is on the way");
}

TEST(ScatterOfTwo, ByLotCollidesInThreeOfFour) {
    // Two hosts on either side, two links: no collision in one direction with one half, in both with a quarter.
    ft::Builder b;
    const auto a = b.add_switch("A", 8, 40), z = b.add_switch("B", 8, 41);
    for (unsigned i = 0; i < 2; ++i)
        b.link(a, 7 + i, z, 7 + i);
    for (unsigned i = 1; i <= 4; ++i) {
        b.attach(b.add_host(fmt::format("n{}", i), std::uint16_t(i)), i < 3 ? a : z, i);
        b.route(i < 3 ? z : a, i, 7);
    }
    b.map.index();
    Query query;
    query.job = {*endpoint_by_lid(b.map, 1), *endpoint_by_lid(b.map, 2)};
    query.services = {*endpoint_by_lid(b.map, 3), *endpoint_by_lid(b.map, 4)};
    const Routes now = analyse(LftView(b.map), query);
    ASSERT_EQ(now.imbalance, 2.0);
    const Scatter scatter = evaluate_remedies(b.map, query, now).scatter;
    EXPECT_EQ(scatter.by_lot.min, 1.0);
    EXPECT_EQ(scatter.by_lot.median, 2.0);
    EXPECT_EQ(scatter.by_lot.max, 2.0);
    EXPECT_NEAR(scatter.by_lot.better, 0.25, 0.13);
    EXPECT_EQ(scatter.least_used.max, 1.0);
}

TEST(DistributionOf, TakesRanksNotMeans) {
    const Distribution all = distribution_of({4, 1, 2, 3, 5, 6, 7, 8, 9, 10}, 3);
    EXPECT_EQ(all.runs, 10U);
    EXPECT_EQ(all.min, 1);
    EXPECT_EQ(all.median, 5);
    EXPECT_EQ(all.p90, 9);
    EXPECT_EQ(all.max, 10);
    EXPECT_EQ(all.better, 0.2) << "3 is no better than 3";
    EXPECT_EQ(distribution_of({}, 3).runs, 0U);
}

TEST(OtherNodesOfTwoRails, SetsTakeTheSamePortsOfEachHost) {
    ft::Builder b;
    const auto a = b.add_switch("A", 20, 90), z = b.add_switch("B", 20, 91);
    b.link(a, 19, z, 19);
    b.link(a, 20, z, 20);
    for (unsigned i = 0; i < 6; ++i) {
        const auto lid = std::uint16_t(1 + 2 * i);
        const auto host = b.add_host(fmt::format("n{} mlx5_0", i), lid, 2);
        const auto own = i < 3 ? a : z;
        for (unsigned p = 1; p <= 2; ++p) {
            b.attach(host, own, 2 * (i % 3) + p, p);
            b.route(i < 3 ? z : a, lid + p - 1, 18 + p);
        }
    }
    b.map.index();
    Query query;
    query.job = {*endpoint_by_lid(b.map, 2), *endpoint_by_lid(b.map, 8)}; // the second ports of n0 and n3
    const OtherNodes nodes = try_other_nodes(b.map, query, 1, {});
    ASSERT_EQ(nodes.not_evaluated, "");
    EXPECT_EQ(nodes.nodes.size(), 2U);
    EXPECT_EQ(nodes.all.runs, nodes.tried);
}

/// Two leaves with four links between them, eight hosts on each with two cards; the first host lacks its first card, and
/// everybody else's second goes by one link.
struct FirstLacksACard {
    FirstLacksACard() {
        const auto a = b.add_switch("A", 40, 100), z = b.add_switch("Z", 40, 101);
        for (unsigned i = 0; i < 4; ++i)
            b.link(a, 30 + i, z, 30 + i);
        for (unsigned h = 0; h < 16; ++h)
            for (unsigned card = h == 0 ? 1 : 0; card < 2; ++card) {
                const auto lid = std::uint16_t(1 + 2 * h + card);
                b.attach(b.add_host(fmt::format("n{:02} mlx5_{}", h, card), lid), h < 8 ? a : z, 1 + 2 * (h % 8) + card);
                b.route(h < 8 ? z : a, lid, card == 0 ? 30 + h % 4 : 33);
            }
        b.map.index();
    }
    Query job() const {
        std::vector<std::string> missing;
        Query query;
        query.job = endpoints_by_name(Map(b.map), {"n00", "n01", "n02", "n08", "n09", "n10"}, missing);
        return query;
    }
    ft::Builder b;
};

TEST(OtherNodes, AreJudgedByAllRailsThoughTheFirstHostLacksOne) {
    const FirstLacksACard fabric;
    const Map map(fabric.b.map);
    const OtherNodes nodes = try_other_nodes(map, fabric.job(), 1, {});
    ASSERT_EQ(nodes.not_evaluated, "");
    std::vector<std::string> missing;
    Query again;
    again.job = endpoints_by_name(map, nodes.nodes, missing);
    EXPECT_DOUBLE_EQ(analyse(LftView(map), again).imbalance, nodes.then.imbalance);
}

TEST(OtherNodes, AnExtraCardOfOneHostIsNotAskedOfOthers) {
    FirstLacksACard fabric;
    fabric.b.attach(fabric.b.add_host("n01 mlx5_2", 60), 0, 25);
    fabric.b.map.index();
    EXPECT_EQ(try_other_nodes(Map(fabric.b.map), fabric.job(), 1, {}).not_evaluated, "");
}

} // namespace
} // namespace fabric_check::fabric
