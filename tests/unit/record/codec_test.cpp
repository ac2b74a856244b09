// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/codec.hpp"
#include "record/codec_parts.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace fabric_check {
namespace {

using nlohmann::json;

NodeSnapshot full_snapshot() {
    NodeSnapshot snapshot;
    snapshot.node = "node07";
    snapshot.boot_id = "c0ffee";
    snapshot.time_ns = 1700000000000000001;
    snapshot.took_ns = 42;
    HcaPort port;
    port.device = "mlx5_0";
    port.driver = "mlx5_core";
    port.number = 2;
    port.guid = 0xffffffffffffffff;
    port.lid = 0xffff;
    port.lmc = 7;
    port.link_layer = LinkLayer::infiniband;
    port.state = "ACTIVE";
    port.phys_state = "LinkUp";
    port.rate = {4, "HDR", 200, 53.125};
    port.netdev = "ib0";
    port.pci = "0000:3b:00.1";
    port.model = "MT4123";
    port.pcie = {8, 16, 8, 16};
    port.counters["PortXmitData"] = Reading::of(0xffffffffffffffff);
    port.counters["LinkDownedCounter"] = Reading::of(255, 8);
    port.counters["PortRcvErrors"] = Reading::missing(Absence::denied);
    snapshot.ports.push_back(port);
    snapshot.problems.push_back({"node07/mlx5_0:2", "PortRcvErrors", "permission"});
    return snapshot;
}

ScoutSnapshot full_scout() {
    ScoutSnapshot scout;
    scout.node = "node01";
    scout.time_ns = 5;
    scout.took_ns = 6;
    scout.map_id = 0x0123456789abcdef;
    scout.hosts.push_back({"node01", 0x11, 4, false, MatchedBy::guid});
    scout.hosts.push_back({"stor01", 0x12, 9, true, MatchedBy::description});
    SwitchPort port;
    port.switch_guid = 0x99;
    port.switch_name = "SwitchA";
    port.switch_lid = 2;
    port.port = 13;
    port.state = "ACTIVE";
    port.rate = {4, "NDR", 400, 106.25};
    port.counters["PortXmitData"] = Reading::of(0xffffffffffffffff, 64);
    port.counters["SymbolErrorCounter"] = Reading::missing(Absence::timed_out);
    scout.ports.push_back(port);
    port.port = 14;
    port.time_ns = 4;
    port.counters["SymbolErrorCounter"] = Reading::of(3, 16);
    scout.ports.push_back(port);
    port.switch_guid = 0x98;
    port.switch_name = "SwitchB";
    port.switch_lid = 3;
    port.rate = {4, "HDR", 200, 53.125};
    port.counters["vendor_thing"] = Reading::of(1);
    scout.ports.push_back(port);
    LftBlock block;
    block.switch_guid = 0x99;
    block.block = 767;
    for (std::size_t i = 0; i < block.ports.size(); ++i)
        block.ports[i] = static_cast<std::uint8_t>(255 - i);
    scout.lfts.push_back(block);
    block.block = 3;
    scout.lfts.push_back(block);
    block.switch_guid = 0x97; // none of its ports was read
    scout.lfts.push_back(block);
    scout.adaptive_routing = AdaptiveRouting::on;
    scout.problems.push_back({"map", "", "old"});
    return scout;
}

std::string node_text() {
    return encode_record({9, "node07", Phase::end, 1700000000000000001, full_snapshot()});
}

std::string plain_refusal(const std::function<void(json &)> &change) {
    auto document = json::parse(encode_snapshot(full_snapshot()));
    change(document);
    const auto decoded = decode_snapshot(document.dump());
    return decoded ? "accepted" : decoded.error().message;
}

/// The record with one change, decoded.
std::string refusal(const std::function<void(json &)> &change, const std::string &text = node_text()) {
    auto document = json::parse(text);
    change(document);
    const auto decoded = decode_record(document.dump());
    return decoded ? "accepted" : decoded.error().message;
}

TEST(RecordCodec, StartsWithTheSchema) {
    EXPECT_TRUE(node_text().starts_with(R"({"schema":"fabric-check/record/1")"));
}

TEST(RecordCodec, KeepsEverythingOfANodesRecord) {
    const auto decoded = decode_record(node_text());
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->job_id, 9U);
    EXPECT_EQ(decoded->phase, Phase::end);
    EXPECT_FALSE(decoded->is_scout());
    const auto &port = std::get<NodeSnapshot>(decoded->snapshot).ports.at(0);
    EXPECT_EQ(port.guid, 0xffffffffffffffff);
    EXPECT_EQ(port.counters, full_snapshot().ports[0].counters);
    EXPECT_EQ(port.rate, full_snapshot().ports[0].rate);
    EXPECT_EQ(port.netdev, "ib0");
    EXPECT_EQ(port.pci, "0000:3b:00.1");
    EXPECT_EQ(port.model, "MT4123");
    EXPECT_EQ(port.pcie, full_snapshot().ports[0].pcie);
    EXPECT_EQ(encode_record(*decoded), node_text());
}

TEST(RecordCodec, KeepsEverythingOfAScoutsRecord) {
    const auto text = encode_record({9, "node01", Phase::start, 5, full_scout()});
    const auto decoded = decode_record(text);
    ASSERT_TRUE(decoded) << decoded.error().message;
    const auto &scout = std::get<ScoutSnapshot>(decoded->snapshot);
    EXPECT_EQ(scout.lfts, full_scout().lfts);
    ASSERT_EQ(scout.ports.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        const auto before = full_scout().ports[i];
        const auto &after = scout.ports[i];
        EXPECT_EQ(after.counters, before.counters) << i;
        EXPECT_EQ(after.rate, before.rate) << i;
        EXPECT_EQ(std::tie(after.switch_guid, after.switch_name, after.switch_lid, after.port, after.time_ns, after.state),
                  std::tie(before.switch_guid, before.switch_name, before.switch_lid, before.port, before.time_ns,
                           before.state))
            << i;
    }
    EXPECT_EQ(scout.hosts.at(1).by, MatchedBy::description);
    EXPECT_TRUE(scout.hosts.at(1).service);
    EXPECT_EQ(encode_record(*decoded), text);
}

TEST(RecordCodec, KeepsASnapshotAlone) {
    const auto decoded = decode_snapshot(encode_snapshot(full_snapshot()));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->problems, full_snapshot().problems);
}

TEST(RecordCodec, WritesBytesThatAreNotUtf8AsReplacements) {
    auto snapshot = full_snapshot();
    snapshot.ports[0].state = "\xff\xfe";
    const auto decoded = decode_snapshot(encode_snapshot(snapshot));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->ports[0].state, "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(RecordCodec, IgnoresKeysOfALaterRelease) {
    EXPECT_EQ(refusal([](json &record) { record["snapshot"]["ports"][0]["optic"] = "x"; }), "accepted");
}

TEST(RecordCodec, ReadsRecordsOfAReleaseThatDidNotLookAtTheSlot) {
    auto document = json::parse(node_text());
    for (const char *key : {"netdev", "pci", "model", "pcie"}) {
        document["snapshot"]["ports"][0].erase(key);
    }
    const auto decoded = decode_record(document.dump());
    ASSERT_TRUE(decoded) << decoded.error().message;
    const auto &port = std::get<NodeSnapshot>(decoded->snapshot).ports.at(0);
    EXPECT_EQ(port.netdev, "");
    EXPECT_FALSE(port.pcie.known());
    EXPECT_EQ(port.counters, full_snapshot().ports[0].counters);
}

TEST(RecordCodec, RefusesASlotThatCannotBe) {
    EXPECT_EQ(refusal([](json &record) { record["snapshot"]["ports"][0]["pcie"]["lanes"] = 65; }),
              "record: snapshot.ports[0].pcie.lanes: above 64");
}

TEST(RecordCodec, RefusesWhatIsNotJson) {
    EXPECT_EQ(decode_record("").error().message, "record: not JSON");
    EXPECT_EQ(decode_record("{\"schema\":").error().message, "record: not JSON");
    EXPECT_EQ(decode_record("[1]").error().message, "record: document: not an object");
}

TEST(RecordCodec, RefusesAnotherSchema) {
    EXPECT_EQ(refusal([](json &record) { record["schema"] = "fabric-check/record/2"; }),
              "record: schema: \"fabric-check/record/2\" where \"fabric-check/record/1\" was expected");
}

TEST(RecordCodec, NamesTheKeyThatIsMissing) {
    EXPECT_EQ(refusal([](json &record) { record["snapshot"]["ports"][0].erase("lid"); }),
              "record: snapshot.ports[0].lid: missing");
}

TEST(RecordCodec, NamesTheKeyOfAWrongType) {
    EXPECT_EQ(refusal([](json &record) { record["job"] = "9"; }), "record: job: not a whole number");
    EXPECT_EQ(refusal([](json &record) { record["job"] = -9; }), "record: job: not a whole number");
    EXPECT_EQ(refusal([](json &record) { record["snapshot"]["ports"] = 5; }), "record: snapshot.ports: not an array");
    EXPECT_EQ(refusal([](json &record) { record["snapshot"] = 5; }), "record: snapshot: not an object");
}

TEST(RecordCodec, RefusesNumbersOutsideTheirField) {
    EXPECT_EQ(refusal([](json &record) { record["job"] = 4294967296; }), "record: job: above 4294967295");
    EXPECT_EQ(refusal([](json &record) { record["snapshot"]["ports"][0]["lid"] = 65536; }),
              "record: snapshot.ports[0].lid: above 65535");
    EXPECT_EQ(refusal([](json &record) { record["snapshot"]["ports"][0]["lmc"] = 8; }),
              "record: snapshot.ports[0].lmc: above 7");
}

TEST(RecordCodec, RefusesAWidthThatNoCounterHas) {
    EXPECT_EQ(plain_refusal([](json &snapshot) { snapshot["ports"][0]["counters"]["LinkDownedCounter"]["width"] = 9; }),
              "snapshot: ports[0].counters.LinkDownedCounter.width: not 4, 8, 16, 32 or 64");
    EXPECT_EQ(refusal([](json &record) { record["snapshot"]["layouts"][0]["LinkDownedCounter"] = 9; }),
              "record: snapshot.layouts[0].LinkDownedCounter: not 4, 8, 16, 32 or 64");
}

TEST(RecordCodec, RefusesAnUnknownReasonForAbsence) {
    EXPECT_EQ(plain_refusal([](json &snapshot) { snapshot["ports"][0]["counters"]["PortRcvErrors"]["missing"] = "lost"; }),
              "snapshot: ports[0].counters.PortRcvErrors.missing: unknown reason");
    EXPECT_EQ(refusal([](json &record) { record["snapshot"]["ports"][0]["counters"] = "255,lost,1"; }),
              "record: snapshot.ports[0].counters.PortRcvErrors: unknown reason");
}

TEST(RecordCodec, SaysTheCountersOfManyPortsOnce) {
    auto snapshot = full_snapshot();
    for (unsigned i = 0; i < 15; ++i)
        snapshot.ports.push_back(snapshot.ports[0]);
    const auto text = encode_record({9, "node07", Phase::end, 1700000000000000001, snapshot});
    const auto first = text.find("LinkDownedCounter");
    EXPECT_NE(first, std::string::npos);
    EXPECT_EQ(text.find("LinkDownedCounter", first + 1), std::string::npos);
}

TEST(RecordCodec, RefusesAGuidInAnotherForm) {
    for (const auto *guid : {"0x1", "0002c90000000000", "0x0002c9000000000g", "0x0002c900000000001"})
        EXPECT_EQ(refusal([&](json &record) { record["snapshot"]["ports"][0]["guid"] = guid; }),
                  "record: snapshot.ports[0].guid: not a GUID like 0x0002c90000000001")
            << guid;
}

std::string scout_refusal(const std::function<void(json &)> &change) {
    return refusal([&](json &record) { change(record["scout"]); },
                   encode_record({9, "node01", Phase::start, 5, full_scout()}));
}

TEST(ScoutCodec, SaysOnceWhatIsTheSameForManyPorts) {
    auto scout = full_scout();
    const auto before = encode_record({9, "node01", Phase::start, 5, scout}).size();
    for (unsigned port = 100; port < 200; ++port) {
        scout.ports.push_back(full_scout().ports[1]);
        scout.ports.back().port = port;
    }
    const auto grown = encode_record({9, "node01", Phase::start, 5, scout}).size() - before;
    EXPECT_LT(grown, 100U * 130) << "two counters of 20 digits and 1, and what a port has of its own";
}

TEST(ScoutCodec, KeepsMoreBlocksOfASwitchThanItHas) {
    auto scout = full_scout();
    scout.lfts.assign(1600, full_scout().lfts[0]);
    const auto text = encode_record({9, "node01", Phase::start, 5, scout});
    const auto decoded = decode_record(text);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(std::get<ScoutSnapshot>(decoded->snapshot).lfts, scout.lfts);
    EXPECT_EQ(encode_record(*decoded), text);
}

TEST(ScoutCodec, RefusesAnLftBlockThatIsNot64Ports) {
    for (const auto &ports : {std::string(126, '0'), std::string(254, '0'), std::string(258, '0'), std::string(256, 'g'),
                              std::string(256, 'A')})
        EXPECT_EQ(scout_refusal([&](json &scout) { scout["lfts"][0]["ports"] = ports; }),
                  "record: scout.lfts[0].ports: not 128 hexadecimal digits a block");
    EXPECT_EQ(scout_refusal([&](json &scout) { scout["lfts"][0]["blocks"][1] = 768; }),
              "record: scout.lfts[0].blocks[1]: not a number below 768");
}

TEST(ScoutCodec, RefusesARowOfATableThatIsNotThere) {
    EXPECT_EQ(scout_refusal([](json &scout) { scout["ports"][0]["switch"] = 3; }),
              "record: scout.ports[0].switch: there are only 3 of them");
    EXPECT_EQ(scout_refusal([](json &scout) { scout["ports"][0]["rate"] = 2; }),
              "record: scout.ports[0].rate: there are only 2 of them");
    EXPECT_EQ(scout_refusal([](json &scout) { scout["ports"][0]["layout"] = 3; }),
              "record: scout.ports[0].layout: there are only 3 of them");
    EXPECT_EQ(scout_refusal([](json &scout) { scout["lfts"][1]["switch"] = 3; }),
              "record: scout.lfts[1].switch: there are only 3 of them");
}

TEST(ScoutCodec, RefusesReadingsThatAreNotAsLaidOut) {
    const auto with = [](const char *counters) {
        return scout_refusal([&](json &scout) { scout["ports"][0]["counters"] = counters; });
    };
    EXPECT_EQ(with("1,2"), "accepted");
    for (const char *counters : {"", "1", "1,", "1,2,", "1,2,3", "1,2,3,"})
        EXPECT_EQ(with(counters), "record: scout.ports[0].counters: not the 2 counters of its layout") << counters;
    for (const char *counters : {"-1,2", "lost,2", ",2", "1.5,2", " 1,2", "18446744073709551616,2"})
        EXPECT_EQ(with(counters), "record: scout.ports[0].counters.PortXmitData: unknown reason") << counters;
}

TEST(ScoutCodec, RefusesALayoutThatCannotBe) {
    EXPECT_EQ(scout_refusal([](json &scout) { scout["layouts"][0]["PortXmitData"] = 9; }),
              "record: scout.layouts[0].PortXmitData: not 4, 8, 16, 32 or 64");
    const auto text = encode_record({9, "node01", Phase::start, 5, full_scout()});
    auto twice = text;
    twice.replace(twice.find("\"SymbolErrorCounter\""), 20, "\"PortXmitData\"      ");
    const auto decoded = decode_record(twice);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().message, "record: scout.layouts[0].PortXmitData: twice");
}

TEST(LayoutReader, ReadsNoMoreThanItHasRoomFor) {
    const std::string text = R"({"schema": "s", "layouts": [{"A": 0, "B": 64}], "port": {"layout": 0, "counters": "1,2"}})";
    const auto read = [&](std::size_t most, int ports) {
        const auto done = decode_json<int>(text, "it", "s", [&](const JsonReader &reader) {
            LayoutReader layouts(reader, most);
            for (int i = 0; i < ports; ++i)
                (void)layouts.readings(reader.object("port"));
            return ports;
        });
        return done ? "" : done.error().message;
    };
    EXPECT_EQ(read(6, 2), "") << "the layout's own, and each port's";
    EXPECT_EQ(read(6, 3), "it: port.counters: too many readings in all");
    EXPECT_EQ(read(1, 0), "it: layouts[0]: too many readings in all");
}

TEST(RecordCodec, RefusesASnapshotOfAnotherNodeOrTime) {
    EXPECT_EQ(refusal([](json &record) { record["node"] = "node08"; }),
              "record: node: \"node08\", but the snapshot is of \"node07\"");
    EXPECT_EQ(refusal([](json &record) { record["time_ns"] = 1; }), "record: time_ns: not the snapshot's");
}

TEST(RecordCodec, RefusesANodeNameThatIsAPath) {
    EXPECT_EQ(refusal([](json &record) { record["node"] = "../etc"; }), "record: node: not a node name");
}

TEST(RecordCodec, RefusesTextBeyondItsLimit) {
    EXPECT_EQ(refusal([](json &record) { record["snapshot"]["boot_id"] = std::string(257, 'x'); }),
              "record: snapshot.boot_id: longer than 256 bytes");
    EXPECT_EQ(refusal([](json &record) { record["snapshot"]["boot_id"] = std::string("a\0b", 3); }),
              "record: snapshot.boot_id: holds a NUL byte");
}

TEST(RecordCodec, RefusesMorePortsThanANodeHas) {
    EXPECT_EQ(refusal([](json &record) {
                  auto &ports = record["snapshot"]["ports"];
                  const json port = ports[0];
                  for (int i = 0; i < 1024; ++i)
                      ports.push_back(port);
              }),
              "record: snapshot.ports: more than 1024 elements");
}

TEST(RecordCodec, SurvivesDeepNesting) {
    EXPECT_EQ(decode_record(std::string(200000, '[')).error().code, Errc::malformed);
    EXPECT_EQ(decode_record(std::string(200000, '[') + std::string(200000, ']')).error().code, Errc::malformed);
}

/// A scout's record whose ports have an optional counter each.
Record large_scout() {
    ScoutSnapshot scout = full_scout();
    const SwitchPort port = scout.ports.front();
    scout.ports.clear();
    for (unsigned n = 1; n <= 64; ++n) {
        scout.ports.push_back(port);
        scout.ports.back().port = n;
        scout.ports.back().counters["PortInactiveDiscards"] = Reading::of(1000 + n, 16);
    }
    return {9, "node01", Phase::start, scout.time_ns, std::move(scout)};
}

/// What a reader has of the record after it was cut down to `limit` bytes.
ScoutSnapshot cut_to(std::size_t limit) {
    Record record = large_scout();
    const auto text = encode_to_fit(record, limit);
    EXPECT_LE(text.size(), limit);
    const auto decoded = decode_record(text);
    EXPECT_TRUE(decoded) << decoded.error().message;
    return decoded ? std::get<ScoutSnapshot>(decoded->snapshot) : ScoutSnapshot();
}

TEST(RecordThatFits, IsLeftAsItIs) {
    const auto whole = encode_record(large_scout());
    const auto scout = cut_to(whole.size());
    EXPECT_EQ(scout.ports.size(), 64U);
    EXPECT_EQ(scout.problems.size(), full_scout().problems.size());
}

TEST(RecordThatDoesNotFit, LeavesOutOptionalCountersFirst) {
    const auto scout = cut_to(encode_record(large_scout()).size() - 1);
    EXPECT_EQ(scout.ports.size(), 64U);
    EXPECT_EQ(scout.ports[5].counters.find("PortInactiveDiscards"), scout.ports[5].counters.end());
    EXPECT_FALSE(scout.ports[5].counters.empty());
    EXPECT_FALSE(scout.lfts.empty());
    EXPECT_EQ(scout.problems.back().reason, "optional counters left out: more than a record holds");
}

TEST(RecordThatDoesNotFit, LeavesOutTablesThen) {
    Record without = large_scout();
    auto &smaller = std::get<ScoutSnapshot>(without.snapshot);
    for (SwitchPort &port : smaller.ports)
        port.counters.erase("PortInactiveDiscards");
    smaller.problems.push_back({"node01", "", "optional counters left out: more than a record holds"});
    const auto scout = cut_to(encode_record(without).size() - 1);
    EXPECT_EQ(scout.ports.size(), 64U);
    EXPECT_TRUE(scout.lfts.empty());
    EXPECT_EQ(scout.problems.back().reason, "forwarding tables left out: more than a record holds");
}

TEST(RecordThatDoesNotFit, LeavesOutPortsLast) {
    const auto scout = cut_to(5000);
    EXPECT_LT(scout.ports.size(), 64U);
    EXPECT_FALSE(scout.ports.empty());
    EXPECT_EQ(scout.problems.back().reason, "switch ports left out: more than a record holds");
}

} // namespace
} // namespace fabric_check
