// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/fabrics.hpp"

#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

using testing::Builder;

/// Two switches with `hosts` each, and `links` between them; LIDs of the other side leave by `port(lid)`.
template <class Port> Map two_sides(unsigned hosts, unsigned links, Port &&port) {
    Builder b;
    const auto a = b.add_switch("a", 40, 901), z = b.add_switch("z", 40, 902);
    for (unsigned i = 0; i < links; ++i)
        b.link(a, 21 + i, z, 21 + i);
    for (unsigned i = 1; i <= hosts; ++i) {
        b.attach(b.add_host(fmt::format("a{} mlx5_0", i), std::uint16_t(i)), a, i);
        b.attach(b.add_host(fmt::format("z{} mlx5_0", i), std::uint16_t(100 + i)), z, i);
        b.route(z, i, port(i));
        b.route(a, 100 + i, port(i));
    }
    b.map.index();
    return b.map;
}

/// Leaves under spines, one link each way; LID i is on leaf (i - 1) / hosts. Leaf l sends LID i over the spine `up(l, i)`.
template <class Up> MapDraft leaves_and_spines(unsigned leaves, unsigned hosts, unsigned spines, Up &&up) {
    constexpr unsigned first_uplink = 11;
    Builder b;
    std::vector<std::uint32_t> leaf, spine;
    for (unsigned i = 0; i < leaves; ++i)
        leaf.push_back(b.add_switch(fmt::format("leaf{}", i), 20, std::uint16_t(900 + i)));
    for (unsigned i = 0; i < spines; ++i)
        spine.push_back(b.add_switch(fmt::format("spine{}", i), 20, std::uint16_t(950 + i)));
    for (unsigned l = 0; l < leaves; ++l)
        for (unsigned s = 0; s < spines; ++s)
            b.link(leaf[l], first_uplink + s, spine[s], 1 + l);
    for (unsigned lid = 1; lid <= leaves * hosts; ++lid) {
        const unsigned home = (lid - 1) / hosts;
        b.attach(b.add_host(fmt::format("h{} mlx5_0", lid), std::uint16_t(lid)), leaf[home], 1 + (lid - 1) % hosts);
        for (unsigned l = 0; l < leaves; ++l)
            if (l != home)
                b.route(leaf[l], lid, first_uplink + up(l, lid));
        for (const auto s : spine)
            b.route(s, lid, 1 + home);
    }
    b.map.index();
    return b.map;
}

Routes of_all(const Map &map) {
    Query query;
    query.job = all_host_endpoints(map);
    return analyse(LftView(map), query);
}

Routes shaped(const Map &map) {
    Query query;
    query.job = all_host_endpoints(map);
    query.want_shapes = true;
    return analyse(LftView(map), query);
}

TEST(EffectiveBisection, IsOneWhereEveryPairHasItsOwnLink) {
    const Routes routes = shaped(two_sides(8, 8, [](unsigned lid) { return 20 + lid; }));
    ASSERT_TRUE(routes.effective_bisection);
    EXPECT_DOUBLE_EQ(routes.effective_bisection->mean, 1);
    EXPECT_DOUBLE_EQ(routes.effective_bisection->worst, 1);
}

TEST(EffectiveBisection, IsTheShareOfTheBusiestLinkOnTheWay) {
    // One link for two hosts on each side: two pairs, of which both cross, half for each, with a chance of two thirds.
    const Routes routes = shaped(two_sides(2, 1, [](unsigned) { return 21U; }));
    ASSERT_TRUE(routes.effective_bisection);
    const EffectiveBisection &half = *routes.effective_bisection;
    EXPECT_NEAR(half.mean, 2.0 / 3, 0.08);
    EXPECT_LE(half.low, 2.0 / 3);
    EXPECT_GE(half.high, 2.0 / 3);
    EXPECT_DOUBLE_EQ(half.worst, 0.5);
    EXPECT_EQ(half.bisections, 100U);
}

TEST(EffectiveBisection, IsTheSameInEveryRun) {
    const Map map = two_sides(6, 3, [](unsigned lid) { return 21 + lid % 3; });
    EXPECT_EQ(shaped(map).effective_bisection->mean, shaped(map).effective_bisection->mean);
}

TEST(EffectiveBisection, HasNoMeaningForOneHost) {
    const Map map = two_sides(1, 1, [](unsigned) { return 21U; });
    Query query;
    query.job = all_host_endpoints(map);
    query.job.resize(1);
    query.want_shapes = true;
    EXPECT_FALSE(analyse(LftView(map), query).effective_bisection);
}

TEST(EffectiveBisection, APairThatIsNotConnectedGetsNothing) {
    Builder b;
    b.map = {};
    const auto a = b.add_switch("a", 8, 901), z = b.add_switch("z", 8, 902);
    b.attach(b.add_host("a1 mlx5_0", 1), a, 1);
    b.attach(b.add_host("z1 mlx5_0", 2), z, 1);
    b.map.index();
    EXPECT_DOUBLE_EQ(shaped(b.map).effective_bisection->mean, 0);
}

TEST(JobImbalance, CountsUpstreamChoices) {
    // 12 flows on each used link up and down, 6 on each when both spines are used.
    EXPECT_DOUBLE_EQ(of_all(leaves_and_spines(4, 2, 2, [](unsigned, unsigned) { return 0U; })).imbalance, 2.0);
    EXPECT_DOUBLE_EQ(of_all(leaves_and_spines(4, 2, 2, [](unsigned, unsigned lid) { return lid % 2; })).imbalance, 1.0);
}

/// `sources` hosts on one switch, `links` cables from a spine to another switch with a host for each of `ports`: LID i leaves
/// the spine by that port, counted from 0. One cable of many times the rate joins the first switch with the spine.
double behind_a_spine(unsigned sources, unsigned links, const std::vector<unsigned> &ports) {
    Builder b;
    const auto first = b.add_switch("first", 60, 901), spine = b.add_switch("spine", 60, 902), last = b.add_switch("last", 60, 903);
    b.link(first, 50, spine, 50, testing::rate_of(12, "XDR", 24000));
    for (unsigned i = 0; i < links; ++i)
        b.link(spine, 1 + i, last, 41 + i);
    Query query;
    std::vector<std::string> from, to, missing;
    for (unsigned i = 1; i <= sources; ++i) {
        b.attach(b.add_host(fmt::format("s{} mlx5_0", i), std::uint16_t(200 + i)), first, i);
        b.route(spine, 200 + i, 50);
        b.route(last, 200 + i, 41 + i % links);
        from.push_back(fmt::format("s{}", i));
    }
    for (unsigned i = 0; i < ports.size(); ++i) {
        b.attach(b.add_host(fmt::format("d{} mlx5_0", i), std::uint16_t(1 + i)), last, 1 + i);
        b.route(first, 1 + i, 50);
        b.route(spine, 1 + i, 1 + ports[i]);
        to.push_back(fmt::format("d{}", i));
    }
    b.map.index();
    query.job = endpoints_by_name(b.map, to, missing);
    query.services = endpoints_by_name(b.map, from, missing);
    return analyse(LftView(b.map), query).imbalance;
}

TEST(JobImbalance, WholeLidsOnPassingLinksCannotBeBetter) {
    EXPECT_DOUBLE_EQ(behind_a_spine(8, 3, {0, 0, 0, 1, 1, 2, 2}), 1.0) << "7 LIDs over 3 links";
    EXPECT_DOUBLE_EQ(behind_a_spine(8, 2, {0, 0, 0, 1, 1}), 1.0) << "5 over 2";
    EXPECT_NEAR(behind_a_spine(8, 3, {0, 0, 0, 0, 1, 2, 2}), 4.0 / 3, 1e-9);
}

TEST(JobImbalance, ACollapseWhereTheSwitchCouldChooseIsNoChance) {
    EXPECT_DOUBLE_EQ(behind_a_spine(8, 8, {0, 0}), 2.0) << "two LIDs on one of eight links";
    EXPECT_DOUBLE_EQ(behind_a_spine(8, 8, {0, 0, 0}), 3.0);
    EXPECT_DOUBLE_EQ(behind_a_spine(8, 8, {0, 1, 2}), 1.0);
}

TEST(JobImbalance, ASlowHostLinkHidesNothing) {
    MapDraft draft = testing::two_switches(testing::collapsed());
    draft.nodes[2].ports[1].rate = draft.nodes[0].ports[1].rate = testing::rate_of(1, "SDR", 2);
    EXPECT_DOUBLE_EQ(analyse(LftView(draft), testing::clients_and_servers(draft)).imbalance, 3.0);
}

TEST(JobImbalance, IdleUplinksAreFound) {
    // Four leaves with six hosts under six spines: either four of the uplinks carry all, evenly, or all six do.
    const auto over = [](unsigned uplinks) {
        return of_all(leaves_and_spines(4, 6, 6, [uplinks](unsigned l, unsigned lid) { return (lid - 1 + 2 * l) % uplinks; }));
    };
    const Routes idle = over(4);
    EXPECT_NEAR(idle.imbalance, 5.0 / 3, 1e-9) << "five of 18 LIDs on a link where three would do";
    EXPECT_EQ(idle.groups[0].used, 4U);
    EXPECT_EQ(idle.groups[0].available, 6U);
    EXPECT_DOUBLE_EQ(over(6).imbalance, 1.0);
}

TEST(JobImbalance, TwoLidsThatMeetByChanceDoNotCondemnALargeJob) {
    // 12 leaves under 4 spines, one host a leaf: each LID comes down one link, where nothing can be chosen.
    const MapDraft map = leaves_and_spines(12, 1, 4, [](unsigned, unsigned lid) { return lid % 4; });
    EXPECT_DOUBLE_EQ(of_all(map).imbalance, 1.0);
    // Both LIDs of a leaf come down by one spine.
    EXPECT_DOUBLE_EQ(of_all(leaves_and_spines(12, 2, 4, [](unsigned, unsigned lid) { return (lid - 1) / 2 % 4; })).imbalance, 1.0);
}

TEST(Analyse, CountsLidsWithoutListingThem) {
    const MapDraft map = leaves_and_spines(12, 1, 4, [](unsigned, unsigned lid) { return lid % 4; });
    Query query;
    query.job = all_host_endpoints(map);
    query.want_lids = false;
    const Routes routes = analyse(LftView(map), query);
    EXPECT_TRUE(routes.groups[0].ports[0].lids.empty());
    EXPECT_GT(routes.groups[0].lids, 0U);
}

TEST(Shapes, ManyToOneOnANarrowLinkIsMeasuredAgainstTheFastestOfItsGroup) {
    MapDraft map = testing::two_switches(testing::collapsed());
    for (const auto &[n, p] : {std::pair(0U, 13U), std::pair(1U, 25U)}) // the link by which half of the clients get theirs
        map.nodes[n].ports[p].rate = testing::rate_of(1, "HDR", 50);
    const Query query = testing::clients_and_servers(map);
    Query inside;
    inside.job = query.job;
    inside.job.insert(inside.job.end(), query.services.begin(), query.services.end());
    const Shapes shapes = shape_loads(LftView(Map(map)), inside);
    EXPECT_EQ(shapes.many_to_one.max_link_flows, 12) << "the clients to a server by A13";
    EXPECT_EQ(shapes.many_to_one.ideal, 3);
    EXPECT_EQ(shapes.many_to_one.factor, 4);
}

TEST(JobImbalance, CountsOnlyWhatArrives) {
    // Sixteen hosts behind one link that no table reaches add nothing to what an even spread would carry there.
    const auto fabric = [](bool with_dead) {
        testing::Builder b;
        const auto a = b.add_switch("A", 40, 100), z = b.add_switch("Z", 40, 101), c = b.add_switch("C", 40, 102);
        for (unsigned i = 0; i < 4; ++i)
            b.link(a, 30 + i, z, 30 + i);
        b.link(z, 39, c, 39);
        for (unsigned h = 0; h < 8; ++h) {
            b.attach(b.add_host(fmt::format("n{}", h), std::uint16_t(1 + h)), h < 4 ? a : z, 1 + h);
            b.route(h < 4 ? z : a, 1 + h, 30);
        }
        for (unsigned h = 0; with_dead && h < 16; ++h)
            b.attach(b.add_host(fmt::format("dead{}", h), std::uint16_t(20 + h)), c, 1 + h);
        b.map.index();
        Query query;
        query.job = all_host_endpoints(Map(b.map));
        return analyse(LftView(Map(b.map)), query).imbalance;
    };
    EXPECT_EQ(fabric(false), 4);
    EXPECT_EQ(fabric(true), 4);
}

} // namespace
} // namespace fabric_check::fabric
