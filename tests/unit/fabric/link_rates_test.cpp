// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/link_rates.hpp"

#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>

namespace fabric_check::fabric {
namespace {

using testing::rate_of;

/// One link whose ends tell these rates; the rate that both have afterwards, and the problems.
struct Agreed {
    LinkRate near, far;
    std::vector<std::string> problems;
};
Agreed agreed(const LinkRate &near, const LinkRate &far) {
    testing::Builder b;
    const auto a = b.add_switch("A", 4, 1), z = b.add_switch("Z", 4, 2);
    b.link(a, 1, z, 2);
    b.map.nodes[a].ports[1].rate = near;
    b.map.nodes[z].ports[2].rate = far;
    b.map.index();
    agree_on_rates(b.map);
    Agreed out{b.map.nodes[a].ports[1].rate, b.map.nodes[z].ports[2].rate, {}};
    for (const Problem &problem : b.map.problems)
        out.problems.push_back(problem.where + ": " + problem.reason);
    return out;
}

TEST(LinkRates, OfTwoTheSlowerIsTakenAndTheLinkNamed) {
    const LinkRate narrow = rate_of(1, "SDR", 2), wide = rate_of(4, "SDR", 8);
    for (const auto &[near, far, words] : {std::tuple(narrow, wide, "1xSDR by the one end and 4xSDR"),
                                           std::tuple(wide, narrow, "4xSDR by the one end and 1xSDR")}) {
        const Agreed both = agreed(near, far);
        EXPECT_EQ(both.near, narrow);
        EXPECT_EQ(both.far, narrow);
        EXPECT_THAT(both.problems, ::testing::ElementsAre(std::string("A:1<->Z:2: ") + words + " by the other; the slower is taken"));
    }
}

TEST(LinkRates, OneThatIsKnownServesBothEnds) {
    for (const auto &[near, far] : {std::pair(rate_of(4, "EDR", 100), LinkRate{}), std::pair(LinkRate{}, rate_of(4, "EDR", 100))}) {
        const Agreed both = agreed(near, far);
        EXPECT_EQ(both.near.data_gbps, 100);
        EXPECT_EQ(both.far.data_gbps, 100);
        EXPECT_THAT(both.problems, ::testing::IsEmpty());
    }
}

TEST(LinkRates, QdrBesideFdr10IsFdr10) {
    const Agreed both = agreed(rate_of(4, "QDR", 32), rate_of(4, "FDR10", 40));
    EXPECT_EQ(both.near.speed, "FDR10");
    EXPECT_EQ(both.far.speed, "FDR10");
    EXPECT_THAT(both.problems, ::testing::IsEmpty());
}

TEST(LinkRates, ALinkThatOneEndDeniesKeepsWhatEachSays) {
    testing::Builder b;
    const auto a = b.add_switch("A", 4, 1), z = b.add_switch("Z", 4, 2);
    b.link(a, 1, z, 2);
    b.map.nodes[a].ports[1].rate = rate_of(1, "SDR", 2);
    b.map.nodes[z].ports[2].peer = no_node;
    b.map.index();
    agree_on_rates(b.map);
    EXPECT_EQ(b.map.nodes[z].ports[2].rate, testing::hdr());
    EXPECT_THAT(b.map.problems, ::testing::IsEmpty());
}

} // namespace
} // namespace fabric_check::fabric
