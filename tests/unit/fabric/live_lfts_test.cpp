// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/live_lfts.hpp"

#include "fabric/fabrics.hpp"
#include "mad/fake_switches.hpp"

#include <gtest/gtest.h>

namespace fabric_check::fabric {
namespace {

namespace ft = testing;
using mad::FakeSwitches;
using mad::MadClass;

constexpr std::uint32_t a = 0, b = 1; // SwitchA, SwitchB

TEST(LiveLfts, BlocksAlongTheRouteAreReadOnceEach) {
    const MapDraft map = ft::two_switches(ft::even());
    FakeSwitches fabric(map);
    mad::Engine engine(fabric.transport);
    const LiveLfts live = read_live_lfts(engine, map, {{1, {b}}, {2, {b}}, {21, {a}}}, Deadline::never());
    EXPECT_EQ(live.switches, (std::vector<std::uint32_t>{a, b}));
    ASSERT_EQ(live.blocks.size(), 2U);
    EXPECT_EQ(fabric.transport.sent.size(), 2U);
    EXPECT_EQ(live.blocks[0].switch_guid, map.nodes[a].guid);
    EXPECT_EQ(live.blocks[0].ports[1], 1);
    EXPECT_EQ(live.blocks[1].ports[1], 25);
    EXPECT_TRUE(live.problems.empty());
}

TEST(LiveLfts, EachSwitchIsToldOfOnceAndBeforeItsBlocksAreAsked) {
    const MapDraft map = ft::two_switches(ft::even());
    FakeSwitches fabric(map);
    mad::Engine engine(fabric.transport);
    std::vector<std::pair<std::uint32_t, std::size_t>> told; // switch, MADs sent until then
    read_live_lfts(engine, map, {{1, {b}}, {2, {b}}, {21, {a}}}, Deadline::never(),
                   [&](std::uint32_t node) { told.emplace_back(node, fabric.transport.sent.size()); });
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0], (std::pair<std::uint32_t, std::size_t>{b, 0}));
    EXPECT_EQ(told[1].first, a);
}

TEST(LiveLfts, LiveTablesAreFollowedNotTheMaps) {
    ft::Builder old;
    const auto leaf = old.add_switch("leaf", 4, 10), s1 = old.add_switch("spine1", 4, 11),
               s2 = old.add_switch("spine2", 4, 12), far = old.add_switch("far", 4, 13);
    old.link(leaf, 1, s1, 1);
    old.link(leaf, 2, s2, 1);
    old.link(far, 1, s1, 2);
    old.link(far, 2, s2, 2);
    old.attach(old.add_host("node01", 1), far, 3);
    for (const auto at : {s1, s2})
        old.route(at, 1, 2);
    old.route(leaf, 1, 1);
    old.map.index();
    MapDraft now = old.map;
    now.nodes[leaf].lft[1] = 2; // re-routed since
    now.index();
    FakeSwitches fabric(now);
    mad::Engine engine(fabric.transport);
    const LiveLfts live = read_live_lfts(engine, old.map, {{1, {leaf}}}, Deadline::never());
    EXPECT_EQ(live.switches, (std::vector<std::uint32_t>{leaf, s2, far}));
}

TEST(LiveLfts, SilentSwitchIsFollowedByTheMapAndIsAProblem) {
    const MapDraft map = ft::two_switches(ft::even());
    FakeSwitches fabric(map);
    fabric.silent = {{MadClass::smp, 42}};
    mad::Engine engine(fabric.transport);
    const LiveLfts live = read_live_lfts(engine, map, {{1, {b}}}, Deadline::never());
    EXPECT_EQ(live.switches, (std::vector<std::uint32_t>{a, b})) << "SwitchA is reached over the map's table";
    EXPECT_EQ(live.blocks.size(), 1U);
    ASSERT_EQ(live.problems.size(), 1U);
    EXPECT_EQ(live.problems[0].where, "SwitchB");
    EXPECT_EQ(live.problems[0].reason, "forwarding table, LIDs 0-63: no answer; the map's was used");
}

TEST(LiveLfts, LoopsDeadEndsAndForeignPortsEndTheWalk) {
    MapDraft map = ft::two_switches(ft::even());
    map.nodes[a].lft[1] = 13;       // back to B, which sends it to A again
    map.nodes[b].lft[2] = no_route; // dead end
    map.nodes[b].lft[3] = 200;      // no such port
    map.nodes[b].lft[4] = 0;        // the switch itself
    map.nodes[b].lft[5] = 40;       // nothing connected
    FakeSwitches fabric(map);
    mad::Engine engine(fabric.transport);
    std::vector<Destination> all;
    for (std::uint16_t lid = 1; lid <= 5; ++lid)
        all.push_back({lid, {b, no_node, 99999}});
    all.push_back({0xbfff, {b}});
    const LiveLfts live = read_live_lfts(engine, map, all, Deadline::never());
    EXPECT_EQ(live.switches, (std::vector<std::uint32_t>{a, b}));
    EXPECT_EQ(live.blocks.size(), 3U) << "both switches' block 0, and SwitchB's last";
}

TEST(LiveLfts, SwitchWithoutALidIsNotAsked) {
    MapDraft map = ft::two_switches(ft::even());
    map.nodes[b].lid = 0;
    FakeSwitches fabric(map);
    mad::Engine engine(fabric.transport);
    const LiveLfts live = read_live_lfts(engine, map, {{1, {b}}}, Deadline::never());
    EXPECT_EQ(live.problems.size(), 1U);
    for (const mad::Sent &sent : fabric.transport.sent)
        EXPECT_NE(sent.to.lid, 0);
}

TEST(LiveLfts, DeadlineLeavesWhatWasReadByThen) {
    const MapDraft map = ft::two_switches(ft::even());
    FakeSwitches fabric(map);
    fabric.silent = {{MadClass::smp, 42}};
    mad::Engine engine(fabric.transport);
    const LiveLfts live =
        read_live_lfts(engine, map, {{1, {a, b}}}, Deadline::after(std::chrono::milliseconds(100)));
    EXPECT_EQ(live.blocks.size(), 1U);
    EXPECT_EQ(live.problems.size(), 1U);
    EXPECT_LE(fabric.transport.elapsed(), std::chrono::milliseconds(110));
}

} // namespace
} // namespace fabric_check::fabric
