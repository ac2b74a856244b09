// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/remedies_report.hpp"

#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace fabric_check {
namespace {

using namespace fabric;
using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// routes/1 of the collapsed table with its remedies.
struct RemediesReport : ::testing::Test {
    MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    Query query = fabric::testing::clients_and_servers(map);
    std::optional<SmLog> log;
    RemediesReport() {
        query.flat_ceiling_gib_s = 22.6;
        map.adaptive_routing = AdaptiveRouting::off;
    }
    ordered_json json() const {
        const Routes routes = analyse(LftView(map), query);
        ordered_json out = routes_json(map, routes, query);
        RemedyOptions options;
        options.reroutings = 10;
        out["remedies"] = remedies_json(map, evaluate_remedies(map, query, routes, options), tiers_of(map), log);
        return out;
    }
    ordered_json remedies() const { return json()["remedies"]; }
    ordered_json option(const std::string &name) const {
        const ordered_json all = remedies();
        for (const auto &one : all["options"])
            if (one["name"] == name)
                return one;
        return nullptr;
    }
    std::vector<std::string> causes() const {
        std::vector<std::string> out;
        const ordered_json all = remedies();
        for (const auto &one : all["causes"])
            out.push_back(one["cause"]);
        return out;
    }
    std::string text(std::size_t columns = 160) const { return remedies_text(json(), false, columns); }
};

TEST_F(RemediesReport, EveryRemedySaysWhatItChangesAndWhoseThatIs) {
    const ordered_json all = remedies();
    std::vector<std::string> names;
    for (const auto &one : all["options"]) {
        names.push_back(one["name"]);
        EXPECT_NE(one["what"], "");
        EXPECT_NE(one["needs"], "");
        EXPECT_FALSE(one["caveats"].empty()) << names.back();
    }
    EXPECT_THAT(names, ElementsAre("other_nodes", "guid_routing_order", "scatter", "more_links", "lmc"));
    EXPECT_EQ(option("guid_routing_order")["needs"], "the subnet manager's owner");
    EXPECT_EQ(option("other_nodes")["needs"], "whoever submits the job");
}

TEST_F(RemediesReport, NowAndThenHaveTheSameKeys) {
    const ordered_json now = remedies()["now"], then = option("guid_routing_order")["then"];
    EXPECT_EQ(now["imbalance"], 3.0);
    EXPECT_EQ(now["worst"]["used"], 3);
    EXPECT_EQ(now["ceiling_gib_s"], 67.8);
    EXPECT_EQ(then["imbalance"], 1.0);
    EXPECT_EQ(then["worst"]["used"], 8);
    EXPECT_EQ(then["ceiling_gib_s"], 180.8);
}

TEST_F(RemediesReport, WhatIsNotEvaluatedSaysWhy) {
    const ordered_json nodes = option("other_nodes");
    EXPECT_EQ(nodes["evaluated"], false);
    EXPECT_THAT(nodes["why_not"].get<std::string>(), HasSubstr("the job has 12"));
    EXPECT_FALSE(nodes.contains("then"));
    EXPECT_THAT(text(), HasSubstr("not evaluated: the map has 12 such hosts"));
}

TEST_F(RemediesReport, TheFileOfTheRoutingOrderCanBeMadeFromTheJson) {
    const ordered_json guids = option("guid_routing_order")["guids"];
    ASSERT_EQ(guids.size(), 20U);
    EXPECT_EQ(guids[0], fmt::format("0x{:016x}", map.nodes[map.by_lid(1)].ports[1].guid));
}

TEST_F(RemediesReport, AliasingIsNullWithoutAPattern) {
    EXPECT_TRUE(remedies()["aliasing"].is_null());
    EXPECT_THAT(text(), Not(HasSubstr("Pattern")));
}

TEST(AliasingWords, SayWhichLidsAndWhichLinks) {
    MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    Remedies remedies;
    remedies.now.group = "B>A";
    remedies.aliasing = Aliasing{DealOrder::lid_value, 4, {1}, 12, 12, 2, 8, 0.001};
    ordered_json json = remedies_json(map, remedies, {}, std::nullopt);
    EXPECT_EQ(json["aliasing"]["text"], "all 12 LIDs are 1 mod 4: they share 2 of the 8 links");
    EXPECT_THAT(remedies_text({{"remedies", json}}, false, 120), HasSubstr("Pattern of B>A: all 12 LIDs are 1 mod 4"));
    remedies.aliasing = Aliasing{DealOrder::by_guid, 8, {1, 3}, 11, 12, 2, 8, 0.001};
    json = remedies_json(map, remedies, {}, std::nullopt);
    EXPECT_EQ(json["aliasing"]["text"], "11 of the 12 LIDs stand at places 1 or 3 mod 8 in the order of port GUIDs, in which "
                                        "the links are handed out: these share 2 of the 8 links");
    EXPECT_EQ(json["aliasing"]["order"], "guid-order");
}

TEST_F(RemediesReport, TheTableIsReadAtAGlance) {
    const std::string shown = text();
    EXPECT_THAT(shown, HasSubstr("imbalance  group's     links   busiest  GiB/s  worst group\n"));
    EXPECT_THAT(shown, HasSubstr("  now                              3.00     3.00    3 of 8    6 LIDs   67.8  SwitchB>SwitchA\n"));
    EXPECT_THAT(shown, HasSubstr("  guid_routing_order               1.00     1.00    8 of 8  "));
    EXPECT_THAT(shown, HasSubstr("  4 more links, likewise              -     1.00  12 of 12     1 LID  271.2\n"));
    EXPECT_THAT(shown, HasSubstr("  LMC 1, at best                      -     1.00    8 of 8  1.5 LIDs  180.8\n"));
    EXPECT_THAT(shown, HasSubstr("1.00-1.00, 90 % <= 1.00, 100 % better\n"));
}

TEST_F(RemediesReport, NoLineIsWiderThanAsked) {
    for (const std::size_t columns : {80U, 120U}) {
        std::istringstream lines(text(columns));
        for (std::string line; std::getline(lines, line);)
            EXPECT_LE(line.size(), columns) << line;
    }
}

TEST_F(RemediesReport, GroupsOfLongNamesStandBelowTheirRowsInANarrowTerminal) {
    for (DraftNode &node : map.nodes)
        if (node.kind == NodeKind::switch_node)
            node.description += "-of-the-second-room-rack-12";
    map.index();
    const std::string group = "SwitchB-of-the-second-room-rack-12>SwitchA-of-the-second-room-rack-12";
    EXPECT_THAT(text(160), HasSubstr("67.8  " + group + "\n"));
    EXPECT_THAT(text(80), HasSubstr("imbalance  group's     links   busiest  GiB/s\n")) << "no head without its column";
    EXPECT_THAT(text(80), HasSubstr("67.8\n    worst: " + group + "\n"));
}

TEST_F(RemediesReport, LongNamesOfFilesAreCutAtTheirFrontToFit) {
    ordered_json routes = json();
    routes["versus"] = versus_json({{"/a/directory/somewhere/of/engines/updn-2026/opensm-lfts.dump", {}, {}, 10, {}}});
    for (const std::size_t columns : {80U, 98U}) { // to a pager it is more than the terminal has
        const std::string shown = versus_text(routes, false, columns);
        EXPECT_THAT(shown, HasSubstr("n-2026/opensm-lfts.dump "));
        std::istringstream lines(shown.substr(0, shown.find("/opensm-lfts.dump differs")));
        for (std::string line; std::getline(lines, line);)
            EXPECT_LE(line.substr(0, line.find("  Switch")).size(), 80U) << line;
    }
}

TEST_F(RemediesReport, WithoutALinkBetweenSwitchesThereIsNothing) {
    query.services.clear();
    EXPECT_TRUE(remedies()["now"]["worst"].is_null());
    EXPECT_THAT(text(), HasSubstr("Nothing: no link between switches is on the way.\n"));
}

TEST_F(RemediesReport, TheEngineIsUnknownWithoutALog) {
    EXPECT_THAT(causes(), ElementsAre("engine_unknown"));
    EXPECT_THAT(text(), HasSubstr("- which engine made the tables is unknown: --sm-log FILE"));
}

TEST_F(RemediesReport, AFallbackIsNamedWithReasonAndSuccessor) {
    log = SmLog{};
    log->failed = {{"ftree", "more than one root", ""}};
    log->used = "minhop";
    EXPECT_THAT(causes(), ElementsAre("fallback"));
    EXPECT_THAT(text(), HasSubstr("- ftree could not route this fabric (more than one root): minhop made the tables\n"));
    log->used.clear();
    EXPECT_THAT(text(), HasSubstr("the log does not say what did; opensm then takes minhop"));
    log->no_engine = true;
    EXPECT_THAT(text(), HasSubstr("not one engine could"));
}

TEST_F(RemediesReport, ALogOfARoutingThatWorkedNamesItsEngine) {
    log = SmLog{};
    log->used = "updn";
    EXPECT_THAT(causes(), ElementsAre("engine"));
    log->state = "STANDBY";
    EXPECT_THAT(causes(), ElementsAre("engine", "not_master"));
}

TEST_F(RemediesReport, UpdnWithoutRootsAndFtreeWithLmcAreFlagged) {
    log = SmLog{};
    log->used = "minhop";
    log->updn_without_roots = log->ftree_with_lmc = true;
    EXPECT_THAT(causes(), ElementsAre("updn_without_roots", "ftree_with_lmc", "engine"));
}

TEST_F(RemediesReport, LmcOfTheMapIsFlaggedWithoutALog) {
    map.nodes[5].ports[1].lmc = 1;
    EXPECT_THAT(causes(), ElementsAre("engine_unknown", "lmc"));
}

TEST_F(RemediesReport, UnevenUplinksAreFlaggedWithTheirSwitches) {
    map.nodes[0].ports[20].peer = no_node;
    EXPECT_THAT(causes(), ElementsAre("uplinks", "engine_unknown"));
    EXPECT_THAT(text(), HasSubstr("- 2 switches with hosts have 7 to 8 links upwards"));
}

TEST_F(RemediesReport, WhoRunsTheFabricIsUnknownAHostOrASwitch) {
    EXPECT_TRUE(remedies()["subnet_manager"].is_null());
    EXPECT_THAT(text(), HasSubstr("- Subnet manager: unknown\n"));
    map.subnet_manager = SubnetManager{map.nodes[map.by_lid(21)].ports[1].guid, 21, 14, 3};
    EXPECT_EQ(remedies()["subnet_manager"]["node"], "stor01");
    EXPECT_EQ(remedies()["subnet_manager"]["kind"], "host");
    EXPECT_THAT(text(), HasSubstr("- Subnet manager: stor01 (host), GUID 0x"));
    map.subnet_manager = SubnetManager{map.nodes[0].guid, 41, 0, 2};
    EXPECT_EQ(remedies()["subnet_manager"]["kind"], "switch");
    EXPECT_EQ(remedies()["subnet_manager"]["state"], "standby");
    map.subnet_manager = SubnetManager{0x1234, 999, 0, 3};
    EXPECT_TRUE(remedies()["subnet_manager"]["node"].is_null());
    EXPECT_THAT(text(), HasSubstr("- Subnet manager: no node of the map, GUID 0x0000000000001234, LID 999"));
}

TEST_F(RemediesReport, RemediesAreLabelledUnderAdaptiveRouting) {
    EXPECT_THAT(text(), Not(HasSubstr("static routes")));
    map.adaptive_routing = AdaptiveRouting::unknown;
    EXPECT_THAT(text(), HasSubstr("What could be done (static routes; packets may take others)\n"));
}

TEST_F(RemediesReport, OthersStandBesideTheseTables) {
    ordered_json routes = json();
    Versus other{"/dumps/updn/opensm-lfts.dump", {}, {}, 10, {{"x:3", "", "odd line"}}};
    other.figures.imbalance = 1.5;
    other.figures.group = "SwitchA>SwitchB";
    other.figures.unreachable = 2;
    other.group.group = "SwitchB>SwitchA";
    other.group.used = 5;
    other.group.available = 8;
    other.group.busiest_lids = 4;
    routes["versus"] = versus_json({other});
    EXPECT_EQ(routes["versus"][0]["file"], "/dumps/updn/opensm-lfts.dump");
    EXPECT_EQ(routes["versus"][0]["differing_entries"], 10);
    EXPECT_EQ(routes["versus"][0]["unreachable"], 2);
    const std::string shown = versus_text(routes, false, 120);
    EXPECT_THAT(shown, HasSubstr("  these tables                       3.00     3.00  3 of 8   6 LIDs   67.8  SwitchB>SwitchA\n"));
    EXPECT_THAT(shown, HasSubstr("  /dumps/updn/opensm-lfts.dump       1.50"));
    EXPECT_THAT(shown, HasSubstr("SwitchA>SwitchB; 2 LIDs unreachable\n"));
    EXPECT_THAT(shown, ::testing::ContainsRegex("    there, the group above +1.00  5 of 8   4 LIDs    0.0\n"));
    EXPECT_THAT(shown, HasSubstr("differs in 10 entries"));
    EXPECT_THAT(shown, HasSubstr("warning: x:3: odd line\n"));
    EXPECT_THAT(routes_text(routes, false), HasSubstr("These tables and others\n")) << "a part of the whole text";
}

TEST_F(RemediesReport, TheSameTablesAreSaidToBeTheSame) {
    ordered_json routes = json();
    routes["versus"] = versus_json({{"f", {}, {}, 0, {}}});
    EXPECT_THAT(versus_text(routes, false), HasSubstr("f has the same entries for these LIDs.\n"));
}

TEST(RemediesText, NothingAskedNothingSaid) {
    EXPECT_EQ(remedies_text({{"groups", ordered_json::array()}}, false), "");
    EXPECT_EQ(versus_text({{"groups", ordered_json::array()}}, false), "");
}

TEST(RemediesText, TakesOddJsonWithoutThrowing) {
    for (const char *odd : {"null", R"({"remedies":{}})", R"({"remedies":{"now":{"worst":{}},"options":[1,{"name":7}]}})",
                            R"({"remedies":{"now":{"worst":{}},"causes":[null,"x"],"options":[{"name":"lmc","steps":[3]}]}})",
                            R"({"versus":[null,{"file":5,"problems":[1]}]})"}) {
        EXPECT_NO_THROW(remedies_text(ordered_json::parse(odd), true)) << odd;
        EXPECT_NO_THROW(versus_text(ordered_json::parse(odd), true)) << odd;
    }
}

} // namespace
} // namespace fabric_check
