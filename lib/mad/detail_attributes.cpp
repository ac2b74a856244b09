// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/attributes.hpp"

#include <fmt/format.h>
#include <infiniband/mad.h>

#include <algorithm>
#include <array>

namespace fabric_check::mad {

namespace {

constexpr std::size_t gmp_size = 192;
constexpr unsigned lanes = 12;

/// Fields of a performance attribute of one port, in a copy that libibmad may read.
class Fields {
public:
    Fields(unsigned port, Data data, Counters &into) : into_(into) {
        if (data.size() < buffer_.size())
            return;
        std::copy_n(data.begin(), buffer_.size(), buffer_.begin());
        // PortSelect stands at the same place in all of them.
        valid_ = mad_get_field(buffer_.data(), 0, IB_PESC_PORT_SELECT_F) == port;
    }

    void take(const std::string &name, int field, std::uint8_t width) {
        if (valid_)
            into_[name] = Reading::of(mad_get_field(buffer_.data(), 0, static_cast<MAD_FIELDS>(field)), width);
    }

    void lane_by_lane(const char *name, int first_field, std::uint8_t width) {
        for (unsigned lane = 0; lane < lanes; ++lane)
            take(fmt::format("{}{}", name, lane), first_field + static_cast<int>(lane), width);
    }

private:
    std::array<std::uint8_t, gmp_size> buffer_{};
    Counters &into_;
    bool valid_ = false;
};

} // namespace

void decode_receive_error_details(unsigned port, Data data, Counters &into) {
    Fields fields(port, data, into);
    fields.take("PortLocalPhysicalErrors", IB_PC_RCV_LOCAL_PHY_ERR_F, 16);
    fields.take("PortMalformedPktErrors", IB_PC_RCV_MALFORMED_PKT_ERR_F, 16);
    fields.take("PortBufferOverrunErrors", IB_PC_RCV_BUF_OVR_ERR_F, 16);
    fields.take("PortDLIDMappingErrors", IB_PC_RCV_DLID_MAP_ERR_F, 16);
    fields.take("PortVLMappingErrors", IB_PC_RCV_VL_MAP_ERR_F, 16);
    fields.take("PortLoopingErrors", IB_PC_RCV_LOOPING_ERR_F, 16);
}

void decode_discard_details(unsigned port, Data data, Counters &into) {
    Fields fields(port, data, into);
    fields.take("PortInactiveDiscards", IB_PC_XMT_INACT_DISC_F, 16);
    fields.take("PortNeighborMTUDiscards", IB_PC_XMT_NEIGH_MTU_DISC_F, 16);
    fields.take("PortSwLifetimeLimitDiscards", IB_PC_XMT_SW_LIFE_DISC_F, 16);
    fields.take("PortSwHOQLifetimeLimitDiscards", IB_PC_XMT_SW_HOL_DISC_F, 16);
}

void decode_extended_speeds(bool rs_fec, unsigned port, Data data, Counters &into) {
    Fields fields(port, data, into);
    if (rs_fec) {
        fields.take("SyncHeaderErrorCounter", IB_PESC_RSFEC_SYNC_HDR_ERR_CTR_F, 16);
        fields.take("UnknownBlockCounter", IB_PESC_RSFEC_UNK_BLOCK_CTR_F, 16);
        fields.take("PortFECCorrectableBlockCtr", IB_PESC_PORT_FEC_CORR_BLOCK_CTR_F, 32);
        fields.take("PortFECUncorrectableBlockCtr", IB_PESC_PORT_FEC_UNCORR_BLOCK_CTR_F, 32);
        fields.take("PortFECCorrectedSymbolCtr", IB_PESC_PORT_FEC_CORR_SYMBOL_CTR_F, 32);
        return; // the lanes' repaired symbols are normal, and many
    }
    fields.take("SyncHeaderErrorCounter", IB_PESC_SYNC_HDR_ERR_CTR_F, 16);
    fields.take("UnknownBlockCounter", IB_PESC_UNK_BLOCK_CTR_F, 16);
    fields.lane_by_lane("ErrorDetectionCounterLane", IB_PESC_ERR_DET_CTR_LANE0_F, 16);
    fields.lane_by_lane("FECCorrectableBlockCtrLane", IB_PESC_FEC_CORR_BLOCK_CTR_LANE0_F, 32);
    fields.lane_by_lane("FECUncorrectableBlockCtrLane", IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE0_F, 32);
}

std::optional<bool> decode_rs_fec(Data data) {
    std::array<std::uint8_t, 64> buffer{};
    if (data.size() < buffer.size())
        return std::nullopt;
    std::copy_n(data.begin(), buffer.size(), buffer.begin());
    constexpr unsigned rs = 2, rs2 = 4, capable = 1;
    if ((mad_get_field(buffer.data(), 0, IB_PORT_EXT_CAPMASK_F) & capable) == 0)
        return false;
    const unsigned mode = mad_get_field(buffer.data(), 0, IB_PORT_EXT_FEC_MODE_ACTIVE_F);
    return mode == rs || mode == rs2;
}

} // namespace fabric_check::mad
