// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/rows.hpp"

#include <array>

/// Cards other than mlx5's: what stands there for the same things. Their widths are nowhere promised.
namespace fabric_check::rows {

constexpr Row bnxt_hw(std::string_view name, Layer layer, std::string_view meaning) {
    return make(CounterSource::hw_counters, name, 0, layer, bnxt, meaning,
                "Linux drivers/infiniband/hw/bnxt_re/hw_counters.c");
}

constexpr Row bnxt_net(std::string_view name, Layer layer, std::string_view meaning) {
    return make(CounterSource::ethtool, name, 0, layer, bnxt, meaning,
                "Linux drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c");
}

constexpr Row irdma_hw(std::string_view name, Layer layer, std::string_view meaning) {
    return make(CounterSource::hw_counters, name, 0, layer, irdma, meaning,
                "Linux drivers/infiniband/hw/irdma/verbs.c");
}

constexpr Row ice_net(std::string_view name, Layer layer, std::string_view meaning) {
    return make(CounterSource::ethtool, name, 0, layer, irdma, meaning,
                "Linux drivers/net/ethernet/intel/ice/ice_ethtool.c");
}

constexpr Row mlx4_hw(std::string_view name, Layer layer, std::string_view meaning) {
    return make(CounterSource::hw_counters, name, 0, layer, mlx4, meaning,
                "Linux drivers/infiniband/hw/mlx4/main.c");
}

constexpr Row mlx4_net(std::string_view name, Layer layer, std::string_view meaning) {
    return make(CounterSource::ethtool, name, 0, layer, mlx4, meaning,
                "Linux drivers/net/ethernet/mellanox/mlx4/en_ethtool.c");
}

constexpr Row efa_hw(std::string_view name, Layer layer, std::string_view meaning) {
    return make(CounterSource::hw_counters, name, 0, layer, efa, meaning,
                "Linux drivers/infiniband/hw/efa/efa_verbs.c");
}

constexpr Row ena_net(std::string_view name, Layer layer, std::string_view meaning) {
    return make(CounterSource::ethtool, name, 0, layer, efa, meaning,
                "Linux drivers/net/ethernet/amazon/ena/ena_ethtool.c");
}

constexpr Row hfi1_hw(std::string_view name, Layer layer, std::string_view meaning) {
    return make(CounterSource::hw_counters, name, 0, layer, hfi1, meaning, "Linux drivers/infiniband/hw/hfi1/chip.c");
}

/// bnxt_re and efa call them the same.
constexpr Row any_hw(std::string_view name, Layer layer, std::string_view meaning) {
    return make(CounterSource::hw_counters, name, 0, layer, any_driver, meaning,
                "Linux drivers/infiniband/hw/bnxt_re/hw_counters.c, hw/efa/efa_verbs.c");
}

constexpr std::array other_rows{
    bnxt_hw("active_qps", Layer::ungraded, "queue pairs in use; a level, not a count"),
    bnxt_hw("bad_resp_err", Layer::ungraded, "answers that made no sense"),
    bnxt_hw("dup_req", Layer::ungraded, "requests received twice: the peer repeated itself, its answer was lost or late"),
    bnxt_hw("local_protection_err", Layer::ungraded, "memory accesses refused here: application error"),
    bnxt_hw("local_qp_op_err", Layer::ungraded, "requests that could not be carried out here: application error"),
    bnxt_hw("max_retry_exceeded", Layer::ungraded, "connections given up after all retries: the path or the peer is gone").as(told),
    bnxt_hw("mem_mgmt_op_err", Layer::ungraded, "memory registrations that failed"),
    bnxt_hw("missing_resp", Layer::ungraded, "answers that never came").as(told),
    bnxt_hw("oos_drop_count", Layer::transport_retry, "packets dropped because they came out of order: packets were lost or overtook each other").in(Unit::packets).as(graded_roce),
    bnxt_hw("remote_access_err", Layer::ungraded, "requests the remote side refused: access rights, application error"),
    bnxt_hw("remote_invalid_req_err", Layer::ungraded, "requests the remote side found invalid: application error"),
    bnxt_hw("remote_op_err", Layer::ungraded, "requests the remote side could not carry out"),
    bnxt_hw("res_exceed_max", Layer::ungraded, "requests from others that exceed a limit here"),
    bnxt_hw("res_length_mismatch", Layer::ungraded, "messages longer than the posted receive: application error"),
    bnxt_hw("res_mem_err", Layer::ungraded, "memory errors while answering"),
    bnxt_hw("res_rx_pci_err", Layer::ungraded, "errors of the PCI bus while receiving").as(told),
    bnxt_hw("res_tx_pci_err", Layer::ungraded, "errors of the PCI bus while answering").as(told),
    bnxt_hw("rnr_naks_rcvd", Layer::transport_retry, "the receiver had no buffer posted and the message was repeated: a late application").as(graded_roce | hca_roce),
    bnxt_hw("rx_ecn_marked_pkts", Layer::congestion, "packets that arrived with a congestion mark").in(Unit::packets).as(graded_roce),
    bnxt_hw("rx_cnp_pkts", Layer::congestion, "congestion notifications received: this host slows down").in(Unit::packets).as(graded_roce),
    bnxt_hw("rx_roce_discards", Layer::lossless_broken, "RoCE packets dropped for want of receive buffers: flow control did not hold the sender").in(Unit::packets).as(graded_roce | hca_roce),
    bnxt_hw("rx_roce_errors", Layer::ungraded, "RoCE packets received with errors").as(told).in(Unit::packets),
    bnxt_hw("rx_roce_good_bytes", Layer::ungraded, "RoCE bytes received well").in(Unit::octets),
    bnxt_hw("rx_roce_good_pkts", Layer::ungraded, "RoCE packets received well").in(Unit::packets),
    bnxt_hw("seq_err_naks_rcvd", Layer::transport_retry, "a packet was lost on the way and had to be sent again").as(graded_roce | hca_roce),
    bnxt_hw("to_retransmits", Layer::transport_retry, "a request was not answered in time and was sent again: lost, or the peer is stuck").as(graded_roce | hca_roce),
    bnxt_hw("tx_cnp_pkts", Layer::congestion, "congestion notifications sent: data arrived here with congestion marks").in(Unit::packets).as(graded_roce),
    bnxt_hw("tx_roce_discards", Layer::ungraded, "RoCE packets dropped instead of sent").as(told).in(Unit::packets),
    bnxt_hw("tx_roce_errors", Layer::ungraded, "RoCE packets that could not be sent").as(told).in(Unit::packets),
    bnxt_hw("unrecoverable_err", Layer::ungraded, "connections lost to an error of the card").as(told),
    bnxt_net("continuous_pause_events", Layer::pause_storm, "this port was paused without a break for suspiciously long").as(graded_roce),
    bnxt_net("continuous_roce_pause_events", Layer::pause_storm, "the priority of RDMA was paused without a break for suspiciously long").as(graded_roce),
    bnxt_net("link_down_events", Layer::physical, "the link went down: cable, optic, reset of either end, or reboot").as(graded_roce),
    bnxt_net("pfc_pri<n>_rx_duration_us", Layer::ungraded, "time this priority was paused by the switch").in(Unit::microseconds).set_against(Against::sent),
    bnxt_net("pfc_pri<n>_rx_transitions", Layer::ungraded, "times this priority changed between paused and sending"),
    bnxt_net("pfc_pri<n>_tx_duration_us", Layer::ungraded, "time this host made its switch wait for this priority").in(Unit::microseconds).set_against(Against::received),
    bnxt_net("pfc_pri<n>_tx_transitions", Layer::ungraded, "times this host changed between pausing its switch and not"),
    bnxt_net("pfc_wd_storms_detected_p<n>", Layer::pause_storm, "this priority was paused for so long that the watchdog stepped in").as(graded_roce),
    bnxt_net("rx_bytes_pri<n>", Layer::ungraded, "bytes received with this priority").in(Unit::octets),
    bnxt_net("resume_pause_events", Layer::ungraded, "times this port went on after a long pause"),
    bnxt_net("resume_roce_pause_events", Layer::ungraded, "times the priority of RDMA went on after a long pause"),
    bnxt_net("rx_buffer_passed_threshold", Layer::ungraded, "times the receive buffer was nearly full: the host reads too slowly").as(told),
    bnxt_net("rx_corrected_bits", Layer::ungraded, "bits that forward error correction repaired: normal in small numbers"),
    bnxt_net("rx_discard_packets_cos<n>", Layer::lossless_broken, "frames of this class dropped for want of receive buffers").in(Unit::packets).as(graded_roce),
    bnxt_net("rx_fec_corrected_blocks", Layer::ungraded, "blocks that forward error correction repaired: normal in small numbers").in(Unit::blocks),
    bnxt_net("rx_fec_uncorrectable_blocks", Layer::ungraded, "blocks beyond repair: cable, optic or connector").in(Unit::blocks).as(told | bit_errors),
    bnxt_net("rx_pcs_symbol_err", Layer::physical, "symbols arrived wrong that error correction did not repair: cable, optic or connector").as(graded_roce | bit_errors),
    bnxt_net("rx_fcs_err_frames", Layer::physical, "frames arrived damaged: cable, optic or connector").in(Unit::packets).as(graded_roce | bit_errors),
    bnxt_net("rx_pause_frames", Layer::congestion, "802.3x pauses received: the switch asks this host to wait").in(Unit::packets).as(graded_roce).set_against(Against::sent),
    bnxt_net("rx_pfc_ena_frames_pri<n>", Layer::congestion, "pauses received for this priority: the switch asks this host to wait").as(graded_roce).set_against(Against::sent),
    bnxt_net("rx_pfc_frames", Layer::ungraded, "pause frames received, of all priorities").in(Unit::packets),
    bnxt_net("rx_stat_discard", Layer::ungraded, "frames dropped on receipt, of all kinds").as(told).in(Unit::packets),
    bnxt_net("rx_stat_err", Layer::ungraded, "frames received with errors, of all kinds").as(told).in(Unit::packets),
    bnxt_net("tx_bytes_pri<n>", Layer::ungraded, "bytes sent with this priority").in(Unit::octets),
    bnxt_net("tx_pause_frames", Layer::congestion, "802.3x pauses sent: this host is the slow receiver").in(Unit::packets).as(graded_roce).set_against(Against::received),
    bnxt_net("tx_pfc_ena_frames_pri<n>", Layer::congestion, "pauses sent for this priority: this host is the slow receiver").as(graded_roce).set_against(Against::received),
    bnxt_net("tx_pfc_frames", Layer::ungraded, "pause frames sent, of all priorities").in(Unit::packets),
    irdma_hw("RxECNMrkd", Layer::congestion, "packets that arrived with a congestion mark").in(Unit::packets).as(graded_roce),
    irdma_hw("RxUDP", Layer::ungraded, "RoCE packets received").in(Unit::packets),
    irdma_hw("TxUDP", Layer::ungraded, "RoCE packets sent").in(Unit::packets),
    irdma_hw("cnpHandled", Layer::congestion, "congestion notifications obeyed: this host slowed down").in(Unit::packets).as(graded_roce),
    irdma_hw("cnpIgnored", Layer::ungraded, "congestion notifications ignored").in(Unit::packets),
    irdma_hw("cnpSent", Layer::congestion, "congestion notifications sent: data arrived here with congestion marks").in(Unit::packets).as(graded_roce),
    irdma_hw("ip4InDiscards", Layer::ungraded, "IPv4 packets dropped on receipt").as(told).in(Unit::packets),
    irdma_hw("ip4InOctets", Layer::ungraded, "IPv4 bytes received by RDMA").in(Unit::octets),
    irdma_hw("ip4OutOctets", Layer::ungraded, "IPv4 bytes sent by RDMA").in(Unit::octets),
    irdma_hw("ip6InDiscards", Layer::ungraded, "IPv6 packets dropped on receipt").as(told).in(Unit::packets),
    irdma_hw("ip6InOctets", Layer::ungraded, "IPv6 bytes received by RDMA").in(Unit::octets),
    irdma_hw("ip6OutOctets", Layer::ungraded, "IPv6 bytes sent by RDMA").in(Unit::octets),
    irdma_hw("tcpRetransSegs", Layer::transport_retry, "iWARP segments that were lost and sent again").in(Unit::packets).as(graded_roce).also("RetransSegs"),
    irdma_hw("RNR received", Layer::transport_retry, "the receiver had no buffer posted and the message was repeated: a late application").as(graded_roce),
    irdma_hw("RNR sent", Layer::ungraded, "messages refused because no receive was posted: the application here is late"),
    irdma_hw("Nak Sequence Error", Layer::transport_retry, "a packet was lost on the way and had to be sent again").as(graded_roce),
    irdma_hw("Nak Sequence Error Implied", Layer::transport_retry, "an answer came out of order: packets were lost or overtook each other").as(graded_roce),
    irdma_hw("RTO", Layer::transport_retry, "a request was not answered in time and was sent again: lost, or the peer is stuck").as(graded_roce),
    irdma_hw("Rcvd Out of order packets", Layer::transport_retry, "packets arrived out of order: lost, or on several paths at once").in(Unit::packets).as(graded_roce),
    irdma_hw("CRC errors", Layer::ungraded, "packets received with a bad invariant checksum: damaged on the way").as(told).in(Unit::packets),
    ice_net("rx_dropped.nic", Layer::ungraded, "frames dropped for want of receive buffers").as(told).in(Unit::packets),
    ice_net("tx_dropped_link_down.nic", Layer::ungraded, "frames dropped because the link was down").as(told).in(Unit::packets),
    ice_net("link_xoff_rx.nic", Layer::congestion, "802.3x pauses received: the switch asks this host to wait").as(graded_roce).set_against(Against::sent),
    ice_net("link_xoff_tx.nic", Layer::congestion, "802.3x pauses sent: this host is the slow receiver").as(graded_roce).set_against(Against::received),
    ice_net("mac_local_faults.nic", Layer::ungraded, "local faults of the link: no signal, or one that cannot be read").as(told),
    ice_net("mac_remote_faults.nic", Layer::ungraded, "faults that the other end of the link told of").as(told),
    ice_net("rx_crc_errors.nic", Layer::physical, "frames arrived damaged: cable, optic or connector").in(Unit::packets).as(graded_roce | bit_errors),
    ice_net("rx_priority_<n>_xoff.nic", Layer::congestion, "pauses received for this priority: the switch asks this host to wait").as(graded_roce).set_against(Against::sent),
    ice_net("tx_priority_<n>_xoff.nic", Layer::congestion, "pauses sent for this priority: this host is the slow receiver").as(graded_roce).set_against(Against::received),
    mlx4_hw("rq_num_dup", Layer::ungraded, "requests received twice: the peer repeated itself"),
    mlx4_hw("rq_num_oos", Layer::transport_retry, "requests that came out of order: packets were lost or overtook each other").as(graded_ib | graded_roce),
    mlx4_hw("sq_num_oos", Layer::transport_retry, "a packet was lost on the way and had to be sent again").as(graded_ib | graded_roce),
    mlx4_hw("sq_num_rnr", Layer::transport_retry, "the receiver had no buffer posted and the message was repeated: a late application").as(graded_ib | graded_roce),
    mlx4_hw("sq_num_rree", Layer::ungraded, "connections given up because the receiver never became ready").as(told),
    mlx4_hw("sq_num_to", Layer::transport_retry, "a request was not answered in time and was sent again: lost, or the peer is stuck").as(graded_ib | graded_roce),
    mlx4_hw("sq_num_tree", Layer::ungraded, "connections given up after all retries: the path or the peer is gone").as(told),
    mlx4_net("rx_pause_duration_prio_<n>", Layer::ungraded, "time this priority was paused by the switch").in(Unit::microseconds).set_against(Against::sent),
    mlx4_net("rx_pause_prio_<n>", Layer::congestion, "pauses received for this priority: the switch asks this host to wait").as(graded_roce).set_against(Against::sent),
    mlx4_net("tx_pause_duration_prio_<n>", Layer::ungraded, "time this host made its switch wait for this priority").in(Unit::microseconds).set_against(Against::received),
    mlx4_net("tx_pause_prio_<n>", Layer::congestion, "pauses sent for this priority: this host is the slow receiver").as(graded_roce).set_against(Against::received),
    mlx4_hw("rq_num_lle", Layer::ungraded, "messages longer than the posted receive: application error"),
    mlx4_hw("rq_num_lpe", Layer::ungraded, "memory accesses refused here while answering: application error"),
    mlx4_hw("rq_num_rae", Layer::ungraded, "requests from others refused here: access rights, application error"),
    mlx4_hw("rq_num_rire", Layer::ungraded, "invalid requests from others: application error"),
    mlx4_hw("rq_num_rnr", Layer::ungraded, "messages refused because no receive was posted: the application here is late"),
    mlx4_hw("rq_num_wrfe", Layer::ungraded, "receives of this host flushed because their connection had failed"),
    mlx4_hw("sq_num_bre", Layer::ungraded, "answers that made no sense"),
    mlx4_hw("sq_num_lle", Layer::ungraded, "requests longer than allowed: application error"),
    mlx4_hw("sq_num_lpe", Layer::ungraded, "memory accesses refused here: application error"),
    mlx4_hw("sq_num_rae", Layer::ungraded, "requests the remote side refused: access rights, application error"),
    mlx4_hw("sq_num_rire", Layer::ungraded, "requests the remote side found invalid: application error"),
    mlx4_hw("sq_num_roe", Layer::ungraded, "requests the remote side could not carry out"),
    mlx4_hw("sq_num_wrfe", Layer::ungraded, "requests of this host flushed because their connection had failed"),
    hfi1_hw("DcDroppedPkt", Layer::ungraded, "packets dropped by the link's receiver").as(told).in(Unit::packets),
    hfi1_hw("DcMarkFcn", Layer::ungraded, "packets that this port marked for congestion").in(Unit::packets),
    hfi1_hw("DcRcvBcn", Layer::ungraded, "congestion notifications received (BECN)").in(Unit::packets),
    hfi1_hw("DcRcvFcn", Layer::ungraded, "packets that arrived with a congestion mark (FECN)").in(Unit::packets),
    hfi1_hw("DcRecvErr", Layer::ungraded, "packets arrived damaged: the same as PortRcvErrors").as(told).in(Unit::packets),
    hfi1_hw("DcRmtPhyErr", Layer::ungraded, "packets marked bad further upstream: the fault is on an earlier link").as(told).in(Unit::packets),
    hfi1_hw("DcRxReplay", Layer::ungraded, "retransmissions on the link that this port asked for: its receiver saw errors"),
    hfi1_hw("DcTotCrc", Layer::ungraded, "checksum errors of the link's transfer units; the link repeats those by itself"),
    hfi1_hw("DcTxReplay", Layer::ungraded, "retransmissions on the link that the other end asked for"),
    hfi1_hw("DcUnctblErr", Layer::ungraded, "errors on the link that could not be corrected").as(told),
    hfi1_hw("RcDupRew", Layer::ungraded, "requests received twice: the peer repeated itself"),
    hfi1_hw("RcResend", Layer::ungraded, "requests sent again, for whatever reason"),
    hfi1_hw("RcSeqNak", Layer::transport_retry, "a packet was lost on the way and had to be sent again").as(graded_ib),
    hfi1_hw("RcTimeOut", Layer::transport_retry, "a request was not answered in time and was sent again: lost, or the peer is stuck").as(graded_ib),
    hfi1_hw("RcvOverflow", Layer::ungraded, "packets dropped because a receive buffer of the card was full").as(told).in(Unit::packets),
    hfi1_hw("RnrNak", Layer::transport_retry, "the receiver had no buffer posted and the message was repeated: a late application").as(graded_ib),
    hfi1_hw("RxICrcErr", Layer::ungraded, "packets received with a bad invariant checksum: damaged on the way").as(told).in(Unit::packets),
    hfi1_hw("SwLinkDown", Layer::ungraded, "the link went down, as the driver saw it: the same as LinkDownedCounter").as(told),
    hfi1_hw("TxWait", Layer::ungraded, "ticks with data to send and no credit; an order among ports, never a time").in(Unit::ticks),
    hfi1_hw("XmitDscd", Layer::ungraded, "packets dropped instead of sent: the same as PortXmitDiscards").as(told).in(Unit::packets),
    efa_hw("impaired_remote_conn_events", Layer::ungraded, "connections on which packets needed many retransmissions").as(told),
    efa_hw("rdma_read_bytes", Layer::ungraded, "bytes this host read from others").in(Unit::octets),
    efa_hw("rdma_read_wr_err", Layer::ungraded, "reads that failed").as(told),
    efa_hw("recv_bytes", Layer::ungraded, "bytes received by receive requests").in(Unit::octets),
    efa_hw("retrans_bytes", Layer::ungraded, "bytes sent again; normal in small numbers on a network of many paths").in(Unit::octets),
    efa_hw("retrans_pkts", Layer::ungraded, "packets sent again; normal in small numbers on a network of many paths").in(Unit::packets),
    efa_hw("retrans_timeout_events", Layer::ungraded, "times an answer did not come in time").as(told),
    efa_hw("rx_drops", Layer::ungraded, "packets dropped on receipt").as(told).in(Unit::packets),
    efa_hw("send_bytes", Layer::ungraded, "bytes sent by send requests").in(Unit::octets),
    efa_hw("unresponsive_remote_events", Layer::ungraded, "times a peer did not answer at all").as(told),
    ena_net("bw_in_allowance_exceeded", Layer::ungraded, "packets held back or dropped because the instance received more than it may").as(told).in(Unit::packets),
    ena_net("bw_out_allowance_exceeded", Layer::ungraded, "packets held back or dropped because the instance sent more than it may").as(told).in(Unit::packets),
    ena_net("conntrack_allowance_exceeded", Layer::ungraded, "packets dropped because the instance had more connections than it may").in(Unit::packets).as(told),
    ena_net("linklocal_allowance_exceeded", Layer::ungraded, "packets to local services (time, names, metadata) dropped because there were too many").in(Unit::packets).as(told),
    ena_net("pps_allowance_exceeded", Layer::ungraded, "packets held back or dropped because the instance had more of them than it may").as(told).in(Unit::packets),
    any_hw("rx_bytes", Layer::ungraded, "bytes received").in(Unit::octets),
    any_hw("rx_pkts", Layer::ungraded, "packets received").in(Unit::packets),
    any_hw("tx_bytes", Layer::ungraded, "bytes sent").in(Unit::octets),
    any_hw("tx_pkts", Layer::ungraded, "packets sent").in(Unit::packets),
};

} // namespace fabric_check::rows
