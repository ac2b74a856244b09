// SPDX-License-Identifier: GPL-2.0-or-later
#include "counters/reading.hpp"
#include "base/text.hpp"
#include "counters/table.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>

namespace fabric_check {
namespace {

using testing::UnorderedElementsAre;

std::set<std::string> required_of(PortKind kind, std::string_view driver, Profile profile = Profile::ib) {
    std::set<std::string> names;
    for (const CounterInfo &row : counter_table()) {
        if (required(row, profile, kind, driver)) {
            names.emplace(row.name);
        }
    }
    return names;
}

const CounterInfo &row(std::string_view name) {
    const CounterInfo *found = find_counter(name);
    static const CounterInfo none{};
    EXPECT_NE(found, nullptr) << name;
    return found != nullptr ? *found : none;
}

TEST(CounterTable, AsksASwitchPortForTheFivePmaCountersOnly) {
    EXPECT_THAT(required_of(PortKind::switch_port, "mlx5_core"),
                UnorderedElementsAre("SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter",
                                     "PortRcvErrors", "PortXmitDiscards"));
}
TEST(CounterTable, AsksACardWithRetryCountersForTheThreeOfThemToo) {
    EXPECT_THAT(required_of(PortKind::hca, "mlx5_core"),
                UnorderedElementsAre("SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter",
                                     "PortRcvErrors", "PortXmitDiscards", "packet_seq_err", "rnr_nak_retry_err",
                                     "local_ack_timeout_err"));
}
TEST(CounterTable, AsksOtherAndUnknownDriversForNoRetryCounters) {
    for (const char *driver : {"mlx4_core", "hfi1", "", "mlx5", "mlx5_corex"}) {
        EXPECT_EQ(required_of(PortKind::hca, driver).size(), 5U) << driver;
        EXPECT_FALSE(driver_has_retry_counters(driver)) << driver;
    }
}

TEST(CounterTable, AsksARocePortForTheDesignsCounters) {
    EXPECT_THAT(required_of(PortKind::hca, "mlx5_core", Profile::roce),
                UnorderedElementsAre("tx_pause_storm_error_events", "rx_discards_phy", "rx_prio<n>_buf_discard",
                                     "packet_seq_err", "rnr_nak_retry_err", "local_ack_timeout_err", "rx_prio<n>_pause",
                                     "rp_cnp_handled"));
    EXPECT_THAT(required_of(PortKind::switch_port, "", Profile::roce), testing::IsEmpty());
}

TEST(CounterTable, AsksABroadcomPortForItsOwn) {
    EXPECT_THAT(required_of(PortKind::hca, "bnxt_en", Profile::roce),
                UnorderedElementsAre("rnr_naks_rcvd", "rx_roce_discards", "seq_err_naks_rcvd", "to_retransmits"));
}
TEST(CounterTable, AsksCardsWithoutSuchCountersForNothing) {
    for (const char *driver : {"ice", "efa", "mlx4_core", "hfi1", ""}) {
        EXPECT_THAT(required_of(PortKind::hca, driver, Profile::roce), testing::IsEmpty()) << driver;
    }
}

TEST(CounterTable, HasTheSpecifiedWidths) {
    EXPECT_EQ(row("SymbolErrorCounter").width, 16);
    EXPECT_EQ(row("LinkErrorRecoveryCounter").width, 8);
    EXPECT_EQ(row("LinkDownedCounter").width, 8);
    EXPECT_EQ(row("PortRcvErrors").width, 16);
    EXPECT_EQ(row("PortXmitDiscards").width, 16);
    EXPECT_EQ(row("LocalLinkIntegrityErrors").width, 4);
    EXPECT_EQ(row("ExcessiveBufferOverrunErrors").width, 4);
    EXPECT_EQ(row("PortXmitConstraintErrors").width, 8);
    EXPECT_EQ(row("PortXmitWait").width, 32);
    EXPECT_EQ(row("PortXmitData").width, 32);
    EXPECT_EQ(row("PortUnicastXmitPkts").width, 64);
}
TEST(CounterTable, AssumesNoCapForAnyHwCounter) {
    for (const CounterInfo &counter : counter_table()) {
        if (counter.source == CounterSource::hw_counters) {
            EXPECT_EQ(counter.width, 0) << counter.name;
        }
    }
}
TEST(CounterTable, HasTheLayersOfTheVerdict) {
    EXPECT_EQ(row("SymbolErrorCounter").layer, Layer::physical);
    EXPECT_EQ(row("LinkErrorRecoveryCounter").layer, Layer::physical);
    EXPECT_EQ(row("LinkDownedCounter").layer, Layer::physical);
    EXPECT_EQ(row("PortRcvErrors").layer, Layer::physical);
    EXPECT_EQ(row("PortXmitDiscards").layer, Layer::lossless_broken);
    EXPECT_EQ(row("packet_seq_err").layer, Layer::transport_retry);
    EXPECT_EQ(row("rnr_nak_retry_err").layer, Layer::transport_retry);
    EXPECT_EQ(row("local_ack_timeout_err").layer, Layer::transport_retry);
}
TEST(CounterTable, JudgesWhatItRequiresAndTheTwoKindsOfDisorder) {
    std::set<std::string> graded;
    for (const CounterInfo &counter : counter_table()) {
        if (counter.graded(Profile::ib)) {
            graded.emplace(counter.name);
        }
    }
    std::set<std::string> expected = required_of(PortKind::hca, "mlx5_core");
    expected.insert({"implied_nak_seq_err", "out_of_sequence", "rq_num_oos", "sq_num_oos", "sq_num_rnr", "sq_num_to",
                     "RcSeqNak", "RcTimeOut", "RnrNak"});
    EXPECT_EQ(graded, expected);
}
TEST(CounterTable, NeverJudgesWaitOrMarks) {
    for (const char *name : {"PortXmitWait", "np_cnp_sent", "rp_cnp_handled", "np_ecn_marked_roce_packets",
                             "PortRcvRemotePhysicalErrors", "PortRcvSwitchRelayErrors", "VL15Dropped"}) {
        EXPECT_FALSE(row(name).graded(Profile::ib)) << name;
    }
}
TEST(CounterTable, ExplainsEveryCounterInOneLineWithAReference) {
    for (const CounterInfo &counter : counter_table()) {
        EXPECT_GE(counter.meaning.size(), 10U) << counter.name;
        EXPECT_EQ(counter.meaning.find('\n'), std::string_view::npos) << counter.name;
        EXPECT_FALSE(counter.reference.empty()) << counter.name;
    }
}

TEST(FindCounter, FindsEveryRowByNameAndByItsAliases) {
    for (const CounterInfo &counter : counter_table()) {
        EXPECT_EQ(find_counter(counter.name), &counter) << counter.name;
        for (const std::string_view alias : split(counter.aliases, ' ')) {
            EXPECT_TRUE(alias.empty() || find_counter(alias) == &counter) << alias;
        }
    }
}
TEST(FindCounter, KnowsTheNamesOfOldKernelsAndTools) {
    EXPECT_EQ(row("port_xmit_data_64").name, "PortXmitData");
    EXPECT_EQ(row("port_multicast_rcv_packets").name, "PortMulticastRcvPkts");
    EXPECT_EQ(row("SymbolErrors").name, "SymbolErrorCounter");
    EXPECT_EQ(row("XmtDiscards").name, "PortXmitDiscards");
}
TEST(FindCounter, FindsTheMembersOfAFamily) {
    EXPECT_EQ(row("rx_prio0_pause").name, "rx_prio<n>_pause");
    EXPECT_EQ(row("rx_prio7_pause").name, "rx_prio<n>_pause");
    for (const char *name : {"rx_prio8_pause", "rx_prio33_pause", "rx_prio_pause", "rx_prio3_pauses", "3", "rx3"}) {
        EXPECT_EQ(find_counter(name), nullptr) << name;
    }
    EXPECT_EQ(canonical_name("rx_prio5_pause"), "rx_prio5_pause");
    EXPECT_EQ(canonical_name("symbol_error"), "SymbolErrorCounter");
    EXPECT_EQ(canonical_name("novelty"), "novelty");
    EXPECT_EQ(row("tx_prio2_pause").of_priority(2), "tx_prio2_pause");
}
TEST(FindCounter, FindsTheCountersOfALane) {
    EXPECT_EQ(row("FECUncorrectableBlockCtrLane0").name, "FECUncorrectableBlockCtrLane<l>");
    EXPECT_EQ(row("FECUncorrectableBlockCtrLane11").name, "FECUncorrectableBlockCtrLane<l>");
    EXPECT_EQ(row("rx_err_lane_3_phy").name, "rx_err_lane_<l>_phy");
    EXPECT_EQ(canonical_name("FECUncorrectableBlockCtrLane11"), "FECUncorrectableBlockCtrLane11");
    for (const char *name : {"FECUncorrectableBlockCtrLane12", "FECUncorrectableBlockCtrLane01", "rx_err_lane__phy",
                             "FECUncorrectableBlockCtrLane99999999999999999999"}) {
        EXPECT_EQ(find_counter(name), nullptr) << name;
    }
}
TEST(FindCounter, KnowsEveryCounterThatPerfqueryShowsOfTheOptionalAttributes) {
    for (const char *name :
         {"PortLocalPhysicalErrors", "PortMalformedPktErrors", "PortBufferOverrunErrors", "PortDLIDMappingErrors",
          "PortVLMappingErrors", "PortLoopingErrors", "PortInactiveDiscards", "PortNeighborMTUDiscards",
          "PortSwLifetimeLimitDiscards", "PortSwHOQLifetimeLimitDiscards", "SyncHeaderErrorCounter", "UnknownBlockCounter",
          "ErrorDetectionCounterLane10", "FECCorrectableBlockCtrLane10", "FECUncorrectableBlockCtrLane10",
          "FECCorrectableSymbolCtrLane10", "PortFECCorrectableBlockCtr", "PortFECUncorrectableBlockCtr",
          "PortFECCorrectedSymbolCtr"}) {
        EXPECT_NE(find_counter(name), nullptr) << name;
    }
}
TEST(FindCounter, DoesNotKnowOthers) {
    for (const char *name : {"", "lifespan", "symbol_erro", "symbol_errors", "zzz", "A"}) {
        EXPECT_EQ(find_counter(name), nullptr) << name;
    }
}

TEST(SaturationCap, IsAllOnesOfTheFieldsThatExist) {
    EXPECT_EQ(saturation_cap(4), 15U);
    EXPECT_EQ(saturation_cap(8), 255U);
    EXPECT_EQ(saturation_cap(16), 65535U);
    EXPECT_EQ(saturation_cap(32), 4294967295U);
    EXPECT_EQ(saturation_cap(64), 18446744073709551615U);
}
TEST(SaturationCap, IsNoneForAnUnverifiedOrImpossibleWidth) {
    for (const int width : {0, 1, 7, 63, 65, 255}) {
        EXPECT_EQ(saturation_cap(static_cast<std::uint8_t>(width)), 0U) << width;
    }
}

TEST(Layer, HasTheContractsWords) {
    EXPECT_EQ(to_string(Layer::physical), "physical");
    EXPECT_EQ(to_string(Layer::pause_storm), "pause-storm");
    EXPECT_EQ(to_string(Layer::lossless_broken), "lossless-broken");
    EXPECT_EQ(to_string(Layer::transport_retry), "transport-retry");
    EXPECT_EQ(to_string(Layer::routing_imbalance), "routing-imbalance");
    EXPECT_EQ(to_string(Layer::congestion), "congestion");
    EXPECT_EQ(to_string(Layer::ungraded), "ungraded");
}

TEST(Absence, ReadsBackWhatItWrites) {
    for (const Absence absence :
         {Absence::absent, Absence::unsupported, Absence::denied, Absence::unparsable, Absence::timed_out}) {
        EXPECT_EQ(absence_from(to_string(absence)), absence);
    }
}
TEST(Absence, OfOtherTextIsNone) {
    EXPECT_EQ(absence_from("zero"), std::nullopt);
    EXPECT_EQ(absence_from(""), std::nullopt);
    EXPECT_EQ(absence_from(nullptr), std::nullopt);
}

} // namespace
} // namespace fabric_check
