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
    // One link for two hosts on each side: of four hosts, two pairs. Both cross one way: half each; both cross, one each
    // way: whole; none crosses: whole. With the order of a pair by lot: (1/3 x 1 + 2/3 x (1/2 x 1 + 1/2 x 1/2)).
    const Routes routes = shaped(two_sides(2, 1, [](unsigned) { return 21U; }));
    ASSERT_TRUE(routes.effective_bisection);
    const EffectiveBisection &half = *routes.effective_bisection;
    EXPECT_NEAR(half.mean, 5.0 / 6, 0.08);
    EXPECT_LE(half.low, 5.0 / 6);
    EXPECT_GE(half.high, 5.0 / 6);
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
    // Four leaves under two spines, one link each way, two hosts a leaf; every leaf sends everything over the first spine.
    Builder b;
    std::vector<std::uint32_t> leaf, spine;
    for (unsigned i = 0; i < 4; ++i)
        leaf.push_back(b.add_switch(fmt::format("leaf{}", i), 8, std::uint16_t(900 + i)));
    for (unsigned i = 0; i < 2; ++i)
        spine.push_back(b.add_switch(fmt::format("spine{}", i), 8, std::uint16_t(910 + i)));
    for (unsigned l = 0; l < 4; ++l)
        for (unsigned s = 0; s < 2; ++s)
            b.link(leaf[l], 3 + s, spine[s], 1 + l);
    for (unsigned lid = 1; lid <= 8; ++lid) {
        const unsigned home = (lid - 1) / 2;
        b.attach(b.add_host(fmt::format("h{} mlx5_0", lid), std::uint16_t(lid)), leaf[home], 1 + (lid - 1) % 2);
        for (unsigned l = 0; l < 4; ++l)
            if (l != home)
                b.route(leaf[l], lid, 3);
        for (const auto s : spine)
            b.route(s, lid, 1 + home);
    }
    b.map.index();
    Query query;
    query.job = all_host_endpoints(b.map);
    // 12 flows on each used link up and down, 6 on each when both spines are used.
    EXPECT_DOUBLE_EQ(analyse(LftView(b.map), query).imbalance, 2.0);
    for (unsigned lid = 1; lid <= 8; ++lid)
        for (unsigned l = 0; l < 4; ++l)
            if (l != (lid - 1) / 2)
                b.route(leaf[l], lid, 3 + lid % 2);
    EXPECT_DOUBLE_EQ(analyse(LftView(b.map), query).imbalance, 1.0);
}

TEST(JobImbalance, TwoLidsThatMeetByChanceDoNotCondemnALargeJob) {
    // 12 leaves under 4 spines, one host a leaf. At the spines nothing can be chosen; LIDs 1 and 2 come down by one spine.
    Builder b;
    std::vector<std::uint32_t> leaf, spine;
    for (unsigned i = 0; i < 12; ++i)
        leaf.push_back(b.add_switch(fmt::format("leaf{}", i), 20, std::uint16_t(900 + i)));
    for (unsigned i = 0; i < 4; ++i)
        spine.push_back(b.add_switch(fmt::format("spine{}", i), 20, std::uint16_t(950 + i)));
    for (unsigned l = 0; l < 12; ++l)
        for (unsigned s = 0; s < 4; ++s)
            b.link(leaf[l], 11 + s, spine[s], 1 + l);
    for (unsigned lid = 1; lid <= 12; ++lid) {
        b.attach(b.add_host(fmt::format("h{} mlx5_0", lid), std::uint16_t(lid)), leaf[lid - 1], 1);
        for (unsigned l = 0; l < 12; ++l)
            if (l != lid - 1)
                b.route(leaf[l], lid, 11 + lid % 4);
        for (const auto s : spine)
            b.route(s, lid, lid);
    }
    b.map.index();
    Query query;
    query.job = all_host_endpoints(b.map);
    EXPECT_DOUBLE_EQ(analyse(LftView(b.map), query).imbalance, 1.0) << "each LID comes down one link, as over its own";
    query.want_lids = false;
    const Routes routes = analyse(LftView(b.map), query);
    EXPECT_TRUE(routes.groups[0].ports[0].lids.empty());
    EXPECT_GT(routes.groups[0].lids, 0U);
}

} // namespace
} // namespace fabric_check::fabric
