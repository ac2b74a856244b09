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
    EXPECT_THAT(text(), HasSubstr("not evaluated: the map has 12 hosts with the cards"));
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
    EXPECT_THAT(shown, HasSubstr("imbalance  group's     links   busiest  GiB/s\n"));
    EXPECT_THAT(shown, HasSubstr("Imbalance of all of it; links, LIDs and GiB/s of SwitchB>SwitchA, the worst group now, unless"));
    EXPECT_THAT(shown, ::testing::ContainsRegex("  now +3.00     3.00    3 of 8    6 LIDs   67.8\n"));
    EXPECT_THAT(shown, ::testing::ContainsRegex("  guid_routing_order +1.00     1.00    8 of 8  "));
    EXPECT_THAT(shown, ::testing::ContainsRegex("  4 more links, likewise +-     1.00  12 of 12     1 LID  271.2\n"));
    EXPECT_THAT(shown, ::testing::ContainsRegex("  LMC 1, at best +-     1.00    8 of 8  1.5 LIDs  180.8\n"));
}

TEST_F(RemediesReport, ManyTriesAreATableOfTheirOwn) {
    const std::string shown = text();
    EXPECT_THAT(shown, ::testing::ContainsRegex("imbalance of many tries +tries +least +median +9 of 10 +most +better\n"));
    EXPECT_THAT(shown, ::testing::ContainsRegex("  scatter_ports +10 +1.00 +1.00 +1.00 +1.00 +100%\n"));
    EXPECT_THAT(shown, ::testing::ContainsRegex("  lot alone, a yardstick +10 "));
    EXPECT_THAT(shown, HasSubstr("is no setting of opensm but a yardstick"));
}

TEST_F(RemediesReport, PartsOfALidAreExplained) {
    EXPECT_THAT(text(400), HasSubstr("a part of a LID above is the share of its traffic that takes one of its ways"));
}

TEST_F(RemediesReport, TheFileOfTheRoutingOrderIsMadeByACommandInTheText) {
    EXPECT_THAT(text(400), HasSubstr("20 GUIDs; their file, for guid_routing_order_file: the same command with --json | jq -r "
                                     "'.remedies.options[]|select(.name==\"guid_routing_order\").guids[]'"));
}

TEST_F(RemediesReport, EndsWithWhatToTryFirst) {
    const ordered_json ranking = remedies()["ranking"];
    ASSERT_EQ(ranking.size(), 2U) << "other nodes could not be evaluated";
    EXPECT_EQ(ranking[0]["name"], "guid_routing_order");
    EXPECT_EQ(ranking[0]["imbalance"], 1.0);
    EXPECT_EQ(ranking[1]["name"], "scatter");
    EXPECT_THAT(text(400), HasSubstr("\nTry first: guid_routing_order, 3.00 -> 1.00; then scatter_ports, 3.00 -> 1.00 (the median "
                                     "draw).\n"));
}

TEST_F(RemediesReport, TheRankingHasTheBestFirstAndOnlyWhatWasEvaluatedAndHelps) {
    Remedies found;
    found.now.imbalance = 3;
    found.other_nodes.then.imbalance = 2;
    found.routing_order.then.imbalance = 1.2;
    found.scatter.least_used.median = 1.5;
    const auto names = [&] {
        std::vector<std::string> out;
        const ordered_json json = remedies_json(map, found, {}, std::nullopt);
        for (const auto &one : json["ranking"])
            out.push_back(one["name"]);
        return out;
    };
    EXPECT_THAT(names(), ElementsAre("guid_routing_order", "scatter", "other_nodes"));
    found.routing_order.then.unreachable = 1;
    found.scatter.not_evaluated = "too large";
    EXPECT_THAT(names(), ElementsAre("other_nodes"));
    found.other_nodes.then.imbalance = 3;
    EXPECT_THAT(names(), ElementsAre());
}

TEST_F(RemediesReport, BelowTheBarNothingMustBeMended) {
    ordered_json routes = json();
    routes["bar"] = 4;
    EXPECT_THAT(remedies_text(routes, false, 400), HasSubstr("\nNothing must be mended: the imbalance is 3.00, below the bar, 4. What "
                                                             "would help: guid_routing_order, 3.00 -> 1.00; then"));
}

TEST_F(RemediesReport, AnEvenSpreadHasNothingToMend) {
    map = fabric::testing::two_switches(fabric::testing::even());
    EXPECT_TRUE(remedies()["ranking"].empty());
    EXPECT_THAT(text(), HasSubstr("\nNothing to mend: the imbalance is 1.00.\n"));
}

TEST_F(RemediesReport, WhatIsNotReachedComesBeforeWhatIsUneven) {
    ordered_json routes = json();
    routes["unreachable_lids"] = 2;
    EXPECT_THAT(remedies_text(routes, false, 400), HasSubstr("\nThe 2 LIDs above that are not reached come first, and that is none of "
                                                             "these remedies; of the rest: try first: "));
    routes["remedies"]["now"]["imbalance"] = 1;
    EXPECT_THAT(remedies_text(routes, false, 400), HasSubstr("of the rest: nothing to mend: the imbalance is 1.00.\n"));
}

TEST_F(RemediesReport, UnderAdaptiveRoutingTheConclusionIsByTheTablesAlone) {
    map.adaptive_routing = AdaptiveRouting::on;
    EXPECT_THAT(text(400), HasSubstr("by the tables alone: try first: guid_routing_order"));
}

TEST_F(RemediesReport, EnginesThatTakeNoOrdersAreNotTold) {
    log = SmLog{};
    for (const char *engine : {"minhop", "updn", "dnup"}) {
        log->used = engine;
        EXPECT_EQ(remedies()["ranking"].size(), 2U) << engine;
    }
    for (const char *engine : {"ftree", "dfsssp", "ar_updn"}) {
        log->used = engine;
        EXPECT_EQ(remedies()["ranking"].size(), 0U) << engine;
    }
    log->port_guid = 0x5ca1ab1e;
    EXPECT_EQ(remedies()["ranking"].size(), 2U) << "a log of another fabric says nothing";
}

TEST_F(RemediesReport, WhereNothingHelpsThatIsSaid) {
    ordered_json routes = json();
    routes["remedies"]["ranking"] = ordered_json::array();
    routes["bar"] = 1.5;
    EXPECT_THAT(remedies_text(routes, false, 400),
                HasSubstr("None of what could be evaluated for all of it lowers the imbalance, 3.00, above the bar, 1.5.\n"));
}

TEST_F(RemediesReport, AnotherGroupStandsOnlyWhereItIsWorse) {
    ordered_json routes = json();
    ordered_json &order = routes["remedies"]["options"][1];
    order["then"]["worst"] = {{"name", "X>Y"}, {"available", 4}, {"used", 2}, {"busiest_lids", 3}, {"imbalance", 1.5}};
    order["then"]["ceiling_gib_s"] = 45.2;
    EXPECT_THAT(remedies_text(routes, false, 160), ::testing::ContainsRegex("  guid_routing_order +1.00 +1.00 +8 of 8 +2 LIDs +180.8\n"
                                                                            "    its worst group, another +1.50 +2 of 4 +3 LIDs +45.2  X>Y\n"));
    order["then"]["worst"]["imbalance"] = 1.0;
    EXPECT_THAT(remedies_text(routes, false, 160), Not(HasSubstr("another  ")));
}

TEST_F(RemediesReport, NoLineIsWiderThanAsked) {
    for (const std::size_t columns : {80U, 120U}) {
        std::istringstream lines(text(columns));
        for (std::string line; std::getline(lines, line);)
            EXPECT_LE(line.size(), columns) << line;
    }
}

TEST_F(RemediesReport, GroupsOfLongNamesStandBelowTheirRowsInANarrowTerminal) {
    const std::string group = "SwitchB-of-the-second-room-rack-12>SwitchA-of-the-second-room-rack-12";
    ordered_json routes = json();
    ordered_json &then = routes["remedies"]["options"][1]["then"];
    then["worst"] = {{"name", group}, {"available", 4}, {"used", 2}, {"busiest_lids", 3}, {"imbalance", 1.5}};
    then["ceiling_gib_s"] = 45.2;
    EXPECT_THAT(remedies_text(routes, false, 160), HasSubstr("45.2  " + group + "\n"));
    EXPECT_THAT(remedies_text(routes, false, 80), HasSubstr("imbalance  group's     links   busiest  GiB/s\n")) << "no head without its column";
    EXPECT_THAT(remedies_text(routes, false, 80), HasSubstr("45.2\n    " + group + "\n"));
}

TEST_F(RemediesReport, LongNamesOfFilesAreCutAtTheirFrontToFit) {
    ordered_json routes = json();
    routes["versus"] = versus_json(Map(), {{"/a/directory/somewhere/of/engines/updn-2026/opensm-lfts.dump", {}, {}, 10, {}}});
    for (const std::size_t columns : {80U, 98U}) { // to a pager it is more than the terminal has
        const std::string shown = versus_text(routes, false, columns);
        EXPECT_THAT(shown, HasSubstr("n-2026/opensm-lfts.dump "));
        const std::size_t table = shown.find("   imbalance  group's");
        std::istringstream lines(shown.substr(table, shown.find("/opensm-lfts.dump differs") - table));
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
    log->used = "file";
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

TEST_F(RemediesReport, WhereUpdnGotItsRootsIsToldOrSaidToBeUnknown) {
    log = SmLog{};
    log->used = "updn";
    EXPECT_THAT(causes(), ElementsAre("updn_roots_unknown", "engine"));
    log->updn_roots_guessed = true;
    EXPECT_THAT(causes(), ElementsAre("updn_without_root_guids", "engine"));
    log->updn_roots_guessed = false;
    log->updn_roots_given = true;
    EXPECT_THAT(causes(), ElementsAre("engine"));
}

TEST_F(RemediesReport, ALogOfAnotherFabricIsNotLookedAt) {
    log = SmLog{};
    log->name = "opensm.log";
    log->port_guid = 0x5ca1ab1e;
    log->failed = {{"ftree", "more than one root", ""}};
    log->used = "minhop";
    EXPECT_THAT(causes(), ElementsAre("other_fabric"));
    EXPECT_THAT(text(400), HasSubstr("opensm.log is not looked at: its manager ran on port 0x000000005ca1ab1e"));
}

TEST_F(RemediesReport, EveryResultIsLabelledUnderAdaptiveRouting) {
    EXPECT_FALSE(remedies().contains("label"));
    map.adaptive_routing = AdaptiveRouting::on;
    const ordered_json all = remedies();
    EXPECT_EQ(all["label"], "static route; packets may take others");
    EXPECT_EQ(all["now"]["label"], all["label"]);
    for (const auto &one : all["options"])
        EXPECT_EQ(one["label"], all["label"]) << one["name"];
    Map other(map);
    EXPECT_EQ(versus_json(other, {{"f", {}, {}, 0, {}}})[0]["label"], all["label"]);
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

TEST_F(RemediesReport, TheLabelStandsInTheHeadOfAllOnly) {
    map.adaptive_routing = AdaptiveRouting::unknown;
    EXPECT_THAT(text(), Not(HasSubstr("static route")));
    EXPECT_THAT(text(), HasSubstr("\nWhat could be done\n"));
}

TEST_F(RemediesReport, OthersStandBesideTheseTables) {
    ordered_json routes = json();
    Versus other{"/dumps/updn/opensm-lfts.dump", {}, {}, 10, {{"x:3", "", "odd line"}}};
    other.figures.imbalance = 1.5;
    other.figures.group = "SwitchA>SwitchB";
    other.figures.unreachable = 2;
    other.figures.group_imbalance = 2;
    other.figures.used = 1;
    other.figures.available = 8;
    other.group.group = "SwitchB>SwitchA";
    other.group.used = 5;
    other.group.available = 8;
    other.group.busiest_lids = 4;
    routes["versus"] = versus_json(Map(), {other});
    EXPECT_EQ(routes["versus"][0]["file"], "/dumps/updn/opensm-lfts.dump");
    EXPECT_EQ(routes["versus"][0]["differing_entries"], 10);
    EXPECT_EQ(routes["versus"][0]["unreachable"], 2);
    const std::string shown = versus_text(routes, false, 120);
    EXPECT_THAT(shown, ::testing::ContainsRegex("  these tables +3.00     3.00  3 of 8   6 LIDs   67.8\n"));
    EXPECT_THAT(shown, ::testing::ContainsRegex("  \\.\\.\\.ps/updn/opensm-lfts.dump +1.50 +1.00  5 of 8   4 LIDs"));
    EXPECT_THAT(shown, ::testing::ContainsRegex("    its worst group, another +2.00  1 of 8 .*SwitchA>SwitchB; 2 not reached\n"));
    EXPECT_THAT(shown, HasSubstr("differs in 10 entries"));
    EXPECT_THAT(shown, HasSubstr("warning: x:3: odd line\n"));
    EXPECT_THAT(routes_text(routes, false), HasSubstr("These tables and others\n")) << "a part of the whole text";
}

struct Against : RemediesReport {
    std::string conclusion(double imbalance, std::size_t lost = 0) {
        ordered_json routes = json();
        routes["bar"] = 1.5;
        Versus other{"updn", {}, {}, 10, {}};
        other.figures.unreachable = lost;
        other.figures.imbalance = imbalance;
        other.figures.group = "SwitchB>SwitchA";
        routes["versus"] = versus_json(Map(), {other});
        const std::string shown = versus_text(routes, false, 200);
        return shown.substr(shown.rfind("\nupdn ") + 1);
    }
};

TEST_F(Against, OthersAreWorseBetterOrTheSame) {
    EXPECT_EQ(conclusion(4), "updn is worse than these tables: 4.00 against 3.00, above the bar, 1.5.\n");
    EXPECT_EQ(conclusion(1.2), "updn is better than these tables: 1.20 against 3.00, below the bar, 1.5.\n");
    EXPECT_EQ(conclusion(3.001), "updn is as good as these tables: 3.00 against 3.00, above the bar, 1.5.\n");
}

TEST_F(Against, NothingIsComparedWhereNothingCrossesALink) {
    ordered_json routes = json();
    routes["versus"] = versus_json(Map(), {{"updn", {}, {}, 10, {}}});
    EXPECT_THAT(versus_text(routes, false, 200), HasSubstr("updn: nothing to compare, as by it nothing that arrives crosses a link"));
    routes["imbalance"] = routes["worst"] = nullptr;
    const std::string none = versus_text(routes, false, 200);
    EXPECT_THAT(none, HasSubstr("as by these tables nothing that arrives crosses a link"));
    EXPECT_THAT(none, ::testing::ContainsRegex("these tables +- +-"));
}

TEST_F(Against, WhatReachesLessIsWorseWhateverItsImbalance) {
    EXPECT_EQ(conclusion(1, 2), "updn is worse than these tables, as it does not reach 2 more; else 1.00 against 3.00, below the bar, "
                                "1.5.\n");
}

TEST_F(Against, OneFileIsCalledTheSameEverywhere) {
    ordered_json routes = json();
    Versus other{"/a/directory/somewhere/of/engines/updn-2026/opensm-lfts.dump", {}, {}, 10, {}};
    other.figures.unreachable = 1;
    other.figures.group = "SwitchB>SwitchA";
    routes["versus"] = versus_json(Map(), {other});
    const std::string shown = versus_text(routes, false, 80);
    std::size_t times = 0;
    for (std::size_t at = 0; (at = shown.find("opensm-lfts.dump", at)) != std::string::npos; ++at) {
        ++times;
        EXPECT_EQ(shown.substr(at + 16 - 27, 27), "...dn-2026/opensm-lfts.dump");
    }
    EXPECT_EQ(times, 4U) << shown;
}

TEST_F(RemediesReport, TheSameTablesAreSaidToBeTheSame) {
    ordered_json routes = json();
    routes["versus"] = versus_json(Map(), {{"f", {}, {}, 0, {}}});
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
