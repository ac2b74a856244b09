// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/reach.hpp"

#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <queue>
#include <random>

namespace fabric_check::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Builder;

TEST(PortSet, HoldsEveryPortNumber) {
    PortSet set;
    EXPECT_THAT(set.ports(), IsEmpty());
    for (const unsigned port : {0U, 63U, 64U, 255U})
        set.insert(std::uint8_t(port));
    EXPECT_THAT(set.ports(), ElementsAre(0, 63, 64, 255));
    EXPECT_EQ(set.size(), 4U);
    EXPECT_TRUE(set.contains(64));
    EXPECT_FALSE(set.contains(65));
}

TEST(SwitchGraph, HasLinksBetweenSwitchesThatBothEndsKnow) {
    Builder b;
    const auto a = b.add_switch("a", 6, 1), host = b.add_host("h mlx5_0", 9), z = b.add_switch("z", 6, 2);
    b.link(a, 1, z, 1);
    b.link(a, 2, z, 2);
    b.attach(host, a, 3);
    b.link(a, 4, a, 5);               // a cable to itself
    b.map.nodes[z].ports[2] = {};     // half known
    b.map.index();
    const LftView lfts{Map(b.map)};
    const SwitchGraph graph(lfts);
    ASSERT_EQ(graph.size(), 2U);
    EXPECT_EQ(graph.node(graph.number(z)), z);
    EXPECT_EQ(graph.number(host), SwitchGraph::nowhere);
    ASSERT_EQ(graph.edges(graph.number(a)).size(), 1U);
    EXPECT_EQ(graph.edges(graph.number(a))[0].port, 1);
    EXPECT_EQ(graph.edges()[graph.edges(graph.number(a))[0].mirror].to, graph.number(a));
    EXPECT_EQ(graph.next(graph.number(a))[1], graph.number(z));
    EXPECT_EQ(graph.next(graph.number(a))[2], graph.number(z)) << "a table may still send there";
    for (const unsigned port : {0U, 3U, 4U, 5U, 6U, 7U, 255U})
        EXPECT_EQ(graph.next(graph.number(a))[port], SwitchGraph::nowhere) << port;
}

TEST(SwitchGraph, AnEdgeWhoseOtherEndIsNoneIsNoEdge) {
    Builder b;
    const auto a = b.add_switch("a", 6, 1), z = b.add_switch("z", 6, 2), c = b.add_switch("c", 6, 3);
    b.link(a, 1, z, 1);
    b.link(z, 2, c, 2);
    b.map.nodes[c].ports[1] = b.map.nodes[a].ports[1]; // c claims a's place at z
    b.map.index();
    SwitchPort down;
    down.switch_guid = b.map.nodes[c].guid;
    down.port = 1;
    down.state = "DOWN";
    const LftView lfts(Map(b.map), {}, {down});
    const SwitchGraph graph(lfts);
    for (const auto &edge : graph.edges())
        ASSERT_LT(edge.mirror, graph.edges().size());
    Reach reach(graph);
    reach.run(std::vector<SwitchGraph::Number>{graph.number(z)});
    EXPECT_EQ(graph.edges(graph.number(a)).size(), 0U) << "z's end of it was read as down";
}

TEST(SwitchGraph, AnUnknownRateIsTheMostFrequentKnownOne) {
    Builder b;
    const auto a = b.add_switch("a", 6, 1), z = b.add_switch("z", 6, 2);
    b.link(a, 1, z, 1, testing::rate_of(4, "EDR", 100));
    b.link(a, 2, z, 2, testing::rate_of(4, "EDR", 100));
    b.link(a, 3, z, 3);
    b.link(a, 4, z, 4, LinkRate{});
    b.map.index();
    const LftView lfts{Map(b.map)};
    const SwitchGraph graph(lfts);
    EXPECT_EQ(graph.rate(0, 3), 200);
    EXPECT_EQ(graph.rate(0, 4), 100);
    EXPECT_FALSE(graph.rate_known(0, 4));
}

/// Hops to a target, one search for it alone.
std::vector<unsigned> hops_to(const SwitchGraph &graph, SwitchGraph::Number target) {
    std::vector<unsigned> hops(graph.size(), 10000);
    std::queue<SwitchGraph::Number> queue;
    hops[target] = 0;
    queue.push(target);
    while (!queue.empty()) {
        const auto at = queue.front();
        queue.pop();
        for (const auto &edge : graph.edges(at))
            if (hops[edge.to] == 10000) {
                hops[edge.to] = hops[at] + 1;
                queue.push(edge.to);
            }
    }
    return hops;
}

TEST(Reach, AgreesWithASearchForEachTarget) {
    std::mt19937 random(5);
    for (int round = 0; round < 60; ++round) {
        Builder b;
        const unsigned switches = 1 + unsigned(random() % 90);
        for (unsigned i = 0; i < switches; ++i)
            b.add_switch(fmt::format("s{}", i), 60, std::uint16_t(i + 1));
        std::vector<unsigned> used(switches, 0);
        for (unsigned n = unsigned(random() % (switches * 3)); n > 0; --n) {
            const unsigned x = unsigned(random() % switches), y = unsigned(random() % switches);
            if (x != y && used[x] < 60 && used[y] < 60)
                b.link(x, ++used[x], y, ++used[y]);
        }
        b.map.index();
        const LftView lfts{Map(b.map)};
        const SwitchGraph graph(lfts);
        std::vector<SwitchGraph::Number> targets;
        for (unsigned i = 0; i < switches && targets.size() < Reach::width; ++i)
            targets.push_back(SwitchGraph::Number(i));
        Reach reach(graph);
        reach.run(targets);
        std::vector<Reach::Class> classes;
        for (SwitchGraph::Number s = 0; s < graph.size(); ++s) {
            reach.classes(s, classes);
            std::uint64_t seen = 0;
            for (const Reach::Class &one : classes) {
                EXPECT_EQ(seen & one.targets, 0U) << "a target stands in one class only";
                seen |= one.targets;
                for (std::size_t t = 0; t < targets.size(); ++t) {
                    if ((one.targets >> t & 1) == 0)
                        continue;
                    const auto hops = hops_to(graph, targets[t]);
                    PortSet nearer;
                    for (const auto &edge : graph.edges(s))
                        if (hops[s] < 10000 && hops[edge.to] + 1 == hops[s])
                            nearer.insert(edge.port);
                    EXPECT_EQ(one.ports.ports(), nearer.ports()) << "round " << round << ", from " << s << " to " << t;
                }
            }
            EXPECT_EQ(seen, targets.size() == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << targets.size()) - 1);
        }
    }
}

TEST(Reach, LevelsAreTheHops) {
    Builder b;
    for (unsigned i = 0; i < 4; ++i)
        b.add_switch(fmt::format("s{}", i), 4, std::uint16_t(i + 1));
    for (unsigned i = 0; i < 3; ++i)
        b.link(i, 1, i + 1, 2);
    b.map.index();
    const LftView lfts{Map(b.map)};
    const SwitchGraph graph(lfts);
    Reach reach(graph);
    reach.run(std::vector<SwitchGraph::Number>{0});
    ASSERT_EQ(reach.levels().size(), 4U);
    for (SwitchGraph::Number i = 0; i < 4; ++i)
        EXPECT_EQ(reach.levels()[i][0].first, i);
}

} // namespace
} // namespace fabric_check::fabric
