// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/name_hints.hpp"

#include "fabric/fabrics.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

using testing::Builder;

Map map_of(const std::vector<std::string> &hosts) {
    Builder b;
    b.add_switch("MF0;leaf03:MQM9700/U1", 40, 1000);
    for (std::size_t i = 0; i < hosts.size(); ++i)
        b.add_host(hosts[i] + " mlx5_0", std::uint16_t(i + 1));
    b.map.index();
    return Map(b.map);
}

std::string why(const std::vector<std::string> &hosts, const std::string &name) { return NameHints(map_of(hosts)).why_absent(name); }

TEST(NameHints, AnotherNumberOfDigitsIsNear) {
    EXPECT_EQ(why({"node001", "node010"}, "node1"), "not in the map (nearest: node001)");
    EXPECT_EQ(why({"node1", "node10"}, "node0010"), "not in the map (nearest: node10)");
}

TEST(NameHints, AnotherCaseIsNear) { EXPECT_EQ(why({"Node-A1", "other"}, "node-a1"), "not in the map (nearest: Node-A1)"); }

TEST(NameHints, TheShortNameIsNearTheFullOne) {
    EXPECT_EQ(why({"io7", "io8"}, "io7.cluster.site"), "not in the map (nearest: io7)");
}

TEST(NameHints, ASlipOfTheHandIsNear) {
    EXPECT_EQ(why({"storage01", "login"}, "stroage01"), "not in the map (nearest: storage01)");
    EXPECT_EQ(why({"storage01", "login"}, "storge01"), "not in the map (nearest: storage01)");
}

TEST(NameHints, OfEquallyNearNamesThreeAreOffered) {
    EXPECT_EQ(why({"n10", "n11", "n12", "n13"}, "n19"), "not in the map (nearest: n10, n11, n12)");
}

TEST(NameHints, OneEditIsNearerThanTwo) {
    EXPECT_EQ(why({"rack1n10", "rack1n22"}, "rack1n21"), "not in the map (nearest: rack1n22)");
}

TEST(NameHints, ANumberBeyondTheLastHasItsNeighboursInTheAlphabet) {
    EXPECT_EQ(why({"compute0001", "compute0512", "login"}, "compute9876"), "not in the map (nearest: compute0512)");
}

TEST(NameHints, NothingAlikeIsNothingOffered) { EXPECT_EQ(why({"node001"}, "x"), "not in the map"); }

TEST(NameHints, ASwitchIsSaidToBeOne) {
    EXPECT_EQ(why({"node001"}, "leaf03"), "is a switch, not a host");
    EXPECT_EQ(why({"node001"}, "MF0;leaf03:MQM9700/U1"), "is a switch, not a host");
}

TEST(NameHints, ARouterOrGatewayIsSaidToBeOne) {
    Builder b;
    b.map.nodes[b.add_host("gw01 Gateway", 17)].kind = NodeKind::other;
    b.map.index();
    EXPECT_EQ(NameHints(Map(b.map)).why_absent("gw01"), "is a router, gateway or aggregation node, not a host");
}

TEST(NameHints, ACardsGuidLeadsToItsHostOrItsLid) {
    EXPECT_EQ(why({"node001"}, "0x0000000000000a01"), "is a card of node001: name the host");
    Builder b;
    b.add_host("MT4129 ConnectX7   Mellanox Technologies", 17);
    b.map.index();
    EXPECT_EQ(NameHints(Map(b.map)).why_absent("0x0000000000000a00"),
              "is a card whose host's name the map does not know: give its LIDs with --lids (17)");
}

TEST(NameHints, HostileNamesArePrintable) {
    EXPECT_EQ(why({"no\x1b[1mde"}, "no\x1b[1mdx"), "not in the map (nearest: no\\x1b[1mde)");
}

TEST(NameHints, AsManyQuestionsAsAnybodyAsksCostNoMoreThanSoManyComparisons) {
    std::vector<std::string> hosts;
    for (unsigned i = 0; i < 20000; ++i)
        hosts.push_back(std::string(50, 'a') + std::to_string(100000 + i));
    NameHints hints(map_of(hosts));
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 5000; ++i)
        hints.why_absent(std::string(50, 'b') + std::to_string(i));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10)) << "20,000 hosts times 5,000 names take minutes";
}

} // namespace
} // namespace fabric_check::fabric
