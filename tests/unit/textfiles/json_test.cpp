// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/codec.hpp"
#include "textfiles/text.hpp"

#include <gmock/gmock.h>

namespace fabric_check::textfiles {
namespace {

using testing::Contains;
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
std::string snapshot_of(const std::string &device, std::uint64_t symbol_errors) {
    NodeSnapshot snapshot;
    snapshot.node = "node07";
    snapshot.time_ns = 1;
    HcaPort port;
    port.device = device;
    port.link_layer = LinkLayer::infiniband;
    port.counters["SymbolErrorCounter"] = Reading::of(symbol_errors);
    snapshot.ports.push_back(port);
    return encode_snapshot(snapshot);
}

TEST(JsonText, ReadsSnapshotsJoinedOnOneLine) {
    const Parsed parsed = parse_text(snapshot_of("mlx5_0", 1) + snapshot_of("mlx5_1", 2) + "\n???\n", "f");
    ASSERT_THAT(parsed.ports, SizeIs(2));
    EXPECT_EQ(parsed.ports[0].port, "node07/mlx5_0:1");
    EXPECT_EQ(parsed.ports[1].port, "node07/mlx5_1:1");
    EXPECT_EQ(parsed.ports[1].counters.at("SymbolErrorCounter"), Reading::of(2));
    EXPECT_THAT(texts(parsed), ElementsAre("f:2: not understood: \"???\""));
}
TEST(JsonText, NamesTheLineOfWhatFollowsAValue) {
    const Parsed parsed =
        parse_text("[{\"ifname\":\"mlx5_0\",\n\"port\":1,\"packet_seq_err\":7}] packet_seq_err:9\n", "f");
    EXPECT_THAT(texts(parsed), ElementsAre("f:2: behind JSON, not understood: \"packet_seq_err:9\""));
    EXPECT_EQ(parsed.ports.at(0).counters.at("packet_seq_err"), Reading::of(7));
}
TEST(JsonText, TakesCommasAndCarriageReturnsBehindAValue) {
    const Parsed parsed = parse_text("{\"ifname\":\"mlx5_0\",\"port\":1,\"packet_seq_err\":7},\r\n"
                                     "{\"ifname\":\"mlx5_1\",\"port\":1,\"packet_seq_err\":8} ",
                                     "f");
    EXPECT_THAT(texts(parsed), IsEmpty());
    EXPECT_THAT(parsed.ports, SizeIs(2));
}

std::string replaced(std::string text, const std::string &what, const std::string &by) {
    return text.replace(text.find(what), what.size(), by);
}

TEST(JsonText, HasNoValueForACounterThatASnapshotGivesTwice) {
    const std::string once = "\"SymbolErrorCounter\":1";
    const std::string text = replaced(snapshot_of("mlx5_0", 1), once, once + ",\"SymbolErrorCounter\":2,\"symbol_error\":2");
    const Parsed parsed = parse_text(text + "\n", "f");
    EXPECT_THAT(texts(parsed),
                Contains("f:1: SymbolErrorCounter of node07/mlx5_0:1 is given twice with different values: none is used"));
    EXPECT_EQ(parsed.ports.at(0).counters.at("SymbolErrorCounter"), Reading::missing(Absence::unparsable));
    EXPECT_THAT(texts(parse_text(replaced(snapshot_of("mlx5_0", 1), once, once + "," + once) + "\n", "f")), IsEmpty());
}
TEST(JsonText, HasNoValueForACounterWhoseNamesContradictInASnapshot) {
    const std::string once = "\"SymbolErrorCounter\":1";
    const Parsed parsed =
        parse_text(replaced(snapshot_of("mlx5_0", 1), once, once + ",\"symbol_error\":2") + "\n", "f");
    EXPECT_THAT(texts(parsed), ElementsAre("f:1: SymbolErrorCounter of node07/mlx5_0:1 is given twice with different "
                                           "values, first in one of its other names: none is used"));
    EXPECT_EQ(parsed.ports.at(0).counters.at("SymbolErrorCounter"), Reading::missing(Absence::unparsable));
}
TEST(JsonText, UsesNoSnapshotThatContradictsItself) {
    const Parsed parsed =
        parse_text(replaced(snapshot_of("mlx5_0", 1), "\"ports\":", "\"ports\":[],\"ports\":") + "\n", "f");
    EXPECT_THAT(parsed.ports, IsEmpty());
    EXPECT_THAT(texts(parsed),
                ElementsAre("f:1: ports is given twice with different values: none is used: the snapshot is not used"));
}
TEST(JsonText, HasNoValueForACounterOfTwoSnapshotsOfOnePort) {
    const Parsed parsed = parse_text(snapshot_of("mlx5_0", 1) + "\n" + snapshot_of("mlx5_0", 2) + "\n", "f");
    EXPECT_THAT(texts(parsed), ElementsAre(HasSubstr("SymbolErrorCounter of node07/mlx5_0:1 is given twice")));
    EXPECT_EQ(parsed.ports.at(0).counters.at("SymbolErrorCounter"), Reading::missing(Absence::unparsable));
}
TEST(JsonText, HasNoValueForACounterThatRdmaGivesTwice) {
    const Parsed parsed =
        parse_text("[{\"ifname\":\"mlx5_0\",\"port\":1,\"packet_seq_err\":7,\"packet_seq_err\":8}]\n", "f");
    EXPECT_THAT(texts(parsed), ElementsAre("f:1: packet_seq_err is given twice with different values: none is used"));
    EXPECT_EQ(parsed.ports.at(0).counters.at("packet_seq_err"), Reading::missing(Absence::unparsable));
}

TEST(JsonText, SaysWhatIsNoCount) {
    for (const char *value : {"\"500\"", "true", "-1", "null", "1e30"}) {
        const Parsed rdma =
            parse_text(std::string("[{\"ifname\":\"mlx5_0\",\"port\":1,\"packet_seq_err\":") + value + "}]\n", "f");
        EXPECT_THAT(texts(rdma), ElementsAre("f:1: packet_seq_err of mlx5_0: not a count")) << value;
        EXPECT_EQ(rdma.ports.at(0).counters.at("packet_seq_err"), Reading::missing(Absence::unparsable));
        const Parsed snapshot = parse_text(
            replaced(snapshot_of("mlx5_0", 1), "\"SymbolErrorCounter\":1", std::string("\"SymbolErrorCounter\":") + value) + "\n",
            "f");
        EXPECT_THAT(texts(snapshot), ElementsAre("f:1: snapshot: ports[0].counters.SymbolErrorCounter: not a count")) << value;
    }
}
TEST(JsonText, HasNoValueForACountThatBreaksOff) {
    const Parsed parsed = parse_text("[{\"ifname\":\"mlx5_0\",\"port\":1,\"packet_seq_err\":7,\"rnr_nak_retry_err\":12", "f");
    EXPECT_EQ(parsed.ports.at(0).counters.at("packet_seq_err"), Reading::of(7));
    EXPECT_EQ(parsed.ports.at(0).counters.at("rnr_nak_retry_err"), Reading::missing(Absence::unparsable));
}
TEST(JsonText, BoundsTheCountersOfAPort) {
    std::string text = "[{\"ifname\":\"mlx5_0\",\"port\":1";
    for (int i = 0; i < 20010; ++i) {
        text += ",\"a_" + std::to_string(i) + "\":1";
    }
    const Parsed parsed = parse_text(text + ",\"packet_seq_err\":7}]\n", "f");
    EXPECT_THAT(texts(parsed), ElementsAre(HasSubstr("f:1: more than 20000 counters of one port")));
    EXPECT_EQ(parsed.ports.at(0).counters.at("packet_seq_err"), Reading::of(7)) << "it is judged";
    EXPECT_THAT(parsed.ports.at(0).counters, SizeIs(20001));
}

} // namespace
} // namespace fabric_check::textfiles
