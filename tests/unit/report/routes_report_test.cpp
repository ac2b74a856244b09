// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/fabrics.hpp"
#include "report/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <sstream>

namespace fabric_check {
namespace {

using namespace fabric;
using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

ordered_json collapsed(AdaptiveRouting adaptive = AdaptiveRouting::off) {
    MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    map.adaptive_routing = adaptive;
    Query query = fabric::testing::clients_and_servers(map);
    query.rate_per_node_gib_s = 7.62;
    query.flat_ceiling_gib_s = 22.6;
    Routes routes = analyse(LftView(map), query);
    routes.shapes = shape_loads(LftView(map), query);
    return routes_json(map, routes, query);
}

TEST(RoutesJson, BeginsWithItsSchema) {
    EXPECT_THAT(collapsed().dump(), StartsWith(R"({"schema":"fabric-check/routes/1")"));
}

TEST(RoutesJson, HasEveryKeyOfTheContract) {
    const ordered_json json = collapsed();
    for (const char *key : {"nodes", "lids", "from", "adaptive_routing", "warnings", "unreachable", "imbalance", "groups",
                            "worst", "ceiling", "shapes"})
        EXPECT_TRUE(json.contains(key)) << key;
    for (const char *key : {"switch", "switch_guid", "peers", "available", "used", "lids", "imbalance", "ports"})
        EXPECT_TRUE(json["groups"][0].contains(key)) << key;
    for (const char *key : {"port", "peer", "peer_port", "lids", "rate_gbps"})
        EXPECT_TRUE(json["groups"][0]["ports"][0].contains(key)) << key;
    for (const char *key : {"switch", "available", "used", "imbalance"})
        EXPECT_TRUE(json["worst"].contains(key)) << key;
    for (const char *shape : {"one_to_many", "many_to_one", "many_to_many"})
        for (const char *key : {"max_link_flows", "ideal", "factor", "link"})
            EXPECT_TRUE(json["shapes"][shape].contains(key)) << shape << " " << key;
}

TEST(RoutesJson, SaysWhatTheCollapsedTableDoes) {
    const ordered_json json = collapsed();
    EXPECT_EQ(json["nodes"], "node[01-12]");
    EXPECT_EQ(json["from"], "stor[01-08]");
    EXPECT_EQ(json["lids"].size(), 12U);
    EXPECT_EQ(json["imbalance"], 3.0);
    EXPECT_EQ(json["worst"]["switch"], "SwitchB");
    EXPECT_EQ(json["worst"]["used"], 3);
    EXPECT_EQ(json["worst"]["available"], 8);
    EXPECT_EQ(json["ceiling"]["links"], 3);
    EXPECT_EQ(json["ceiling"]["gib_s"], 67.8);
    EXPECT_EQ(json["ceiling"]["predicted_gib_s"], 52.82);
    const ordered_json &port = json["groups"][0]["ports"][0];
    EXPECT_EQ(port["port"], 25);
    EXPECT_EQ(port["peer"], "SwitchA");
    EXPECT_EQ(port["peer_port"], 13);
    EXPECT_EQ(port["lids"], 6);
    EXPECT_EQ(port["rate_gbps"], 200);
    EXPECT_EQ(port["link"], "SwitchB:25<->SwitchA:13");
    EXPECT_EQ(json["groups"][0]["ports"][7]["lids"], 0) << "idle links are listed";
}

TEST(RoutesJson, WithoutAGroupWorstIsNull) {
    const MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    Query query = fabric::testing::clients_and_servers(map);
    query.services.clear();
    const ordered_json json = routes_json(map, analyse(LftView(map), query), query);
    EXPECT_TRUE(json["worst"].is_null());
    EXPECT_TRUE(json["groups"].empty());
    EXPECT_EQ(json["from"], "");
    EXPECT_FALSE(json.contains("shapes")) << "nobody computed them";
    EXPECT_TRUE(json["ceiling"]["predicted_gib_s"].is_null()) << "nobody asked";
    EXPECT_THAT(routes_text(json, false), HasSubstr("No link between switches is on the way."));
}

TEST(RoutesJson, AnUnknownRateIsNull) {
    MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    map.nodes[1].ports[30].rate = {};
    const Query query = fabric::testing::clients_and_servers(map);
    EXPECT_TRUE(routes_json(map, analyse(LftView(map), query), query)["groups"][0]["ports"][5]["rate_gbps"].is_null());
}

TEST(RoutesJson, HostileDescriptionsStayPrintable) {
    MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    map.nodes[1].description = "Switch\xff\x1b";
    map.index();
    const Query query = fabric::testing::clients_and_servers(map);
    const std::string text = routes_json(map, analyse(LftView(map), query), query).dump();
    EXPECT_THAT(text, HasSubstr("Switch\\\\xff\\\\x1b"));
}

TEST(RoutesJson, NamesWhatDoesNotArrive) {
    MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    map.nodes[1].lft[3] = no_route;
    const Query query = fabric::testing::clients_and_servers(map);
    const ordered_json json = routes_json(map, analyse(LftView(map), query), query);
    ASSERT_EQ(json["unreachable"].size(), 1U);
    EXPECT_EQ(json["unreachable"][0]["lid"], 3);
    EXPECT_EQ(json["unreachable"][0]["node"], "node03");
    EXPECT_EQ(json["unreachable"][0]["why"], "no entry at SwitchB");
    EXPECT_THAT(routes_text(json, false), HasSubstr("  LID 3 node03: no entry at SwitchB\n"));
}

TEST(RoutesText, EachUnreachableLidHasOneLine) {
    ordered_json json = collapsed();
    json["unreachable"] = {{{"lid", 3}, {"node", "node03"}, {"why", "no entry at SwitchB"}},
                           {{"lid", 3}, {"node", "node03"}, {"why", "no entry at SwitchC"}}};
    EXPECT_THAT(routes_text(json, false), HasSubstr("\n  LID 3 node03: no entry at SwitchB, and at 1 other switch\n"));
}

TEST(RoutesText, ShowsBarsIdleLinksAndBothEnds) {
    const std::string text = routes_text(collapsed(), false);
    EXPECT_THAT(text, HasSubstr("services to the job: 12 LIDs"));
    EXPECT_THAT(routes_text(collapsed(), false, 98, false), HasSubstr("services to the nodes: 12 LIDs"));
    EXPECT_THAT(text, HasSubstr("Routes of node[01-12] (12 LIDs, with stor[01-08] as services)\n"));
    EXPECT_THAT(text, HasSubstr("SwitchB>SwitchA, services to the job: 12 LIDs on 3 of 8 links, imbalance 3.00\n"));
    EXPECT_THAT(text, HasSubstr("  SwitchB:25<->SwitchA:13   200 Gb/s     6  ##############################\n"));
    EXPECT_THAT(text, HasSubstr("  SwitchB:27<->SwitchA:15   200 Gb/s     1  #####\n"));
    EXPECT_THAT(text, HasSubstr("  SwitchB:32<->SwitchA:20   200 Gb/s     0  idle\n"));
}

TEST(RoutesText, SaysCeilingAndPredictionInWords) {
    const std::string text = routes_text(collapsed(), false);
    EXPECT_THAT(routes_text(collapsed(), false, 160), HasSubstr("Ceiling: the 3 links used by SwitchB>SwitchA carry at most "
                                                               "67.8 GiB/s of payload; all 8 would carry 180.8.\n"));
    EXPECT_THAT(text, HasSubstr("Prediction for SwitchB>SwitchA: 52.8 GiB/s, when each node moves 7.62 GiB/s"));
}

std::string one_line(std::string text) {
    for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;)
        text.replace(at, 3, " ");
    return text;
}

TEST(RoutesJson, NamesTheLinkBehindTheImbalance) {
    const ordered_json link = collapsed()["imbalance_link"];
    EXPECT_EQ(link["link"], "SwitchB:25<->SwitchA:13");
    EXPECT_EQ(link["switch"], "SwitchB");
    EXPECT_EQ(link["port"], 25);
    EXPECT_EQ(link["flows"], 48);
    EXPECT_EQ(link["even"], 16);
}

ordered_json even() {
    const MapDraft map = fabric::testing::two_switches(fabric::testing::even());
    const Query query = fabric::testing::clients_and_servers(map);
    return routes_json(map, analyse(LftView(map), query), query);
}

TEST(RoutesJson, WithoutAnImbalanceNoLinkIsBehindIt) { EXPECT_TRUE(even()["imbalance_link"].is_null()); }

TEST(RoutesText, TheHeadlineNamesTheLinkAndTheBar) {
    ordered_json json = collapsed();
    const std::string without = one_line(routes_text(json, false));
    EXPECT_THAT(without, HasSubstr("Imbalance 3.00: SwitchB:25<->SwitchA:13 carries 48 flows, 16 if everything were spread evenly.\n"));
    json["bar"] = 1.5;
    EXPECT_THAT(one_line(routes_text(json, false)), HasSubstr("\nImbalance 3.00, above the bar, 1.5: SwitchB:25<->SwitchA:13 carries"));
    json["bar"] = 4;
    EXPECT_THAT(one_line(routes_text(json, false)), HasSubstr("\nImbalance 3.00, below the bar, 4: SwitchB:25"));
}

TEST(RoutesText, TheWorstGroupHasALineOfItsOwn) {
    EXPECT_THAT(one_line(routes_text(collapsed(), false)),
                HasSubstr("\nWorst group, by the LIDs within it alone: SwitchB>SwitchA, services to the job: 12 LIDs on 3 of 8 links "
                          "used, 6 on the busiest; imbalance 3.00.\n"));
}

TEST(RoutesText, AnEvenSpreadIsSaidInWords) {
    ordered_json json = even();
    json["bar"] = 1.5;
    EXPECT_THAT(one_line(routes_text(json, false)),
                HasSubstr("Imbalance 1.00, below the bar, 1.5: no link carries more than an even spread over the whole way would give "
                          "it.\nEvery single group spreads its LIDs as evenly as they allow.\n"));
}

TEST(RoutesText, AGroupMayBeUnevenWhereTheWholeIsNot) {
    ordered_json json = even();
    json["worst"]["imbalance"] = 2.0;
    const std::string text = one_line(routes_text(json, false));
    EXPECT_THAT(text, HasSubstr("would give it; a single group's figure may still be higher, where few LIDs meet in it.\n"));
    EXPECT_THAT(text, HasSubstr("imbalance 2.00.\n"));
}

TEST(RoutesText, TheWholeMayBeUnevenWhereNoGroupIs) {
    ordered_json json = collapsed();
    json["worst"]["imbalance"] = 1.0;
    EXPECT_THAT(one_line(routes_text(json, false)),
                HasSubstr("Every single group spreads its LIDs as evenly as they allow: the flows pile up where the choices of several "
                          "switches meet.\n"));
}

TEST(RoutesText, IdleLinksAreThoseThatTheLidsCouldUse) {
    EXPECT_THAT(one_line(routes_text(collapsed(), false)),
                HasSubstr("Of 16 links between switches that these LIDs could use 5 carry nothing; most idle at SwitchB: 3 of 8 used, "
                          "with 1 to 6 LIDs each.\n"));
    const MapDraft map = fabric::testing::two_switches({25, 26, 27, 28});
    Query query = fabric::testing::clients_and_servers(map);
    query.job.resize(4);
    ordered_json json = routes_json(map, analyse(LftView(map), query), query);
    EXPECT_EQ(json["links"]["idle"], 4) << "as ever: of those there are";
    EXPECT_EQ(json["links"]["usable"], 12);
    EXPECT_TRUE(json["links"]["most_idle"].is_null());
    EXPECT_THAT(routes_text(json, false), Not(HasSubstr("carry nothing"))) << "four LIDs use four links of eight";
    const MapDraft fewer = fabric::testing::two_switches({25, 25, 26, 26});
    json = routes_json(fewer, analyse(LftView(fewer), query), query);
    EXPECT_THAT(one_line(routes_text(json, false)), HasSubstr("most idle at SwitchB: 2 of 4 used, with 2 LIDs each.\n"));
}

TEST(RoutesText, LabelsStaticRoutesUnlessAdaptiveRoutingIsOff) {
    EXPECT_THAT(routes_text(collapsed(AdaptiveRouting::off), false), Not(HasSubstr("packets may take others")));
    EXPECT_THAT(routes_text(collapsed(AdaptiveRouting::on), false),
                HasSubstr("Static route; packets may take others: adaptive routing is on."));
    EXPECT_THAT(routes_text(collapsed(AdaptiveRouting::unknown), false),
                HasSubstr("Static route; packets may take others: whether adaptive routing is on is unknown; where"));
}

TEST(RoutesText, EveryFigureIsLabelledUnlessAdaptiveRoutingIsOff) {
    const ordered_json off = collapsed(AdaptiveRouting::off), unknown = collapsed(AdaptiveRouting::unknown);
    EXPECT_TRUE(off["label"].is_null());
    EXPECT_FALSE(off["worst"].contains("label"));
    for (const ordered_json *result : {&unknown, &unknown["worst"], &unknown["ceiling"], &unknown["groups"][0],
                                       &unknown["groups"][1], &unknown["shapes"]["one_to_many"]})
        EXPECT_EQ((*result)["label"], "static route; packets may take others") << result->dump();
}

TEST(RoutesText, TheLabelAndItsRemedyStandOnceInTheHead) {
    const std::string text = one_line(routes_text(collapsed(AdaptiveRouting::unknown), false));
    EXPECT_THAT(text, HasSubstr("adaptive_routing = \"on\" or \"off\" in the configuration says so.\nImbalance 3.00"));
    EXPECT_THAT(text, Not(HasSubstr("static route")));
    EXPECT_EQ(text.find("packets may take others"), text.rfind("packets may take others"));
}

TEST(RoutesJson, RailsAreShownWhereThereIsMoreThanOne) {
    const MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    const Query query = fabric::testing::clients_and_servers(map);
    Routes routes = analyse(LftView(map), query);
    EXPECT_FALSE(routes_json(map, routes, query)["groups"][0].contains("rail"));
    EXPECT_THAT(routes_text(routes_json(map, routes, query), false), Not(HasSubstr("rail")));
    routes.groups[0].rail = 1;
    const ordered_json json = routes_json(map, routes, query);
    EXPECT_EQ(json["groups"][0]["rail"], 1);
    EXPECT_FALSE(json["groups"][1].contains("rail")) << "services are talked to by all rails";
    EXPECT_EQ(json["worst"]["rail"], 1);
    EXPECT_TRUE(json["rails"].is_null()) << "one card to a host";
    EXPECT_THAT(routes_text(json, false), HasSubstr("SwitchB>SwitchA, rail 1, services to the job: 12 LIDs"));
}

TEST(RoutesText, RailsAreCalledByTheirCards) {
    ordered_json json = collapsed();
    json["rails"] = {"mlx5_0", "mlx5_3"};
    json["groups"][0]["rail"] = json["worst"]["rail"] = 1;
    const std::string text = one_line(routes_text(json, false));
    EXPECT_THAT(text, HasSubstr("\nSwitchB>SwitchA, rail mlx5_3, services to the job: 12 LIDs"));
    EXPECT_THAT(text, HasSubstr("it alone: SwitchB>SwitchA, rail mlx5_3, services"));
}

TEST(RoutesJson, RailsHaveTheNamesOfTheirCardsByNumber) {
    fabric::testing::Builder b;
    const auto a = b.add_switch("SwitchA", 8, 41), z = b.add_switch("SwitchB", 8, 42);
    b.link(a, 7, z, 7);
    unsigned lid = 1;
    for (const auto &[name, at] : {std::pair("node1", a), std::pair("node2", z)})
        for (unsigned card = 0; card < 2; ++card)
            b.attach(b.add_host(name + std::string(" mlx5_") + std::to_string(card), std::uint16_t(lid++)), at, card + 1);
    for (unsigned other = 1; other <= 4; ++other)
        b.route(other <= 2 ? z : a, other, 7);
    b.map.index();
    const Map map(b.map);
    std::vector<std::string> missing;
    Query query;
    query.job = endpoints_by_name(map, {"node1", "node2"}, missing);
    EXPECT_EQ(routes_json(map, analyse(LftView(map), query), query)["rails"].dump(), R"(["mlx5_0","mlx5_1"])");
    query.rails_apart = false;
    EXPECT_TRUE(routes_json(map, analyse(LftView(map), query), query)["rails"].is_null());
}

TEST(RoutesText, AllHostsAreCountedNotListed) {
    ordered_json json = collapsed();
    EXPECT_EQ(json["node_count"], 12);
    json["all_hosts"] = true;
    EXPECT_THAT(routes_text(json, false), StartsWith("Routes of all 12 hosts (12 LIDs, with stor[01-08] as services)\n"));
}

TEST(RoutesText, ManyToOneSaysWhyNoEvenSpreadStandsBeside) {
    const MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    Query query = fabric::testing::clients_and_servers(map);
    query.job.insert(query.job.end(), query.services.begin(), query.services.end());
    query.services.clear();
    query.want_shapes = true;
    ordered_json json = routes_json(map, analyse(LftView(map), query), query);
    EXPECT_THAT(one_line(routes_text(json, false, 160)), ::testing::ContainsRegex("many to one   12 on .*; not less by spreading: one LID "
                                                                                  "goes whole over one link"));
    EXPECT_THAT(routes_text(json, false), HasSubstr("Effective bisection"));
    EXPECT_THAT(routes_text(json, false), Not(HasSubstr("0.55"))) << "of a small job";
    for (int i = 0; i < 100; ++i)
        json["lids"].push_back(1000 + i);
    EXPECT_THAT(one_line(routes_text(json, false)), HasSubstr("static routes have 0.55 to 0.60."));
}

TEST(RoutesText, SaysWhichMapAndHowOld) {
    ordered_json json = collapsed();
    json["map"] = {{"source", "live"}, {"built", 1700000000}, {"id", nullptr}, {"file", "/spool/map/map.fcm"}, {"age_s", 540}};
    ::setenv("TZ", "UTC", 1); // NOLINT(concurrency-mt-unsafe)
    ::tzset();
    EXPECT_THAT(routes_text(json, false), HasSubstr("Map: live, built 2023-11-14T22:13:20+00:00 (9 min old), /spool/map/map.fcm\n"));
    ::unsetenv("TZ"); // NOLINT(concurrency-mt-unsafe)
    ::tzset();
    json["map"] = {{"source", "a.topology, b.lfts"}, {"built", nullptr}};
    EXPECT_THAT(routes_text(json, false), HasSubstr("Map: a.topology, b.lfts\n"));
}

TEST(RoutesText, ALongListOfNamesIsShortenedAndCounted) {
    ordered_json json = collapsed();
    std::string names = "a0x";
    for (int i = 1; i < 300; ++i)
        names += "," + std::string(1, char('a' + i % 26)) + std::to_string(i) + "x";
    json["nodes"] = names;
    EXPECT_THAT(routes_text(json, false), HasSubstr("Routes of 300 nodes: a0x,b1x,"));
    EXPECT_THAT(routes_text(json, false), Not(HasSubstr("z51x")));
    json["nodes"] = "rack[1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43]";
    EXPECT_THAT(routes_text(json, false), HasSubstr("Routes of 22 nodes: rack["));
}

TEST(RoutesText, PartialTablesAreSaidBeforeTheImbalance) {
    MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    map.nodes[1].lft[3] = no_route;
    const Query query = fabric::testing::clients_and_servers(map);
    const std::string text = one_line(routes_text(routes_json(map, analyse(LftView(map), query), query), false));
    const auto caveat = text.find("1 LID is unreachable from somewhere by these tables: what follows is of the routes that arrive.\n");
    ASSERT_NE(caveat, std::string::npos) << text;
    EXPECT_LT(caveat, text.find("Imbalance "));
}

TEST(RoutesText, OfPartialTablesAnEvenRestIsOfWhatArrives) {
    MapDraft map = fabric::testing::two_switches(fabric::testing::even());
    map.nodes[1].lft[3] = no_route;
    const Query query = fabric::testing::clients_and_servers(map);
    EXPECT_THAT(one_line(routes_text(routes_json(map, analyse(LftView(map), query), query), false)),
                HasSubstr("Imbalance 1.00: of the routes that arrive, no link carries more"));
}

/// 300 LIDs, each lost at 50 switches.
ordered_json much_lost() {
    const MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    Query query = fabric::testing::clients_and_servers(map);
    Routes routes = analyse(LftView(map), query);
    for (unsigned lid = 1; lid <= 300; ++lid)
        for (unsigned at = 0; at < 50; ++at)
            routes.unreachable.push_back({std::uint16_t(lid), "no entry at S" + std::to_string(at), 0});
    return routes_json(map, routes, query);
}

TEST(RoutesJson, CountsEveryUnreachableLidAndListsEachAtLeastOnce) {
    const ordered_json json = much_lost();
    EXPECT_EQ(json["unreachable_lids"], 300);
    std::set<int> listed;
    for (const ordered_json &one : json["unreachable"])
        listed.insert(one["lid"].get<int>());
    EXPECT_EQ(listed.size(), 300U);
    EXPECT_LE(json["unreachable"].size(), 10000U);
    EXPECT_EQ(json["unreachable"].size() + json["unreachable_left_out"].get<std::size_t>(), 15000U);
}

TEST(RoutesText, UnreachableLidsAreCountedOnceEach) {
    const std::string text = one_line(routes_text(much_lost(), false));
    EXPECT_THAT(text, HasSubstr("300 LIDs are unreachable from somewhere by these tables"));
    EXPECT_THAT(text, HasSubstr("LID 1 node01: no entry at S0, and at 32 or more other switches"));
    EXPECT_THAT(text, HasSubstr("and 280 more LIDs; --json lists every one\n"));
    EXPECT_THAT(text, Not(HasSubstr("LID 21 ")));
    ordered_json all = much_lost();
    all["unreachable_lids"] = 20;
    EXPECT_THAT(routes_text(all, false), HasSubstr("All 20 LIDs are unreachable"));
}

TEST(RoutesText, NoLineIsWiderThanAsked) {
    MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    map.nodes[1].lft[3] = no_route;
    const Query query = fabric::testing::clients_and_servers(map);
    ordered_json json = routes_json(map, analyse(LftView(map), query), query);
    json["nodes"] = "rack01-node[01-12],rack02-node[01-12],rack03-node[01-12]";
    json["unreachable"][0]["why"] = "no entry at the second switch of the third rack in the room beyond";
    json["map"] = {{"source", "the topology of last week, and the tables of the week before that"}, {"built", 1700000000}};
    for (const bool linked : {true, false}) {
        if (!linked)
            json["worst"] = nullptr;
        std::istringstream lines(routes_text(json, false, 80));
        for (std::string line; std::getline(lines, line);)
            EXPECT_LE(line.size(), 80U) << line;
    }
}

TEST(RoutesText, ShapesWithoutALinkAreOneLine) {
    const std::string text = routes_text(collapsed(), false);
    EXPECT_THAT(text, HasSubstr("\nNo link between switches carries traffic inside the job.\n"));
    EXPECT_THAT(text, Not(HasSubstr("none:")));
}

TEST(RoutesJson, WorstAndCeilingAreOfTheGroupAsked) {
    const MapDraft map = fabric::testing::two_switches(fabric::testing::collapsed());
    Query query = fabric::testing::clients_and_servers(map);
    query.flat_ceiling_gib_s = 10;
    const Routes routes = analyse(LftView(map), query);
    const ordered_json json = routes_json(map, routes, query, 1);
    EXPECT_EQ(json["worst"]["name"], "SwitchA>SwitchB");
    EXPECT_EQ(json["ceiling"]["links"], routes.groups[1].used);
    EXPECT_EQ(routes_json(map, routes, query, 99)["worst"], routes_json(map, routes, query)["worst"]) << "no such group";
}

class OtherRoutes : public ::testing::Test {
protected:
    ordered_json warnings(const ordered_json &report) {
        ordered_json routes = collapsed();
        warn_of_other_routes(report, routes);
        return routes["warnings"];
    }
};

TEST_F(OtherRoutes, TheSameOnesAreNoWarning) { EXPECT_EQ(warnings({{"routes", collapsed()}}), ordered_json::array()); }

TEST_F(OtherRoutes, AnotherTableIsAWarningWithBothImbalances) {
    ordered_json before = collapsed();
    before["groups"][0]["ports"][0]["lid_list"].push_back(99);
    before["imbalance"] = 1.5;
    EXPECT_THAT(warnings({{"routes", before}}).dump(), HasSubstr("the imbalance was 1.50, here it is 3.00"));
}

TEST_F(OtherRoutes, AChangeInMidJobIsAWarning) {
    EXPECT_THAT(warnings({{"routes", collapsed()}, {"routes_changed", {"SwitchB: LID 3"}}}).dump(),
                HasSubstr("routes changed while the job ran"));
}

TEST_F(OtherRoutes, AReportWithoutRoutesIsAWarning) {
    EXPECT_THAT(warnings({{"routes", nullptr}}).dump(), HasSubstr("the job's report has no routes"));
    EXPECT_THAT(warnings(nullptr).dump(), HasSubstr("the job's report has no routes"));
}

TEST_F(OtherRoutes, OtherServicesAreAnotherQuestion) {
    ordered_json before = collapsed();
    before["from"] = "";
    before["imbalance"] = 1.0;
    EXPECT_EQ(warnings({{"routes", before}}), ordered_json::array());
}

TEST(RoutesText, ColoursOnlyWhenAsked) {
    EXPECT_THAT(routes_text(collapsed(), false), Not(HasSubstr("\x1b")));
    EXPECT_THAT(routes_text(collapsed(), true), HasSubstr("\x1b[31m3.00\x1b[0m"));
}

TEST(RoutesText, TakesOddJsonWithoutThrowing) {
    for (const char *odd : {"null", "[]", "{}", R"({"groups":5,"worst":[],"unreachable":[1,null]})",
                            R"({"groups":[{"ports":[{"lids":"many","link":7}],"imbalance":null}],"ceiling":{"links":-1}})"})
        EXPECT_NO_THROW(routes_text(ordered_json::parse(odd), false)) << odd;
}

} // namespace
} // namespace fabric_check
