// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/temporary.hpp"
#include "record/codec.hpp"
#include "sources/sysfs.hpp"
#include "textfiles/diff.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace fabric_check::textfiles {
namespace {

using test::TemporaryDirectory;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t second = 1'000'000'000;

HcaPort infiniband_port(const char *device = "mlx5_0") {
    HcaPort port;
    port.device = device;
    port.driver = "mlx5_core";
    port.link_layer = LinkLayer::infiniband;
    port.state = "ACTIVE";
    port.lid = 12;
    port.guid = 0x1000;
    port.rate = link_rate(4, "HDR");
    port.pcie = {16, 16, 16, 16};
    for (const char *name : {"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors",
                             "PortXmitDiscards", "packet_seq_err", "rnr_nak_retry_err", "local_ack_timeout_err"}) {
        port.counters[name] = Reading::of(5);
    }
    for (const char *name : {"PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"}) {
        port.counters[name] = Reading::of(1000, 64);
    }
    return port;
}

/// A node with one port, before and after a minute in which 10 GB went each way.
class SnapshotPair : public testing::Test {
protected:
    SnapshotPair() {
        for (NodeSnapshot *side : {&before, &after}) {
            side->node = "node07";
            side->boot_id = "a";
            side->ports.push_back(infiniband_port());
        }
        before.time_ns = 1000 * second;
        after.time_ns = 1060 * second;
        move(after.ports[0]);
    }
    static void move(HcaPort &port) {
        for (const char *name : {"PortXmitData", "PortRcvData"}) {
            *port.counters[name].value += 2'500'000'000;
        }
        for (const char *name : {"PortXmitPkts", "PortRcvPkts"}) {
            *port.counters[name].value += 3'000'000;
        }
    }
    Diff compare() const {
        directory_.write("before", encode_snapshot(before));
        directory_.write("after", encode_snapshot(after));
        const auto a = load(directory_.path("before")), b = load(directory_.path("after"));
        EXPECT_TRUE(a.ok() && b.ok());
        return a.ok() && b.ok() ? diff(*a, *b, options) : Diff{};
    }
    NodeSnapshot before, after;
    DiffOptions options;
    TemporaryDirectory directory_;
};

TEST_F(SnapshotPair, OfAHealthyPortAreClean) {
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "clean");
    EXPECT_EQ(result.bytes, 20'000'000'000U);
}
TEST_F(SnapshotPair, WithMoreBytesThanTheLinkCarriesAreNotClean) {
    after.time_ns = before.time_ns + 2 * second;
    after.ports[0].counters["PortXmitData"] = Reading::of(900'000'000'000'000, 64); // 3.6 PB in 2 s
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "unusable");
    EXPECT_EQ(result.bytes, std::nullopt);
    EXPECT_THAT(result.ports[0].verdict.detail(), Contains("PortXmitData"));
    EXPECT_THAT(diff_text(result, false), HasSubstr("implausible"));
}
TEST_F(SnapshotPair, WithDataThatStoodStillWhilePacketsMovedAreNotWithoutTraffic) {
    for (const char *name : {"PortXmitData", "PortRcvData"}) {
        after.ports[0].counters[name] = before.ports[0].counters[name];
    }
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "unusable");
    EXPECT_THAT(result.ports[0].verdict.detail(), ElementsAre("PortRcvData", "PortXmitData"));
    EXPECT_THAT(diff_text(result, false), HasSubstr("frozen"));
}

TEST_F(SnapshotPair, OfALinkThatGotNarrowerArePhysical) {
    after.ports[0].rate = link_rate(1, "HDR");
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "physical");
    EXPECT_EQ(exit_code(result), 1);
    EXPECT_THAT(result.ports[0].verdict.detail(), ElementsAre("width"));
    EXPECT_THAT(diff_text(result, false), HasSubstr("physical: 4X at start, 1X at end"));
    const auto json = nlohmann::json::parse(diff_json(result));
    EXPECT_EQ(json["live"], nlohmann::json::array({"width"}));
    EXPECT_EQ(json["ports"][0]["live_details"][0]["note"], "4X at start, 1X at end");
}
TEST_F(SnapshotPair, OfALinkThatGotSlowerArePhysical) {
    after.ports[0].rate = link_rate(4, "EDR");
    EXPECT_THAT(compare().ports[0].verdict.detail(), ElementsAre("speed"));
}
TEST_F(SnapshotPair, OfALinkThatWentDownArePhysicalWithoutTraffic) {
    after.ports[0].counters = before.ports[0].counters;
    after.ports[0].state = "DOWN";
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "physical");
    EXPECT_THAT(result.ports[0].verdict.detail(), ElementsAre("state"));
    EXPECT_THAT(diff_text(result, false), HasSubstr("ACTIVE at start, DOWN at end"));
}
TEST_F(SnapshotPair, OfALinkThatWentDownArePhysicalWhateverElseCouldNotBeRead) {
    after.ports[0].counters.erase("PortRcvErrors");
    after.ports[0].state = "DOWN";
    EXPECT_EQ(compare().verdict, "physical");
}
TEST_F(SnapshotPair, OfASlotThatLostLanesArePhysicalAndNoCablesFault) {
    after.ports[0].pcie.lanes = 8;
    const Diff result = compare();
    EXPECT_THAT(result.ports[0].verdict.detail(), ElementsAre("pcie"));
    const std::string text = diff_text(result, false);
    EXPECT_THAT(text, HasSubstr("16x 16 GT/s at start, 8x 16 GT/s at end"));
    EXPECT_THAT(text, HasSubstr("Reseat the card"));
    EXPECT_THAT(text, Not(HasSubstr("swap the cable")));
}
TEST_F(SnapshotPair, BelowTheSitesPolicyArePhysicalThoughNothingChanged) {
    Config site;
    site.policy.width = "4X";
    site.policy.speed = "NDR";
    site.policy.pcie = "16x 32GT/s";
    options.site = &site;
    EXPECT_THAT(compare().ports[0].verdict.detail(), ElementsAre("pcie", "speed"));
}
TEST_F(SnapshotPair, AcrossARebootSayNothingOfLinks) {
    after.boot_id = "b";
    after.ports[0].rate = link_rate(1, "HDR");
    EXPECT_EQ(compare().verdict, "incomplete");
}

/// An Ethernet port for management: no RDMA, and counters of another profile are missing.
HcaPort idle_port() {
    HcaPort port;
    port.device = "mlx5_9";
    port.driver = "mlx5_core";
    port.link_layer = LinkLayer::ethernet;
    port.state = "ACTIVE";
    port.netdev = "eno1";
    for (const char *name : {"rx_write_requests", "rx_discards_phy", "rx_crc_errors_phy"}) {
        port.counters[name] = Reading::of(5);
    }
    return port;
}
class SeveralPorts : public SnapshotPair {
protected:
    SeveralPorts() {
        before.ports.push_back(idle_port());
        after.ports.push_back(idle_port());
        *after.ports[1].counters["rx_discards_phy"].value += 3; // of whatever else uses it
    }
};
TEST_F(SeveralPorts, WithoutUseDoNotHideThoseInUse) {
    *after.ports[0].counters["packet_seq_err"].value += 1;
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "transport-retry");
    EXPECT_EQ(result.profile, Profile::ib);
    EXPECT_FALSE(result.ports.at(1).counts);
    EXPECT_THAT(diff_text(result, false), HasSubstr("does not count: no RDMA on it"));
    const auto json = nlohmann::json::parse(diff_json(result));
    EXPECT_EQ(json["ports"][1]["counts"], false);
    EXPECT_EQ(json["unreadable"].size(), 0U);
}
TEST_F(SeveralPorts, WithoutUseAreStillToldOfBrokenLinks) {
    *after.ports[1].counters["rx_crc_errors_phy"].value += 1;
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "physical");
    EXPECT_THAT(blamed(result.ports.at(1), "physical"), ElementsAre("rx_crc_errors_phy"));
}
TEST_F(SeveralPorts, ThatTheSiteExcludesSayNothing) {
    *after.ports[1].counters["rx_crc_errors_phy"].value += 1;
    *after.ports[1].counters["rx_write_requests"].value += 1;
    Config site;
    site.ports.exclude = {"eno*"};
    options.site = &site;
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "clean");
    EXPECT_THAT(diff_text(result, false), HasSubstr("excluded as eno*"));
}
TEST_F(SeveralPorts, OfWhichAllAreExcludedAreJudgedAllTheSame) {
    Config site;
    site.ports.exclude = {"mlx5_*"};
    options.site = &site;
    *after.ports[0].counters["packet_seq_err"].value += 1;
    EXPECT_NE(compare().verdict, "clean");
}
TEST_F(SeveralPorts, ThatAreDownOnBothSidesDoNotCount) {
    for (NodeSnapshot *side : {&before, &after}) {
        side->ports[1] = infiniband_port("mlx5_1");
        side->ports[1].state = "DOWN";
        side->ports[1].counters.erase("PortRcvErrors");
    }
    EXPECT_EQ(compare().verdict, "clean");
}
TEST_F(SnapshotPair, GiveTheSameExitCodeWhateverIsGoneInAfter) {
    *after.ports[0].counters["SymbolErrorCounter"].value += 4;
    after.ports[0].counters["packet_seq_err"] = Reading::of(0);
    const Diff alone = compare();
    EXPECT_EQ(alone.verdict, "unusable");
    EXPECT_EQ(alone.rest, "physical");
    before.ports.push_back(infiniband_port("mlx5_1"));
    const Diff both = compare();
    EXPECT_EQ(exit_code(both), exit_code(alone));
    EXPECT_EQ(both.rest, "physical");
    EXPECT_THAT(diff_text(both, false), HasSubstr("All the same physical is live: node07/mlx5_0:1 SymbolErrorCounter"));
    EXPECT_EQ(nlohmann::json::parse(diff_json(both))["rest"], "physical");
}
TEST_F(SnapshotPair, WithABarPerHourAndNoTimeStillTellWhatIsBelow) {
    before.time_ns = after.time_ns = 0;
    Bars bars;
    bars["packet_seq_err"].per_hour = 10;
    options.bars = &bars;
    *after.ports[0].counters["packet_seq_err"].value += 5;
    EXPECT_EQ(compare().verdict, "unusable");
    EXPECT_THAT(next_steps(compare()), ElementsAre(HasSubstr("`fabric-check snapshot` records it")));
    *after.ports[0].counters["SymbolErrorCounter"].value += 5;
    EXPECT_EQ(compare().verdict, "physical");
}

TEST_F(SnapshotPair, AtAKnownLinkShowWhatTheSiteKnowsAndDecideByTheRest) {
    Config site;
    site.known["node07/mlx5_0:1"] = {"NET-7", 2000};
    options.site = &site;
    *after.ports[0].counters["SymbolErrorCounter"].value += 5;
    after.ports[0].rate = link_rate(1, "HDR");
    Diff result = compare();
    EXPECT_EQ(result.verdict, "clean");
    EXPECT_THAT(diff_text(result, false), HasSubstr("4X at start, 1X at end; known: NET-7"));
    EXPECT_EQ(nlohmann::json::parse(diff_json(result))["ports"][0]["known"].size(), 2U);
    *after.ports[0].counters["packet_seq_err"].value += 5;
    EXPECT_EQ(compare().verdict, "transport-retry");
    site.known["node07/mlx5_0:1"].until = 1060;
    result = compare();
    EXPECT_EQ(result.verdict, "physical");
    EXPECT_THAT(diff_text(result, false), HasSubstr("known as NET-7, which has expired"));
}

TEST_F(SnapshotPair, OfTwoPortsExonerateNeither) {
    after.ports[0].guid = 0x2000;
    Diff result = compare();
    EXPECT_EQ(result.verdict, "incomplete");
    EXPECT_THAT(result.ports[0].verdict.unread.at(0).reason, HasSubstr("BEFORE is of 0x0000000000001000, AFTER of "));
    before.ports[0].guid = after.ports[0].guid = 0;
    after.node = "node08";
    result = compare();
    EXPECT_EQ(result.verdict, "incomplete");
    EXPECT_EQ(result.ports[0].verdict.unread.at(0).reason, "BEFORE is of node07, AFTER of node08");
    EXPECT_THAT(result.problems, IsEmpty());
    after.node = "node07.cluster";
    EXPECT_EQ(compare().verdict, "clean");
}

} // namespace
} // namespace fabric_check::textfiles
