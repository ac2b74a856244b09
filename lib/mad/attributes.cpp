// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/attributes.hpp"

#include "counters/table.hpp"
#include "sources/sysfs.hpp"

#include <infiniband/mad.h>

#include <algorithm>
#include <array>

namespace fabric_check::mad {

namespace {

constexpr std::size_t smp_size = 64;
constexpr std::size_t gmp_size = 192;
constexpr unsigned highest_unicast_lid = 0xbfff;
constexpr unsigned lids_per_block = 64;

/// A copy that libibmad may read any field of.
using Buffer = std::array<std::uint8_t, gmp_size>;

std::optional<Buffer> buffer_of(Data data, std::size_t needed) {
    if (data.size() < needed)
        return std::nullopt;
    Buffer buffer{};
    std::copy_n(data.begin(), std::min(data.size(), buffer.size()), buffer.begin());
    return buffer;
}

std::uint32_t field(Buffer &buffer, MAD_FIELDS which) {
    // libibmad's IB_PC_QP1_DROP_F (rdma-core 44) lacks the byte order macro of its neighbours and reads
    // VL15Dropped; QP1Dropped is at bits 160-175 (IBA 1.4, 16.1.3.5).
    if (which == IB_PC_QP1_DROP_F)
        return static_cast<std::uint32_t>(buffer[20]) << 8U | buffer[21];
    return mad_get_field(buffer.data(), 0, which);
}

enum class Gate : std::uint8_t { none, xmit_wait, qp1_dropped };

/// A counter of PortCounters, and where PortCountersExtended repeats it.
struct Row {
    const char *name;
    MAD_FIELDS classic;
    std::uint8_t width;
    MAD_FIELDS wide;
    bool data; ///< among the extended counters proper; else an additional 64-bit copy
    Gate gate = Gate::none;
};

constexpr Row rows[] = {
    {"SymbolErrorCounter", IB_PC_ERR_SYM_F, 16, IB_PC_EXT_ERR_SYM_F, false},
    {"LinkErrorRecoveryCounter", IB_PC_LINK_RECOVERS_F, 8, IB_PC_EXT_LINK_RECOVERS_F, false},
    {"LinkDownedCounter", IB_PC_LINK_DOWNED_F, 8, IB_PC_EXT_LINK_DOWNED_F, false},
    {"PortRcvErrors", IB_PC_ERR_RCV_F, 16, IB_PC_EXT_ERR_RCV_F, false},
    {"PortRcvRemotePhysicalErrors", IB_PC_ERR_PHYSRCV_F, 16, IB_PC_EXT_ERR_PHYSRCV_F, false},
    {"PortRcvSwitchRelayErrors", IB_PC_ERR_SWITCH_REL_F, 16, IB_PC_EXT_ERR_SWITCH_REL_F, false},
    {"PortXmitDiscards", IB_PC_XMT_DISCARDS_F, 16, IB_PC_EXT_XMT_DISCARDS_F, false},
    {"PortXmitConstraintErrors", IB_PC_ERR_XMTCONSTR_F, 8, IB_PC_EXT_ERR_XMTCONSTR_F, false},
    {"PortRcvConstraintErrors", IB_PC_ERR_RCVCONSTR_F, 8, IB_PC_EXT_ERR_RCVCONSTR_F, false},
    {"LocalLinkIntegrityErrors", IB_PC_ERR_LOCALINTEG_F, 4, IB_PC_EXT_ERR_LOCALINTEG_F, false},
    {"ExcessiveBufferOverrunErrors", IB_PC_ERR_EXCESS_OVR_F, 4, IB_PC_EXT_ERR_EXCESS_OVR_F, false},
    {"VL15Dropped", IB_PC_VL15_DROPPED_F, 16, IB_PC_EXT_VL15_DROPPED_F, false},
    {"QP1Dropped", IB_PC_QP1_DROP_F, 16, IB_PC_EXT_QP1_DROP_F, false, Gate::qp1_dropped},
    {"PortXmitWait", IB_PC_XMT_WAIT_F, 32, IB_PC_EXT_XMT_WAIT_F, false, Gate::xmit_wait},
    {"PortXmitData", IB_PC_XMT_BYTES_F, 32, IB_PC_EXT_XMT_BYTES_F, true},
    {"PortRcvData", IB_PC_RCV_BYTES_F, 32, IB_PC_EXT_RCV_BYTES_F, true},
    {"PortXmitPkts", IB_PC_XMT_PKTS_F, 32, IB_PC_EXT_XMT_PKTS_F, true},
    {"PortRcvPkts", IB_PC_RCV_PKTS_F, 32, IB_PC_EXT_RCV_PKTS_F, true},
};

struct ExtendedRow {
    const char *name;
    MAD_FIELDS wide;
};
constexpr ExtendedRow packet_rows[] = {
    {"PortUnicastXmitPkts", IB_PC_EXT_XMT_UPKTS_F},
    {"PortUnicastRcvPkts", IB_PC_EXT_RCV_UPKTS_F},
    {"PortMulticastXmitPkts", IB_PC_EXT_XMT_MPKTS_F},
    {"PortMulticastRcvPkts", IB_PC_EXT_RCV_MPKTS_F},
};

bool in_extended(const PmaCapabilities &caps, const Row &row) {
    return row.data ? caps.extended() : caps.wide_errors();
}

bool supported(const PmaCapabilities &caps, const Row &row) {
    switch (row.gate) {
    case Gate::xmit_wait:
        return caps.xmit_wait();
    case Gate::qp1_dropped:
        return caps.qp1_dropped();
    case Gate::none:
        break;
    }
    return true;
}

/// The attribute's bytes, when they are long enough and of the port that was asked for.
std::optional<Buffer> counters_of(unsigned port, Data data) {
    auto buffer = buffer_of(data, gmp_size);
    if (buffer && field(*buffer, IB_PC_PORT_SELECT_F) != port)
        buffer.reset();
    return buffer;
}

/// A reading per counter of one of the two attributes; `buffer` null: none, because of `why`.
void fill(const PmaCapabilities &caps, bool extended, Buffer *buffer, Absence why, Counters &into) {
    for (const Row &row : rows) {
        if (in_extended(caps, row) != extended)
            continue;
        if (!supported(caps, row))
            into[row.name] = Reading::missing(Absence::unsupported);
        else if (!buffer)
            into[row.name] = Reading::missing(why);
        else if (extended)
            into[row.name] = Reading::of(mad_get_field64(buffer->data(), 0, row.wide), 64);
        else
            into[row.name] = Reading::of(field(*buffer, row.classic), row.width);
    }
    if (!extended || !caps.extended_packets())
        return;
    for (const ExtendedRow &row : packet_rows)
        into[row.name] =
            buffer ? Reading::of(mad_get_field64(buffer->data(), 0, row.wide), 64) : Reading::missing(why);
}

unsigned lanes_of(unsigned width) {
    switch (width) {
    case 1:
        return 1;
    case 2:
        return 4;
    case 4:
        return 8;
    case 8:
        return 12;
    case 16:
        return 2;
    default:
        return 0;
    }
}

const char *speed_of(unsigned speed, unsigned speed_ext) {
    switch (speed_ext) {
    case 1:
        return "FDR";
    case 2:
        return "EDR";
    case 4:
        return "HDR";
    case 8:
        return "NDR";
    default:
        break;
    }
    switch (speed) {
    case 1:
        return "SDR";
    case 2:
        return "DDR";
    case 4:
        return "QDR";
    default:
        return "";
    }
}

} // namespace

std::optional<PmaCapabilities> decode_class_port_info(Data data) {
    auto buffer = buffer_of(data, gmp_size);
    if (!buffer)
        return std::nullopt;
    PmaCapabilities caps;
    caps.mask = static_cast<std::uint16_t>(field(*buffer, IB_CPI_CAPMASK_F));
    caps.mask2 = field(*buffer, IB_CPI_CAPMASK2_F);
    return caps;
}

void decode_port_counters(const PmaCapabilities &caps, unsigned port, Data data, Counters &into) {
    auto buffer = counters_of(port, data);
    fill(caps, false, buffer ? &*buffer : nullptr, Absence::unparsable, into);
}

void decode_port_counters_extended(const PmaCapabilities &caps, unsigned port, Data data, Counters &into) {
    auto buffer = counters_of(port, data);
    fill(caps, true, buffer ? &*buffer : nullptr, Absence::unparsable, into);
}

void missing_port_counters(const PmaCapabilities &caps, Absence why, Counters &into) {
    fill(caps, false, nullptr, why, into);
}

void missing_port_counters_extended(const PmaCapabilities &caps, Absence why, Counters &into) {
    fill(caps, true, nullptr, why, into);
}

std::optional<PortInfo> decode_port_info(Data data) {
    auto buffer = buffer_of(data, smp_size);
    if (!buffer)
        return std::nullopt;
    PortInfo info;
    info.lid = static_cast<std::uint16_t>(field(*buffer, IB_PORT_LID_F));
    info.lmc = static_cast<std::uint8_t>(field(*buffer, IB_PORT_LMC_F));
    info.master_sm_lid = static_cast<std::uint16_t>(field(*buffer, IB_PORT_SMLID_F));
    info.capability_mask = field(*buffer, IB_PORT_CAPMASK_F);
    info.state = field(*buffer, IB_PORT_STATE_F);
    info.phys_state = field(*buffer, IB_PORT_PHYS_STATE_F);
    info.width = field(*buffer, IB_PORT_LINK_WIDTH_ACTIVE_F);
    info.speed = field(*buffer, IB_PORT_LINK_SPEED_ACTIVE_F);
    info.speed_ext = field(*buffer, IB_PORT_LINK_SPEED_EXT_ACTIVE_F);
    return info;
}

std::string PortInfo::state_name() const {
    static constexpr const char *names[] = {"", "DOWN", "INIT", "ARMED", "ACTIVE"};
    return state < std::size(names) ? names[state] : "";
}

std::string PortInfo::phys_state_name() const {
    static constexpr const char *names[] = {
        "", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "Phy Test"};
    return phys_state < std::size(names) ? names[phys_state] : "";
}

LinkRate PortInfo::rate(bool extended) const {
    const unsigned lanes = lanes_of(width);
    const char *name = speed_of(speed, extended ? speed_ext : 0);
    if (state <= 1 || lanes == 0 || *name == 0)
        return {};
    return link_rate(lanes, name);
}

std::uint16_t counter_select(std::string_view counter) noexcept {
    static constexpr std::string_view bits[] = {
        "SymbolErrorCounter",          "LinkErrorRecoveryCounter", "LinkDownedCounter",        "PortRcvErrors",
        "PortRcvRemotePhysicalErrors", "PortRcvSwitchRelayErrors", "PortXmitDiscards",         "PortXmitConstraintErrors",
        "PortRcvConstraintErrors",     "LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors", "VL15Dropped"};
    const auto *at = std::find(std::begin(bits), std::end(bits), counter);
    return at == std::end(bits) ? std::uint16_t{0} : static_cast<std::uint16_t>(1U << (at - std::begin(bits)));
}

bool error_counter_at_cap(std::string_view counter, const Reading &reading) noexcept {
    const std::uint64_t cap = saturation_cap(reading.width);
    return reading.width < 64 && cap != 0 && reading.value == cap && counter_select(counter) != 0;
}

unsigned SwitchInfo::blocks() const noexcept {
    unsigned top = std::min<unsigned>(linear_fdb_top, highest_unicast_lid);
    if (linear_fdb_cap > 0)
        top = std::min(top, linear_fdb_cap - 1U);
    return top / lids_per_block + 1;
}

std::optional<SwitchInfo> decode_switch_info(Data data) {
    auto buffer = buffer_of(data, smp_size);
    if (!buffer)
        return std::nullopt;
    SwitchInfo info;
    info.linear_fdb_cap = static_cast<std::uint16_t>(field(*buffer, IB_SW_LINEAR_FDB_CAP_F));
    info.linear_fdb_top = static_cast<std::uint16_t>(field(*buffer, IB_SW_LINEAR_FDB_TOP_F));
    return info;
}

std::optional<std::array<std::uint8_t, 64>> decode_lft_block(Data data) {
    std::array<std::uint8_t, lids_per_block> ports{};
    if (data.size() < ports.size())
        return std::nullopt;
    std::copy_n(data.begin(), ports.size(), ports.begin());
    return ports;
}

std::optional<SmInfo> decode_sm_info(Data data) {
    auto buffer = buffer_of(data, smp_size);
    if (!buffer)
        return std::nullopt;
    SmInfo info;
    info.guid = mad_get_field64(buffer->data(), 0, IB_SMINFO_GUID_F);
    info.priority = static_cast<std::uint8_t>(field(*buffer, IB_SMINFO_PRIO_F));
    info.state = static_cast<std::uint8_t>(field(*buffer, IB_SMINFO_STATE_F));
    return info;
}

std::optional<bool> decode_adaptive_routing(Data data) {
    if (data.size() < sizeof(std::uint32_t))
        return std::nullopt;
    return (data[3] & 1U) != 0;
}

} // namespace fabric_check::mad
