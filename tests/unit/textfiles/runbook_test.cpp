// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/temporary.hpp"
#include "record/codec.hpp"
#include "textfiles/diff.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

/// The table of the runbook, from files as an operator has them: perfquery and hw_counters, or ethtool and hw_counters.
namespace fabric_check::textfiles {
namespace {

using test::TemporaryDirectory;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Values = std::map<std::string, std::uint64_t>;
using Names = std::vector<std::string>;

constexpr std::uint64_t gigabyte = 1'000'000'000, terabyte = 1000 * gigabyte;

const Values &healthy(Profile profile) {
    static const Values ib{{"SymbolErrorCounter", 100}, {"LinkErrorRecoveryCounter", 3}, {"LinkDownedCounter", 7},
                           {"PortRcvErrors", 20},       {"PortXmitDiscards", 900},       {"packet_seq_err", 12},
                           {"rnr_nak_retry_err", 40},   {"local_ack_timeout_err", 6}};
    static const Values roce{{"tx_pause_storm_error_events", 2}, {"tx_pause_storm_warning_events", 3},
                             {"rx_discards_phy", 7000},          {"rx_prio0_buf_discard", 1},
                             {"rx_prio3_buf_discard", 5},        {"rx_prio3_cong_discard", 6},
                             {"rx_prio3_pause", 8'000'000},      {"tx_prio3_pause", 1000},
                             {"packet_seq_err", 900},            {"rnr_nak_retry_err", 1},
                             {"local_ack_timeout_err", 4},       {"rp_cnp_handled", 500'000},
                             {"np_cnp_sent", 3},                 {"np_ecn_marked_roce_packets", 9}};
    return profile == Profile::ib ? ib : roce;
}

bool is_queue_counter(const std::string &name) {
    const CounterInfo *row = find_counter(name);
    return row != nullptr && row->source == CounterSource::hw_counters;
}

void write(const TemporaryDirectory &directory, const std::string &side, Profile profile, const Values &values) {
    std::string port = profile == Profile::ib ? "# Port counters: Lid 12 port 1 (CapMask: 0x1300)\nPortSelect:....1\n"
                                              : "NIC statistics:\n";
    std::string queues;
    for (const auto &[name, value] : values) {
        if (is_queue_counter(name)) {
            queues += "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/" + name + ":" + std::to_string(value) + "\n";
        } else {
            port += (profile == Profile::ib ? name + ":........" : "     " + name + ": ") + std::to_string(value) + "\n";
        }
    }
    directory.write(side + "/port.txt", port);
    directory.write(side + "/hw_counters.txt", queues);
}

struct Row {
    const char *name;
    Profile profile;
    std::uint64_t bytes;
    Values before, after; ///< what differs from a healthy port; UINT64_MAX: not there
    const char *verdict;
    Names detail, live;
};
void PrintTo(const Row &row, std::ostream *out) {
    *out << row.name;
}

constexpr std::uint64_t gone = UINT64_MAX;

Values with(const Row &row, const Values &changed) {
    Values values = healthy(row.profile);
    for (const auto &[name, value] : changed) {
        if (value == gone) {
            values.erase(name);
        } else {
            values[name] = value;
        }
    }
    return values;
}

class Runbook : public testing::TestWithParam<Row> {};

TEST_P(Runbook, Holds) {
    const Row &row = GetParam();
    const TemporaryDirectory directory;
    write(directory, "before", row.profile, with(row, row.before));
    write(directory, "after", row.profile, with(row, row.after));
    for (const bool given : {true, false}) { // with --profile, and by content
        DiffOptions options;
        options.bytes = row.bytes;
        if (given) {
            options.profile = row.profile;
        }
        const auto before = load(directory.path("before")), after = load(directory.path("after"));
        ASSERT_TRUE(before.ok() && after.ok());
        const Diff result = diff(*before, *after, options);
        ASSERT_THAT(result.ports, testing::SizeIs(1));
        EXPECT_EQ(result.profile, row.profile);
        EXPECT_EQ(result.verdict, row.verdict);
        EXPECT_EQ(result.ports[0].verdict.detail(), row.detail);
        Names live;
        for (const LiveCounter &counter : result.ports[0].verdict.live) {
            live.push_back(counter.counter);
        }
        EXPECT_EQ(live, row.live);
        const std::string verdict = row.verdict;
        EXPECT_EQ(exit_code(result), verdict == "clean"                                                       ? 0
                                     : verdict == "unusable" || verdict == "incomplete" || verdict == "no-traffic" ? 3
                                                                                                                   : 1);
    }
}

const Row rows[] = {
    {"nothing moved", Profile::ib, terabyte, {}, {}, "clean", {}, {}},
    {"large lifetime values",
     Profile::ib,
     terabyte,
     {{"SymbolErrorCounter", 60000}, {"packet_seq_err", 4'000'000'000}},
     {{"SymbolErrorCounter", 60000}, {"packet_seq_err", 4'000'000'000}},
     "clean",
     {},
     {}},
    {"pegged and discards",
     Profile::ib,
     terabyte,
     {{"LinkDownedCounter", 255}},
     {{"LinkDownedCounter", 255}, {"PortXmitDiscards", 1400}},
     "unusable",
     {"LinkDownedCounter"},
     {"PortXmitDiscards"}},
    {"reset", Profile::ib, terabyte, {{"packet_seq_err", 900}}, {{"packet_seq_err", 12}}, "unusable", {"packet_seq_err"}, {}},
    {"symbol errors before retries",
     Profile::ib,
     terabyte,
     {},
     {{"SymbolErrorCounter", 190}, {"packet_seq_err", 12'012}},
     "physical",
     {"SymbolErrorCounter"},
     {"SymbolErrorCounter", "packet_seq_err"}},
    {"symbol errors before retries and timeouts",
     Profile::ib,
     terabyte,
     {},
     {{"SymbolErrorCounter", 190}, {"packet_seq_err", 12'012}, {"local_ack_timeout_err", 806}},
     "physical",
     {"SymbolErrorCounter"},
     {"SymbolErrorCounter", "local_ack_timeout_err", "packet_seq_err"}},
    {"one retry", Profile::ib, terabyte, {}, {{"packet_seq_err", 13}}, "transport-retry", {"packet_seq_err"}, {"packet_seq_err"}},
    {"link down below its cap",
     Profile::ib,
     terabyte,
     {{"LinkDownedCounter", 253}},
     {{"LinkDownedCounter", 254}},
     "physical",
     {"LinkDownedCounter"},
     {"LinkDownedCounter"}},
    {"absent before", Profile::ib, terabyte, {{"PortRcvErrors", gone}}, {{"packet_seq_err", 99}}, "incomplete", {"PortRcvErrors"}, {}},
    {"absent after", Profile::ib, terabyte, {}, {{"packet_seq_err", gone}}, "incomplete", {"packet_seq_err"}, {}},
    {"zero bytes", Profile::ib, 0, {}, {}, "no-traffic", {}, {}},
    {"zero bytes and a retry", Profile::ib, 0, {}, {{"packet_seq_err", 13}}, "no-traffic", {}, {"packet_seq_err"}},

    {"nothing moved", Profile::roce, terabyte, {}, {}, "clean", {}, {}},
    {"discards below pauses",
     Profile::roce,
     terabyte,
     {},
     {{"rx_prio3_pause", 16'000'000}, {"rp_cnp_handled", 590'000}, {"rx_discards_phy", 7310}},
     "lossless-broken",
     {"rx_discards_phy"},
     {"rx_discards_phy", "rx_prio3_pause"}},
    {"pauses", Profile::roce, terabyte, {}, {{"rx_prio3_pause", 16'000'000}, {"rp_cnp_handled", 590'000}}, "congestion",
     {"rx_prio3_pause"}, {"rx_prio3_pause"}},
    {"storm below pauses",
     Profile::roce,
     terabyte,
     {},
     {{"rx_prio3_pause", 16'000'000}, {"rp_cnp_handled", 590'000}, {"tx_pause_storm_error_events", 6}},
     "pause-storm",
     {"tx_pause_storm_error_events"},
     {"rx_prio3_pause", "tx_pause_storm_error_events"}},
    {"few pauses", Profile::roce, terabyte, {}, {{"rx_prio3_pause", 8'900'000}}, "clean", {}, {}},
    {"the same over little", Profile::roce, 10 * gigabyte, {}, {{"rx_prio3_pause", 8'900'000}}, "congestion",
     {"rx_prio3_pause"}, {"rx_prio3_pause"}},
    {"exactly the bar", Profile::roce, terabyte, {}, {{"rx_prio3_pause", 9'000'000}}, "clean", {}, {}},
    {"one above the bar", Profile::roce, terabyte, {}, {{"rx_prio3_pause", 9'000'001}}, "congestion", {"rx_prio3_pause"},
     {"rx_prio3_pause"}},
    {"reset", Profile::roce, terabyte, {}, {{"packet_seq_err", 12}}, "unusable", {"packet_seq_err"}, {}},
    {"one retry", Profile::roce, terabyte, {}, {{"packet_seq_err", 901}}, "transport-retry", {"packet_seq_err"},
     {"packet_seq_err"}},
    {"absent after", Profile::roce, terabyte, {}, {{"rx_discards_phy", gone}}, "incomplete", {"rx_discards_phy"}, {}},
    {"zero bytes", Profile::roce, 0, {}, {{"rx_prio3_pause", 8'000'001}}, "no-traffic", {}, {"rx_prio3_pause"}},
};
INSTANTIATE_TEST_SUITE_P(Table, Runbook, testing::ValuesIn(rows));

class RunbookFiles : public testing::Test {
protected:
    Diff compare(DiffOptions options) const {
        const auto before = load(directory_.path("before")), after = load(directory_.path("after"));
        EXPECT_TRUE(before.ok() && after.ok());
        return before.ok() && after.ok() ? diff(*before, *after, options) : Diff{};
    }
    void both(Profile profile, const Values &before, const Values &after) const {
        write(directory_, "before", profile, before);
        write(directory_, "after", profile, after);
    }
    static DiffOptions with(std::optional<Profile> profile, std::optional<std::uint64_t> bytes = terabyte) {
        DiffOptions options;
        options.profile = profile;
        options.bytes = bytes;
        return options;
    }
    TemporaryDirectory directory_;
};

TEST_F(RunbookFiles, OfOneProfileAreIncompleteByTheOther) {
    both(Profile::ib, healthy(Profile::ib), healthy(Profile::ib));
    const Diff as_roce = compare(with(Profile::roce));
    EXPECT_EQ(as_roce.verdict, "incomplete");
    EXPECT_THAT(as_roce.ports[0].verdict.detail(),
                ElementsAre("rp_cnp_handled", "rx_discards_phy", "rx_prio<n>_buf_discard", "rx_prio<n>_pause",
                            "tx_pause_storm_error_events"));
    EXPECT_THAT(diff_text(as_roce, false), HasSubstr("add `ethtool -S`"));
    both(Profile::roce, healthy(Profile::roce), healthy(Profile::roce));
    const Diff as_ib = compare(with(Profile::ib));
    EXPECT_EQ(as_ib.verdict, "incomplete");
    EXPECT_THAT(as_ib.ports[0].verdict.detail(),
                ElementsAre("LinkDownedCounter", "LinkErrorRecoveryCounter", "PortRcvErrors", "PortXmitDiscards",
                            "SymbolErrorCounter"));
    EXPECT_THAT(diff_text(as_ib, false), HasSubstr("judge it with --profile roce"));
}
TEST_F(RunbookFiles, SayWhichToolReadsWhatNeitherSideHas) {
    Values values = healthy(Profile::ib);
    std::erase_if(values, [](const auto &value) { return is_queue_counter(value.first); });
    both(Profile::ib, values, values);
    const std::string text = diff_text(compare(with(Profile::ib)), false);
    EXPECT_THAT(text, HasSubstr("grep -H . /sys/class/infiniband/*/ports/*/hw_counters/*"));
    EXPECT_THAT(text, HasSubstr("fabric-check snapshot"));
    EXPECT_THAT(text, Not(HasSubstr("with the same tools")));
}
TEST_F(RunbookFiles, SayTheSameToolsOnlyWhereOneSideHasIt) {
    Values after = healthy(Profile::ib);
    after.erase("PortRcvErrors");
    both(Profile::ib, healthy(Profile::ib), after);
    EXPECT_THAT(diff_text(compare(with(Profile::ib)), false), HasSubstr("take both readings with the same tools"));
}

TEST_F(RunbookFiles, HoldPausesAgainstWhatWentTheOtherWay) {
    Values before = healthy(Profile::roce), after = before;
    before["tx_bytes_phy"] = before["rx_bytes_phy"] = 0;
    after["tx_bytes_phy"] = 10 * gigabyte;
    after["rx_bytes_phy"] = terabyte;
    after["rx_prio3_pause"] += 900'000; // holds back what is sent, and little was
    both(Profile::roce, before, after);
    const Diff result = compare(with(std::nullopt, std::nullopt));
    EXPECT_EQ(result.verdict, "congestion");
    EXPECT_EQ(result.bytes, 1010 * gigabyte);
    EXPECT_THAT(diff_text(result, false), HasSubstr("congestion (over 1000 per GB)"));
}
TEST_F(RunbookFiles, WithDataCountersThatWereResetAreNeitherCleanNorEmpty) {
    Values before = healthy(Profile::ib), after = before;
    before["PortXmitData"] = before["PortRcvData"] = 5000;
    after["PortXmitData"] = after["PortRcvData"] = 10;
    both(Profile::ib, before, after);
    const Diff result = compare(with(std::nullopt, std::nullopt));
    EXPECT_EQ(result.verdict, "unusable");
    EXPECT_EQ(result.bytes, std::nullopt);
    EXPECT_THAT(result.ports[0].verdict.detail(), ElementsAre("PortRcvData", "PortXmitData"));
    EXPECT_EQ(exit_code(result), 3);
    EXPECT_THAT(diff_text(result, false), HasSubstr("bytes not known (reset)"));
    EXPECT_TRUE(nlohmann::json::parse(diff_json(result))["bytes"].is_null());
    EXPECT_EQ(compare(with(std::nullopt)).verdict, "clean") << "--bytes tells what was moved";
}
TEST_F(RunbookFiles, WithFullDataCountersSayThatTheyAreFull) {
    Values values = healthy(Profile::ib);
    values["PortXmitData"] = values["PortRcvData"] = 4294967295;
    both(Profile::ib, values, values);
    const Diff result = compare(with(std::nullopt, std::nullopt));
    EXPECT_EQ(result.verdict, "unusable");
    EXPECT_THAT(diff_text(result, false), HasSubstr("bytes not known (saturated)"));
}
TEST_F(RunbookFiles, WithResetDataCountersStillListWhatIsLive) {
    Values before = healthy(Profile::ib), after = before;
    before["PortXmitData"] = before["PortRcvData"] = 5000;
    after["PortXmitData"] = after["PortRcvData"] = 10;
    after["SymbolErrorCounter"] += 1;
    both(Profile::ib, before, after);
    EXPECT_EQ(compare(with(std::nullopt, std::nullopt)).verdict, "physical");
}

TEST_F(RunbookFiles, OfASwitchPortAloneNeedNoRetryCounters) {
    Values values = healthy(Profile::ib);
    std::string text = "# Port counters: Lid 4 port 25 (CapMask: 0x1300)\n";
    for (const auto &[name, value] : values) {
        text += is_queue_counter(name) ? "" : name + ":....." + std::to_string(value) + "\n";
    }
    directory_.write("before", text);
    directory_.write("after", text);
    EXPECT_EQ(compare(with(std::nullopt)).verdict, "clean");
    EXPECT_EQ(compare(with(Profile::ib)).verdict, "incomplete");
    DiffOptions hca = with(std::nullopt);
    hca.kind = PortKind::hca;
    EXPECT_EQ(compare(hca).verdict, "incomplete");
}
TEST_F(RunbookFiles, OfACardsPortOneAreASwitchesWhenTold) {
    Values values = healthy(Profile::ib);
    std::erase_if(values, [](const auto &value) { return is_queue_counter(value.first); });
    both(Profile::ib, values, values);
    EXPECT_EQ(compare(with(std::nullopt)).verdict, "incomplete");
    DiffOptions told = with(std::nullopt);
    told.kind = PortKind::switch_port;
    EXPECT_EQ(compare(told).verdict, "clean");
}

TEST_F(RunbookFiles, OfADriverForEthernetAloneAreRoceAndAskedForItsOwnCounters) {
    const char *const names[] = {"rnr_naks_rcvd", "rx_roce_discards", "seq_err_naks_rcvd", "to_retransmits"};
    std::string before = "link bnxt_re0/1", renamed = "link rdma_east/1";
    for (const char *name : names) {
        before += std::string(" ") + name + " 5";
        renamed += std::string(" ") + name + " 5";
    }
    std::string after = before;
    after.replace(after.find("rx_roce_discards 5"), 18, "rx_roce_discards 9");
    directory_.write("before", before + "\n");
    directory_.write("after", after + "\n");
    const Diff result = compare(with(std::nullopt));
    EXPECT_EQ(result.verdict, "lossless-broken");
    EXPECT_EQ(result.profile, Profile::roce);
    EXPECT_STREQ(result.ports[0].profile_from, "its driver knows Ethernet only");
    directory_.write("before", renamed + "\n");
    directory_.write("after", renamed + "\n");
    const Diff by_counters = compare(with(std::nullopt));
    EXPECT_EQ(by_counters.ports[0].driver, "bnxt_en");
    EXPECT_EQ(by_counters.verdict, "clean");
}
TEST_F(RunbookFiles, OfAnyDriverAreAdvisedOnByWhatItsCountersSay) {
    const std::string quiet = "link bnxt_re0/1 rnr_naks_rcvd 5 rx_roce_discards 5 seq_err_naks_rcvd 5 to_retransmits 5";
    directory_.write("before", quiet + " rx_cnp_pkts 5\n");
    directory_.write("after", quiet + " rx_cnp_pkts 90000\n");
    DiffOptions options = with(std::nullopt);
    options.bytes = 1'000'000'000;
    const Diff result = compare(options);
    EXPECT_EQ(result.verdict, "congestion");
    EXPECT_THAT(next_steps(result), ElementsAre(HasSubstr("Congestion control slowed senders down")));
}
TEST_F(RunbookFiles, OfANetworkDeviceAreAskedForWhatItsDriverHas) {
    const std::string text = "NIC statistics:\n     rx_pfc_ena_frames_pri3: 5\n     rx_stat_discard: 1\n";
    directory_.write("before", text);
    directory_.write("after", text);
    const Diff result = compare(with(std::nullopt));
    EXPECT_EQ(result.ports[0].driver, "bnxt_en");
    EXPECT_THAT(result.ports[0].verdict.detail(),
                ElementsAre("rnr_naks_rcvd", "rx_roce_discards", "seq_err_naks_rcvd", "to_retransmits"));
}

class Snapshots : public RunbookFiles {
protected:
    static NodeSnapshot snapshot(std::int64_t time_ns, const char *boot, LinkLayer layer = LinkLayer::infiniband) {
        NodeSnapshot taken;
        taken.node = "node07";
        taken.boot_id = boot;
        taken.time_ns = time_ns;
        HcaPort port;
        port.device = "mlx5_0";
        port.driver = "mlx5_core";
        port.link_layer = layer;
        for (const auto &[name, value] : healthy(layer == LinkLayer::ethernet ? Profile::roce : Profile::ib)) {
            port.counters[name] = Reading::of(value);
        }
        taken.ports.push_back(port);
        return taken;
    }
};
TEST_F(Snapshots, InTheWrongOrderAreRefused) {
    directory_.write("before", encode_snapshot(snapshot(2'000'000'000, "a")));
    directory_.write("after", encode_snapshot(snapshot(1'000'000'000, "a")));
    const auto before = load(directory_.path("before")), after = load(directory_.path("after"));
    const Status order = check_order(*before, *after);
    ASSERT_FALSE(order.ok());
    EXPECT_EQ(order.error().code, Errc::usage);
    EXPECT_THAT(order.error().message, testing::StartsWith("AFTER is older than BEFORE: swap them"));
    EXPECT_TRUE(check_order(*after, *before).ok());
    EXPECT_TRUE(check_order(*before, *before).ok());
}
TEST_F(Snapshots, AcrossARebootAreIncompleteAndNotPhysical) {
    NodeSnapshot later = snapshot(2'000'000'000, "b");
    later.ports[0].counters["LinkDownedCounter"] = Reading::of(8);
    directory_.write("before", encode_snapshot(snapshot(1'000'000'000, "a")));
    directory_.write("after", encode_snapshot(later));
    const Diff result = compare(with(std::nullopt));
    EXPECT_EQ(result.verdict, "incomplete");
    EXPECT_EQ(result.ports[0].verdict.unread.at(0).reason, "rebooted");
    EXPECT_THAT(result.ports[0].verdict.live, IsEmpty());
    EXPECT_THAT(result.problems, ElementsAre(HasSubstr("node07/mlx5_0:1: the host rebooted between the readings")));
}
TEST_F(Snapshots, OfAnEthernetPortAreRoce) {
    NodeSnapshot later = snapshot(2'000'000'000, "a", LinkLayer::ethernet);
    later.ports[0].counters["rx_discards_phy"] = Reading::of(7310);
    directory_.write("before", encode_snapshot(snapshot(1'000'000'000, "a", LinkLayer::ethernet)));
    directory_.write("after", encode_snapshot(later));
    const Diff result = compare(with(std::nullopt));
    EXPECT_EQ(result.profile, Profile::roce);
    EXPECT_EQ(result.verdict, "lossless-broken");
    const auto json = nlohmann::json::parse(diff_json(result));
    EXPECT_EQ(json["profile"], "roce");
    EXPECT_EQ(json["ports"][0]["profile"], "roce");
    EXPECT_EQ(json["ports"][0]["live_details"][0]["bar"], "0");
    EXPECT_THAT(diff_text(result, false), HasSubstr("judged as roce (the port's link layer)"));
}
TEST_F(Snapshots, OfMixedNodesGradeEachPortByItsOwn) {
    NodeSnapshot mixed = snapshot(1'000'000'000, "a");
    mixed.ports.push_back(snapshot(1'000'000'000, "a", LinkLayer::ethernet).ports[0]);
    mixed.ports[1].device = "mlx5_1";
    directory_.write("before", encode_snapshot(mixed));
    directory_.write("after", encode_snapshot(mixed));
    const Diff result = compare(with(std::nullopt));
    EXPECT_EQ(result.verdict, "clean");
    EXPECT_EQ(result.profile, std::nullopt);
    EXPECT_EQ(nlohmann::json::parse(diff_json(result))["profile"], "mixed");
}

TEST_F(RunbookFiles, TellTheReasonsOfDiscardsApart) {
    Values before = healthy(Profile::ib), after = before;
    after["PortXmitDiscards"] += 5;
    both(Profile::ib, before, after);
    EXPECT_THAT(diff_text(compare(with(Profile::ib)), false), HasSubstr("perfquery --xmtdisc"));
    before["PortInactiveDiscards"] = 0;
    after["PortInactiveDiscards"] = 5;
    both(Profile::ib, before, after);
    EXPECT_THAT(diff_text(compare(with(Profile::ib)), false), HasSubstr("a port that was not active"));
}
TEST_F(RunbookFiles, SayWhatToDoNextInEveryLayer) {
    const struct {
        Profile profile;
        const char *counter, *next;
    } cases[] = {{Profile::ib, "SymbolErrorCounter", "mlxlink or mstlink"},
                 {Profile::roce, "tx_pause_storm_error_events", "this host as the receiver"},
                 {Profile::roce, "rx_discards_phy", "PFC on for the same priority"},
                 {Profile::ib, "packet_seq_err", "read the switch port that faces it"},
                 {Profile::ib, "rnr_nak_retry_err", "the application or its MPI settings"},
                 {Profile::roce, "rp_cnp_handled", "DCQCN"},
                 {Profile::roce, "tx_prio3_pause", "it is the slow receiver"},
                 {Profile::roce, "rx_prio3_pause", "a slow receiver further on"}};
    for (const auto &one : cases) {
        Values after = healthy(one.profile);
        after[one.counter] += 60000;
        if (find_counter(one.counter)->layer == Layer::physical) {
            after[one.counter] = 101;
        }
        both(one.profile, healthy(one.profile), after);
        EXPECT_THAT(diff_text(compare(with(one.profile, gigabyte)), false), HasSubstr(one.next)) << one.counter;
    }
}

} // namespace
} // namespace fabric_check::textfiles
