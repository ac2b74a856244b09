// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/deal.hpp"

#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace fabric_check::fabric {
namespace {

namespace ft = fabric_check::fabric::testing;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr std::size_t plenty = 1'000'000;

/// LIDs per port at a switch, of those up to `last`.
std::map<unsigned, unsigned> counted(const LftView &view, std::uint32_t node, std::uint16_t last) {
    std::map<unsigned, unsigned> out;
    for (std::uint16_t lid = 1; lid <= last; ++lid)
        ++out[view.at(node, lid)];
    return out;
}

/// Four leaves of three hosts, two spines, two links from every leaf to either; LIDs from 1 on, leaf by leaf.
MapDraft fat_tree() {
    ft::Builder b;
    std::vector<std::uint32_t> leaves, spines;
    for (unsigned i = 0; i < 4; ++i)
        leaves.push_back(b.add_switch(fmt::format("Leaf{}", i), 8, std::uint16_t(50 + i)));
    for (unsigned i = 0; i < 2; ++i)
        spines.push_back(b.add_switch(fmt::format("Spine{}", i), 8, std::uint16_t(60 + i)));
    for (unsigned l = 0; l < 4; ++l)
        for (unsigned k = 0; k < 4; ++k)
            b.link(leaves[l], 5 + k, spines[k / 2], 1 + 2 * l + k % 2);
    for (unsigned l = 0; l < 4; ++l)
        for (unsigned h = 0; h < 3; ++h) {
            const auto lid = std::uint16_t(1 + 3 * l + h);
            b.attach(b.add_host(fmt::format("n{}", lid), lid), leaves[l], 1 + h);
            for (unsigned other = 0; other < 4; ++other)
                if (other != l)
                    b.route(leaves[other], lid, 5);
            for (unsigned s = 0; s < 2; ++s)
                b.route(spines[s], lid, 1 + 2 * l);
        }
    b.map.index();
    return std::move(b.map);
}

Query everybody(const MapDraft &map) {
    Query query;
    query.job = all_host_endpoints(map);
    return query;
}

TEST(DealOrderOfOpensm, FullerSwitchesComeFirstThenPortNumbers) {
    const MapDraft map = ft::two_switches(ft::even());
    const auto order = deal_order(map);
    ASSERT_EQ(order.size(), 20U);
    EXPECT_EQ(order[0].lid, 1) << "SwitchA has twelve";
    EXPECT_EQ(order[11].lid, 12);
    EXPECT_EQ(order[12].lid, 21);
    EXPECT_EQ(order[12].at, 1U);
    EXPECT_EQ(order[0].guid, map.nodes[2].ports[1].guid);
}

TEST(Deal, InTurnGivesEveryLinkItsShareOfTheJob) {
    const MapDraft map = ft::two_switches(ft::collapsed());
    const Deal deal(map, ft::clients_and_servers(map), plenty);
    EXPECT_EQ(deal.entries(), 20U) << "each LID at the one other switch";
    const LftView view(map, deal.first_in_turn());
    const auto ports = counted(view, 1, 12);
    for (unsigned port = 25; port <= 32; ++port)
        EXPECT_EQ(ports.at(port), port <= 28 ? 2U : 1U) << port;
    EXPECT_EQ(view.at(1, 1), 25) << "the lowest of equals first";
}

TEST(Deal, TheFileListsTheJobBeforeItsServices) {
    const MapDraft map = ft::two_switches(ft::collapsed());
    const Deal deal(map, ft::clients_and_servers(map), plenty);
    ASSERT_EQ(deal.guids().size(), 20U);
    EXPECT_EQ(deal.guids()[0], map.nodes[map.by_lid(1)].ports[1].guid);
    EXPECT_EQ(deal.guids()[12], map.nodes[map.by_lid(21)].ports[1].guid);
}

TEST(Deal, OthersEntriesStayAsTheyAre) {
    const MapDraft map = ft::two_switches(ft::collapsed());
    Query query = ft::clients_and_servers(map);
    query.job.resize(3); // LIDs 1 to 3
    Lots lots(7);
    const Deal deal(map, query, plenty);
    for (const auto &blocks : {deal.first_in_turn(), deal.by_lot(lots), deal.by_lot_among_least_used(lots)}) {
        const LftView view(map, blocks);
        for (std::uint16_t lid = 4; lid <= 12; ++lid)
            EXPECT_EQ(view.at(1, lid), map.nodes[1].lft[lid]) << lid;
        EXPECT_EQ(view.at(0, 2), 2) << "the port to the host itself";
    }
}

TEST(Deal, ByLotAmongTheLeastUsedNeverCollidesWithinARound) {
    const MapDraft map = ft::two_switches(ft::collapsed());
    const Deal deal(map, ft::clients_and_servers(map), plenty);
    Lots lots(1);
    for (unsigned run = 0; run < 50; ++run) {
        const LftView view(map, deal.by_lot_among_least_used(lots));
        std::vector<unsigned> first, all;
        for (const auto &[port, lids] : counted(view, 1, 8))
            first.push_back(lids);
        EXPECT_THAT(first, ElementsAre(1, 1, 1, 1, 1, 1, 1, 1)) << "LIDs 1 to 8 are the first round";
        for (const auto &[port, lids] : counted(view, 1, 12))
            all.push_back(lids);
        EXPECT_THAT(all, UnorderedElementsAre(1, 1, 1, 1, 2, 2, 2, 2));
    }
}

TEST(Deal, OnlyTheJobsPlacesInTheWholeOrderAreDrawn) {
    // LIDs 1 and 9 open the first and the second round of eight: they meet now and then. 1 and 2 never do.
    const MapDraft map = ft::two_switches(ft::even());
    const auto meet = [&map](std::uint16_t other) {
        Query query = ft::clients_and_servers(map);
        query.job = {*endpoint_by_lid(map, 1), *endpoint_by_lid(map, other)};
        const Deal deal(map, query, plenty);
        Lots lots(3);
        unsigned met = 0;
        for (unsigned run = 0; run < 200; ++run) {
            const LftView view(map, deal.by_lot_among_least_used(lots));
            met += view.at(1, 1) == view.at(1, other) ? 1 : 0;
        }
        return met;
    };
    EXPECT_EQ(meet(2), 0U);
    EXPECT_GT(meet(9), 10U);
    EXPECT_LT(meet(9), 45U) << "one in eight";
}

TEST(Deal, EveryDealOfATreeReachesEverybodyOnShortestWays) {
    const MapDraft map = fat_tree();
    const Query query = everybody(map);
    const Deal deal(map, query, plenty);
    EXPECT_EQ(deal.entries(), 12U * 5U) << "three leaves and two spines for each LID";
    Lots lots(11);
    for (unsigned run = 0; run < 30; ++run)
        for (const auto &blocks : {deal.first_in_turn(), deal.by_lot(lots), deal.by_lot_among_least_used(lots)}) {
            const Routes routes = analyse(LftView(map, blocks), query);
            EXPECT_TRUE(routes.unreachable.empty());
            for (const Group &group : routes.groups)
                for (const GroupPort &port : group.ports)
                    EXPECT_TRUE(port.minimal);
        }
}

TEST(Deal, TheSameSeedDrawsTheSame) {
    const MapDraft map = fat_tree();
    const Deal deal(map, everybody(map), plenty);
    Lots one(5), same(5), other(6);
    const auto blocks = deal.by_lot(one);
    EXPECT_EQ(blocks, deal.by_lot(same));
    EXPECT_NE(blocks, deal.by_lot(other));
}

TEST(Deal, MoreEntriesThanTheLimitAreTooMany) {
    const MapDraft map = fat_tree();
    EXPECT_FALSE(Deal(map, everybody(map), 60).too_many());
    EXPECT_TRUE(Deal(map, everybody(map), 59).too_many());
}

TEST(Deal, EndpointsWithoutAUsableLidTakeNoPart) {
    const MapDraft map = fat_tree();
    Query query = everybody(map);
    query.job[0].lid = 0;
    query.job[1].node = 9999;
    EXPECT_EQ(Deal(map, query, plenty).guids().size(), 10U);
}

} // namespace
} // namespace fabric_check::fabric
