// SPDX-License-Identifier: GPL-2.0-or-later
//
// The analysis against a twin that walks every pair, on random small fabrics with loops and holes.
#include "fabric/fabrics.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <queue>
#include <random>
#include <set>

namespace fabric_check::fabric {
namespace {

using testing::Builder;

/// Switches in a random tree with extra links between any two, hosts anywhere; tables that mostly lead nearer, often
/// anywhere, sometimes nowhere.
MapDraft random_fabric(std::mt19937 &random, bool rates) {
    const auto pick = [&random](unsigned below) { return unsigned(random() % below); };
    Builder b;
    const unsigned switches = 2 + pick(6), hosts = 3 + pick(10);
    for (unsigned i = 0; i < switches; ++i)
        b.add_switch(fmt::format("s{}", i), 40, std::uint16_t(100 + i));
    std::vector<unsigned> next_port(switches, 1);
    const auto link = [&](std::uint32_t x, std::uint32_t y) {
        const unsigned p = next_port[x]++, q = next_port[y]++;
        b.link(x, p, y, q, rates && pick(3) == 0 ? testing::rate_of(4, "EDR", 100) : testing::hdr());
    };
    for (std::uint32_t i = 1; i < switches; ++i)
        for (unsigned parallel = 1 + pick(3); parallel > 0; --parallel)
            link(i, i - 1 - pick(std::min(i, 2U)));
    for (unsigned extra = pick(5); extra > 0; --extra)
        link(pick(switches), pick(switches));
    for (unsigned i = 0; i < hosts; ++i) {
        const std::uint32_t at = pick(switches);
        b.attach(b.add_host(fmt::format("h{} mlx5_0", i), std::uint16_t(1 + i)), at, next_port[at]++);
    }
    for (std::uint32_t s = 0; s < switches; ++s)
        for (unsigned lid = 1; lid <= hosts; ++lid) {
            if (lid < b.map.nodes[s].lft.size() && b.map.nodes[s].lft[lid] != no_route)
                continue;
            if (pick(40) == 0)
                continue; // a hole
            b.route(s, lid, pick(25) == 0 ? pick(41) : 1 + pick(next_port[s]));
        }
    // Pull most entries to a shortest way, so that most packets arrive.
    for (unsigned lid = 1; lid <= hosts; ++lid) {
        const std::uint32_t home = b.map.nodes[switches + lid - 1].ports[1].peer;
        std::vector<unsigned> far(switches, 1000);
        std::queue<std::uint32_t> queue;
        far[home] = 0;
        queue.push(home);
        while (!queue.empty()) {
            const auto s = queue.front();
            queue.pop();
            for (const auto &port : b.map.nodes[s].ports)
                if (port.peer < switches && far[port.peer] == 1000) {
                    far[port.peer] = far[s] + 1;
                    queue.push(port.peer);
                }
        }
        for (std::uint32_t s = 0; s < switches; ++s) {
            std::vector<unsigned> nearer;
            for (unsigned p = 1; p <= 40; ++p)
                if (const auto peer = b.map.nodes[s].ports[p].peer; peer < switches && far[peer] < far[s])
                    nearer.push_back(p);
            if (!nearer.empty() && pick(12) != 0)
                b.route(s, lid, nearer[pick(unsigned(nearer.size()))]);
        }
    }
    b.map.index();
    return std::move(b.map);
}

struct Twin {
    /// (switch, port) -> flows, in all and by direction; LIDs seen there.
    std::map<std::pair<std::uint32_t, unsigned>, double> flows;
    std::map<std::tuple<std::uint32_t, Direction, unsigned>, double> directed;
    std::map<std::tuple<std::uint32_t, Direction, unsigned>, std::set<std::uint16_t>> lids;
    std::map<std::tuple<std::uint32_t, Direction, unsigned>, std::set<std::uint32_t>> sources;
    std::set<std::uint16_t> lost;
    std::map<std::uint32_t, std::set<unsigned>> ports;

    void walk(const MapDraft &map, const Endpoint &from, std::uint32_t source, const Endpoint &to, Direction direction) {
        std::vector<std::pair<std::uint32_t, unsigned>> way;
        std::uint32_t at = map.nodes[from.node].ports[from.port].peer;
        for (unsigned steps = 0;; ++steps) {
            const auto &node = map.nodes[at];
            const unsigned out = to.lid < node.lft.size() ? node.lft[to.lid] : 0xff;
            if (steps > map.nodes.size() || out == 0 || out >= node.ports.size() || node.ports[out].peer == no_node) {
                lost.insert(to.lid);
                return;
            }
            way.emplace_back(at, out);
            const std::uint32_t peer = node.ports[out].peer;
            if (peer == to.node)
                break;
            if (map.nodes[peer].kind != NodeKind::switch_node) {
                lost.insert(to.lid);
                return;
            }
            at = peer;
        }
        for (const auto &[node, port] : way)
            ports[node].insert(port);
        way.pop_back();
        for (const auto &[node, port] : way) {
            flows[{node, port}] += 1;
            directed[{node, direction, port}] += 1;
            lids[{node, direction, port}].insert(to.lid);
            sources[{node, direction, port}].insert(source);
        }
    }
};

Twin walk_all(const MapDraft &map, const Query &query) {
    Twin twin;
    for (std::uint32_t i = 0; i < query.job.size(); ++i) {
        for (std::uint32_t j = 0; j < query.job.size(); ++j)
            if (i != j)
                twin.walk(map, query.job[i], i, query.job[j], Direction::inside);
        for (std::uint32_t k = 0; k < query.services.size(); ++k) {
            twin.walk(map, query.services[k], ~k, query.job[i], Direction::from);
            twin.walk(map, query.job[i], i, query.services[k], Direction::to);
        }
    }
    return twin;
}

Query split(const MapDraft &map, std::mt19937 &random) {
    Query query;
    for (const Endpoint &each : all_host_endpoints(map))
        (random() % 3 == 0 ? query.services : query.job).push_back(each);
    return query;
}

void agree(unsigned seed) {
    std::mt19937 random(seed);
    const MapDraft map = random_fabric(random, seed % 2 == 0);
    const Query query = split(map, random);
    const Routes routes = analyse(LftView(map), query);
    const Twin twin = walk_all(map, query);

    std::map<std::pair<std::uint32_t, unsigned>, double> flows;
    std::size_t links = 0;
    for (const Group &group : routes.groups) {
        unsigned used = 0, lids = 0;
        for (const GroupPort &port : group.ports) {
            flows[{group.node, port.port}] += port.flows;
            if (port.lids.empty())
                continue;
            ++links;
            ++used;
            lids += unsigned(port.lids.size());
            const auto &seen = twin.lids.at({group.node, group.direction, port.port});
            for (const auto lid : port.lids)
                EXPECT_TRUE(seen.count(lid)) << "lid " << lid;
            const auto &sources = twin.sources.at({group.node, group.direction, port.port});
            for (const auto source : testing::sources_of(routes, group, std::size_t(&port - group.ports.data())))
                EXPECT_TRUE(sources.count(source)) << "source " << source;
        }
        EXPECT_EQ(group.used, used);
        EXPECT_EQ(group.lids, lids);
        EXPECT_GE(group.imbalance, 1.0);
    }
    for (const auto &[link, count] : twin.flows)
        EXPECT_DOUBLE_EQ(flows[link], count) << "s" << link.first << ":" << link.second;
    for (const auto &[link, count] : flows)
        EXPECT_TRUE(count == 0 || twin.flows.count(link) == 1) << "s" << link.first << ":" << link.second;
    EXPECT_GE(links, twin.directed.size()) << "every direction of every link is in a group";

    // LIDs and sources of a link's groups together are what the walk saw.
    std::map<std::tuple<std::uint32_t, Direction, unsigned>, std::set<std::uint16_t>> lids;
    std::map<std::tuple<std::uint32_t, Direction, unsigned>, std::set<std::uint32_t>> sources;
    for (const Group &group : routes.groups)
        for (const GroupPort &port : group.ports)
            if (!port.lids.empty()) {
                lids[{group.node, group.direction, port.port}].insert(port.lids.begin(), port.lids.end());
                const auto passing = testing::sources_of(routes, group, std::size_t(&port - group.ports.data()));
                sources[{group.node, group.direction, port.port}].insert(passing.begin(), passing.end());
            }
    EXPECT_EQ(lids, twin.lids);
    EXPECT_EQ(sources, twin.sources);

    std::set<std::uint16_t> lost;
    for (const Unreachable &each : routes.unreachable)
        lost.insert(each.lid);
    EXPECT_EQ(lost, twin.lost);

    for (const auto &[node, ports] : twin.ports) {
        const auto &mine = routes.ports_on_routes.at(node);
        for (const unsigned port : ports)
            EXPECT_TRUE(std::find(mine.begin(), mine.end(), port) != mine.end()) << "s" << node << ":" << port;
    }

    double busiest = 0;
    for (const auto &[link, count] : twin.flows)
        busiest = std::max(busiest, count / map.nodes[link.first].ports[link.second].rate.data_gbps);
    EXPECT_TRUE(busiest > 0 || routes.imbalance == 1.0) << routes.imbalance;
    EXPECT_GE(routes.imbalance, 1.0);

    // The shapes over the job alone.
    Query inside;
    inside.job = query.job;
    const Twin all = walk_all(map, inside);
    const Shapes shapes = shape_loads(LftView(map), inside);
    double most = 0, mine = 0;
    for (const auto &[link, count] : all.flows)
        most = std::max(most, count / map.nodes[link.first].ports[link.second].rate.data_gbps);
    if (shapes.many_to_many.node != no_node)
        mine = shapes.many_to_many.max_link_flows /
               map.nodes[shapes.many_to_many.node].ports[shapes.many_to_many.port].rate.data_gbps;
    EXPECT_DOUBLE_EQ(mine, most);
    double one_to_many = 0, many_to_one = 0;
    for (std::uint32_t i = 0; i < query.job.size(); ++i) {
        Twin out, in;
        for (std::uint32_t j = 0; j < query.job.size(); ++j)
            if (i != j) {
                out.walk(map, query.job[i], i, query.job[j], Direction::inside);
                in.walk(map, query.job[j], j, query.job[i], Direction::inside);
            }
        for (const auto &[link, count] : out.flows)
            one_to_many = std::max(one_to_many, count / map.nodes[link.first].ports[link.second].rate.data_gbps);
        for (const auto &[link, count] : in.flows)
            many_to_one = std::max(many_to_one, count / map.nodes[link.first].ports[link.second].rate.data_gbps);
    }
    const auto weighted = [&map](const ShapeLoad &shape) {
        return shape.node == no_node ? 0 : shape.max_link_flows / map.nodes[shape.node].ports[shape.port].rate.data_gbps;
    };
    EXPECT_DOUBLE_EQ(weighted(shapes.one_to_many), one_to_many);
    EXPECT_DOUBLE_EQ(weighted(shapes.many_to_one), many_to_one);
}

TEST(AnalyseProperty, AgreesWithAWalkOfEveryPair) {
    for (unsigned seed = 1; seed <= 200 && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        agree(seed);
    }
}

/// The design's definition of a group, by the letter: at a switch, destinations with equal sets of nearer ports.
TEST(AnalyseProperty, GroupsHoldDestinationsWithEqualNearerPorts) {
    for (unsigned seed = 1; seed <= 100 && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        std::mt19937 random(seed);
        const MapDraft map = random_fabric(random, false);
        const Query query = split(map, random);
        const Routes routes = analyse(LftView(map), query);
        const auto hops_to = [&map](std::uint32_t home) {
            std::vector<unsigned> far(map.nodes.size(), 1000);
            far[home] = 0;
            for (std::size_t round = 0; round < map.nodes.size(); ++round)
                for (std::uint32_t s = 0; s < map.nodes.size(); ++s)
                    if (map.nodes[s].kind == NodeKind::switch_node)
                        for (const auto &port : map.nodes[s].ports)
                            if (port.peer != no_node && map.nodes[port.peer].kind == NodeKind::switch_node)
                                far[s] = std::min(far[s], far[port.peer] + 1);
            return far;
        };
        std::set<std::tuple<std::uint32_t, Direction, std::vector<unsigned>>> seen;
        for (const Group &group : routes.groups) {
            std::vector<unsigned> members;
            for (const GroupPort &port : group.ports)
                if (port.minimal)
                    members.push_back(port.port);
            EXPECT_EQ(members.size(), group.available);
            EXPECT_TRUE(seen.insert({group.node, group.direction, members}).second) << "two groups of the same ports";
            for (const GroupPort &port : group.ports)
                for (const auto lid : port.lids) {
                    const auto host = map.by_lid(lid);
                    const auto far = hops_to(map.nodes[host].ports[1].peer);
                    std::vector<unsigned> nearer;
                    for (unsigned p = 1; p < map.nodes[group.node].ports.size(); ++p)
                        if (const auto peer = map.nodes[group.node].ports[p].peer;
                            peer != no_node && map.nodes[peer].kind == NodeKind::switch_node &&
                            far[peer] + 1 == far[group.node])
                            nearer.push_back(p);
                    EXPECT_EQ(nearer, members) << "lid " << lid;
                }
        }
    }
}

} // namespace
} // namespace fabric_check::fabric
