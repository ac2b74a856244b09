// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/scout.hpp"

#include "fabric/fabrics.hpp"
#include "mad/fake_switches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check {
namespace {

namespace ft = fabric::testing;
using mad::FakeSwitches;
using mad::MadClass;

struct ScoutTest : testing::Test {
    fabric::MapDraft map = ft::two_switches(ft::collapsed());
    ScoutRequest request;
    Config config;
    ScoutTest() {
        request.node = "node01";
        request.job_nodes = ft::names("node", 12);
        request.services = ft::names("stor", 8);
    }
    ScoutSnapshot run(FakeSwitches &fabric) {
        mad::Engine engine(fabric.transport, mad::engine_options(config.mad));
        auto snapshot = scout(engine, map, request, config);
        EXPECT_TRUE(snapshot) << snapshot.error().message;
        return std::move(snapshot).value();
    }
};

std::vector<unsigned> ports_of(const ScoutSnapshot &snapshot, const std::string &name) {
    std::vector<unsigned> ports;
    for (const SwitchPort &port : snapshot.ports)
        if (port.switch_name == name)
            ports.push_back(port.port);
    return ports;
}

const SwitchPort *find(const ScoutSnapshot &snapshot, const std::string &name, unsigned number) {
    for (const SwitchPort &port : snapshot.ports)
        if (port.switch_name == name && port.port == number)
            return &port;
    return nullptr;
}

std::vector<unsigned> range(unsigned first, unsigned last) {
    std::vector<unsigned> all;
    for (unsigned i = first; i <= last; ++i)
        all.push_back(i);
    return all;
}

TEST_F(ScoutTest, FacingPortsAndWholeGroupsAreReadAtBothEnds) {
    FakeSwitches fabric(map);
    const ScoutSnapshot snapshot = run(fabric);
    auto at_b = range(1, 8);
    const auto links = range(25, 32);
    at_b.insert(at_b.end(), links.begin(), links.end());
    EXPECT_EQ(ports_of(snapshot, "SwitchA"), range(1, 20));
    EXPECT_EQ(ports_of(snapshot, "SwitchB"), at_b);
    EXPECT_EQ(snapshot.node, "node01");
    EXPECT_EQ(snapshot.map_id, fabric::Map(map).id());
    EXPECT_EQ(snapshot.lfts.size(), 2U);
    EXPECT_EQ(snapshot.adaptive_routing, AdaptiveRouting::off);
    EXPECT_TRUE(snapshot.problems.empty());
    const SwitchPort *port = find(snapshot, "SwitchB", 25);
    ASSERT_NE(port, nullptr);
    EXPECT_EQ(port->switch_lid, 42);
    EXPECT_EQ(port->state, "ACTIVE");
    EXPECT_EQ(port->rate.speed, "HDR");
    EXPECT_EQ(port->counters.at("SymbolErrorCounter"), Reading::of(FakeSwitches::mark(42, 25), 16));
}

TEST_F(ScoutTest, ASwitchOnTheWayThatIsSilentCostsOneTimeoutAndItsPortsAreUnread) {
    ft::Builder built;
    const auto near = built.add_switch("leaf01", 4, 10), spine = built.add_switch("spine01", 4, 11),
               far = built.add_switch("leaf02", 4, 12);
    built.link(near, 3, spine, 1);
    built.link(far, 3, spine, 2);
    built.attach(built.add_host("node01", 1), near, 1);
    built.attach(built.add_host("node02", 2), far, 1);
    built.route(near, 2, 3);
    built.route(spine, 2, 2);
    built.route(far, 1, 3);
    built.route(spine, 1, 1);
    built.map.index();
    map = built.map;
    request.job_nodes = {"node01", "node02"};
    request.services.clear();
    FakeSwitches fabric(map);
    fabric.silent = {{MadClass::smp, 11}, {MadClass::gmp, 11}};
    const ScoutSnapshot snapshot = run(fabric);
    // Its tables and its counters are both silent for a timeout and a retry: at once, not one after the other.
    EXPECT_LE(fabric.transport.elapsed(), std::chrono::milliseconds(1100));
    for (const unsigned number : {1U, 2U}) {
        const SwitchPort *port = find(snapshot, "spine01", number);
        ASSERT_NE(port, nullptr);
        EXPECT_EQ(port->counters.at("SymbolErrorCounter"), Reading::missing(Absence::timed_out));
    }
    EXPECT_TRUE(find(snapshot, "leaf01", 3)->counters.at("SymbolErrorCounter").value);
}

TEST_F(ScoutTest, JobOnOneSwitchReadsNoInterSwitchLink) {
    request.job_nodes = {"node01", "node02"};
    request.services.clear();
    FakeSwitches fabric(map);
    const ScoutSnapshot snapshot = run(fabric);
    EXPECT_EQ(ports_of(snapshot, "SwitchA"), range(1, 2));
    EXPECT_TRUE(ports_of(snapshot, "SwitchB").empty());
}

TEST_F(ScoutTest, ReceivingEndOfALinkIsReadThoughNothingIsSentBackThere) {
    for (std::uint16_t lid = 21; lid <= 28; ++lid)
        map.nodes[0].lft[lid] = 13; // A sends everything through one link only; B uses 25-27
    request.services = {"stor01"};
    FakeSwitches fabric(map);
    const ScoutSnapshot snapshot = run(fabric);
    EXPECT_NE(find(snapshot, "SwitchA", 14), nullptr) << "errors of SwitchB:26's packets count there";
}

TEST_F(ScoutTest, LiveTablesDecideNotTheMaps) {
    FakeSwitches fabric(map);
    fabric.map.nodes[1].lft[1] = 32;
    const ScoutSnapshot snapshot = run(fabric);
    ASSERT_EQ(snapshot.lfts.size(), 2U);
    EXPECT_EQ(snapshot.lfts[1].ports[1], 32);
}

TEST_F(ScoutTest, SilentPmaIsReadingsWithAReasonNotAMissingPort) {
    FakeSwitches fabric(map);
    fabric.silent = {{MadClass::gmp, 41}};
    const ScoutSnapshot snapshot = run(fabric);
    const SwitchPort *port = find(snapshot, "SwitchA", 3);
    ASSERT_NE(port, nullptr);
    EXPECT_EQ(port->counters.at("SymbolErrorCounter"), Reading::missing(Absence::timed_out));
    EXPECT_EQ(port->state, "ACTIVE");
    EXPECT_TRUE(find(snapshot, "SwitchB", 3)->counters.at("SymbolErrorCounter").value);
}

TEST_F(ScoutTest, DeadSwitchIsNamedAndTheOtherIsReadWithinTheDeadline) {
    FakeSwitches fabric(map);
    fabric.silent = {{MadClass::smp, 42}, {MadClass::gmp, 42}};
    request.deadline = Deadline::after(std::chrono::milliseconds(1500));
    const ScoutSnapshot snapshot = run(fabric);
    // The fake's clock runs apart from the deadline's: three fifths for the walk, and then all of it anew.
    EXPECT_LE(fabric.transport.elapsed(), std::chrono::milliseconds(900 + 1500 + 2));
    EXPECT_EQ(ports_of(snapshot, "SwitchA"), range(1, 20)) << "the map's tables stand in for SwitchB's";
    EXPECT_TRUE(find(snapshot, "SwitchA", 20)->counters.at("SymbolErrorCounter").value);
    EXPECT_EQ(find(snapshot, "SwitchB", 25)->counters.at("SymbolErrorCounter"), Reading::missing(Absence::timed_out));
    std::vector<std::string> reasons;
    for (const Problem &problem : snapshot.problems) {
        EXPECT_EQ(problem.where, "SwitchB");
        reasons.push_back(problem.reason);
    }
    EXPECT_THAT(reasons,
                testing::UnorderedElementsAre(
                    "forwarding table, LIDs 0-63: no answer; the map's was used",
                    "PortInfo of port 1, 2, 3, 4, 5, 6, 7, 8, 25, 26, 27, 28, 29, 30, 31, 32: no answer"));
    EXPECT_EQ(snapshot.adaptive_routing, AdaptiveRouting::unknown);
}

TEST_F(ScoutTest, PassedDeadlineStillNamesEveryFacingPort) {
    FakeSwitches fabric(map);
    request.deadline = Deadline::after(std::chrono::milliseconds(0));
    const ScoutSnapshot snapshot = run(fabric);
    EXPECT_TRUE(fabric.transport.sent.empty());
    EXPECT_EQ(ports_of(snapshot, "SwitchA").size(), 20U);
    for (const SwitchPort &port : snapshot.ports)
        EXPECT_EQ(port.counters.at("SymbolErrorCounter"), Reading::missing(Absence::timed_out));
}

TEST_F(ScoutTest, ConfiguredAdaptiveRoutingAsksNoVendorAttribute) {
    config.adaptive_routing = "on";
    FakeSwitches fabric(map);
    EXPECT_EQ(run(fabric).adaptive_routing, AdaptiveRouting::on);
    for (const mad::Sent &sent : fabric.transport.sent)
        EXPECT_NE(sent.attribute, mad::attribute::adaptive_routing_info);
}

TEST_F(ScoutTest, Fdr10OfTheMapOutranksQdrOfPortInfo) {
    map.nodes[0].ports[1].rate = {4, "FDR10", 40, 10.3125};
    FakeSwitches fabric(map);
    fabric.port0_capmask = 0;
    const ScoutSnapshot snapshot = run(fabric);
    EXPECT_EQ(find(snapshot, "SwitchA", 1)->rate.speed, "FDR10");
    EXPECT_EQ(find(snapshot, "SwitchA", 2)->rate.speed, "QDR");
}

TEST_F(ScoutTest, BrokenUmadIsAnError) {
    FakeSwitches fabric(map);
    fabric.transport.broken = Error{Errc::unavailable, "umad: cannot receive: No such device"};
    mad::Engine engine(fabric.transport);
    const auto snapshot = scout(engine, map, request, config);
    ASSERT_FALSE(snapshot);
    EXPECT_EQ(snapshot.error().message, "umad: cannot receive: No such device");
}

TEST_F(ScoutTest, HostsAreMatchedByPortGuidAndOnlyThenByDescription) {
    request.job_nodes = {"renamed", "node02", "node99"};
    request.services = {"stor01", "node02"};
    request.known_guids = {{"renamed", {map.nodes[2].ports[1].guid}}, {"node02", {0xdead}}};
    std::vector<Problem> problems;
    const auto hosts = match_hosts(map, request, problems);
    ASSERT_EQ(hosts.size(), 3U);
    EXPECT_EQ(hosts[0].node, "renamed");
    EXPECT_EQ(hosts[0].lid, 1);
    EXPECT_EQ(hosts[0].by, MatchedBy::guid);
    EXPECT_EQ(hosts[1].node, "node02");
    EXPECT_EQ(hosts[1].lid, 2);
    EXPECT_EQ(hosts[1].by, MatchedBy::description) << "its known GUID is not in the map";
    EXPECT_FALSE(hosts[1].service) << "a service inside the job is the job's";
    EXPECT_TRUE(hosts[2].service);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].where, "node99");
    EXPECT_EQ(problems[0].reason,
              "not in the map, neither by port GUID nor by node description (fabric-check map build)");
}

TEST_F(ScoutTest, EveryRailOfAHostIsMatched) {
    ft::Builder builder;
    const auto leaf = builder.add_switch("leaf", 4, 10);
    const auto host = builder.add_host("twin mlx5_0", 1, 2);
    builder.attach(host, leaf, 1, 1);
    builder.attach(host, leaf, 2, 2);
    builder.map.index();
    request.job_nodes = {"twin"};
    request.services.clear();
    std::vector<Problem> problems;
    EXPECT_EQ(match_hosts(builder.map, request, problems).size(), 2U);
}

TEST_F(ScoutTest, HostWithoutALidIsAProblemOfItsOwn) {
    map.nodes[2].ports[1].lid = 0;
    map.index();
    request.job_nodes = {"node01"};
    request.services.clear();
    request.known_guids = {{"node01", {map.nodes[2].ports[1].guid}}};
    std::vector<Problem> problems;
    EXPECT_TRUE(match_hosts(map, request, problems).empty());
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].reason,
              "its ports have no LID in the map: they were down when it was built (fabric-check map build)");
}

TEST_F(ScoutTest, QueryHasCeilingsAndFindsPortsByLidWhereThereIsNoGuid) {
    config.payload_ceilings["4X HDR"] = 20;
    const auto query = query_from(
        map, {{"node01", 0, 1, false, MatchedBy::guid}, {"stor01", map.nodes[14].ports[1].guid, 999, true,
                                                         MatchedBy::guid},
              {"gone", 0xdead, 5000, false, MatchedBy::guid}},
        config);
    EXPECT_DOUBLE_EQ(query.ceilings.at("4X HDR"), 20);
    ASSERT_EQ(query.job.size(), 1U);
    EXPECT_EQ(query.job[0].node, 2U);
    EXPECT_EQ(query.job[0].port, 1);
    ASSERT_EQ(query.services.size(), 1U);
    EXPECT_EQ(query.services[0].node, 14U) << "by port GUID, though its LID is another now";
    EXPECT_EQ(query.services[0].lid, 999);
}

} // namespace
} // namespace fabric_check
