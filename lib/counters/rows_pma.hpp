// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/rows.hpp"

#include <array>

/// What the performance manager's agent of an InfiniBand port counts.
namespace fabric_check::rows {

constexpr std::string_view ib_classic = "IBA vol. 1, 16.1.3.5 PortCounters";
constexpr std::string_view ib_extended = "IBA vol. 1, 16.1.4 PortCountersExtended";

constexpr std::uint16_t every_port = graded_ib | switch_ib | hca_ib | profile_ib;

constexpr Row classic(std::string_view name, std::string_view aliases, std::uint8_t width, Layer layer,
                      std::string_view meaning) {
    return make(CounterSource::pma, name, width, layer, any_driver, meaning, ib_classic).also(aliases);
}

constexpr Row wide(std::string_view name, std::string_view aliases, std::string_view meaning) {
    return make(CounterSource::pma_extended, name, 64, Layer::ungraded, any_driver, meaning, ib_extended)
        .in(Unit::packets)
        .also(aliases);
}

constexpr Row detail(std::string_view name, std::uint8_t width, std::string_view meaning, std::string_view attribute) {
    return make(CounterSource::pma_details, name, width, Layer::ungraded, any_driver, meaning, attribute).as(told);
}
constexpr std::string_view receive_details = "IBA vol. 1, 16.1.4 PortRcvErrorDetails";
constexpr std::string_view discard_details = "IBA vol. 1, 16.1.4 PortXmitDiscardDetails";
constexpr std::string_view extended_speeds = "IBA vol. 1, 16.1.4 PortExtendedSpeedsCounters";

/// What forward error correction put right never is a finding.
constexpr Row repaired(std::string_view name, std::string_view meaning) {
    return make(CounterSource::pma_details, name, 32, Layer::ungraded, any_driver, meaning, extended_speeds)
        .in(Unit::blocks);
}

constexpr std::array pma_rows{
    detail("PortLocalPhysicalErrors", 16, "of PortRcvErrors: damaged on this very link", receive_details),
    detail("PortMalformedPktErrors", 16, "of PortRcvErrors: a packet that made no sense: its sender is at fault",
           receive_details),
    detail("PortBufferOverrunErrors", 16, "of PortRcvErrors: no buffer was left, flow control failed", receive_details),
    detail("PortDLIDMappingErrors", 16, "of PortRcvErrors: a destination LID with no route", receive_details),
    detail("PortVLMappingErrors", 16, "of PortRcvErrors: a virtual lane that leads nowhere", receive_details),
    detail("PortLoopingErrors", 16, "of PortRcvErrors: the route leads back out of the same port", receive_details),
    detail("PortInactiveDiscards", 16, "of PortXmitDiscards: the port was down", discard_details),
    detail("PortNeighborMTUDiscards", 16, "of PortXmitDiscards: longer than the neighbour's MTU", discard_details),
    detail("PortSwLifetimeLimitDiscards", 16, "of PortXmitDiscards: too long inside the switch", discard_details),
    detail("PortSwHOQLifetimeLimitDiscards", 16,
           "of PortXmitDiscards: too long at the head of the queue: the receiver behind this port is slow",
           discard_details),
    detail("SyncHeaderErrorCounter", 16, "blocks with a bad header: the lane lost its place", extended_speeds),
    detail("UnknownBlockCounter", 16, "blocks of unknown kind", extended_speeds),
    repaired("PortFECCorrectableBlockCtr", "blocks that forward error correction repaired: normal in small numbers")
        .also("PortFECCorrectableBlockCounter"),
    detail("PortFECUncorrectableBlockCtr", 32, "blocks beyond repair: cable, optic or connector", extended_speeds)
        .as(bit_errors)
        .also("PortFECUncorrectableBlockCounter"),
    repaired("PortFECCorrectedSymbolCtr", "symbols that forward error correction repaired: normal in small numbers")
        .also("PortFECCorrectedSymbolCounter"),
    repaired("FECCorrectableBlockCtrLane<l>", "blocks of one lane that were repaired: normal in small numbers"),
    repaired("FECCorrectableSymbolCtrLane<l>", "symbols of one lane that were repaired: normal in small numbers"),
    detail("FECUncorrectableBlockCtrLane<l>", 32, "blocks of one lane beyond repair: cable, optic or connector",
           extended_speeds)
        .as(bit_errors),
    detail("ErrorDetectionCounterLane<l>", 16, "errors that one lane detected", extended_speeds),
    classic("ExcessiveBufferOverrunErrors", "excessive_buffer_overrun_errors ExcBufOverrunErrors", 4,
            Layer::lossless_broken,
            "receive buffers overflowed for longer than allowed: flow control on the link failed").as(told),
    classic("LinkDownedCounter", "link_downed LinkDowned", 8, Layer::physical,
            "the link went down: cable, optic, reset of either end, or reboot")
        .as(every_port),
    classic("LinkErrorRecoveryCounter", "link_error_recovery LinkRecovers", 8, Layer::physical,
            "the link retrained itself after errors: a marginal cable or optic")
        .as(every_port),
    classic("LocalLinkIntegrityErrors", "local_link_integrity_errors LinkIntegrityErrors", 4, Layer::physical,
            "more errors in a row than the link tolerates: a marginal cable or optic").as(told),
    wide("PortMulticastRcvPkts", "multicast_rcv_packets port_multicast_rcv_packets", "multicast packets received"),
    wide("PortMulticastXmitPkts", "multicast_xmit_packets port_multicast_xmit_packets", "multicast packets sent"),
    classic("PortRcvConstraintErrors", "port_rcv_constraint_errors RcvConstraintErrors", 8, Layer::ungraded,
            "packets refused on receipt by partition or raw-packet rules: configuration, not the link").as(told),
    classic("PortRcvData", "port_rcv_data RcvData port_rcv_data_64", 32, Layer::ungraded,
            "data received, in units of four octets")
        .in(Unit::octets_div_4),
    classic("PortRcvErrors", "port_rcv_errors RcvErrors", 16, Layer::physical,
            "packets arrived damaged: the cable or optic of this link, or the sender behind it")
        .as(every_port | bit_errors),
    classic("PortRcvPkts", "port_rcv_packets RcvPkts port_rcv_packets_64", 32, Layer::ungraded, "packets received")
        .in(Unit::packets),
    classic("PortRcvRemotePhysicalErrors", "port_rcv_remote_physical_errors RcvRemotePhysErrors", 16, Layer::physical,
            "packets marked bad further upstream: the fault is on an earlier link").as(told),
    classic("PortRcvSwitchRelayErrors", "port_rcv_switch_relay_errors RcvSwRelayErrors", 16, Layer::ungraded,
            "packets the switch could not forward; multicast reflections count here, so growth is normal"),
    wide("PortUnicastRcvPkts", "unicast_rcv_packets port_unicast_rcv_packets", "unicast packets received"),
    wide("PortUnicastXmitPkts", "unicast_xmit_packets port_unicast_xmit_packets", "unicast packets sent"),
    classic("PortXmitConstraintErrors", "port_xmit_constraint_errors XmtConstraintErrors", 8, Layer::ungraded,
            "packets not sent because of partition or raw-packet rules: configuration, not the link").as(told),
    classic("PortXmitData", "port_xmit_data XmtData port_xmit_data_64", 32, Layer::ungraded,
            "data sent, in units of four octets")
        .in(Unit::octets_div_4),
    classic("PortXmitDiscards", "port_xmit_discards XmtDiscards", 16, Layer::lossless_broken,
            "packets dropped instead of sent: the port was down, or the receiver stalled past the lifetime limit")
        .as(every_port),
    classic("PortXmitPkts", "port_xmit_packets XmtPkts port_xmit_packets_64", 32, Layer::ungraded, "packets sent")
        .in(Unit::packets),
    classic("PortXmitWait", "port_xmit_wait XmtWait", 32, Layer::congestion,
            "ticks with data to send and no credit; an order among the ports of one switch, never a time")
        .in(Unit::ticks),
    classic("QP1Dropped", "", 16, Layer::ungraded, "management packets dropped: the management agent was overrun").as(told),
    classic("SymbolErrorCounter", "symbol_error SymbolErrors", 16, Layer::physical,
            "bits were received wrong on a lane: cable, optic or connector")
        .as(every_port | bit_errors),
    classic("VL15Dropped", "VL15_dropped", 16, Layer::ungraded,
            "subnet management packets dropped for want of buffers: somebody asks too fast").as(told),
};

} // namespace fabric_check::rows
