// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "snapshot/model.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fabric_check::mad {

/// Attribute ids (InfiniBand Architecture Specification 1.4, 14.2.5 and 16.1.3; 0xff.. are vendor attributes).
namespace attribute {
inline constexpr std::uint16_t switch_info = 0x12;
inline constexpr std::uint16_t port_info = 0x15; ///< modifier: port
inline constexpr std::uint16_t linear_forwarding_table = 0x19; ///< modifier: LID / 64
inline constexpr std::uint16_t sm_info = 0x20;
inline constexpr std::uint16_t adaptive_routing_info = 0xff20;
inline constexpr std::uint16_t class_port_info = 0x01;
inline constexpr std::uint16_t port_counters = 0x12;
inline constexpr std::uint16_t port_counters_extended = 0x1d;
inline constexpr std::uint16_t port_info_extended = 0x33; ///< modifier: port
inline constexpr std::uint16_t port_rcv_error_details = 0x15;
inline constexpr std::uint16_t port_xmit_discard_details = 0x16;
inline constexpr std::uint16_t port_extended_speeds_counters = 0x1f;
} // namespace attribute

/// The attribute's bytes as the engine hands them over. All decoders accept any length: what is too short is nothing.
using Data = std::span<const std::uint8_t>;

/// What a PMA says it can, from ClassPortInfo.
struct PmaCapabilities {
    std::uint16_t mask = 0;  ///< CapabilityMask
    std::uint32_t mask2 = 0; ///< CapabilityMask2, 27 bits
    bool extended() const noexcept { return (mask & (1U << 9U | 1U << 10U)) != 0; }
    bool extended_packets() const noexcept { return (mask & 1U << 9U) != 0; } ///< unicast and multicast packets too
    bool xmit_wait() const noexcept { return (mask & 1U << 12U) != 0; }
    bool qp1_dropped() const noexcept { return (mask & 1U << 15U) != 0; }
    bool rs_fec_counters() const noexcept { return (mask & 1U << 14U) != 0; } ///< PortExtendedSpeedsCounters' other layout
    /// PortCountersExtended repeats the error counters at 64 bits.
    bool wide_errors() const noexcept { return extended() && (mask2 & 1U << 1U) != 0; }
    /// PortCounters holds something that PortCountersExtended does not.
    bool needs_classic() const noexcept { return !wide_errors(); }
};
std::optional<PmaCapabilities> decode_class_port_info(Data data);

/// Which counters come from which attribute depends on the capabilities alone, never on what happened to answer, so
/// that two readings of a port always compare like with like: 64-bit copies where the port has them, classic fields
/// (with their width in the reading) otherwise. A counter that the port says it lacks is Absence::unsupported.
/// Too short, or of another port than asked: all its counters are Absence::unparsable.
void decode_port_counters(const PmaCapabilities &caps, unsigned port, Data data, Counters &into);
void decode_port_counters_extended(const PmaCapabilities &caps, unsigned port, Data data, Counters &into);
/// The same counters, with the reason why there are none.
void missing_port_counters(const PmaCapabilities &caps, Absence why, Counters &into);
void missing_port_counters_extended(const PmaCapabilities &caps, Absence why, Counters &into);

/// The optional attributes: what PortRcvErrors and PortXmitDiscards are made of, and forward error correction. Too short,
/// or of another port than asked: nothing is added. The table has them as ungraded.
void decode_receive_error_details(unsigned port, Data data, Counters &into);
void decode_discard_details(unsigned port, Data data, Counters &into);
/// `rs_fec`: Reed-Solomon FEC is active on the port, and the attribute has the layout for it.
void decode_extended_speeds(bool rs_fec, unsigned port, Data data, Counters &into);
/// Of PortInfoExtended: is Reed-Solomon FEC active (FECModeActive 2 or 4)?
std::optional<bool> decode_rs_fec(Data data);

/// The bit of an error counter in PortCounters' CounterSelect (IBA vol. 1, 16.1.3.5); 0: it has none, or counts traffic.
std::uint16_t counter_select(std::string_view counter) noexcept;
/// An error counter that can count no further until it is reset. 64-bit copies never are at their cap.
bool error_counter_at_cap(std::string_view counter, const Reading &reading) noexcept;

struct PortInfo {
    std::uint16_t lid = 0;
    std::uint8_t lmc = 0;
    std::uint16_t master_sm_lid = 0; ///< 0: no subnet manager has been here
    std::uint32_t capability_mask = 0;
    unsigned state = 0;      ///< 1 Down ... 4 Active
    unsigned phys_state = 0; ///< 5 LinkUp
    unsigned width = 0;      ///< LinkWidthActive, as coded
    unsigned speed = 0;      ///< LinkSpeedActive, as coded
    unsigned speed_ext = 0;  ///< LinkSpeedExtActive, as coded; valid where extended_speeds() of the right port holds
    /// CapabilityMask: IsExtendedSpeedsSupported. On a switch only port 0 tells, for all its ports.
    bool extended_speeds() const noexcept { return (capability_mask & 0x4000U) != 0; }
    std::string state_name() const;      ///< as sysfs has it: "DOWN", "INIT", "ARMED", "ACTIVE"; empty: unknown code
    std::string phys_state_name() const; ///< "LinkUp", "Polling", ...
    /// All zero for a port that is down: the active fields are invalid then. FDR10 shows as QDR here.
    LinkRate rate(bool extended_speeds) const;
};
std::optional<PortInfo> decode_port_info(Data data);

struct SwitchInfo {
    std::uint16_t linear_fdb_cap = 0;
    std::uint16_t linear_fdb_top = 0; ///< highest LID with an entry
    unsigned blocks() const noexcept; ///< LFT blocks to read, the one of linear_fdb_top included
};
std::optional<SwitchInfo> decode_switch_info(Data data);

/// 64 output ports; nothing when too short.
std::optional<std::array<std::uint8_t, 64>> decode_lft_block(Data data);

struct SmInfo {
    std::uint64_t guid = 0; ///< of the port that the subnet manager runs on
    std::uint8_t priority = 0;
    std::uint8_t state = 0; ///< 0 not active, 1 discovering, 2 standby, 3 master
};
std::optional<SmInfo> decode_sm_info(Data data);

/// Is adaptive routing enabled? (Vendor attribute 0xff20, modifier 0.)
std::optional<bool> decode_adaptive_routing(Data data);

} // namespace fabric_check::mad
