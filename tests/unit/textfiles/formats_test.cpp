// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/text.hpp"

#include <gmock/gmock.h>

namespace fabric_check::textfiles {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> texts(const Parsed &parsed) {
    std::vector<std::string> all;
    for (const TextProblem &problem : parsed.problems) {
        all.push_back(problem.text());
    }
    return all;
}

TEST(Ethtool, ReadsStatisticsOfOneDevice) {
    const Parsed parsed = parse_text("NIC statistics:\n     rx_packets: 7\n     rx_prio3_pause: 41927\n", "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    ASSERT_THAT(parsed.ports, SizeIs(1));
    EXPECT_EQ(parsed.ports[0].kind, KeyKind::none);
    EXPECT_EQ(parsed.ports[0].counters.map(),
              (Counters{{"rx_packets", Reading::of(7)}, {"rx_prio3_pause", Reading::of(41927)}}));
}
TEST(Ethtool, ReadsStatisticsWithoutHeaderAndIndentation) {
    const Parsed parsed = parse_text("rx_packets: 7\r\nch3_arm: 2\r\ntx_pause_storm_error_events: 0\r\n", "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    EXPECT_THAT(parsed.ports.at(0).counters, SizeIs(3));
}
TEST(Ethtool, KeepsTheNamesOfQueues) {
    const Parsed parsed = parse_text("NIC statistics:\n     [0]: rx_ucast_packets: 10\n     [1]: rx_ucast_packets: 11\n"
                                     "     rx-0.packets: 4\n     port.rx_bytes: 18446744073709551615\n",
                                     "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    EXPECT_EQ(parsed.ports.at(0).counters.map(), (Counters{{"[0]: rx_ucast_packets", Reading::of(10)},
                                                           {"[1]: rx_ucast_packets", Reading::of(11)},
                                                           {"port.rx_bytes", Reading::of(18446744073709551615U)},
                                                           {"rx-0.packets", Reading::of(4)}}));
}
TEST(Ethtool, TellsDevicesApartByTheirHeadings) {
    const std::string statistics = "NIC statistics:\n     rx_prio3_pause: 1\n";
    for (const char *heading : {"enp1s0f0:\n", "# enp1s0f0\n", "# ethtool -S enp1s0f0\n", "==> enp1s0f0 <==\n",
                                "[root@node07 ~]# ethtool -S enp1s0f0\n", "$ ethtool --statistics enp1s0f0\n"}) {
        const Parsed parsed = parse_text(heading + statistics + "\n# eth1\n" + statistics, "f");
        EXPECT_THAT(texts(parsed), IsEmpty()) << heading;
        ASSERT_THAT(parsed.ports, SizeIs(2)) << heading;
        EXPECT_EQ(parsed.ports[0].port, "enp1s0f0");
        EXPECT_EQ(parsed.ports[0].kind, KeyKind::netdev);
        EXPECT_EQ(parsed.ports[1].port, "eth1");
    }
}
TEST(Ethtool, TakesNoCommentForADevice) {
    EXPECT_EQ(parse_text("# taken by cron\n# before the run 1\nNIC statistics:\n rx_prio3_pause: 1\n", "f").ports.at(0).kind,
              KeyKind::none);
}
TEST(Ethtool, NamesTheLineOfAValueThatIsNoNumber) {
    const Parsed parsed = parse_text("NIC statistics:\n     rx_prio3_pause: n/a\n     tx_prio3_pause: 99999999999999999999\n",
                                     "f");
    EXPECT_THAT(texts(parsed), ElementsAre("f:2: rx_prio3_pause: not a number: \"n/a\"",
                                           "f:3: tx_prio3_pause: not a number: \"99999999999999999999\""));
}
TEST(Ethtool, SaysWhenTheLastLineMayBeCutOff) {
    const Parsed parsed = parse_text("NIC statistics:\n     rx_prio3_pause: 419", "f");
    EXPECT_THAT(texts(parsed), ElementsAre("f:2: the last line has no end: its value may be cut off, and is not used"));
    EXPECT_EQ(parsed.ports.at(0).counters.at("rx_prio3_pause"), Reading::missing(Absence::unparsable));
}

TEST(RdmaStatistic, ReadsOneLineALink) {
    const Parsed parsed = parse_text("link mlx5_0/1 rx_write_requests 5 packet_seq_err 7 \nlink mlx5_1/1 packet_seq_err 9\n",
                                     "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    ASSERT_THAT(parsed.ports, SizeIs(2));
    EXPECT_EQ(parsed.ports[0].port, "mlx5_0:1");
    EXPECT_EQ(parsed.ports[0].kind, KeyKind::device);
    EXPECT_EQ(parsed.ports[0].counters.map(),
              (Counters{{"packet_seq_err", Reading::of(7)}, {"rx_write_requests", Reading::of(5)}}));
    EXPECT_EQ(parsed.ports[1].counters.at("packet_seq_err"), Reading::of(9));
}
TEST(RdmaStatistic, ReadsTablesAndWrappedLines) {
    const Parsed table = parse_text("link mlx5_0/1 \\\n\trx_write_requests 5 \\\n\tpacket_seq_err 7\n", "f");
    EXPECT_THAT(texts(table), IsEmpty());
    EXPECT_EQ(table.ports.at(0).counters.at("packet_seq_err"), Reading::of(7));
    const Parsed wrapped = parse_text("link mlx5_0/1 rx_write_requests 5 packet_seq_err\n7 out_of_buffer 1\n", "f");
    EXPECT_THAT(texts(wrapped), IsEmpty());
    EXPECT_EQ(wrapped.ports.at(0).counters.at("packet_seq_err"), Reading::of(7));
    EXPECT_EQ(wrapped.ports.at(0).counters.at("out_of_buffer"), Reading::of(1));
}
TEST(RdmaStatistic, DoesNotTakeAQueuePairForThePort) {
    const Parsed parsed = parse_text("link mlx5_0/1 cntn 4 lqpn 178 packet_seq_err 7\n", "f");
    EXPECT_THAT(parsed.ports, IsEmpty());
    EXPECT_THAT(texts(parsed), ElementsAre(HasSubstr("f:1: not the counters of the port")));
}
TEST(RdmaStatistic, ReadsJson) {
    for (const char *json : {R"([{"ifname":"mlx5_0","port":1,"packet_seq_err":7},{"ifname":"ionic_0","port":2,"x_y":3}])",
                             "[\n    {\n        \"ifname\": \"mlx5_0\",\n        \"port\": 1,\n        "
                             "\"packet_seq_err\": 7\n    },{\n \"ifindex\": 3, \"ifname\": \"ionic_0\",\n \"port\": 2,"
                             "\n \"x_y\": 3\n } ]\n"}) {
        const Parsed parsed = parse_text(json, "f");
        EXPECT_THAT(texts(parsed), IsEmpty());
        ASSERT_THAT(parsed.ports, SizeIs(2));
        EXPECT_EQ(parsed.ports[0].port, "mlx5_0:1");
        EXPECT_EQ(parsed.ports[0].counters.map(), (Counters{{"packet_seq_err", Reading::of(7)}}));
        EXPECT_EQ(parsed.ports[1].port, "ionic_0:2");
    }
}
TEST(RdmaStatistic, KeepsWhatCameBeforeABreakInJson) {
    const Parsed parsed =
        parse_text("# banner\n[{\"ifname\":\"mlx5_0\",\"port\":1,\n\"packet_seq_err\":7},{\"ifname\":\"mlx5_1\",\n\"por", "f");
    ASSERT_THAT(parsed.ports, SizeIs(1));
    EXPECT_EQ(parsed.ports[0].counters.at("packet_seq_err"), Reading::of(7));
    EXPECT_THAT(texts(parsed), ElementsAre("f:4: the JSON breaks off here"));
}
TEST(RdmaStatistic, NamesJsonThatHoldsNoCounters) {
    EXPECT_THAT(texts(parse_text("[]\n", "f")), ElementsAre(HasSubstr("f:1: JSON without counters")));
    EXPECT_THAT(texts(parse_text("{\"a\": {\"b\": \"c\"}}\n", "f")), ElementsAre(HasSubstr("f:1: JSON without counters")));
    EXPECT_THAT(texts(parse_text("[{\"packet_seq_err\": 3}]\n", "f")),
                ElementsAre("f:1: JSON that names no device: not used"));
}
TEST(RdmaStatistic, JsonAndTextMayStandInOneFile) {
    const Parsed parsed = parse_text("[{\"ifname\":\"mlx5_0\",\"port\":1,\"packet_seq_err\":7}]\n"
                                     "/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error:3\n???\n",
                                     "f");
    EXPECT_EQ(parsed.ports.at(0).counters.map(),
              (Counters{{"SymbolErrorCounter", Reading::of(3)}, {"packet_seq_err", Reading::of(7)}}));
    EXPECT_THAT(texts(parsed), ElementsAre("f:3: not understood: \"???\""));
}

const char *const errors = "Errors for 0x200002 \"SwitchA\"\n"
                           "   GUID 0x200002 port ALL: [SymbolErrorCounter == 5] [PortXmitWait == 9]\n"
                           "   GUID 0x200002 port 25: [SymbolErrorCounter == 5] [PortXmitWait == 9]\n"
                           "         [PortXmitData == 4000 (3.906KB)]\n"
                           "       Link info:      3   25[  ] ==( 4X          25.78125 Gbps Active/  LinkUp)==>\n"
                           "Errors for \"node07 mlx5_0\"\n"
                           "   GUID 0x300007 port 1: [PortRcvErrors == 2]\n"
                           "\n## Summary: 16 nodes checked, 2 bad nodes found\n"
                           "##          226 ports checked, 2 ports have errors beyond threshold\n";
TEST(Ibqueryerrors, ReadsPortsByTheNamesOfTheirNodes) {
    const Parsed parsed = parse_text(errors, "f");
    ASSERT_THAT(parsed.ports, SizeIs(2));
    EXPECT_EQ(parsed.ports[0].port, "SwitchA:25");
    EXPECT_EQ(parsed.ports[0].link_layer, LinkLayer::infiniband);
    EXPECT_EQ(parsed.ports[0].counters.map(), (Counters{{"PortXmitData", Reading::of(4000)},
                                                        {"PortXmitWait", Reading::of(9)},
                                                        {"SymbolErrorCounter", Reading::of(5)}}));
    EXPECT_EQ(parsed.ports[1].port, "node07 mlx5_0:1");
    EXPECT_THAT(texts(parsed), ElementsAre(HasSubstr("f: ibqueryerrors shows only counters above its thresholds"),
                                           "f:2: port ALL is a sum over all ports: not used"));
}
TEST(Ibqueryerrors, KeepsNodesOfOneNameApart) {
    const Parsed parsed = parse_text("Errors for \"X\"\nGUID 0x1 port 1: [PortRcvErrors == 2]\n"
                                     "Errors for \"X\"\nGUID 0x2 port 1: [PortRcvErrors == 3]\n",
                                     "f");
    ASSERT_THAT(parsed.ports, SizeIs(2));
    EXPECT_EQ(parsed.ports[0].port, "X:1");
    EXPECT_EQ(parsed.ports[1].port, "X 0x2:1");
}
TEST(Ibqueryerrors, NamesTheLineOfATruncatedTail) {
    const Parsed parsed = parse_text("Errors for \"X\"\nGUID 0x1 port 1: [PortRcvErrors == 2] [LinkDownedCounter == 1", "f");
    EXPECT_EQ(parsed.ports.at(0).counters.map(), (Counters{{"LinkDownedCounter", Reading::missing(Absence::unparsable)},
                                                           {"PortRcvErrors", Reading::of(2)}}));
    EXPECT_THAT(texts(parsed), testing::Contains("f:2: LinkDownedCounter: the line breaks off"));
    EXPECT_THAT(texts(parse_text("Errors for \"X\"\nGUID 0x1 port 1: [PortRcvErrors == 2] [LinkDow", "f")),
                testing::Contains("f:2: the line breaks off"));
}

TEST(Perfquery, ReadsReceiveErrorDetailsOfThePort) {
    const Parsed parsed = parse_text("# Port counters: Lid 7 port 1 (CapMask: 0x00)\nPortSelect:....1\nPortRcvErrors:....3\n"
                                     "# PortRcvErrorDetails counters: Lid 7 port 1\nPortSelect:....1\n"
                                     "CounterSelect:....0x0000\nPortLocalPhysicalErrors:.........2\n",
                                     "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    ASSERT_THAT(parsed.ports, SizeIs(1));
    EXPECT_EQ(parsed.ports[0].counters.at("PortLocalPhysicalErrors"), Reading::of(2));
}
TEST(Perfquery, PassesOverTheSamplingMechanismsSettings) {
    const Parsed parsed = parse_text("# PortSamplesControl: Lid 7 port 1\nOpCode:....0x00\nTick:....0x1\n", "f");
    EXPECT_THAT(parsed.ports, IsEmpty());
    EXPECT_THAT(texts(parsed), IsEmpty());
}
TEST(Perfquery, TakesAnotherPortSelectForAnotherPort) {
    const Parsed parsed = parse_text("# Port counters: Lid 5 port 1 (CapMask: 0)\nPortSelect:..1\nSymbolErrorCounter:..3\n"
                                     "PortSelect:..2\nSymbolErrorCounter:..4\n",
                                     "f");
    ASSERT_THAT(parsed.ports, SizeIs(2));
    EXPECT_EQ(parsed.ports[0].counters.at("SymbolErrorCounter"), Reading::of(3));
    EXPECT_EQ(parsed.ports[1].counters.at("SymbolErrorCounter"), Reading::of(4));
    EXPECT_THAT(texts(parsed), ElementsAre("f:4: PortSelect tells of another port, 2, and no header does"));
    const Parsed headless = parse_text("PortSelect:..1\nSymbolErrorCounter:..3\nPortSelect:..2\nSymbolErrorCounter:..4\n", "f");
    ASSERT_THAT(headless.ports, SizeIs(2));
    EXPECT_TRUE(headless.ports[0].apart) << "not to be taken for what else its directory holds";
}
TEST(Perfquery, DoesNotUniteWhatFollowsADamagedHeader) {
    for (const char *header : {"# Port counters: Lid 5 prt 2\n", "# Port countrs: Lid 5 port 2 (CapMask: 0)\n"}) {
        const Parsed parsed = parse_text(std::string("# Port counters: Lid 5 port 1 (CapMask: 0)\nSymbolErrorCounter:..3\n") +
                                             header + "SymbolErrorCounter:..4\n",
                                         "f");
        ASSERT_THAT(parsed.ports, SizeIs(2)) << header;
        EXPECT_EQ(parsed.ports[0].counters.at("SymbolErrorCounter"), Reading::of(3));
        EXPECT_TRUE(parsed.ports[1].apart);
        EXPECT_THAT(texts(parsed), testing::Contains("f:3: a header that names no port"));
    }
}
TEST(Perfquery, NeverUsesTheSumWithoutAHeader) {
    const Parsed parsed = parse_text("PortSelect:..255\nSymbolErrorCounter:..3\n", "f");
    EXPECT_THAT(parsed.ports, IsEmpty());
    EXPECT_THAT(texts(parsed), ElementsAre(HasSubstr("f:1: port 255 is a sum over all ports")));
}
TEST(Perfquery, ReadsTheFirstHeaderBehindAByteOrderMark) {
    const Parsed parsed = parse_text("\xef\xbb\xbf# Port counters: Lid 5 port 1 (CapMask: 0)\nSymbolErrorCounter:..3\n???\n",
                                     "f");
    ASSERT_THAT(parsed.ports, SizeIs(1));
    EXPECT_EQ(parsed.ports[0].port, "lid 5:1");
    EXPECT_THAT(texts(parsed), ElementsAre("f:3: not understood: \"???\""));
}
TEST(Perfquery, ReadsEveryLineOfTheExtendedSpeedsCounters) {
    std::vector<std::string> names{"SyncHeaderErrorCounter",       "UnknownBlockCounter",
                                   "PortFECCorrectableBlockCtr",   "PortFECUncorrectableBlockCtr",
                                   "PortFECCorrectedSymbolCtr"};
    for (const char *stem : {"ErrorDetectionCounterLane", "FECCorrectableBlockCtrLane", "FECUncorrectableBlockCtrLane",
                             "FECCorrectableSymbolCtrLane"}) {
        for (unsigned lane = 0; lane < 12; ++lane) {
            names.push_back(stem + std::to_string(lane));
        }
    }
    for (const char *title : {"PortExtendedSpeedsCounters", "PortExtendedSpeedsCounters with RS-FEC Active"}) {
        std::string text = std::string("# ") + title + " counters: Lid 7 port 1\nPortSelect:......................1\n"
                           "CounterSelect:...................0x0000000000000000\n";
        for (std::size_t at = 0; at < names.size(); ++at) {
            text += names[at] + ":" + std::string(32 - std::min<std::size_t>(names[at].size(), 32), '.') +
                    std::to_string(1000 + at) + "\n";
        }
        const Parsed parsed = parse_text(text, "f");
        EXPECT_THAT(texts(parsed), IsEmpty());
        ASSERT_THAT(parsed.ports, SizeIs(1));
        EXPECT_EQ(parsed.ports[0].port, "lid 7:1");
        ASSERT_THAT(parsed.ports[0].counters, SizeIs(names.size()));
        for (std::size_t at = 0; at < names.size(); ++at) {
            EXPECT_EQ(parsed.ports[0].counters.at(canonical_name(names[at])), Reading::of(1000 + at)) << names[at];
        }
    }
}
TEST(Ibqueryerrors, SaysWhatAListWithoutErrorsIsWorth) {
    const Parsed parsed = parse_text("\n## Summary: 16 nodes checked, 0 bad nodes found\n"
                                     "##          226 ports checked, 0 ports have errors beyond threshold\n",
                                     "f");
    EXPECT_THAT(parsed.ports, IsEmpty());
    EXPECT_THAT(texts(parsed), ElementsAre(HasSubstr("f: the output of ibqueryerrors, and it lists no errors")));
    EXPECT_THAT(texts(parsed), ElementsAre(HasSubstr("take perfquery or fabric-check snapshot")));
}

TEST(Perfquery, QuotesTheToolsOwnWarnings) {
    EXPECT_THAT(texts(parse_text("ibwarn: [77] mad_rpc: _do_madrpc failed\n", "f")),
                ElementsAre("f:1: the tool itself says \"ibwarn: [77] mad_rpc: _do_madrpc failed\""));
}

TEST(Grep, NamesTheNodeWhoseTreeItReads) {
    EXPECT_EQ(parse_text("node07/infiniband/mlx5_0/ports/1/counters/symbol_error:3\n", "f").ports.at(0).port,
              "node07/mlx5_0:1");
    EXPECT_EQ(parse_text("node07: /sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error:3\n", "f").ports.at(0).port,
              "node07/mlx5_0:1");
    EXPECT_EQ(parse_text("/sys/devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0/ports/1/counters/symbol_error:3\n", "f")
                  .ports.at(0)
                  .port,
              "mlx5_0:1");
}
TEST(Grep, TakesSettingsForNoCounters) {
    for (const char *line : {"lifespan:10\n", "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/lifespan:10\n",
                             "hw_counters/lifespan:10\n"}) {
        const Parsed parsed = parse_text(line, "f");
        EXPECT_THAT(parsed.ports, IsEmpty()) << line;
        EXPECT_THAT(texts(parsed), IsEmpty()) << line;
    }
}

TEST(ParseText, TellsAllFormsOfOneFileApart) {
    const Parsed parsed = parse_text("$ perfquery\n# Port counters: Lid 7 port 1 (CapMask: 0x00)\nSymbolErrorCounter:....3\n"
                                     "-----\n# eth0\nNIC statistics:\n     rx_prio3_pause: 4\n"
                                     "link mlx5_0/1 packet_seq_err 5\n"
                                     "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/rnr_nak_retry_err:6\n",
                                     "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    ASSERT_THAT(parsed.ports, SizeIs(3));
    EXPECT_EQ(parsed.ports[0].port, "lid 7:1");
    EXPECT_EQ(parsed.ports[1].port, "eth0");
    EXPECT_EQ(parsed.ports[2].port, "mlx5_0:1");
    EXPECT_THAT(parsed.ports[2].counters, SizeIs(2));
}
TEST(ParseText, ReadsManyPortsInAnyOrder) {
    std::string text;
    for (const char *counter : {"symbol_error", "port_rcv_errors"}) {
        for (unsigned card = 0; card < 500; ++card) {
            text += "/sys/class/infiniband/mlx5_" + std::to_string(card) + "/ports/1/counters/" + counter + ":" +
                    std::to_string(card) + "\n";
        }
    }
    const Parsed parsed = parse_text(text, "f");
    ASSERT_THAT(parsed.ports, SizeIs(500));
    EXPECT_EQ(parsed.ports[499].counters.map(),
              (Counters{{"PortRcvErrors", Reading::of(499)}, {"SymbolErrorCounter", Reading::of(499)}}));
}

TEST(RdmaStatistic, NamesOfSeveralWordsAreRead) {
    const Parsed parsed = parse_text("link rocep1/1 cnpSent 4 RNR received 5 RTO 6 Rcvd Out of order packets 7 CRC errors 8\n", "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    ASSERT_EQ(parsed.ports.size(), 1U);
    const Counters counters = parsed.ports[0].counters.map();
    EXPECT_EQ(counters.at("RNR received").value, 5U);
    EXPECT_EQ(counters.at("RTO").value, 6U);
    EXPECT_EQ(counters.at("Rcvd Out of order packets").value, 7U);
    EXPECT_EQ(counters.at("CRC errors").value, 8U);
}

TEST(Grep, NamesOfSeveralWordsAreRead) {
    const Parsed parsed = parse_text("/sys/class/infiniband/rocep1/ports/1/hw_counters/CRC errors:8\n"
                                     "/sys/class/infiniband/rocep1/ports/1/hw_counters/RNR received:5\n"
                                     "/sys/class/infiniband/rocep1/ports/1/hw_counters/cnpSent:4\n", "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    ASSERT_EQ(parsed.ports.size(), 1U);
    EXPECT_EQ(parsed.ports[0].counters.map().at("CRC errors").value, 8U);
    EXPECT_EQ(parsed.ports[0].counters.map().at("RNR received").value, 5U);
}

} // namespace
} // namespace fabric_check::textfiles
