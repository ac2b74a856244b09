// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/fabrics.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

namespace fabric_check::fabric {
namespace {

using ::testing::ElementsAre;

/// Two leaves with two links between them; four hosts, two on each leaf, with two cards each, both on the same leaf.
class TwoRails {
public:
    TwoRails() {
        for (std::uint32_t s = 0; s < 2; ++s) {
            DraftNode leaf;
            leaf.guid = 1 + s;
            leaf.description = fmt::format("Leaf{}", s);
            leaf.kind = NodeKind::switch_node;
            leaf.ports.resize(9);
            leaf.lid = static_cast<std::uint16_t>(40 + s);
            leaf.lft.assign(64, no_route);
            map.nodes.push_back(leaf);
        }
        for (std::uint8_t i = 7; i <= 8; ++i)
            link(0, i, 1, i);
        for (unsigned host = 0; host < 4; ++host)
            for (unsigned card = 0; card < 2; ++card)
                add(host, card);
        map.index();
    }
    static std::uint16_t lid(unsigned host, unsigned card) { return static_cast<std::uint16_t>(1 + 2 * host + card); }

    MapDraft map;
    Query query;

private:
    void link(std::uint32_t a, std::uint8_t a_port, std::uint32_t b, std::uint8_t b_port) {
        map.nodes[a].ports[a_port].peer = b;
        map.nodes[a].ports[a_port].peer_port = b_port;
        map.nodes[b].ports[b_port].peer = a;
        map.nodes[b].ports[b_port].peer_port = a_port;
        map.nodes[a].ports[a_port].rate = map.nodes[b].ports[b_port].rate = {4, "HDR", 200, 53.125};
    }
    void add(unsigned host, unsigned card) {
        DraftNode node;
        node.guid = 100 + 2 * host + card;
        node.description = fmt::format("node{} mlx5_{}", host, card);
        node.kind = NodeKind::host;
        node.ports.resize(2);
        node.ports[1].lid = lid(host, card);
        node.ports[1].guid = 200 + 2 * host + card;
        const auto at = static_cast<std::uint32_t>(map.nodes.size());
        map.nodes.push_back(node);
        const std::uint32_t leaf = host / 2;
        const auto port = static_cast<std::uint8_t>(1 + 2 * (host % 2) + card);
        link(leaf, port, at, 1);
        map.nodes[leaf].lft[lid(host, card)] = port;
        // Of the first rail everything goes over port 7, of the second it is spread.
        map.nodes[1 - leaf].lft[lid(host, card)] = static_cast<std::uint8_t>(card == 0 ? 7 : 7 + host % 2);
        query.job.push_back({fmt::format("node{}", host), at, 1, lid(host, card)});
    }
};

TEST(Rails, AreTheCardsOfAHost) {
    const TwoRails fabric;
    EXPECT_THAT(rails_of(fabric.map, fabric.query.job), ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
}
TEST(Rails, KeepTheirNumbersWhereOneIsMissing) {
    TwoRails fabric;
    fabric.query.job.erase(fabric.query.job.begin()); // node0's first
    EXPECT_THAT(rails_of(fabric.map, fabric.query.job), ElementsAre(1, 0, 1, 0, 1, 0, 1));
}
TEST(Rails, GoByOrderWhereTheCardsHaveNoNames) {
    TwoRails fabric;
    for (DraftNode &node : fabric.map.nodes)
        node.description = node.description.substr(0, node.description.find(' '));
    EXPECT_THAT(rails_of(fabric.map, fabric.query.job), ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
}
TEST(Rails, AreTheSameWhereHostsNameTheirCardsDifferently) {
    TwoRails fabric;
    for (DraftNode &node : fabric.map.nodes)
        if (node.description.starts_with("node2 ") || node.description.starts_with("node3 "))
            node.description = node.description.substr(0, 6) + (node.description.back() == '0' ? "HCA-1" : "HCA-5");
    EXPECT_THAT(rails_of(fabric.map, fabric.query.job), ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
    EXPECT_THAT(rail_names(fabric.map, fabric.query.job),
                ElementsAre(ElementsAre("HCA-1", "mlx5_0"), ElementsAre("HCA-5", "mlx5_1")));
}
TEST(Rails, KeepTheirNumbersThroughHostsThatLackOneEach) {
    TwoRails fabric;
    // node0 has only its first card, node1 only its second: they are joined by what the others have.
    std::vector<Endpoint> some(fabric.query.job.begin() + 2, fabric.query.job.end());
    some.erase(some.begin());
    some.insert(some.begin(), fabric.query.job[0]);
    EXPECT_THAT(rails_of(fabric.map, some), ElementsAre(0, 1, 0, 1, 0, 1));
}
TEST(Rails, AreNamedWithThePortWhereCardsHaveSeveral) {
    TwoRails fabric;
    fabric.map.nodes[fabric.query.job[1].node].ports.resize(3);
    for (Endpoint &one : fabric.query.job)
        one.port = one.node == fabric.query.job[1].node ? 2 : 1;
    EXPECT_THAT(rail_names(fabric.map, {fabric.query.job[0], fabric.query.job[1]}),
                ElementsAre(ElementsAre("mlx5_0:1"), ElementsAre("mlx5_1:2")));
}
TEST(Rails, HaveNoNamesWhereThereIsOne) {
    const TwoRails fabric;
    EXPECT_THAT(rail_names(fabric.map, {fabric.query.job[0], fabric.query.job[2]}), ElementsAre());
}
TEST(Rails, AreOneWhereNoHostHasTwoPorts) {
    TwoRails fabric;
    std::vector<Endpoint> one{fabric.query.job[0], fabric.query.job[3]};
    EXPECT_THAT(rails_of(fabric.map, one), ElementsAre(0, 0)) << "two cards of two hosts are no two rails";
}
TEST(Rails, AreNeverMixedInAGroup) {
    const TwoRails fabric;
    const Routes routes = analyse(LftView(fabric.map), fabric.query);
    std::vector<std::string> groups;
    for (const Group &group : routes.groups)
        groups.push_back(fmt::format("{} rail {}: {} LIDs on {}, {} flows, {:.1f}", group_name(fabric.map, group),
                                     group.rail, group.lids, group.used, group.flows, group.imbalance));
    EXPECT_THAT(groups, ::testing::UnorderedElementsAre("Leaf0>Leaf1 rail 0: 2 LIDs on 1, 4 flows, 2.0",
                                                      "Leaf1>Leaf0 rail 0: 2 LIDs on 1, 4 flows, 2.0",
                                                      "Leaf0>Leaf1 rail 1: 2 LIDs on 2, 4 flows, 1.0",
                                                      "Leaf1>Leaf0 rail 1: 2 LIDs on 2, 4 flows, 1.0"));
}
TEST(Rails, SourcesAreThoseOfTheSameRail) {
    const TwoRails fabric;
    const Routes routes = analyse(LftView(fabric.map), fabric.query);
    for (const Group &group : routes.groups)
        for (const GroupPort &port : group.ports)
            for (const std::uint32_t source :
                 testing::sources_of(routes, group, std::size_t(&port - group.ports.data())))
                EXPECT_EQ(source % 2, group.rail);
}
TEST(Rails, ServicesTalkToAllOfThem) {
    TwoRails fabric;
    fabric.query.services.assign(fabric.query.job.begin() + 6, fabric.query.job.begin() + 7); // node3's first card
    fabric.query.job.resize(2);                                                               // node0's two
    const Routes routes = analyse(LftView(fabric.map), fabric.query);
    double from = 0, to = 0;
    for (const Group &group : routes.groups)
        (group.direction == Direction::from ? from : to) += group.flows;
    EXPECT_EQ(from, 2);
    EXPECT_EQ(to, 2);
}

/// Two hosts with a card in each of two subnets that have the same LIDs, and a server in the first.
MapDraft two_subnets() {
    testing::Builder b;
    const auto a = b.add_switch("a", 12, 50), c = b.add_switch("c", 12, 51);
    const auto other_a = b.add_switch("other_a", 12, 50), other_c = b.add_switch("other_c", 12, 51);
    for (unsigned i = 0; i < 2; ++i) {
        b.link(a, 10 + i, c, 10 + i);
        b.link(other_a, 10 + i, other_c, 10 + i);
    }
    const auto connect = [&b](const char *card, std::uint32_t first, std::uint32_t second) {
        b.attach(b.add_host(std::string("n1 ") + card, 1), first, 1);
        b.attach(b.add_host(std::string("n2 ") + card, 2), second, 1);
        b.route(first, 2, 10);
        b.route(second, 1, 10);
    };
    connect("mlx5_0", a, c);
    connect("mlx5_1", other_a, other_c);
    b.attach(b.add_host("server mlx5_0", 3), a, 2);
    b.route(c, 3, 11);
    b.map.index();
    return b.map;
}

TEST(Rails, TwoSubnetsMayHaveTheSameLids) {
    const Map map = two_subnets();
    std::vector<std::string> missing;
    Query query;
    query.job = endpoints_by_name(map, {"n1", "n2"}, missing);
    ASSERT_EQ(query.job.size(), 4U);
    const Routes routes = analyse(LftView(map), query);
    EXPECT_TRUE(routes.unreachable.empty());
    EXPECT_EQ(routes.groups.size(), 4U) << "each rail both ways";
}

TEST(Rails, OfAWholeFabricEachSubnetTalksWithinItself) {
    const Map map = two_subnets();
    Query query;
    query.job = all_host_endpoints(map);
    query.rails_apart = false;
    const Routes routes = analyse(LftView(map), query);
    EXPECT_TRUE(routes.unreachable.empty());
    std::set<std::pair<std::string, unsigned>> subnets;
    for (const Group &group : routes.groups)
        subnets.emplace(map.display_name(group.node), group.rail);
    EXPECT_THAT(subnets, ::testing::UnorderedElementsAre(std::pair("a", 0U), std::pair("c", 0U), std::pair("other_a", 1U),
                                                         std::pair("other_c", 1U)));
}

TEST(Rails, AServiceTalksToTheRailOfItsOwnSubnet) {
    const Map map = two_subnets();
    std::vector<std::string> missing;
    Query query;
    query.job = endpoints_by_name(map, {"n1", "n2"}, missing);
    query.services = endpoints_by_name(map, {"server"}, missing);
    const Routes routes = analyse(LftView(map), query);
    EXPECT_TRUE(routes.unreachable.empty());
    for (const Group &group : routes.groups)
        if (group.direction != Direction::inside)
            EXPECT_TRUE(map.display_name(group.node) == "a" || map.display_name(group.node) == "c") << "not by the other rail";
}

TEST(Rails, HostsThatShareANameAreHostsAndNoRails) {
    MapDraft draft = testing::two_switches(testing::collapsed());
    for (DraftNode &node : draft.nodes)
        if (node.kind == NodeKind::host)
            node.description = "localhost mlx5_0";
    draft.index();
    const Map map(draft);
    std::vector<std::string> missing;
    Query query;
    query.job = endpoints_by_name(map, {"localhost"}, missing);
    ASSERT_EQ(query.job.size(), 20U);
    const Routes routes = analyse(LftView(map), query);
    EXPECT_GT(routes.imbalance, 1.5) << "what is collapsed stays so, whatever hosts call themselves";
    EXPECT_THAT(routes.warnings, ::testing::Contains(::testing::HasSubstr("20 cards of one kind call themselves localhost")));
}

} // namespace
} // namespace fabric_check::fabric
