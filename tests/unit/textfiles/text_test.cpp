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

const char *const classic = "# Port counters: Lid 12 port 1 (CapMask: 0x1300)\n"
                            "PortSelect:......................1\n"
                            "CounterSelect:...................0x0000\n"
                            "SymbolErrorCounter:..............90\n"
                            "LinkDownedCounter:...............255\n"
                            "PortXmitData:....................4294967295\n";
const char *const extended = "# Port extended counters: Lid 12 port 1 (CapMask: 0x5300 CapMask2: 0x0000002)\n"
                             "PortSelect:......................1\n"
                             "PortXmitData:....................178791657177235\n"
                             "SymbolErrorCounter:..............91\n";

TEST(ParseText, ReadsClassicPerfquery) {
    const Parsed parsed = parse_text(classic, "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    ASSERT_THAT(parsed.ports, SizeIs(1));
    EXPECT_EQ(parsed.ports[0].kind, KeyKind::lid);
    EXPECT_EQ(parsed.ports[0].port, "lid 12:1");
    EXPECT_EQ(parsed.ports[0].counters.map(), (Counters{{"LinkDownedCounter", Reading::of(255)},
                                                  {"PortXmitData", Reading::of(4294967295)},
                                                  {"SymbolErrorCounter", Reading::of(90)}}));
}
TEST(ParseText, ReadsExtendedPerfqueryAs64Bits) {
    const Parsed parsed = parse_text(extended, "f");
    ASSERT_THAT(parsed.ports, SizeIs(1));
    EXPECT_EQ(parsed.ports[0].counters.at("PortXmitData"), Reading::of(178791657177235, 64));
    EXPECT_EQ(parsed.ports[0].counters.at("SymbolErrorCounter"), Reading::of(91, 64));
}
TEST(ParseText, PrefersTheExtendedCopyInEitherOrder) {
    for (const std::string &text : {std::string(classic) + extended, std::string(extended) + classic}) {
        const Parsed parsed = parse_text(text, "f");
        ASSERT_THAT(parsed.ports, SizeIs(1));
        EXPECT_EQ(parsed.ports[0].counters.at("SymbolErrorCounter"), Reading::of(91, 64));
        EXPECT_EQ(parsed.ports[0].counters.at("LinkDownedCounter"), Reading::of(255));
        EXPECT_THAT(texts(parsed), IsEmpty());
    }
}
TEST(ParseText, KeepsPortsApart) {
    const Parsed parsed =
        parse_text("# Port counters: Lid 4 port 1 (CapMask: 0x200)\nPortSelect:..1\nPortRcvErrors:..1\n"
                   "# Port counters: Lid 4 port 2 (CapMask: 0x200)\nPortSelect:..2\nPortRcvErrors:..2\n",
                   "f");
    ASSERT_THAT(parsed.ports, SizeIs(2));
    EXPECT_EQ(parsed.ports[0].port, "lid 4:1");
    EXPECT_EQ(parsed.ports[1].port, "lid 4:2");
    EXPECT_EQ(parsed.ports[1].counters.at("PortRcvErrors"), Reading::of(2));
}
TEST(ParseText, NeverUsesTheSumOverAllPorts) {
    const Parsed parsed =
        parse_text("# Port counters: Lid 4 port 255 (CapMask: 0x200)\nPortSelect:..255\nPortRcvErrors:..9\n", "f");
    EXPECT_THAT(parsed.ports, IsEmpty());
    EXPECT_THAT(texts(parsed), ElementsAre(HasSubstr("f:1: port 255 is a sum over all ports")));
}
TEST(ParseText, ReadsPerfqueryWithoutItsHeader) {
    const Parsed parsed = parse_text("PortSelect:......................1\nSymbolErrorCounter:..............3\n", "f");
    ASSERT_THAT(parsed.ports, SizeIs(1));
    EXPECT_EQ(parsed.ports[0].kind, KeyKind::none);
    EXPECT_EQ(parsed.ports[0].counters.at("SymbolErrorCounter"), Reading::of(3));
}
TEST(ParseText, TakesCarriageReturnsBannersAndBlankLines) {
    const Parsed parsed = parse_text(
        "# taken by cron\r\n\r\n# Port counters: Lid 12 port 1 (CapMask: 0x1300)\r\nSymbolErrorCounter:....7\r\n", "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    EXPECT_EQ(parsed.ports.at(0).counters.at("SymbolErrorCounter"), Reading::of(7));
}
TEST(ParseText, NamesTheLineOfAValueThatIsNoNumber) {
    const Parsed parsed = parse_text("# Port counters: Lid 12 port 1 (CapMask: 0)\nSymbolErrorCounter:....9x\n", "f");
    EXPECT_EQ(parsed.ports.at(0).counters.at("SymbolErrorCounter"), Reading::missing(Absence::unparsable));
    EXPECT_THAT(texts(parsed), ElementsAre("f:2: SymbolErrorCounter: not a number: \"9x\""));
}
TEST(ParseText, NamesTheLineOfATruncatedTail) {
    const Parsed parsed = parse_text("# Port counters: Lid 12 port 1 (CapMask: 0)\nPortRcvErrors:....9\nPortXmi", "f");
    EXPECT_THAT(texts(parsed), ElementsAre("f:3: not understood: \"PortXmi\""));
    EXPECT_THAT(parsed.ports.at(0).counters, SizeIs(1));
}

TEST(ParseText, ReadsGrepOverHwCounters) {
    const Parsed parsed = parse_text("/sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err:900\n"
                                     "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/lifespan:10\n"
                                     "/sys/class/infiniband/mlx5_1/ports/1/hw_counters/packet_seq_err:0\n",
                                     "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    ASSERT_THAT(parsed.ports, SizeIs(2));
    EXPECT_EQ(parsed.ports[0].kind, KeyKind::device);
    EXPECT_EQ(parsed.ports[0].port, "mlx5_0:1");
    EXPECT_EQ(parsed.ports[0].counters.map(), (Counters{{"packet_seq_err", Reading::of(900)}}));
    EXPECT_EQ(parsed.ports[1].port, "mlx5_1:1");
}
TEST(ParseText, ReadsGrepOverPmaCountersToo) {
    const Parsed parsed = parse_text("/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error:5\n", "f");
    EXPECT_EQ(parsed.ports.at(0).counters.map(), (Counters{{"SymbolErrorCounter", Reading::of(5)}}));
}
TEST(ParseText, ReadsGrepFromInsideTheTree) {
    EXPECT_EQ(parse_text("hw_counters/packet_seq_err:4\n", "f").ports.at(0).kind, KeyKind::none);
    EXPECT_EQ(parse_text("packet_seq_err:4\n", "f").ports.at(0).counters.at("packet_seq_err"), Reading::of(4));
}
TEST(ParseText, KeepsACardsOwnHwCountersApart) {
    const Parsed parsed = parse_text("/sys/class/infiniband/irdma0/hw_counters/ip4InDiscards:4\n", "f");
    EXPECT_EQ(parsed.ports.at(0).port, "irdma0");
    EXPECT_TRUE(parsed.ports.at(0).card) << "whose they are depends on the other files";
}
TEST(ParseText, TakesGrepsComplaintsForReasons) {
    const Parsed parsed = parse_text("grep: /sys/class/infiniband/mlx5_0/ports/1/hw_counters/a_b: Invalid argument\n"
                                     "grep: /sys/class/infiniband/mlx5_0/ports/1/hw_counters/c_d: Permission denied\n"
                                     "/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error:N/A (no PMA)\n",
                                     "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    EXPECT_EQ(parsed.ports.at(0).counters.map(), (Counters{{"SymbolErrorCounter", Reading::missing(Absence::unsupported)},
                                                     {"a_b", Reading::missing(Absence::unsupported)},
                                                     {"c_d", Reading::missing(Absence::denied)}}));
}
TEST(ParseText, HasNoValueForACounterThatIsGivenTwice) {
    const Parsed parsed = parse_text("packet_seq_err:4\npacket_seq_err:5\npacket_seq_err:5\nout_of_sequence:1\n", "f");
    EXPECT_THAT(texts(parsed),
                ElementsAre("f:2: packet_seq_err is given twice with different values, first in line 1: none is used"));
    EXPECT_EQ(parsed.ports.at(0).counters.at("packet_seq_err"), Reading::missing(Absence::unparsable));
    EXPECT_EQ(parsed.ports.at(0).counters.at("out_of_sequence"), Reading::of(1));
}
TEST(ParseText, HasNoValueForACounterWhoseNamesContradict) {
    const Parsed parsed = parse_text("# Port counters: Lid 5 port 1 (CapMask: 0)\nSymbolErrorCounter:..3\nsymbol_error:..4\n",
                                     "f");
    EXPECT_THAT(texts(parsed), ElementsAre(HasSubstr("f:3: SymbolErrorCounter is given twice")));
    EXPECT_EQ(parsed.ports.at(0).counters.at("SymbolErrorCounter"), Reading::missing(Absence::unparsable));
}
TEST(ParseText, TakesACounterThatIsGivenTwiceAlike) {
    const Parsed parsed = parse_text("packet_seq_err:4\npacket_seq_err:4\n", "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    EXPECT_EQ(parsed.ports.at(0).counters.at("packet_seq_err"), Reading::of(4));
}
TEST(ParseText, HasNoValueForWhatIsCutOff) {
    const Parsed parsed = parse_text("packet_seq_err:4\nout_of_sequence:5", "f");
    EXPECT_THAT(texts(parsed), ElementsAre("f:2: the last line has no end: its value may be cut off, and is not used"));
    EXPECT_EQ(parsed.ports.at(0).counters.at("packet_seq_err"), Reading::of(4));
    EXPECT_EQ(parsed.ports.at(0).counters.at("out_of_sequence"), Reading::missing(Absence::unparsable));
    EXPECT_EQ(parse_text("packet_seq_err:4\nlifespan:1", "f").ports.at(0).counters.at("packet_seq_err"), Reading::of(4));
    EXPECT_EQ(parse_text("packet_seq_err:4 ", "f").ports.at(0).counters.at("packet_seq_err"), Reading::of(4))
        << "the value has an end";
}
TEST(ParseText, BoundsTheCountersOfAPort) {
    for (const std::string start : {"link mlx5_0/1", "NIC statistics:"}) {
        const bool rdma = start.front() == 'l';
        std::string text = start;
        for (int i = 0; i < 20010; ++i) {
            text += (rdma ? " a_" : "\n  a_") + std::to_string(i) + (rdma ? " 1" : ": 1");
        }
        text += rdma ? " packet_seq_err 7\n" : "\n  packet_seq_err: 7\n";
        const Parsed parsed = parse_text(text, "f");
        EXPECT_THAT(texts(parsed), ElementsAre(HasSubstr("more than 20000 counters of one port")));
        EXPECT_THAT(parsed.ports.at(0).counters, SizeIs(20001));
        EXPECT_EQ(parsed.ports.at(0).counters.at("packet_seq_err"), Reading::of(7)) << "it is judged";
    }
}
TEST(ParseText, SaysWhenAClassicCounterIsMoreThanItsFieldHolds) {
    const Parsed parsed = parse_text("# Port counters: Lid 5 port 1 (CapMask: 0)\nLinkDownedCounter:..300\n", "f");
    EXPECT_THAT(texts(parsed), ElementsAre(HasSubstr("f:2: LinkDownedCounter is 300: its field holds 255 at most")));
    EXPECT_EQ(parsed.ports.at(0).counters.at("LinkDownedCounter"), Reading::of(300));
    for (const char *fine : {"# Port counters: Lid 5 port 1 (CapMask: 0)\nLinkDownedCounter:..255\n",
                             "# Port extended counters: Lid 5 port 1 (CapMask: 0)\nLinkDownedCounter:..300\n"}) {
        EXPECT_THAT(texts(parse_text(fine, "f")), IsEmpty()) << fine;
    }
}

TEST(ParseText, OfOtherPeoplesTextIsProblemsOnly) {
    const Parsed parsed = parse_text("# OSU MPI Latency\n8     1.23\n\x1b[31mhello: world\n", "f");
    EXPECT_THAT(parsed.ports, IsEmpty());
    EXPECT_THAT(texts(parsed),
                ElementsAre("f:2: not understood: \"8     1.23\"", "f:3: not understood: \"\\x1b[31mhello: world\""));
}
TEST(ParseText, CountsProblemsBeyondTwenty) {
    std::string text;
    for (int i = 0; i < 25; ++i) {
        text += "???\n";
    }
    const Parsed parsed = parse_text(text, "f");
    ASSERT_THAT(parsed.problems, SizeIs(21));
    EXPECT_EQ(parsed.problems.back().text(), "f: and 5 more problems");
}
TEST(ParseText, OfNothingIsNothing) {
    EXPECT_THAT(parse_text("", "f").ports, IsEmpty());
    EXPECT_THAT(parse_text("\n\n", "f").problems, IsEmpty());
}

} // namespace
} // namespace fabric_check::textfiles
