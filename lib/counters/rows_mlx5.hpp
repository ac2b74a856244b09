// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/rows.hpp"

#include <array>

/// hw_counters/ of mlx5: queue pairs and congestion control.
namespace fabric_check::rows {

constexpr std::string_view mlx5_hw =
    "Linux drivers/infiniband/hw/mlx5/counters.c; NVIDIA, Understanding mlx5 Linux Counters";

constexpr std::uint16_t retries = graded_ib | graded_roce | hca_ib | hca_roce | profile_ib | profile_roce;

// The hardware counts in 32 bits and the file has 64; whether it stops or wraps is nowhere promised: width 0.
constexpr Row queue(std::string_view name, Layer layer, std::string_view meaning) {
    return make(CounterSource::hw_counters, name, 0, layer, mlx5, meaning, mlx5_hw);
}

constexpr std::array mlx5_rows{
    queue("cc_rx_ce_pkts", Layer::ungraded, "packets received with a congestion mark").in(Unit::packets),
    queue("cc_rx_cnp_pkts", Layer::ungraded, "congestion notifications received").in(Unit::packets),
    queue("cc_tx_cnp_pkts", Layer::ungraded, "congestion notifications sent").in(Unit::packets),
    queue("duplicate_request", Layer::ungraded,
          "requests received twice: the peer repeated itself, its answer was lost or late"),
    queue("implied_nak_seq_err", Layer::transport_retry,
          "an answer came out of order: packets were lost or overtook each other")
        .as(graded_ib | graded_roce),
    queue("local_ack_timeout_err", Layer::transport_retry,
          "a request was not answered in time and was sent again: lost, or the peer is stuck")
        .as(retries),
    queue("np_cnp_sent", Layer::congestion, "congestion notifications sent: data arrived here with congestion marks")
        .in(Unit::packets)
        .as(graded_roce),
    queue("np_ecn_marked_roce_packets", Layer::congestion, "packets that arrived with a congestion mark")
        .in(Unit::packets)
        .as(graded_roce),
    queue("out_of_buffer", Layer::ungraded, "messages arrived and no receive was posted: the application is late").as(told),
    queue("out_of_sequence", Layer::transport_retry, "packets arrived out of order: lost, or on several paths at once")
        .as(graded_ib | graded_roce),
    queue("packet_seq_err", Layer::transport_retry, "a packet was lost on the way and had to be sent again")
        .as(retries),
    queue("req_cqe_error", Layer::ungraded, "requests of this host that completed with an error").as(told),
    queue("req_cqe_flush_error", Layer::ungraded, "requests of this host flushed because their connection had failed"),
    queue("req_remote_access_errors", Layer::ungraded,
          "requests the remote side refused: access rights, application error").as(told),
    queue("req_remote_invalid_request", Layer::ungraded, "requests the remote side found invalid: application error").as(told),
    queue("req_rnr_retries_exceeded", Layer::ungraded, "connections given up because the receiver never became ready").as(told),
    queue("req_transport_retries_exceeded", Layer::ungraded,
          "connections given up after all retries: the path or the peer is gone").as(told),
    queue("resp_cqe_error", Layer::ungraded, "answers of this host that completed with an error").as(told),
    queue("resp_cqe_flush_error", Layer::ungraded, "receives of this host flushed because their connection had failed"),
    queue("resp_local_length_error", Layer::ungraded, "messages longer than the posted receive: application error").as(told),
    queue("resp_remote_access_errors", Layer::ungraded,
          "requests from others refused here: access rights, application error").as(told),
    queue("rnr_nak_retry_err", Layer::transport_retry,
          "the receiver had no buffer posted and the message was repeated: a late application")
        .as(retries),
    queue("roce_adp_retrans", Layer::ungraded, "adaptive retransmissions"),
    queue("roce_adp_retrans_to", Layer::ungraded, "adaptive retransmissions that timed out"),
    queue("roce_slow_restart", Layer::ungraded, "times sending was slowed down after a loss").as(told),
    queue("roce_slow_restart_cnps", Layer::ungraded, "congestion notifications made by slow restart"),
    queue("roce_slow_restart_trans", Layer::ungraded, "times the slow-restart state was entered"),
    queue("rp_cnp_handled", Layer::congestion, "congestion notifications obeyed: this host slowed down")
        .in(Unit::packets)
        .as(graded_roce | hca_roce | profile_roce),
    queue("rp_cnp_ignored", Layer::ungraded, "congestion notifications ignored").as(told).in(Unit::packets),
    queue("rx_atomic_requests", Layer::ungraded, "atomic requests received"),
    queue("rx_dct_connect", Layer::ungraded, "dynamic connections requested"),
    queue("rx_icrc_encapsulated", Layer::ungraded, "packets received with a bad invariant checksum: damaged on the way").as(told)
        .in(Unit::packets),
    queue("rx_read_requests", Layer::ungraded, "read requests received"),
    queue("rx_write_requests", Layer::ungraded, "write requests received"),
};

} // namespace fabric_check::rows
