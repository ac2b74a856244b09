// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/identities.hpp"

#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Builder;

std::vector<std::string> checked(MapDraft map) {
    map.index();
    check_identities(map);
    std::vector<std::string> out;
    for (const Problem &problem : map.problems)
        out.push_back(problem.where + ": " + problem.reason);
    return out;
}

TEST(Identities, AFabricInOrderHasNoProblem) {
    EXPECT_THAT(checked(testing::two_switches(testing::collapsed())), IsEmpty());
}

TEST(Identities, TwoPortsOfOneCardWithOneLidAreBothNamed) {
    Builder b;
    const auto card = b.add_host("node01 mlx5_0", 5, 2);
    b.map.nodes[card].ports[2].lid = 5;
    EXPECT_THAT(checked(b.map), ElementsAre("LID 5: claimed by node01/mlx5_0:1 and node01/mlx5_0:2; the first keeps it"));
}

TEST(Identities, TwoCardsOfOneHostWithOneLidAreToldApart) {
    Builder b;
    b.add_host("node01 mlx5_0", 5);
    b.add_host("node01 mlx5_1", 5);
    EXPECT_THAT(checked(b.map), ElementsAre("LID 5: claimed by node01/mlx5_0:1 and node01/mlx5_1:1; the first keeps it"));
}

TEST(Identities, PortsWithoutALidShareNothing) {
    Builder b;
    for (const std::uint16_t none : {0, 0, 0xffff, 0xffff})
        b.add_host("node01", none);
    EXPECT_THAT(checked(b.map), IsEmpty());
}

TEST(Identities, TwoSubnetsHaveLidsOfTheirOwn) {
    Builder b;
    for (unsigned subnet = 0; subnet < 2; ++subnet) {
        const auto leaf = b.add_switch(fmt::format("leaf{}", subnet), 4, 1);
        b.attach(b.add_host(fmt::format("node01 mlx5_{}", subnet), 5), leaf, 1);
        b.attach(b.add_host(fmt::format("node02 mlx5_{}", subnet), std::uint16_t(6 - subnet)), leaf, 2);
    }
    EXPECT_THAT(checked(b.map), ElementsAre("LID 5: claimed by node01/mlx5_1:1 and node02/mlx5_1:1; the first keeps it"))
        << "in the second subnet both have it";
}

TEST(Identities, AnotherPortsLidWithinAnLmcRangeIsNamed) {
    Builder b;
    const auto first = b.add_host("node01 mlx5_0", 16);
    b.map.nodes[first].ports[1].lmc = 2;
    b.add_host("node02 mlx5_0", 19);
    EXPECT_THAT(checked(b.map), ElementsAre("LID 19: claimed by node02/mlx5_0:1 and, as an alternate LID (LID 16, LMC 2), by "
                                            "node01/mlx5_0:1; the first keeps it"));
}

TEST(Identities, NeighbouringLmcRangesDoNotOverlap) {
    Builder b;
    for (const std::uint16_t lid : {16, 20}) {
        const auto host = b.add_host("node01", lid);
        b.map.nodes[host].ports[1].lmc = 2;
    }
    EXPECT_THAT(checked(b.map), IsEmpty());
}

TEST(Identities, AnLmcRangeEndsBeforeTheMulticastLids) {
    Builder b;
    const auto host = b.add_host("node01", 0xbfff);
    b.map.nodes[host].ports[1].lmc = 7;
    EXPECT_THAT(checked(b.map), IsEmpty());
}

TEST(Identities, TwoNodesOfOneGuidAreBothNamed) {
    Builder b;
    b.add_switch("spine 1", 4, 1);
    b.add_switch("spine 2", 4, 2);
    b.map.nodes[1].guid = b.map.nodes[0].guid = 0xb1;
    EXPECT_THAT(checked(b.map), ElementsAre("node GUID 0x00000000000000b1: claimed by switch 'spine 1', LID 1 and switch 'spine 2', "
                                            "LID 2; tables with this GUID go to the first"));
}

TEST(Identities, TwoPortsOfOneGuidAreBothNamed) {
    Builder b;
    b.add_host("node01 mlx5_0", 5);
    b.add_host("node02 mlx5_0", 6);
    b.map.nodes[1].ports[1].guid = b.map.nodes[0].ports[1].guid = 0xa1;
    EXPECT_THAT(checked(b.map), ElementsAre("port GUID 0x00000000000000a1: claimed by node01/mlx5_0:1 and node02/mlx5_0:1"));
}

TEST(Identities, GuidsThatAreNotKnownShareNothing) {
    Builder b;
    for (int i = 0; i < 2; ++i) {
        const auto host = b.add_host("node01", std::uint16_t(5 + i));
        b.map.nodes[host].guid = b.map.nodes[host].ports[1].guid = 0;
    }
    EXPECT_THAT(checked(b.map), IsEmpty());
}

TEST(Identities, OfManyTheFirstFiftyAndTheirNumber) {
    Builder b;
    for (int i = 0; i < 60; ++i)
        b.add_host("node01", 5);
    const auto problems = checked(b.map);
    ASSERT_EQ(problems.size(), 51U);
    EXPECT_EQ(problems.back(), "topology: 9 more LIDs are claimed twice");
}

} // namespace
} // namespace fabric_check::fabric
