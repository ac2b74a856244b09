// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/line.hpp"

#include "verdict/job_fixture.hpp"

#include <gmock/gmock.h>

namespace fabric_check {
namespace {

using testing::gigabyte;
using testing::SmallJob;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::uint32_t a = SmallJob::switch_a;

std::string line_of(SmallJob &job) {
    const JobVerdict verdict = job.judge();
    return format_line(line_fields(job.evidence, verdict));
}

bool is_clean_ascii(const std::string &line) {
    return std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < 0x7f; }) &&
           line.find_first_of("|\"';\n") == std::string::npos;
}

TEST(Line, OfACleanJobInTheContractsOrder) {
    SmallJob job;
    job.all_servers_to_all_nodes(100 * gigabyte);
    job.ring(10 * gigabyte);
    EXPECT_EQ(line_of(job), "fabric=clean cover=12/12 ports=48/48 moved=120.0GB route=ok isl=SwitchB>SwitchA:8/8 "
                            "imbalance=1.0 spread=1.3 nodes=node[01-12]");
}

TEST(Line, OfARetryNamesPortCounterAndDelta) {
    SmallJob job(false);
    job.ring(10 * gigabyte);
    job.host(7, "packet_seq_err", 12000);
    EXPECT_THAT(line_of(job), StartsWith("fabric=transport-retry at=node07/mlx5_0:1 why=packet_seq_err+12000 cover="));
}

TEST(Line, CountsTheOtherFindings) {
    SmallJob job(false);
    job.ring(10 * gigabyte);
    for (unsigned i = 1; i <= 4; ++i) {
        job.host(i, "packet_seq_err", i);
    }
    EXPECT_THAT(line_of(job), HasSubstr("at=node04/mlx5_0:1 why=packet_seq_err+4(+3) cover="));
}

TEST(Line, OfAPhysicalFindingNamesTheLinkAndItsErrorRate) {
    SmallJob job(false);
    job.ring(10 * gigabyte);
    job.switch_port(a, 7, "SymbolErrorCounter", 90);
    EXPECT_THAT(line_of(job), StartsWith("fabric=physical at=SwitchA:7<->node07/mlx5_0:1 why=SymbolErrorCounter+90 "
                                         "hw=fail cover="));
}

TEST(Line, OfANarrowLinkHasNoDelta) {
    SmallJob job(false);
    job.ring(10 * gigabyte);
    job.switch_end(a, 7).rate = testing::narrow_hdr();
    EXPECT_THAT(line_of(job), HasSubstr(" why=width hw=fail "));
}

TEST(Line, OfAGapSaysTheRestAndWhatWasNotRead) {
    SmallJob job(false);
    job.ring(10 * gigabyte);
    job.host(3, "rnr_nak_retry_err", 1);
    job.set_both(job.switch_start(a, 7).counters, job.switch_end(a, 7).counters, "LinkDownedCounter", 255);
    EXPECT_THAT(line_of(job), StartsWith("fabric=unusable at=node03/mlx5_0:1 why=rnr_nak_retry_err+1 "
                                         "rest=transport-retry unread=SwitchA:7<->node07/mlx5_0:1/LinkDownedCounter:saturated cover=12/12"));
}

TEST(Line, OfAMissingNodeSaysWhyInOneWord) {
    SmallJob job(false);
    job.ring(10 * gigabyte);
    job.node(9).end.reset();
    job.node(9).end_problem = "no END record within 20 s";
    EXPECT_THAT(line_of(job), StartsWith("fabric=incomplete rest=clean unread=node09:no-END-record-within-20-s cover=11/12"));
}

TEST(Line, OfARoutingImbalanceHasGroupSpreadAndTheHotCable) {
    SmallJob job(true, true);
    job.all_servers_to_all_nodes(static_cast<std::uint64_t>(0.96 * 22.6 * testing::gib * 100 / 6));
    EXPECT_THAT(line_of(job),
                MatchesRegex("fabric=routing-imbalance at=SwitchA:13<->SwitchB:25 why=hot\\+96% cover=12/12 ports=48/48 "
                             "moved=0B route=imbalanced isl=SwitchB>SwitchA:3/8 imbalance=3.0 spread=4.0 "
                             "hot=SwitchB:25/96% own=100% nodes=.*"));
}

TEST(Line, OfALongReasonTheCauseStaysNotThePath) {
    SmallJob job(false);
    job.ring(10 * gigabyte);
    job.node(9).end.reset();
    job.node(9).end_problem = "no END record; the node says, unsigned: "
                              "/cluster/shared/fabric-check/spool/records/4711.node09.17: Read-only file system";
    EXPECT_THAT(line_of(job), HasSubstr(" unread=node09:no-END-record...:-Read-only-file-system cover="));
}

TEST(Line, OfAReasonWithItsRemedyTheHeadStays) {
    SmallJob job(false);
    job.ring(10 * gigabyte);
    for (auto *scout : {&job.evidence.scout.start, &job.evidence.scout.end}) {
        ScoutSnapshot nothing;
        nothing.node = "node01";
        nothing.problems.push_back({"switches", "", "umad: no active InfiniBand port on this host (is a card there, its "
                                                    "driver loaded, its link up?)"});
        *scout = nothing;
    }
    EXPECT_THAT(line_of(job), HasSubstr(" unread=switches:node01:-umad:-no-active-InfiniBand-port-on-this-host cover="));
}

TEST(Line, HotIsALinkThatASwitchSendsThroughRatherThanAHosts) {
    SmallJob job;
    job.all_servers_to_all_nodes(10 * gigabyte);
    const auto full = [](double share) { return static_cast<std::uint64_t>(share * 22.6 * testing::gib * 100 / 4); };
    job.switch_port(SmallJob::switch_b, 1, "PortRcvData", full(0.95));
    EXPECT_THAT(line_of(job), HasSubstr(" hot=stor01/mlx5_0:1/9"));
    job.switch_port(SmallJob::switch_b, 25, "PortXmitData", full(0.85));
    EXPECT_THAT(line_of(job), HasSubstr(" hot=SwitchB:25/"));
}

TEST(Line, SaysAdaptiveRoutingUnlessItIsOff) {
    SmallJob job;
    job.config.adaptive_routing = "on";
    EXPECT_THAT(line_of(job), HasSubstr(" ar=on "));
    job.config.adaptive_routing = "off";
    EXPECT_THAT(line_of(job), Not(HasSubstr("ar=")));
}

TEST(Line, SaysSharedNodesAndRestarts) {
    SmallJob job;
    job.evidence.shared_with = {17, 18};
    job.evidence.job.restart = 1;
    EXPECT_THAT(line_of(job), HasSubstr(" shared=2 restart=1 nodes="));
}

TEST(Line, HostileNamesAreEncoded) {
    SmallJob job(false);
    job.ring(10 * gigabyte);
    job.node(7).node = job.evidence.job.node_names[6] = "x; DROP|'\"\n\xff[1]";
    job.host(7, "packet_seq_err", 2);
    const std::string line = line_of(job);
    EXPECT_TRUE(is_clean_ascii(line)) << line;
    EXPECT_THAT(line, HasSubstr("at=x%3B%20DROP%7C%27%22%0A%FF[1]/mlx5_0:1"));
    EXPECT_THAT(line, HasSubstr("x%3B%20DROP%7C%27%22%0A%FF%5B1%5D"));
}

class LongLine : public ::testing::Test {
protected:
    static LineFields fields(const std::string &nodes) {
        return {{"fabric", "physical"}, {"at", "SwitchA:14<->SwitchB:26"}, {"why", "SymbolErrorCounter+90"},
                {"cover", "1000/1000"}, {"nodes", nodes}};
    }
    /// 1,000 names without a common prefix.
    static std::string scattered() {
        std::string list;
        for (unsigned i = 0; i < 1000; ++i) {
            list += (i == 0 ? "" : ",") + std::string(1, static_cast<char>('a' + i % 26)) + std::to_string(i) + "x";
        }
        return list;
    }
};

TEST_F(LongLine, AThousandNodesInOneRangeFit) {
    EXPECT_THAT(format_line(fields("node[0001-1000]")), EndsWith("nodes=node[0001-1000]"));
}

TEST_F(LongLine, AThousandScatteredNodesAreShortenedAndItSaysSo) {
    const std::string line = format_line(fields(scattered()));
    EXPECT_LE(line.size(), line_limit);
    EXPECT_GT(line.size(), line_limit - 20); // and no shorter than need be
    EXPECT_THAT(line, MatchesRegex("fabric=physical at=SwitchA:14<->SwitchB:26 why=SymbolErrorCounter\\+90 "
                                   "cover=1000/1000 nodes=.*\\.\\.\\.\\(\\+[0-9]+\\)"));
}

TEST_F(LongLine, ShownAndLeftOutNodesAddUp) {
    const std::string line = format_line(fields(scattered()));
    const std::string nodes = line.substr(line.find("nodes=") + 6);
    const auto shown = std::count(nodes.begin(), nodes.end(), ',') + 1;
    EXPECT_EQ(shown + std::stol(nodes.substr(nodes.find("(+") + 2)), 1000);
}

TEST_F(LongLine, ExactlyTheLimitIsLeftAlone) {
    LineFields exact = fields("");
    const std::string name(line_limit - format_line(exact).size(), 'n');
    exact.back().second = name;
    EXPECT_THAT(format_line(exact), EndsWith(name));
    exact.back().second += "n";
    EXPECT_THAT(format_line(exact), EndsWith("nnn..."));
}

TEST_F(LongLine, ALongPlaceIsShortenedAfterTheNodes) {
    LineFields long_place = fields(scattered());
    long_place[1].second = std::string(600, 'p');
    const std::string line = format_line(long_place);
    EXPECT_LE(line.size(), line_limit);
    EXPECT_THAT(line, HasSubstr("ppp... why=SymbolErrorCounter+90 cover=1000/1000 nodes=...(+1000)"));
}

TEST_F(LongLine, AnEscapeIsNeverCutInTwo) {
    LineFields escapes = fields("");
    for (std::size_t shift = 0; shift < 3; ++shift) {
        escapes[1].second = std::string(shift, 'a');
        while (escapes[1].second.size() < 600) {
            escapes[1].second += "%FF";
        }
        const std::string line = format_line(escapes);
        EXPECT_THAT(line, HasSubstr("%FF... why=")) << shift;
    }
}

TEST_F(LongLine, WhateverTheFieldsTheLimitHolds) {
    LineFields absurd;
    for (int i = 0; i < 40; ++i) {
        absurd.emplace_back("key" + std::to_string(i), std::string(100, 'v'));
    }
    EXPECT_LE(format_line(absurd).size(), line_limit);
    EXPECT_LE(format_line({{"fabric", std::string(2000, 'f')}}).size(), line_limit);
}

TEST_F(LongLine, BytesThatAreNotAllowedAreEncodedWhoeverMadeTheValue) {
    EXPECT_EQ(format_line({{"fabric", "a b;c|d'e\"f\n"}}), "fabric=a%20b%3Bc%7Cd%27e%22f%0A");
}

} // namespace
} // namespace fabric_check
