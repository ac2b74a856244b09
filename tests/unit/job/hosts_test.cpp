// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/hosts.hpp"

#include "job/fakes.hpp"

namespace fabric_check {
namespace {

TEST(KnownHosts, ReadBackAsWritten) {
    const KnownHosts hosts{{"node01", {1, 0xffffffffffffffff}}, {"node02", {}}};
    const auto decoded = decode_hosts(encode_hosts(hosts));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, hosts);
}

TEST(KnownHosts, AreNoneWhereThereIsNoFile) {
    const auto hosts = load_hosts("/nonexistent/hosts.json");
    ASSERT_TRUE(hosts);
    EXPECT_TRUE(hosts->empty());
}

TEST(KnownHosts, RefuseOddContentNamingIt) {
    const auto refusal = [](const std::string &nodes) {
        return decode_hosts(R"({"schema":"fabric-check/hosts/1","nodes":)" + nodes + "}").error().message;
    };
    EXPECT_EQ(refusal("[]"), "hosts.json: nodes: not an object");
    EXPECT_EQ(refusal(R"({"a/b":[]})"), "hosts.json: nodes: \"a/b\" is not a node name");
    EXPECT_EQ(refusal(R"({"n":[5]})"), "hosts.json: nodes.n[0]: not a GUID like 0x0002c90000000001");
}

TEST(KnownHosts, LearnInfiniBandPortsWithAGuid) {
    KnownHosts hosts;
    auto snapshot = testing::node_snapshot("node01", 1);
    auto ethernet = snapshot.ports[0];
    ethernet.link_layer = LinkLayer::ethernet;
    ethernet.guid = 5;
    snapshot.ports.push_back(ethernet);
    EXPECT_TRUE(learn_host(hosts, snapshot));
    EXPECT_EQ(hosts["node01"], std::vector<std::uint64_t>{snapshot.ports[0].guid});
    EXPECT_FALSE(learn_host(hosts, snapshot));
    snapshot.ports[0].guid = 9;
    EXPECT_TRUE(learn_host(hosts, snapshot));
    EXPECT_EQ(hosts["node01"], std::vector<std::uint64_t>{9});
}

TEST(KnownHosts, ANodeWhosePortsCouldNotBeReadIsNotForgotten) {
    KnownHosts hosts{{"node01", {9}}};
    NodeSnapshot snapshot;
    snapshot.node = "node01";
    EXPECT_FALSE(learn_host(hosts, snapshot));
    EXPECT_EQ(hosts["node01"], std::vector<std::uint64_t>{9});
}

} // namespace
} // namespace fabric_check
