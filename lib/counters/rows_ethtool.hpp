// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/rows.hpp"

#include <array>

/// ethtool statistics of mlx5's network devices.
namespace fabric_check::rows {

constexpr std::string_view mlx5_ethtool =
    "Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst";

constexpr std::uint16_t lossless = graded_roce | hca_roce | profile_roce;

// Widths are nowhere promised.
constexpr Row port(std::string_view name, Layer layer, std::string_view meaning) {
    return make(CounterSource::ethtool, name, 0, layer, mlx5, meaning, mlx5_ethtool);
}

constexpr std::array ethtool_rows{
    port("link_down_events_phy", Layer::physical, "the link went down: cable, optic, reset of either end, or reboot")
        .as(graded_roce),
    port("module_bad_shorted", Layer::ungraded, "times the module's cable was shorted: cable or optic").as(told),
    port("module_bus_stuck", Layer::ungraded, "times the module's management bus was stuck: cable or optic").as(told),
    port("module_high_temp", Layer::ungraded, "times the module was too hot: airflow, or the optic").as(told),
    port("module_unplug", Layer::ungraded, "times the module was pulled out").as(told),
    port("outbound_pci_buffer_overflow", Layer::ungraded,
         "packets dropped because the PCI Express slot took data too slowly")
        .in(Unit::packets)
        .as(told),
    port("outbound_pci_stalled_rd", Layer::ungraded, "share of the last second in which reads over PCI Express were stalled"),
    port("outbound_pci_stalled_rd_events", Layer::ungraded, "seconds in which reads over PCI Express were stalled much")
        .as(told),
    port("outbound_pci_stalled_wr", Layer::ungraded,
         "share of the last second in which writes over PCI Express were stalled"),
    port("outbound_pci_stalled_wr_events", Layer::ungraded, "seconds in which writes over PCI Express were stalled much")
        .as(told),
    port("rx_buff_alloc_err", Layer::ungraded, "times no memory was left for receiving: the host's, not the network's"),
    port("rx_buffer_passed_thres_phy", Layer::ungraded,
         "times the receive buffer was over 85 % full: the host reads too slowly").as(told),
    port("rx_bytes_phy", Layer::ungraded, "bytes received on the wire, all traffic").in(Unit::octets),
    port("rx_corrected_bits_phy", Layer::ungraded,
         "bits that forward error correction repaired: normal in small numbers"),
    port("rx_crc_errors_phy", Layer::physical, "frames arrived damaged: cable, optic or connector").as(graded_roce | bit_errors),
    port("rx_discards_phy", Layer::lossless_broken,
         "frames dropped for want of receive buffers: flow control did not hold the sender")
        .in(Unit::packets)
        .as(lossless),
    port("rx_ecn_mark", Layer::ungraded, "packets of TCP and UDP that arrived with a congestion mark").in(Unit::packets),
    port("rx_err_lane_<l>_phy", Layer::ungraded, "bits received wrong on one lane, before they were repaired"),
    port("rx_global_pause", Layer::congestion, "802.3x pauses received: the switch asks this host to wait")
        .as(graded_roce)
        .set_against(Against::sent),
    port("rx_global_pause_duration", Layer::ungraded, "time this host was paused by 802.3x").in(Unit::microseconds).set_against(Against::sent),
    port("rx_global_pause_transition", Layer::ungraded, "times this host changed between paused and sending"),
    port("rx_out_of_buffer", Layer::ungraded,
         "frames of the network device dropped because the host posted no buffers: not RDMA's")
        .in(Unit::packets)
        .as(told),
    port("rx_out_of_range_len_phy", Layer::ungraded, "frames received with a length that is not allowed").as(told)
        .in(Unit::packets),
    port("rx_oversize_pkts_phy", Layer::ungraded,
         "frames received that are longer than the MTU: a configuration difference").as(told)
        .in(Unit::packets),
    port("rx_packets_phy", Layer::ungraded, "frames received on the wire, all traffic").in(Unit::packets),
    port("rx_pause_ctrl_phy", Layer::ungraded, "pause frames received, of all kinds").in(Unit::packets),
    port("rx_pcs_symbol_err_phy", Layer::physical,
         "symbols arrived wrong that error correction did not repair: cable, optic or connector")
        .as(graded_roce | bit_errors),
    port("rx_prio<n>_buf_discard", Layer::lossless_broken,
         "frames of this priority dropped for want of receive buffers")
        .in(Unit::packets)
        .as(lossless),
    port("rx_prio<n>_bytes", Layer::ungraded, "bytes received with this priority").in(Unit::octets),
    port("rx_prio<n>_cong_discard", Layer::lossless_broken,
         "frames of this priority dropped by congestion control of the card")
        .in(Unit::packets)
        .as(graded_roce),
    port("rx_prio<n>_discards", Layer::ungraded, "frames of this priority dropped").in(Unit::packets),
    port("rx_prio<n>_marked", Layer::ungraded, "frames of this priority that the card marked for congestion")
        .in(Unit::packets),
    port("rx_prio<n>_packets", Layer::ungraded, "frames received with this priority").in(Unit::packets),
    port("rx_prio<n>_pause", Layer::congestion, "pauses received for this priority: the switch asks this host to wait")
        .as(lossless)
        .set_against(Against::sent),
    port("rx_prio<n>_pause_duration", Layer::ungraded, "time this priority was paused by the switch")
        .in(Unit::microseconds).set_against(Against::sent),
    port("rx_prio<n>_pause_transition", Layer::ungraded, "times this priority changed between paused and sending"),
    port("rx_pci_signal_integrity", Layer::ungraded, "errors of the PCI Express slot while receiving: reseat the card")
        .as(told),
    port("rx_steer_missed_packets", Layer::ungraded, "frames no rule wanted; normal for a promiscuous switch port")
        .in(Unit::packets),
    port("rx_symbol_err_phy", Layer::physical, "symbols arrived wrong: cable, optic or connector").as(graded_roce | bit_errors),
    port("rx_vport_rdma_multicast_bytes", Layer::ungraded, "RDMA multicast bytes received").in(Unit::octets),
    port("rx_vport_rdma_unicast_bytes", Layer::ungraded, "RDMA bytes received").in(Unit::octets),
    port("rx_vport_rdma_unicast_packets", Layer::ungraded, "RDMA packets received").in(Unit::packets),
    port("tx_bytes_phy", Layer::ungraded, "bytes sent on the wire, all traffic").in(Unit::octets),
    port("tx_discards_phy", Layer::ungraded, "frames dropped instead of sent").as(told).in(Unit::packets),
    port("tx_errors_phy", Layer::ungraded, "frames that could not be sent").in(Unit::packets).as(told),
    port("tx_global_pause", Layer::congestion, "802.3x pauses sent: this host is the slow receiver")
        .as(graded_roce)
        .set_against(Against::received),
    port("tx_global_pause_duration", Layer::ungraded, "time this host made its switch wait by 802.3x")
        .in(Unit::microseconds).set_against(Against::received),
    port("tx_packets_phy", Layer::ungraded, "frames sent on the wire, all traffic").in(Unit::packets),
    port("tx_pause_ctrl_phy", Layer::ungraded, "pause frames sent, of all kinds").in(Unit::packets),
    port("tx_pause_storm_error_events", Layer::pause_storm,
         "this host paused its switch for so long that the card gave up pausing: the host is stuck")
        .as(lossless | capability),
    port("tx_pause_storm_warning_events", Layer::pause_storm,
         "this host paused its switch for suspiciously long: the host hardly reads")
        .as(graded_roce),
    port("tx_pci_signal_integrity", Layer::ungraded, "errors of the PCI Express slot while sending: reseat the card")
        .as(told),
    port("tx_prio<n>_bytes", Layer::ungraded, "bytes sent with this priority").in(Unit::octets),
    port("tx_prio<n>_packets", Layer::ungraded, "frames sent with this priority").in(Unit::packets),
    port("tx_prio<n>_pause", Layer::congestion, "pauses sent for this priority: this host is the slow receiver")
        .as(graded_roce)
        .set_against(Against::received),
    port("tx_prio<n>_pause_duration", Layer::ungraded, "time this host made its switch wait for this priority")
        .in(Unit::microseconds).set_against(Against::received),
    port("tx_vport_rdma_unicast_bytes", Layer::ungraded, "RDMA bytes sent").in(Unit::octets),
    port("tx_vport_rdma_unicast_packets", Layer::ungraded, "RDMA packets sent").in(Unit::packets),
};

} // namespace fabric_check::rows
