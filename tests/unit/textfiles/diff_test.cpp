// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/temporary.hpp"
#include "record/codec.hpp"
#include "textfiles/diff.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace fabric_check::textfiles {
namespace {

using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Values = std::map<std::string, std::uint64_t>;

constexpr std::uint64_t terabyte = 1'000'000'000'000;

/// A card's port with all counters of the profile, perfquery and grep in one file, as an operator would have it.
Values healthy() {
    return {{"SymbolErrorCounter", 3},   {"LinkErrorRecoveryCounter", 1}, {"LinkDownedCounter", 2},
            {"PortRcvErrors", 40},       {"PortXmitDiscards", 9},         {"PortXmitData", 1000},
            {"PortRcvData", 1000},       {"packet_seq_err", 12},          {"rnr_nak_retry_err", 1},
            {"local_ack_timeout_err", 5}};
}
std::string file_of(const Values &values) {
    std::string pma = "# Port counters: Lid 12 port 1 (CapMask: 0x1300)\nPortSelect:......1\n", queue;
    for (const auto &[name, value] : values) {
        const bool upper = name[0] >= 'A' && name[0] <= 'Z';
        (upper ? pma : queue) +=
            upper ? name + ":......" + std::to_string(value) + "\n"
                  : "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/" + name + ":" + std::to_string(value) + "\n";
    }
    return pma + queue;
}

class DiffTest : public testing::Test {
protected:
    Loaded loaded(const std::string &name) const {
        auto result = load(directory_.path(name));
        EXPECT_TRUE(result.ok()) << (result ? "" : result.error().message);
        return result ? std::move(result).value() : Loaded{};
    }
    Diff run(const Values &before, const Values &after, std::optional<std::uint64_t> bytes = terabyte,
             bool whole = true) const {
        directory_.write("before", file_of(before));
        directory_.write("after", file_of(after));
        return compare(bytes, whole);
    }
    Diff compare(std::optional<std::uint64_t> bytes = terabyte, bool whole = true) const {
        DiffOptions options;
        options.bytes = bytes;
        if (whole) {
            options.profile = Profile::ib;
        }
        return diff(loaded("before"), loaded("after"), options);
    }
    static std::vector<std::string> live(const Diff &diff) {
        std::vector<std::string> names;
        for (const LiveCounter &counter : diff.ports.at(0).verdict.live) {
            names.push_back(counter.counter);
        }
        return names;
    }
    static std::vector<std::string> detail(const Diff &diff) { return diff.ports.at(0).verdict.detail(); }

    TemporaryDirectory directory_;
};

TEST_F(DiffTest, LargeLifetimeValuesWithoutDeltaAreClean) {
    const Diff result = run(healthy(), healthy());
    EXPECT_EQ(result.verdict, "clean");
    EXPECT_EQ(exit_code(result), 0);
}
TEST_F(DiffTest, PhysicalLeadsTheRetriesThatFollowFromIt) {
    Values after = healthy();
    after["SymbolErrorCounter"] += 90;
    after["packet_seq_err"] += 12000;
    after["local_ack_timeout_err"] += 800;
    const Diff result = run(healthy(), after);
    EXPECT_EQ(result.verdict, "physical");
    EXPECT_THAT(detail(result), ElementsAre("SymbolErrorCounter"));
    EXPECT_THAT(live(result), ElementsAre("SymbolErrorCounter", "local_ack_timeout_err", "packet_seq_err"));
    EXPECT_EQ(exit_code(result), 1);
}
TEST_F(DiffTest, OneRetryInATerabyteIsTransportRetry) {
    Values after = healthy();
    after["packet_seq_err"] += 1;
    EXPECT_EQ(run(healthy(), after).verdict, "transport-retry");
}
TEST_F(DiffTest, APeggedCounterIsUnusableAndStillListsWhatMoved) {
    Values before = healthy(), after = healthy();
    before["LinkDownedCounter"] = after["LinkDownedCounter"] = 255;
    after["PortXmitDiscards"] += 500;
    const Diff result = run(before, after);
    EXPECT_EQ(result.verdict, "unusable");
    EXPECT_THAT(detail(result), ElementsAre("LinkDownedCounter"));
    EXPECT_THAT(live(result), ElementsAre("PortXmitDiscards"));
    EXPECT_EQ(exit_code(result), 3);
}
TEST_F(DiffTest, AResetIsUnusable) {
    Values before = healthy(), after = healthy();
    before["packet_seq_err"] = 900;
    const Diff result = run(before, after);
    EXPECT_EQ(result.verdict, "unusable");
    EXPECT_EQ(result.ports[0].verdict.unread.at(0).reason, "reset");
}
TEST_F(DiffTest, LinkDownedBelowItsCapIsEvidence) {
    Values before = healthy(), after = healthy();
    before["LinkDownedCounter"] = 253;
    after["LinkDownedCounter"] = 254;
    EXPECT_EQ(run(before, after).verdict, "physical");
}
TEST_F(DiffTest, ACounterMissingOnOneSideIsIncompleteAndNothingIsLive) {
    Values after = healthy();
    after.erase("PortRcvErrors");
    after["packet_seq_err"] += 5;
    const Diff result = run(healthy(), after);
    EXPECT_EQ(result.verdict, "incomplete");
    EXPECT_THAT(detail(result), ElementsAre("PortRcvErrors"));
    EXPECT_THAT(live(result), IsEmpty());
    EXPECT_EQ(exit_code(result), 3);
}
TEST_F(DiffTest, WithoutBytesThereIsNoTraffic) {
    Values after = healthy();
    after["packet_seq_err"] += 5;
    const Diff result = run(healthy(), after, 0);
    EXPECT_EQ(result.verdict, "no-traffic");
    EXPECT_THAT(live(result), ElementsAre("packet_seq_err"));
    EXPECT_EQ(exit_code(result), 3);
}
TEST_F(DiffTest, TakesTheDataCountersTimesFourWhenNotTold) {
    Values after = healthy();
    after["PortXmitData"] += 100;
    after["PortRcvData"] += 11;
    EXPECT_EQ(run(healthy(), after, std::nullopt).bytes, 444U);
}
TEST_F(DiffTest, TakesDataCountersThatDidNotMoveForNoTraffic) {
    EXPECT_EQ(run(healthy(), healthy(), std::nullopt).verdict, "no-traffic");
}
TEST_F(DiffTest, WithoutAnyDataCounterDoesNotClaimNoTraffic) {
    Values values = healthy();
    values.erase("PortXmitData");
    values.erase("PortRcvData");
    const Diff result = run(values, values, std::nullopt);
    EXPECT_EQ(result.verdict, "clean");
    EXPECT_EQ(result.bytes, std::nullopt);
}

TEST_F(DiffTest, TakesOnePortFromSeveralFilesOfADirectory) {
    for (const char *side : {"before", "after"}) {
        Values pma = healthy(), queue = healthy();
        std::erase_if(pma, [](const auto &v) { return v.first[0] >= 'a'; });
        std::erase_if(queue, [](const auto &v) { return v.first[0] < 'a'; });
        directory_.write(std::string(side) + "/perfquery.txt", file_of(pma));
        directory_.write(std::string(side) + "/hw.txt", file_of(queue));
    }
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "clean");
    ASSERT_THAT(result.ports, SizeIs(1));
    EXPECT_EQ(result.ports[0].port, "mlx5_0:1");
}
TEST_F(DiffTest, ReadsTreesCopiedFromSysfs) {
    for (const char *side : {"before", "after"}) {
        const std::string port = std::string(side) + "/mlx5_0/ports/1/";
        for (const char *file :
             {"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors", "port_xmit_discards"}) {
            directory_.write(port + "counters/" + file, "1\n");
        }
        for (const char *file : {"packet_seq_err", "rnr_nak_retry_err", "local_ack_timeout_err"}) {
            directory_.write(port + "hw_counters/" + file, "1\n");
        }
        directory_.write(port + "hw_counters/lifespan", "10\n");
        directory_.write(port + "state", "4: ACTIVE\n");
        directory_.write(std::string(side) + "/mlx5_0/fw_ver", "20.1\n");
    }
    directory_.write("after/mlx5_0/ports/1/hw_counters/packet_seq_err", "3\n");
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "transport-retry");
    EXPECT_THAT(result.problems, IsEmpty());
    EXPECT_EQ(result.ports.at(0).port, "mlx5_0:1");
}
TEST_F(DiffTest, ReadsABareHwCountersDirectory) {
    directory_.write("before/packet_seq_err", "1\n");
    directory_.write("after/packet_seq_err", "3\n");
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "incomplete"); // the PMA half is missing
    EXPECT_EQ(result.ports.at(0).deltas.at("packet_seq_err").value, 2U);
}
TEST_F(DiffTest, KeepsNodesApartByTheirDirectories) {
    for (const char *side : {"before", "after"}) {
        for (const char *node : {"node01", "node02"}) {
            directory_.write(std::string(side) + "/" + node + "/counters.txt", file_of(healthy()));
        }
    }
    Values bad = healthy();
    bad["PortRcvErrors"] += 7;
    directory_.write("after/node02/counters.txt", file_of(bad));
    const Diff result = compare();
    ASSERT_THAT(result.ports, SizeIs(2));
    EXPECT_EQ(result.verdict, "physical");
    EXPECT_EQ(result.ports[0].verdict.word(), "clean");
    EXPECT_EQ(result.ports[1].port, "node02/mlx5_0:1");
    EXPECT_EQ(result.ports[1].verdict.word(), "physical");
}
TEST_F(DiffTest, APortOnOneSideOnlyIsIncomplete) {
    directory_.write("before/node01/c.txt", file_of(healthy()));
    directory_.write("after/node01/c.txt", file_of(healthy()));
    directory_.write("after/node02/c.txt", file_of(healthy()));
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "incomplete");
    EXPECT_EQ(result.ports.at(1).port, "node02/mlx5_0:1");
    EXPECT_EQ(result.ports.at(1).verdict.unread.at(0).reason, "absent at start");
}
TEST_F(DiffTest, OfSeveralPortsAPeggedHigherLayerDoesNotHideAPhysicalFinding) {
    Values before = healthy(), after = healthy();
    before["PortXmitDiscards"] = after["PortXmitDiscards"] = 65535;
    directory_.write("before/node01/c.txt", file_of(before));
    directory_.write("after/node01/c.txt", file_of(after));
    Values bad = healthy();
    bad["SymbolErrorCounter"] += 1;
    directory_.write("before/node02/c.txt", file_of(healthy()));
    directory_.write("after/node02/c.txt", file_of(bad));
    EXPECT_EQ(compare().verdict, "physical");
}
TEST_F(DiffTest, OfSeveralPortsAPeggedLowerLayerWithholdsTheAnswer) {
    Values before = healthy(), after = healthy();
    before["LinkDownedCounter"] = after["LinkDownedCounter"] = 255;
    directory_.write("before/node01/c.txt", file_of(before));
    directory_.write("after/node01/c.txt", file_of(after));
    Values bad = healthy();
    bad["packet_seq_err"] += 1;
    directory_.write("before/node02/c.txt", file_of(healthy()));
    directory_.write("after/node02/c.txt", file_of(bad));
    EXPECT_EQ(compare().verdict, "unusable");
}

const char *const two_switch_ports =
    "# Port counters: Lid 4 port 1 (CapMask: 0)\nSymbolErrorCounter:..0\nLinkErrorRecoveryCounter:..0\n"
    "LinkDownedCounter:..0\nPortRcvErrors:..0\nPortXmitDiscards:..0\n"
    "# Port counters: Lid 4 port 2 (CapMask: 0)\nSymbolErrorCounter:..0\nLinkErrorRecoveryCounter:..0\n"
    "LinkDownedCounter:..0\nPortRcvErrors:..0\nPortXmitDiscards:..0\n";
TEST_F(DiffTest, AsksASwitchForNoRetryCountersUnlessTheProfileWasNamed) {
    directory_.write("before", two_switch_ports);
    directory_.write("after", two_switch_ports);
    EXPECT_EQ(compare(terabyte, false).verdict, "clean");
    EXPECT_EQ(compare(terabyte, true).verdict, "incomplete");
}
TEST_F(DiffTest, AsksACardWithoutRetryCountersForNoneUnlessTheProfileWasNamed) {
    NodeSnapshot snapshot;
    snapshot.node = "node01";
    HcaPort port;
    port.device = "mlx4_0";
    port.driver = "mlx4_core";
    for (const char *name :
         {"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors", "PortXmitDiscards"}) {
        port.counters[name] = Reading::of(1);
    }
    snapshot.ports.push_back(port);
    directory_.write("before", encode_snapshot(snapshot));
    directory_.write("after", encode_snapshot(snapshot));
    const Diff result = compare(terabyte, false);
    EXPECT_EQ(result.verdict, "clean");
    EXPECT_EQ(result.ports.at(0).port, "node01/mlx4_0:1");
    EXPECT_EQ(compare(terabyte, true).verdict, "incomplete");
}

TEST_F(DiffTest, ComparesTheOnlyPortsWhateverTheirNamesAndSaysSo) {
    std::string moved = file_of(healthy());
    for (std::size_t at = 0; (at = moved.find("mlx5_0", at)) != std::string::npos;) {
        moved.replace(at, 6, "mlx5_9");
    }
    directory_.write("before", file_of(healthy()));
    directory_.write("after", moved);
    const Diff result = compare();
    EXPECT_EQ(result.verdict, "clean");
    EXPECT_THAT(result.problems, ElementsAre(HasSubstr("different ports, mlx5_0:1 and mlx5_9:1")));
}

TEST_F(DiffTest, OfTwoLidsExoneratesNeither) {
    const auto at = [](const char *lid) {
        std::string text = std::string("# Port counters: Lid ") + lid + " port 3 (CapMask: 0)\n";
        for (const char *name : {"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors",
                                 "PortXmitDiscards"}) {
            text += std::string(name) + ":..0\n";
        }
        return text;
    };
    directory_.write("before", at("4"));
    directory_.write("after", at("5"));
    const Diff result = compare(terabyte, false);
    EXPECT_EQ(result.verdict, "incomplete");
    EXPECT_EQ(result.ports.at(0).verdict.unread.at(0).reason, "BEFORE is of lid 4:3, AFTER of lid 5:3");
}
TEST(Inputs, ThatAreReadOnceCannotBeBothReadings) {
    const TemporaryDirectory directory;
    const std::string pipe = directory.path("pipe"), file = directory.write("file", "x");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const Status same = check_inputs(pipe, pipe);
    ASSERT_FALSE(same.ok());
    EXPECT_EQ(same.error().message, "diff: BEFORE and AFTER are the same pipe: " + pipe);
    EXPECT_FALSE(check_inputs("-", "-").ok());
    EXPECT_TRUE(check_inputs(file, file).ok());
    EXPECT_TRUE(check_inputs(file, pipe).ok());
    EXPECT_TRUE(check_inputs("/nonexistent", "/nonexistent").ok()) << "reading it tells what is wrong";
}
TEST_F(DiffTest, CallsAPortWithoutANameAPort) {
    for (const char *side : {"before", "after"}) {
        directory_.write(side, "link mlx5_0/1 packet_seq_err 1\nlink mlx5_1/1 packet_seq_err 1\n"
                               "NIC statistics:\n  rx_discards_phy: 1\n");
    }
    EXPECT_THAT(diff_text(compare(terabyte, false), false), testing::StartsWith("incomplete: port "));
}
TEST_F(DiffTest, WrapsItsLines) {
    Values after = healthy();
    after["packet_seq_err"] += 12000;
    const std::string text = diff_text(run(healthy(), after), false, 70);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        EXPECT_LE(end - at, 80U) << text.substr(at, end - at);
        at = end + 1;
    }
}
TEST_F(DiffTest, PrintsWhatMovedOnAnIncompletePort) {
    const char *const text = "NIC statistics:\n  rx_prio3_pause: 1\n  rx_discards_phy: %\n  rx_prio3_buf_discard: %\n";
    for (const char *side : {"before", "after"}) {
        std::string filled = text;
        for (std::size_t at = 0; (at = filled.find('%')) != std::string::npos;) {
            filled[at] = side[0] == 'b' ? '1' : '5';
        }
        directory_.write(side, filled);
    }
    const Diff result = compare(terabyte, false);
    EXPECT_EQ(result.verdict, "incomplete");
    EXPECT_THAT(live(result), IsEmpty());
    EXPECT_THAT(diff_text(result, false), testing::ContainsRegex("rx_discards_phy +\\+4  moved, not judged"));
    EXPECT_THAT(diff_text(result, false), testing::ContainsRegex("rx_prio3_buf_discard +\\+4  moved, not judged"));
}

/// What diff says to do next about two files.
class NextSteps : public DiffTest {
protected:
    static std::string pma(const std::string &value, int port = 3, bool all = true) {
        std::string text = "# Port counters: Lid 4 port " + std::to_string(port) + " (CapMask: 0)\n";
        for (const char *name :
             {"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors"}) {
            text += std::string(name) + ":.." + value + "\n";
        }
        return text + (all ? "PortXmitDiscards:.." + value + "\n" : "");
    }
    std::string next(const std::string &before, const std::string &after, std::optional<Profile> profile = {}) const {
        directory_.write("before", before);
        directory_.write("after", after);
        DiffOptions options;
        options.profile = profile;
        options.bytes = terabyte;
        std::string all;
        for (const std::string &step : next_steps(diff(loaded("before"), loaded("after"), options))) {
            all += step + "\n";
        }
        return all;
    }
};
TEST_F(NextSteps, NamePlainPerfqueryForWhatTheClassicSetHas) {
    const std::string text = next(pma("1", 3, false), pma("1", 3, false));
    EXPECT_THAT(text, HasSubstr("add plain `perfquery` LID PORT, which shows PortXmitDiscards"));
    EXPECT_THAT(text, HasSubstr("ibqueryerrors shows only what is above its thresholds"));
}
TEST_F(NextSteps, OfASwitchPortNameNoHostsCountersAndItsOwnReset) {
    const std::string whole = next(pma("1"), pma("1"), Profile::ib);
    EXPECT_THAT(whole, HasSubstr("judge it without --profile"));
    EXPECT_THAT(whole, testing::Not(HasSubstr("hw_counters")));
    EXPECT_THAT(next(pma("255"), pma("255")), HasSubstr("`fabric-check reset --pegged` lists such fields"));
}
TEST_F(NextSteps, OfALidWithoutRetriesAskWhetherItIsASwitch) {
    EXPECT_THAT(next(pma("1", 1), pma("1", 1)), HasSubstr("--kind switch"));
}
TEST_F(NextSteps, NameTheInputThatLacksSomething) {
    const std::string line = "link mlx5_0/1 packet_seq_err 5 rnr_nak_retry_err 1\n";
    const std::string text = next(line, line);
    EXPECT_THAT(text, HasSubstr("hw_counters were read and do not show all (missing: local_ack_timeout_err)"));
    EXPECT_THAT(text, testing::Not(HasSubstr("perfquery and ethtool show none")));
}
TEST_F(NextSteps, OfHwCountersAloneTellBothWays) {
    const std::string line =
        "link mlx5_0/1 packet_seq_err 5 rnr_nak_retry_err 1 local_ack_timeout_err 1 rp_cnp_handled ";
    const std::string text = next(line + "1\n", line + "5\n");
    EXPECT_THAT(text, HasSubstr("(rp_cnp_handled moved, which is RoCE's)"));
    EXPECT_THAT(text, HasSubstr("--profile roce and add `ethtool -S`"));
    EXPECT_THAT(text, HasSubstr("If it is InfiniBand: add plain `perfquery`"));
}
TEST_F(NextSteps, OfANetworkDeviceAloneDoNotTellToDropAProfileThatWasNotGiven) {
    const std::string text = next("NIC statistics:\n rx_bytes: 5\n rx_discards_phy: 1\n",
                                  "NIC statistics:\n rx_bytes: 6\n rx_discards_phy: 1\n");
    EXPECT_THAT(text, testing::Not(HasSubstr("without --profile")));
    EXPECT_THAT(text, HasSubstr("ethtool shows none"));
}
TEST_F(NextSteps, SayThatPfcWasSwitchedOff) {
    const std::string off = "NIC statistics:\n rx_discards_phy: 1\n", on = off + " rx_prio3_pause: 7\n";
    const std::string text = next(on, off);
    EXPECT_THAT(text, HasSubstr("PFC was switched off between the readings (rx_prio3_pause"));
    EXPECT_THAT(text, testing::Not(HasSubstr("same tools")));
}
TEST_F(NextSteps, SayThatTheReadingsMayBeSwapped) {
    EXPECT_THAT(next(pma("9"), pma("1")), HasSubstr("or BEFORE and AFTER are swapped"));
}
TEST_F(NextSteps, NameTheirPortsAndBlameNoneForAnother) {
    const std::string bad = pma("1").replace(pma("1").find("..1"), 3, "..2");
    std::string lost = pma("1", 4);
    lost.replace(lost.find("PortXmitDiscards:..1"), 20, "PortXmitDiscards:..9");
    const std::string text = next(pma("1") + pma("1", 4), bad + lost);
    EXPECT_THAT(text, HasSubstr("lid 4:3: Look at both ends of this link"));
    EXPECT_THAT(text, testing::Not(HasSubstr("follows from it")));
}
TEST_F(NextSteps, OfErrorsWithoutTrafficDoNotSayThatThereIsNoEvidence) {
    Values after = healthy();
    after["SymbolErrorCounter"] += 5;
    const std::string text = diff_text(run(healthy(), after, 0), false);
    EXPECT_THAT(text, HasSubstr("they need no traffic"));
    EXPECT_THAT(text, testing::Not(HasSubstr("no evidence")));
}

TEST(Load, NamesAPathThatIsNotThere) {
    const auto result = load("/nonexistent/before");
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, Errc::usage);
    EXPECT_EQ(result.error().message, "/nonexistent/before: No such file or directory");
}
TEST(Load, NamesFileAndLineOfWhatIsNoCounterFile) {
    const TemporaryDirectory directory;
    const auto result = load(directory.write("f", "# banner\n8   1.2\n"));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, Errc::malformed);
    EXPECT_EQ(result.error().message, directory.path("f") + ":2: not understood: \"8   1.2\"");
}
TEST(Load, RefusesAnEmptyFile) {
    const TemporaryDirectory directory;
    const auto result = load(directory.write("f", ""));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().message, directory.path("f") + ": holds no counters");
}
TEST(Load, NamesAFileOfBrokenJson) {
    const TemporaryDirectory directory;
    const auto result = load(directory.write("f", "{\"schema\": 1"));
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().message, HasSubstr(directory.path("f") + ":1: "));
}
TEST(Load, ABadFileOfADirectoryCostsItselfOnly) {
    const TemporaryDirectory directory;
    directory.write("d/a.json", "{");
    directory.write("d/b.txt", "packet_seq_err:1\n");
    const auto result = load(directory.path("d"));
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_THAT(result->ports, SizeIs(1));
    EXPECT_THAT(result->problems, SizeIs(1));
}
TEST(Load, StopsAtEightLevels) {
    const TemporaryDirectory directory;
    directory.write("d/1/2/3/4/5/6/7/8/9/deep.txt", "packet_seq_err:1\n");
    directory.write("d/1/2/3/4/5/6/7/8/ok.txt", "packet_seq_err:1\n");
    const auto result = load(directory.path("d"));
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_THAT(result->ports, SizeIs(1));
    ASSERT_THAT(result->problems, SizeIs(1));
    EXPECT_THAT(result->problems[0].text(), HasSubstr("too deep: not read"));
}

TEST_F(DiffTest, WritesTheContractsJson) {
    Values before = healthy(), after = healthy();
    before["LinkDownedCounter"] = after["LinkDownedCounter"] = 255;
    after["PortXmitDiscards"] += 500;
    const auto json = nlohmann::ordered_json::parse(diff_json(run(before, after)));
    EXPECT_EQ(json.begin().key(), "schema");
    EXPECT_EQ(json["schema"], "fabric-check/diff/1");
    EXPECT_EQ(json["profile"], "ib");
    EXPECT_EQ(json["verdict"], "unusable");
    EXPECT_EQ(json["detail"], nlohmann::ordered_json::array({"LinkDownedCounter"}));
    EXPECT_EQ(json["live"], nlohmann::ordered_json::array({"PortXmitDiscards"}));
    EXPECT_EQ(json["unreadable"].size(), 1U);
    EXPECT_EQ(json["unreadable"][0]["counter"], "LinkDownedCounter");
    EXPECT_EQ(json["unreadable"][0]["reason"], "saturated");
    EXPECT_EQ(json["bytes"], terabyte);
    EXPECT_EQ(json["deltas"]["PortXmitDiscards"], 500);
    EXPECT_TRUE(json["deltas"]["LinkDownedCounter"].is_null()) << "no delta is not a zero";
}
TEST_F(DiffTest, WritesHostileNamesAsValidJson) {
    directory_.write("before/\xff\x1b/c.txt", file_of(healthy()));
    directory_.write("after/\xff\x1b/c.txt", file_of(healthy()));
    const auto json = nlohmann::json::parse(diff_json(compare()));
    EXPECT_EQ(json["ports"][0]["port"], "\\xff\\x1b/mlx5_0:1");
}
TEST_F(DiffTest, ExplainsWhatMovedInPlainWords) {
    Values after = healthy();
    after["packet_seq_err"] += 12000;
    const std::string text = diff_text(run(healthy(), after), false);
    EXPECT_THAT(text, testing::StartsWith("transport-retry: packet_seq_err\n"));
    EXPECT_THAT(text, HasSubstr("+12000"));
    EXPECT_THAT(text, HasSubstr("a packet was lost on the way and had to be sent again"));
    EXPECT_THAT(text, testing::Not(HasSubstr("\033")));
}
TEST_F(DiffTest, ColoursOnlyWhenAsked) {
    EXPECT_THAT(diff_text(run(healthy(), healthy()), true), testing::StartsWith("\033[32mclean\033[0m"));
}

} // namespace
} // namespace fabric_check::textfiles
