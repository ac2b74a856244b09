// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/attributes.hpp"

#include <infiniband/mad.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fabric_check::mad {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr PmaCapabilities nothing_optional{};
constexpr PmaCapabilities extended{1U << 9U | 1U << 12U, 0};
constexpr PmaCapabilities wide{1U << 9U | 1U << 12U | 1U << 15U, 1U << 1U};

std::set<std::string> names(const Counters &counters) {
    std::set<std::string> all;
    for (const auto &[name, reading] : counters)
        all.emplace(name);
    return all;
}

Bytes pma(unsigned port) {
    Bytes data(192);
    data[1] = static_cast<std::uint8_t>(port);
    return data;
}

TEST(ClassPortInfo, MasksAreDecodedFromTheirBits) {
    Bytes data(192);
    data[2] = 0x92;                            // CapabilityMask 0x9200: bits 15, 12, 9
    data[7] = static_cast<std::uint8_t>(2 << 5); // CapabilityMask2: 27 bits above RespTimeValue
    const auto caps = decode_class_port_info(data);
    ASSERT_TRUE(caps);
    EXPECT_EQ(caps->mask, 0x9200);
    EXPECT_EQ(caps->mask2, 2U);
    EXPECT_TRUE(caps->extended() && caps->extended_packets() && caps->xmit_wait() && caps->qp1_dropped());
    EXPECT_TRUE(caps->wide_errors());
    EXPECT_FALSE(caps->needs_classic());
}

TEST(ClassPortInfo, Bit10IsExtendedWithoutPacketKinds) {
    const PmaCapabilities caps{1U << 10U, 0};
    EXPECT_TRUE(caps.extended());
    EXPECT_FALSE(caps.extended_packets());
    EXPECT_TRUE(caps.needs_classic());
}

TEST(ClassPortInfo, WideErrorsNeedTheExtendedAttributeItself) {
    const PmaCapabilities caps{0, 1U << 1U};
    EXPECT_FALSE(caps.wide_errors());
    EXPECT_TRUE(caps.needs_classic());
}

TEST(PortCounters, EveryFieldComesWithItsNameValueAndWidth) {
    Bytes data = pma(3);
    std::uint8_t *raw = data.data();
    const std::vector<std::tuple<MAD_FIELDS, std::string, std::uint64_t, unsigned>> fields = {
        {IB_PC_ERR_SYM_F, "SymbolErrorCounter", 65535, 16},
        {IB_PC_LINK_RECOVERS_F, "LinkErrorRecoveryCounter", 255, 8},
        {IB_PC_LINK_DOWNED_F, "LinkDownedCounter", 254, 8},
        {IB_PC_ERR_RCV_F, "PortRcvErrors", 1, 16},
        {IB_PC_ERR_PHYSRCV_F, "PortRcvRemotePhysicalErrors", 2, 16},
        {IB_PC_ERR_SWITCH_REL_F, "PortRcvSwitchRelayErrors", 3, 16},
        {IB_PC_XMT_DISCARDS_F, "PortXmitDiscards", 500, 16},
        {IB_PC_ERR_XMTCONSTR_F, "PortXmitConstraintErrors", 4, 8},
        {IB_PC_ERR_RCVCONSTR_F, "PortRcvConstraintErrors", 5, 8},
        {IB_PC_ERR_LOCALINTEG_F, "LocalLinkIntegrityErrors", 15, 4},
        {IB_PC_ERR_EXCESS_OVR_F, "ExcessiveBufferOverrunErrors", 6, 4},
        {IB_PC_VL15_DROPPED_F, "VL15Dropped", 7, 16},
        {IB_PC_XMT_WAIT_F, "PortXmitWait", 0xffffffff, 32},
        {IB_PC_XMT_BYTES_F, "PortXmitData", 9, 32},
        {IB_PC_RCV_BYTES_F, "PortRcvData", 10, 32},
        {IB_PC_XMT_PKTS_F, "PortXmitPkts", 11, 32},
        {IB_PC_RCV_PKTS_F, "PortRcvPkts", 12, 32},
    };
    for (const auto &[which, name, value, width] : fields)
        mad_set_field(raw, 0, which, static_cast<std::uint32_t>(value));
    data[20] = 1; // QP1Dropped, which libibmad places wrongly
    data[21] = 8;
    Counters counters;
    decode_port_counters(PmaCapabilities{1U << 12U | 1U << 15U, 0}, 3, data, counters);
    EXPECT_EQ(counters.size(), fields.size() + 1);
    EXPECT_EQ(counters["QP1Dropped"], Reading::of(264, 16));
    for (const auto &[which, name, value, width] : fields)
        EXPECT_EQ(counters[name], Reading::of(value, static_cast<std::uint8_t>(width))) << name;
}

TEST(PortCounters, CountersWithoutTheirCapabilityAreUnsupportedNotZero) {
    Counters counters;
    decode_port_counters(nothing_optional, 1, pma(1), counters);
    EXPECT_EQ(counters["PortXmitWait"], Reading::missing(Absence::unsupported));
    EXPECT_EQ(counters["QP1Dropped"], Reading::missing(Absence::unsupported));
    EXPECT_EQ(counters["SymbolErrorCounter"], Reading::of(0, 16));
}

TEST(PortCounters, AnswerForAnotherPortOrTooShortIsUnparsable) {
    for (const Bytes &data : {pma(4), Bytes(191), Bytes()}) {
        Counters counters;
        decode_port_counters(extended, 3, data, counters);
        EXPECT_EQ(counters["SymbolErrorCounter"], Reading::missing(Absence::unparsable)) << data.size();
    }
}

TEST(PortCountersExtended, DataCountersAre64BitsAndLeaveTheClassicAttribute) {
    Bytes data = pma(7);
    mad_set_field64(data.data(), 0, IB_PC_EXT_XMT_BYTES_F, 0xffffffffffffffffULL);
    mad_set_field64(data.data(), 0, IB_PC_EXT_RCV_MPKTS_F, 1ULL << 40U);
    Counters counters;
    decode_port_counters_extended(extended, 7, data, counters);
    EXPECT_THAT(names(counters),
                testing::UnorderedElementsAre("PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts",
                                              "PortUnicastXmitPkts", "PortUnicastRcvPkts", "PortMulticastXmitPkts",
                                              "PortMulticastRcvPkts"));
    EXPECT_EQ(counters["PortXmitData"], Reading::of(0xffffffffffffffffULL, 64));
    EXPECT_EQ(counters["PortMulticastRcvPkts"], Reading::of(1ULL << 40U, 64));
    Counters classic;
    decode_port_counters(extended, 7, data, classic);
    EXPECT_FALSE(classic.contains("PortXmitData"));
    EXPECT_TRUE(classic.contains("SymbolErrorCounter"));
}

TEST(PortCountersExtended, ErrorCopiesAre64BitsFromOffset576WhereTheMaskSaysSo) {
    Bytes data = pma(7);
    data[576 / 8 + 7] = 90;  // the first additional counter's lowest byte
    data[1344 / 8 + 6] = 1;  // PortXmitWait
    data[1408 / 8 + 7] = 44; // QP1Dropped
    Counters counters;
    decode_port_counters_extended(wide, 7, data, counters);
    EXPECT_EQ(counters["SymbolErrorCounter"], Reading::of(90, 64));
    EXPECT_EQ(counters["LinkDownedCounter"], Reading::of(0, 64));
    EXPECT_EQ(counters["PortXmitWait"], Reading::of(256, 64));
    EXPECT_EQ(counters["QP1Dropped"], Reading::of(44, 64));
    Counters classic;
    decode_port_counters(wide, 7, data, classic);
    EXPECT_TRUE(classic.empty()) << "nothing is left for the classic attribute";
}

TEST(PortCountersExtended, MissingNamesTheSameCountersAsDecoding) {
    for (const PmaCapabilities &caps : {nothing_optional, extended, wide, PmaCapabilities{1U << 10U, 0}}) {
        Counters read, missing;
        decode_port_counters(caps, 1, pma(1), read);
        decode_port_counters_extended(caps, 1, pma(1), read);
        missing_port_counters(caps, Absence::timed_out, missing);
        missing_port_counters_extended(caps, Absence::timed_out, missing);
        EXPECT_EQ(names(read), names(missing)) << caps.mask;
        EXPECT_EQ(missing["PortRcvErrors"], Reading::missing(Absence::timed_out));
    }
}

struct RateCase {
    unsigned width, speed, speed_ext;
    bool gate;
    unsigned lanes;
    const char *name;
};
class PortInfoRate : public testing::TestWithParam<RateCase> {};
TEST_P(PortInfoRate, IsDecoded) {
    const RateCase &c = GetParam();
    Bytes data(64);
    mad_set_field(data.data(), 0, IB_PORT_STATE_F, 4);
    mad_set_field(data.data(), 0, IB_PORT_LINK_WIDTH_ACTIVE_F, c.width);
    mad_set_field(data.data(), 0, IB_PORT_LINK_SPEED_ACTIVE_F, c.speed);
    mad_set_field(data.data(), 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F, c.speed_ext);
    const auto info = decode_port_info(data);
    ASSERT_TRUE(info);
    EXPECT_EQ(info->rate(c.gate).lanes, c.lanes);
    EXPECT_EQ(info->rate(c.gate).speed, c.name);
}
INSTANTIATE_TEST_SUITE_P(Codes, PortInfoRate,
                         testing::Values(RateCase{2, 1, 0, true, 4, "SDR"}, RateCase{1, 2, 0, true, 1, "DDR"},
                                         RateCase{8, 4, 0, true, 12, "QDR"}, RateCase{4, 4, 1, true, 8, "FDR"},
                                         RateCase{16, 4, 2, true, 2, "EDR"}, RateCase{2, 4, 4, true, 4, "HDR"},
                                         RateCase{2, 4, 8, true, 4, "NDR"},
                                         RateCase{2, 4, 4, false, 4, "QDR"}, // the field is not valid
                                         RateCase{3, 4, 4, true, 0, ""}, RateCase{2, 7, 0, true, 0, ""}));

TEST(PortInfoDecode, HdrRateHasItsNumbers) {
    Bytes data(64);
    mad_set_field(data.data(), 0, IB_PORT_STATE_F, 4);
    mad_set_field(data.data(), 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
    mad_set_field(data.data(), 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F, 4);
    const LinkRate rate = decode_port_info(data)->rate(true);
    EXPECT_DOUBLE_EQ(rate.data_gbps, 200);
    EXPECT_DOUBLE_EQ(rate.signalling_gbps, 53.125);
}

TEST(PortInfoDecode, DownPortHasNoRateWhateverItsFieldsSay) {
    Bytes data(64);
    mad_set_field(data.data(), 0, IB_PORT_STATE_F, 1);
    mad_set_field(data.data(), 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
    mad_set_field(data.data(), 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
    const auto info = decode_port_info(data);
    EXPECT_EQ(info->rate(true), LinkRate{});
    EXPECT_EQ(info->state_name(), "DOWN");
}

TEST(PortInfoDecode, StatesHaveTheirSysfsNamesAndUnknownOnesNone) {
    const auto name = [](unsigned state) {
        PortInfo info;
        info.state = state;
        info.phys_state = state;
        return std::pair(info.state_name(), info.phys_state_name());
    };
    EXPECT_EQ(name(2), std::pair(std::string("INIT"), std::string("Polling")));
    EXPECT_EQ(name(4).first, "ACTIVE");
    EXPECT_EQ(name(5), std::pair(std::string(), std::string("LinkUp")));
    EXPECT_EQ(name(15), std::pair(std::string(), std::string()));
}

TEST(PortInfoDecode, ShortDataIsNothing) {
    EXPECT_FALSE(decode_port_info(Bytes(63)));
    EXPECT_TRUE(decode_port_info(Bytes(64)));
}

TEST(SwitchInfoBlocks, TheBlockOfTheTopLidIsIncluded) {
    const auto blocks = [](std::uint16_t top, std::uint16_t cap = 49152) { return SwitchInfo{cap, top}.blocks(); };
    EXPECT_EQ(blocks(0), 1U);
    EXPECT_EQ(blocks(63), 1U);
    EXPECT_EQ(blocks(64), 2U) << "a top LID that is a multiple of 64 has a block of its own";
    EXPECT_EQ(blocks(65), 2U);
    EXPECT_EQ(blocks(0xbfff), 768U);
    EXPECT_EQ(blocks(0xffff), 768U) << "above the unicast range there is nothing to read";
    EXPECT_EQ(blocks(5000, 64), 1U) << "nor above the switch's own capacity";
    EXPECT_EQ(blocks(100, 0), 2U);
}

TEST(LftBlockDecode, NeedsItsSixtyFourBytes) {
    Bytes data(64, 9);
    data[63] = 255;
    const auto block = decode_lft_block(data);
    ASSERT_TRUE(block);
    EXPECT_EQ((*block)[0], 9);
    EXPECT_EQ((*block)[63], 255);
    EXPECT_FALSE(decode_lft_block(Bytes(63)));
}

TEST(AdaptiveRoutingDecode, IsTheLowestBitOfTheFirstWord) {
    EXPECT_EQ(decode_adaptive_routing(Bytes{0, 0, 0, 1}), true);
    EXPECT_EQ(decode_adaptive_routing(Bytes{255, 255, 255, 254}), false);
    EXPECT_EQ(decode_adaptive_routing(Bytes{0, 0, 0}), std::nullopt);
}

TEST(DetailAttributes, EveryFieldOfDiscardsAndReceiveErrorsIsDecoded) {
    Bytes data = pma(3);
    mad_set_field(data.data(), 0, IB_PC_XMT_INACT_DISC_F, 1);
    mad_set_field(data.data(), 0, IB_PC_XMT_NEIGH_MTU_DISC_F, 2);
    mad_set_field(data.data(), 0, IB_PC_XMT_SW_LIFE_DISC_F, 3);
    mad_set_field(data.data(), 0, IB_PC_XMT_SW_HOL_DISC_F, 0xffff);
    Counters discards;
    decode_discard_details(3, data, discards);
    EXPECT_EQ(discards, (Counters{{"PortInactiveDiscards", Reading::of(1, 16)},
                                  {"PortNeighborMTUDiscards", Reading::of(2, 16)},
                                  {"PortSwLifetimeLimitDiscards", Reading::of(3, 16)},
                                  {"PortSwHOQLifetimeLimitDiscards", Reading::of(0xffff, 16)}}));
    Bytes errors = pma(3);
    for (int i = 0; i < 6; ++i)
        mad_set_field(errors.data(), 0, static_cast<MAD_FIELDS>(IB_PC_RCV_LOCAL_PHY_ERR_F + i), static_cast<std::uint32_t>(i + 1));
    Counters received;
    decode_receive_error_details(3, errors, received);
    EXPECT_EQ(received, (Counters{{"PortLocalPhysicalErrors", Reading::of(1, 16)},
                                  {"PortMalformedPktErrors", Reading::of(2, 16)},
                                  {"PortBufferOverrunErrors", Reading::of(3, 16)},
                                  {"PortDLIDMappingErrors", Reading::of(4, 16)},
                                  {"PortVLMappingErrors", Reading::of(5, 16)},
                                  {"PortLoopingErrors", Reading::of(6, 16)}}));
}

TEST(DetailAttributes, TheFieldsStandWhereTheSpecificationPutsThem) {
    Bytes data = pma(3);
    for (std::size_t i = 4; i < 16; ++i)
        data[i] = static_cast<std::uint8_t>(i);
    Counters discards;
    decode_discard_details(3, data, discards); // four of 16 bits after PortSelect and CounterSelect
    EXPECT_EQ(discards["PortInactiveDiscards"].value, 0x0405U);
    EXPECT_EQ(discards["PortSwHOQLifetimeLimitDiscards"].value, 0x0a0bU);
}

TEST(DetailAttributes, ExtendedSpeedsHaveTwoLayouts) {
    Bytes data = pma(3);
    mad_set_field(data.data(), 0, IB_PESC_RSFEC_SYNC_HDR_ERR_CTR_F, 9);
    mad_set_field(data.data(), 0, IB_PESC_PORT_FEC_CORR_BLOCK_CTR_F, 70000);
    mad_set_field(data.data(), 0, IB_PESC_PORT_FEC_UNCORR_BLOCK_CTR_F, 80000);
    mad_set_field(data.data(), 0, IB_PESC_PORT_FEC_CORR_SYMBOL_CTR_F, 90000);
    Counters rs;
    decode_extended_speeds(true, 3, data, rs);
    EXPECT_EQ(rs, (Counters{{"SyncHeaderErrorCounter", Reading::of(9, 16)},
                            {"UnknownBlockCounter", Reading::of(0, 16)},
                            {"PortFECCorrectableBlockCtr", Reading::of(70000, 32)},
                            {"PortFECUncorrectableBlockCtr", Reading::of(80000, 32)},
                            {"PortFECCorrectedSymbolCtr", Reading::of(90000, 32)}}));
    Bytes lanes = pma(3);
    mad_set_field(lanes.data(), 0, IB_PESC_ERR_DET_CTR_LANE3_F, 5);
    mad_set_field(lanes.data(), 0, IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE11_F, 80000);
    Counters fire;
    decode_extended_speeds(false, 3, lanes, fire);
    EXPECT_EQ(fire.size(), 2U + 3U * 12U);
    EXPECT_EQ(fire["ErrorDetectionCounterLane3"], Reading::of(5, 16));
    EXPECT_EQ(fire["FECUncorrectableBlockCtrLane11"], Reading::of(80000, 32));
}

TEST(DetailAttributes, WhatIsTooShortOrOfAnotherPortAddsNothing) {
    Counters counters;
    for (const Bytes &data : {Bytes(191), Bytes(), pma(4)}) {
        decode_discard_details(3, data, counters);
        decode_receive_error_details(3, data, counters);
        decode_extended_speeds(true, 3, data, counters);
        decode_extended_speeds(false, 3, data, counters);
    }
    EXPECT_TRUE(counters.empty());
}

TEST(DetailAttributes, ReedSolomonIsActiveInModesTwoAndFour) {
    for (unsigned mode = 0; mode < 6; ++mode) {
        Bytes data(64);
        mad_set_field(data.data(), 0, IB_PORT_EXT_CAPMASK_F, 1);
        mad_set_field(data.data(), 0, IB_PORT_EXT_FEC_MODE_ACTIVE_F, mode);
        EXPECT_EQ(decode_rs_fec(data), mode == 2 || mode == 4) << mode;
        mad_set_field(data.data(), 0, IB_PORT_EXT_CAPMASK_F, 0);
        EXPECT_EQ(decode_rs_fec(data), false) << "the field is not supported";
    }
    EXPECT_EQ(decode_rs_fec(Bytes(63)), std::nullopt);
}

TEST(SmInfo, GuidPriorityAndStateAreAtTheirPlaces) {
    std::vector<std::uint8_t> data(64);
    mad_set_field64(data.data(), 0, IB_SMINFO_GUID_F, 0x0123456789abcdefULL);
    data[20] = 0xe3; // priority 14, state 3
    const auto info = decode_sm_info(data);
    ASSERT_TRUE(info);
    EXPECT_EQ(info->guid, 0x0123456789abcdefULL);
    EXPECT_EQ(info->priority, 14);
    EXPECT_EQ(info->state, 3);
    data.pop_back();
    EXPECT_FALSE(decode_sm_info(data)) << "too short";
}

TEST(PortInfoFields, TheMastersLidIsTaken) {
    std::vector<std::uint8_t> data(64);
    data[18] = 0x12;
    data[19] = 0x34;
    EXPECT_EQ(decode_port_info(data)->master_sm_lid, 0x1234);
}

} // namespace
} // namespace fabric_check::mad
