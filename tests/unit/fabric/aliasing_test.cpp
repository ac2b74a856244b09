// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/aliasing.hpp"

#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace fabric_check::fabric {
namespace {

namespace ft = fabric_check::fabric::testing;
using ::testing::ElementsAre;

/// Hosts on SwitchA, one server on SwitchB, eight links between them; at B a host's LID leaves by 101 + port(i) for the
/// i-th host.
struct Hosts {
    ft::Builder b;
    std::vector<std::uint16_t> lids;
    std::uint32_t a, z;

    Hosts(const std::vector<std::uint16_t> &of_hosts, const std::function<unsigned(std::size_t)> &port) : lids(of_hosts) {
        a = b.add_switch("SwitchA", 120, 900);
        z = b.add_switch("SwitchB", 120, 901);
        for (unsigned i = 0; i < 8; ++i)
            b.link(a, 101 + i, z, 101 + i);
        for (std::size_t i = 0; i < lids.size(); ++i) {
            b.attach(b.add_host(fmt::format("node{} mlx5_0", i), lids[i]), a, unsigned(i + 1));
            b.route(z, lids[i], 101 + port(i));
        }
        b.attach(b.add_host("stor1 mlx5_0", 800), z, 1);
        b.route(a, 800, 101);
        b.map.index();
    }

    std::optional<Aliasing> find(const std::vector<std::uint16_t> &job) const {
        Query query;
        for (const std::uint16_t lid : job)
            query.job.push_back(*endpoint_by_lid(b.map, lid));
        query.services = {*endpoint_by_lid(b.map, 800)};
        const LftView lfts(b.map);
        const Routes routes = analyse(lfts, query);
        for (const Group &group : routes.groups)
            if (group.node == z)
                return find_aliasing(lfts, group);
        ADD_FAILURE() << "no group at SwitchB";
        return std::nullopt;
    }
};

std::vector<std::uint16_t> counted(unsigned first, unsigned step, unsigned count) {
    std::vector<std::uint16_t> out;
    for (unsigned i = 0; i < count; ++i)
        out.push_back(std::uint16_t(first + i * step));
    return out;
}

Hosts by_value(unsigned hosts = 96) {
    const auto lids = counted(1, 1, hosts);
    return {lids, [lids](std::size_t i) { return lids[i] % 8U; }};
}

TEST(Aliasing, LidsOfOneResidueShareTheLinksOfThatResidue) {
    const auto found = by_value().find(counted(1, 4, 12));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->order, DealOrder::lid_value);
    EXPECT_EQ(found->modulus, 4U);
    EXPECT_THAT(found->residues, ElementsAre(1));
    EXPECT_EQ(found->lids, 12U);
    EXPECT_EQ(found->of, 12U);
    EXPECT_EQ(found->links, 2U) << "1 and 5 mod 8";
    EXPECT_EQ(found->available, 8U);
    EXPECT_LT(found->chance, 0.01);
}

TEST(Aliasing, AStragglerDoesNotHideThePattern) {
    auto job = counted(3, 8, 11);
    job.push_back(4);
    const auto found = by_value().find(job);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->modulus, 8U);
    EXPECT_THAT(found->residues, ElementsAre(3));
    EXPECT_EQ(found->lids, 11U);
    EXPECT_EQ(found->of, 12U);
}

TEST(Aliasing, APlaceInTheOrderOfLidsIsFoundWhereGapsHideIt) {
    std::vector<std::uint16_t> lids;
    for (unsigned i = 0; i < 96; ++i)
        lids.push_back(std::uint16_t(1 + 5 * i + i * i % 5));
    const Hosts hosts(lids, [](std::size_t i) { return unsigned(i % 8); });
    std::vector<std::uint16_t> job;
    for (std::size_t i = 2; i < 96; i += 8)
        job.push_back(lids[i]);
    const auto found = hosts.find(job);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->order, DealOrder::by_lid);
    EXPECT_EQ(found->modulus, 8U);
    EXPECT_THAT(found->residues, ElementsAre(2));
    EXPECT_EQ(found->links, 1U);
}

TEST(Aliasing, APlaceInTheOrderOfGuidsIsFound) {
    std::vector<std::uint16_t> lids;
    for (unsigned i = 0; i < 96; ++i)
        lids.push_back(std::uint16_t(1 + i * 37 % 97)); // GUIDs ascend as hosts are made, LIDs do not
    Hosts hosts(lids, [](std::size_t i) { return unsigned(i % 8); });
    std::vector<std::uint16_t> job;
    for (std::size_t i = 5; i < 96; i += 8)
        job.push_back(lids[i]);
    const auto found = hosts.find(job);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->order, DealOrder::by_guid);
    EXPECT_THAT(found->residues, ElementsAre(5));
}

TEST(Aliasing, FourLidsOfOneResidueAreChance) {
    const Hosts hosts = by_value();
    EXPECT_FALSE(hosts.find(counted(8, 8, 4))) << "one in 14, as many patterns are looked for";
    EXPECT_TRUE(hosts.find(counted(8, 8, 6)));
}

TEST(Aliasing, ThreeLidsAreNeverAPattern) { EXPECT_FALSE(by_value().find(counted(16, 16, 3))); }

TEST(Aliasing, NeighboursInACollapsedTableAreNoPattern) {
    const MapDraft map = ft::two_switches(ft::collapsed());
    const Query query = ft::clients_and_servers(map);
    const Routes routes = analyse(LftView(map), query);
    ASSERT_EQ(routes.groups[0].imbalance, 3.0);
    EXPECT_FALSE(find_aliasing(LftView(map), routes.groups[0]));
}

TEST(Aliasing, AnEvenGroupHasNone) {
    const Hosts hosts(counted(1, 1, 96), [](std::size_t i) { return unsigned(i / 4 % 8); });
    EXPECT_FALSE(hosts.find(counted(1, 4, 8))) << "all are 1 mod 4, and leave by a link each";
}

TEST(Aliasing, ATableThatDoesNotFollowThePatternHasAnotherReason) {
    // Every LID of the fabric is even; the table sends half of the hosts by one link and deals the others anyhow.
    const Hosts hosts(counted(2, 2, 96), [](std::size_t i) { return i % 8 < 4 ? 0U : unsigned(i * 7 / 3 % 8); });
    std::vector<std::uint16_t> job;
    for (std::uint16_t i = 0; i < 96 && job.size() < 14; ++i)
        if (i % 8 < 4)
            job.push_back(std::uint16_t(2 + 2 * i));
    EXPECT_FALSE(hosts.find(job));
}

} // namespace
} // namespace fabric_check::fabric
