// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/map_report.hpp"

#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace fabric_check {
namespace {

using fabric::Map;
using fabric::testing::Builder;
using fabric::testing::rate_of;
using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two switches with two links of unequal rates, one of them to itself, and hosts whose names have numbers.
Builder mixed() {
    Builder b;
    const auto a = b.add_switch("SwitchA", 8, 40), z = b.add_switch("SwitchB", 8, 41);
    b.link(a, 1, z, 1);
    b.link(a, 2, z, 2, rate_of(4, "NDR", 400));
    b.link(a, 3, z, 3, rate_of(4, "NDR", 400));
    b.link(a, 4, a, 5, rate_of(4, "NDR", 400));
    b.attach(b.add_host("node10 mlx5_0", 5), a, 6);
    b.attach(b.add_host("node2 mlx5_1", 6), a, 7);
    b.attach(b.add_host("node2 mlx5_0", 8), z, 7);
    b.map.index();
    return b;
}

ordered_json json_of(const fabric::MapDraft &draft) { return map_json(Map(draft), "m.fcm", 0, draft.problems); }

TEST(MapReport, LinksAreCountedByRateTheFastestFirst) {
    EXPECT_EQ(json_of(mixed().map)["rates"]["switches"].dump(), R"({"4xNDR":3,"4xHDR":1})");
    EXPECT_EQ(json_of(mixed().map)["rates"]["hosts"].dump(), R"({"4xHDR":3})");
    const std::string text = map_text(json_of(mixed().map));
    EXPECT_THAT(text, HasSubstr("\nbetween switches: 4: 3 at 4xNDR, 1 at 4xHDR\n"));
    EXPECT_THAT(text, HasSubstr("\nlinks to hosts:   3, all 4xHDR\n"));
}

TEST(MapReport, HostsAreCountedByNameAndCardsBeside) {
    const ordered_json json = json_of(mixed().map);
    EXPECT_EQ(json["hosts"], 3) << "cards, as ever";
    EXPECT_EQ(json["cards"], 3);
    EXPECT_EQ(json["host_count"], 2);
    EXPECT_EQ(json["nameless_cards"], 0);
    EXPECT_THAT(map_text(json), HasSubstr("\nhosts:            2 (3 cards)\n"));
    EXPECT_TRUE(json["problems"].empty());
}

TEST(MapReport, CardsThatNameNoHostAreAProblem) {
    Builder b = mixed();
    b.add_host("MT4129 ConnectX7   Mellanox Technologies", 9);
    EXPECT_EQ(json_of(b.map)["host_count"], 3);
    EXPECT_EQ(json_of(b.map)["nameless_cards"], 1);
    EXPECT_EQ(json_of(b.map)["problems"][0]["reason"],
              "1 card has no host name in its description (first: 0x0000000000000a05): --nodes cannot find it, --lids can");
    b.add_host("MT4129 ConnectX7   Mellanox Technologies", 10);
    EXPECT_THAT(map_text(json_of(b.map), 200),
                HasSubstr("problem:          hosts: 2 cards have no host name in their description (first: 0x0000000000000a05): "
                          "--nodes cannot find them, --lids can\n"));
}

TEST(MapReport, OtherNodesAreCalledWhatTheyAre) {
    Builder b = mixed();
    for (const char *name : {"Mellanox Technologies Aggregation Node", "Mellanox Technologies Aggregation Node", "Voltaire Gateway", "x"})
        b.map.nodes[b.add_host(name, 0)].kind = fabric::NodeKind::other;
    EXPECT_EQ(json_of(b.map)["others"], 4);
    EXPECT_EQ(json_of(b.map)["other_kinds"]["SHARP aggregation nodes"], 2);
    EXPECT_THAT(map_text(json_of(b.map)), HasSubstr("\nother nodes:      2 SHARP aggregation nodes, 1 gateway, 1 other\n"));
    EXPECT_TRUE(json_of(b.map)["problems"].empty()) << "they need no host's name";
}

TEST(MapReport, ARateThatIsNotKnownIsSaidSo) {
    Builder b = mixed();
    for (const auto &[node, port] : {std::pair(0, 1), std::pair(1, 1)})
        b.map.nodes[std::size_t(node)].ports[std::size_t(port)].rate = {};
    EXPECT_THAT(map_text(json_of(b.map)), HasSubstr("between switches: 4: 3 at 4xNDR, 1 at unknown rate\n"));
}

TEST(MapReport, HostsAreListedByNameAndNumberWithTheirPorts) {
    EXPECT_EQ(host_ports_text(host_ports_json(Map(mixed().map))), "node2   mlx5_0:1  LID 8  SwitchB:7  4xHDR\n"
                                                                  "node2   mlx5_1:1  LID 6  SwitchA:7  4xHDR\n"
                                                                  "node10  mlx5_0:1  LID 5  SwitchA:6  4xHDR\n");
}

TEST(MapReport, WhatAPortLacksIsSaid) {
    Builder b;
    b.add_host("node1", 0);
    const auto two = b.add_host("node2", 16);
    b.map.nodes[two].ports[1].lmc = 2;
    b.map.index();
    const ordered_json ports = host_ports_json(Map(b.map));
    EXPECT_EQ(host_ports_text(ports), "node1  port:1  no LID     no link\nnode2  port:1  LID 16-19  no link\n");
    for (const char *key : {"card", "lid", "switch", "switch_port", "rate", "rate_gbps"})
        EXPECT_TRUE(ports[0].at(key).is_null()) << key;
}

TEST(MapReport, ProblemsThatAreAlikeAreFolded) {
    Builder b = mixed();
    for (int i = 0; i < 7; ++i)
        b.map.problems.push_back({"f:" + std::to_string(i), "", "port " + std::to_string(i) + " is none"});
    const std::string text = map_text(json_of(b.map));
    EXPECT_THAT(text, HasSubstr("problem:          f:4: port 4 is none\nproblem:          2 more like these; --json shows all\n"));
    EXPECT_THAT(text, Not(HasSubstr("f:5")));
    EXPECT_EQ(json_of(b.map)["problems"].size(), 7U);
}

TEST(MapReport, NoLineOfWordsIsWiderThanAsked) {
    Builder b = mixed();
    b.map.source = "a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, a, b, c, d, e, f";
    b.map.problems.push_back({"f", "", "this is a long story that nobody reads to its end, as it goes on and on and on and on"});
    std::istringstream lines(map_text(json_of(b.map), 80));
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), 80U) << line;
}

TEST(MapReport, TakesOddJsonWithoutThrowing) {
    for (const char *odd : {"null", "[]", "3", R"({"links":[],"rates":{"hosts":{"4xHDR":"x"}},"problems":[1,{}],"built":1e300})"})
        EXPECT_NO_THROW({
            map_text(ordered_json::parse(odd));
            host_ports_text(ordered_json::parse(odd));
        }) << odd;
}

} // namespace
} // namespace fabric_check
