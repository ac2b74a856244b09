// SPDX-License-Identifier: GPL-2.0-or-later
//
// The ports report of ibnetdiscover -p.
#include "fabric/import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string report = "CA     6  2 0x00000000000000a8 4x HDR - SW     3  2 0x00000000000000b1 ( 'node03 mlx5_0' - 'leaf 1' )\n"
                           "SW     3  3 0x00000000000000b1 4x SDR                                    'leaf 1'\n"
                           "SW     3  2 0x00000000000000b1 4x HDR - CA     6  2 0x00000000000000a8 ( 'leaf 1' - 'node03 mlx5_0' )\n"
                           "SW     3  1 0x00000000000000b1 2x NDR - SW     4  7 0x00000000000000b2 ( 'leaf 1' - 'spine' )\n"
                           "SW     4  7 0x00000000000000b2 2x NDR - SW     3  1 0x00000000000000b1 ( 'spine' - 'leaf 1' )\n";

const std::string listing = "Switch 4 \"S-b1\" # \"leaf 1\" base port 0 lid 3 lmc 0\n"
                            "[2] \"H-a7\"[2](a8) # \"node03 mlx5_0\" lid 6 4xHDR\n"
                            "Ca 2 \"H-a7\" # \"node03 mlx5_0\"\n"
                            "[2](a8) \"S-b1\"[2] # lid 6 lmc 0 \"leaf 1\" lid 3 4xHDR\n";

MapDraft imported(const std::vector<TextFile> &files) {
    auto map = import_topology(files);
    EXPECT_TRUE(map) << map.error().message;
    return map ? std::move(map).value() : MapDraft{};
}

std::vector<std::string> problems(const MapDraft &map) {
    std::vector<std::string> out;
    for (const Problem &problem : map.problems)
        out.push_back(problem.where + ": " + problem.reason);
    return out;
}

TEST(ImportReport, HasNodesLinksLidsAndRates) {
    const MapDraft map = imported({{"p", report}});
    ASSERT_EQ(map.nodes.size(), 3U);
    const std::uint32_t host = map.by_lid(6), leaf = map.by_guid(0xb1), spine = map.by_lid(4);
    ASSERT_EQ(map.nodes[host].kind, NodeKind::host);
    EXPECT_EQ(map.nodes[host].description, "node03 mlx5_0");
    EXPECT_EQ(map.nodes[host].ports[2].guid, 0xa8U);
    EXPECT_EQ(map.nodes[leaf].description, "leaf 1");
    EXPECT_EQ(map.nodes[leaf].lid, 3);
    EXPECT_EQ(map.nodes[leaf].ports[2].peer, host);
    EXPECT_DOUBLE_EQ(map.nodes[leaf].ports[2].rate.data_gbps, 200);
    EXPECT_EQ(map.nodes[leaf].ports[1].peer, spine);
    EXPECT_EQ(map.nodes[leaf].ports[1].rate.lanes, 2U);
    EXPECT_EQ(map.nodes[leaf].ports[3].peer, no_node);
    EXPECT_EQ(map.nodes[leaf].ports[3].rate, LinkRate{}) << "of a port without a cable it means nothing";
}

TEST(ImportReport, SaysWhatItCannotTell) {
    EXPECT_THAT(problems(imported({{"p", report}})), ElementsAre(HasSubstr("p: a ports report (ibnetdiscover -p) names no cards")));
}

TEST(ImportReport, AddsToAListingWhoseNodesItFinds) {
    for (const auto &files : {std::vector<TextFile>{{"p", report}, {"t", listing}}, {{"t", listing}, {"p", report}}}) {
        const MapDraft map = imported(files);
        ASSERT_EQ(map.nodes.size(), 3U);
        EXPECT_EQ(map.nodes[map.by_lid(6)].guid, 0xa7U) << "the card's own, which only the listing has";
        EXPECT_EQ(map.nodes[map.by_guid(0xb1)].ports[1].peer, map.by_guid(0xb2));
        EXPECT_THAT(problems(map), IsEmpty());
    }
}

TEST(ImportReport, QuotesAndDashesInDescriptionsAreData) {
    const MapDraft map = imported({{"p", "SW     3  1 0x00000000000000b1 4x HDR                                    'a' - 'b'\n"
                                    "SW     3  2 0x00000000000000b1 4x HDR - CA     6  1 0x00000000000000a8 ( 'a' - 'b' - 'it's c' )\n"}});
    EXPECT_EQ(map.nodes[map.by_lid(3)].description, "a' - 'b");
    EXPECT_EQ(map.nodes[map.by_lid(6)].description, "it's c");
}

TEST(ImportReport, AggregationNodesAndRoutersAreNoHosts) {
    const MapDraft map = imported({{"p", "CA     6  1 0x00000000000000a8 4x HDR - SW     3  2 0x00000000000000b1 ( 'Mellanox Technologies "
                                    "Aggregation Node' - 'leaf' )\n"
                                    "RT     7  1 0x00000000000000c8 4x HDR - SW     3  1 0x00000000000000b1 ( 'router' - 'leaf' )\n"}});
    EXPECT_EQ(map.nodes[map.by_lid(6)].kind, NodeKind::other);
    EXPECT_EQ(map.nodes[map.by_lid(7)].kind, NodeKind::other);
}

TEST(ImportReport, ARowCutInItsMiddleIsNamed) {
    const MapDraft map = imported({{"p", report + "SW     4  8 0x00000000000000b2 2x NDR - SW     3"}});
    EXPECT_THAT(problems(map), ::testing::Contains(HasSubstr("p:6: not understood: 'SW     4  8")));
}

TEST(ImportReport, PortsThatCannotBeAreNamed) {
    const MapDraft map = imported({{"p", report + "SW     4 255 0x00000000000000b2 2x NDR                                    'spine'\n"}});
    EXPECT_THAT(problems(map), ::testing::Contains("p:6: port 255 or 0 is none"));
}

} // namespace
} // namespace fabric_check::fabric
