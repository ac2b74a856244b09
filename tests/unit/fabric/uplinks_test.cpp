// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/uplinks.hpp"

#include "fabric/fabrics.hpp"

#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

namespace ft = fabric_check::fabric::testing;

/// Three leaves with a host each, two spines; leaf `short_of` has one link less than the two that the others have.
MapDraft three_leaves(int short_of) {
    ft::Builder b;
    std::vector<std::uint32_t> leaves, spines;
    for (unsigned i = 0; i < 3; ++i)
        leaves.push_back(b.add_switch(fmt::format("Leaf{}", i), 8, std::uint16_t(50 + i)));
    for (unsigned i = 0; i < 2; ++i)
        spines.push_back(b.add_switch(fmt::format("Spine{}", i), 8, std::uint16_t(60 + i)));
    for (unsigned l = 0; l < 3; ++l) {
        b.attach(b.add_host(fmt::format("n{}", l), std::uint16_t(1 + l)), leaves[l], 1);
        for (unsigned s = 0; s < 2; ++s)
            if (!(int(l) == short_of && s == 1))
                b.link(leaves[l], 7 + s, spines[s], 1 + l);
    }
    b.map.index();
    return std::move(b.map);
}

TEST(Tiers, EqualUplinksAreUniform) {
    const auto tiers = tiers_of(three_leaves(-1));
    ASSERT_EQ(tiers.size(), 1U) << "the spines have nothing above them";
    EXPECT_EQ(tiers[0].number, 0U);
    EXPECT_EQ(tiers[0].uplinks.size(), 3U);
    EXPECT_TRUE(tiers[0].uniform());
    EXPECT_EQ(tiers[0].usual(), 2U);
}

TEST(Tiers, ALeafWithALinkLessStandsFirst) {
    const auto tiers = tiers_of(three_leaves(1));
    ASSERT_EQ(tiers.size(), 1U);
    EXPECT_FALSE(tiers[0].uniform());
    EXPECT_EQ(tiers[0].uplinks[0], (std::pair<std::uint32_t, unsigned>(1, 1)));
    EXPECT_EQ(tiers[0].fewest(), 1U);
    EXPECT_EQ(tiers[0].most(), 2U);
    EXPECT_EQ(tiers[0].usual(), 2U);
}

TEST(Tiers, WithoutSpinesLinksToNeighboursCount) {
    const auto tiers = tiers_of(ft::two_switches(ft::even()));
    ASSERT_EQ(tiers.size(), 1U);
    EXPECT_EQ(tiers[0].fewest(), 8U);
    EXPECT_TRUE(tiers[0].uniform());
}

TEST(Tiers, AnAggregationNodeIsNoHost) {
    MapDraft map = three_leaves(-1);
    DraftNode sharp;
    sharp.guid = 0x999;
    sharp.kind = NodeKind::other;
    sharp.ports.resize(2);
    map.nodes.push_back(sharp);
    const auto at = std::uint32_t(map.nodes.size() - 1);
    map.nodes[3].ports[8].peer = at;
    map.nodes[3].ports[8].peer_port = 1;
    map.nodes[at].ports[1].peer = 3;
    map.nodes[at].ports[1].peer_port = 8;
    map.index();
    const auto tiers = tiers_of(map);
    ASSERT_EQ(tiers.size(), 1U);
    EXPECT_EQ(tiers[0].uplinks.size(), 3U) << "the spine with it is no leaf";
}

TEST(Tiers, AServerAtASpineMakesNoLeafOfIt) {
    MapDraft map = three_leaves(-1);
    ft::Builder b;
    b.map = std::move(map);
    b.attach(b.add_host("io1", 9), 3, 7);
    b.map.index();
    const auto tiers = tiers_of(b.map);
    ASSERT_EQ(tiers.size(), 1U);
    EXPECT_EQ(tiers[0].uplinks.size(), 3U);
    EXPECT_EQ(tiers[0].fewest(), 2U);
    EXPECT_TRUE(tiers[0].uniform());
}

TEST(Tiers, AGroupThatLinksAllWithAllHasLeavesOnly) {
    ft::Builder b;
    std::vector<std::uint32_t> all;
    for (unsigned i = 0; i < 4; ++i) {
        all.push_back(b.add_switch(fmt::format("S{}", i), 8, std::uint16_t(50 + i)));
        b.attach(b.add_host(fmt::format("n{}", i), std::uint16_t(1 + i)), all[i], 8);
    }
    for (unsigned i = 0; i < 4; ++i)
        for (unsigned j = i + 1; j < 4; ++j)
            b.link(all[i], j, all[j], i + 1);
    b.map.index();
    const auto tiers = tiers_of(b.map);
    ASSERT_EQ(tiers.size(), 1U);
    EXPECT_EQ(tiers[0].uplinks.size(), 4U);
    EXPECT_EQ(tiers[0].usual(), 3U);
}

TEST(Tiers, AnEmptyMapHasNone) { EXPECT_TRUE(tiers_of(Map()).empty()); }

} // namespace
} // namespace fabric_check::fabric
