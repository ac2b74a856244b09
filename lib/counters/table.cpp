// SPDX-License-Identifier: GPL-2.0-or-later
#include "counters/table.hpp"

#include <algorithm>
#include <array>

namespace fabric_check {

namespace {

constexpr std::string_view ib_classic = "IBA vol. 1, 16.1.3.5 PortCounters";
constexpr std::string_view ib_extended = "IBA vol. 1, 16.1.4 PortCountersExtended";
constexpr std::string_view mlx5 =
    "Linux drivers/infiniband/hw/mlx5/counters.c; NVIDIA, Understanding mlx5 Linux Counters";

/// A PMA counter that is recorded and shown, never judged.
constexpr CounterInfo shown(std::string_view name, std::string_view sysfs, std::uint8_t width, Layer layer,
                            std::string_view meaning, Unit unit = Unit::events) {
    return {name, sysfs, CounterSource::pma, unit, width, layer, false, false, false, false, meaning, ib_classic};
}

/// A PMA counter that every InfiniBand port must have, judged at zero tolerance.
constexpr CounterInfo judged(std::string_view name, std::string_view sysfs, std::uint8_t width, Layer layer,
                             std::string_view meaning) {
    return {name, sysfs, CounterSource::pma, Unit::events, width, layer, true, true, false, true, meaning, ib_classic};
}

constexpr CounterInfo wide(std::string_view name, std::string_view sysfs, std::string_view meaning) {
    return {name,          sysfs,   CounterSource::pma_extended,
            Unit::packets, 64,      Layer::ungraded,
            false,         false,   false,
            false,         meaning, ib_extended};
}

// The mlx5 hardware counts in 32 bits and the file has 64; whether it stops or wraps is nowhere promised: width 0.
constexpr CounterInfo queue(std::string_view name, std::string_view meaning, Layer layer = Layer::ungraded,
                            bool graded = false, bool required = false) {
    return {name,    "",  CounterSource::hw_counters, Unit::events, 0, layer, false, false, required, graded,
            meaning, mlx5};
}

constexpr CounterInfo queue_packets(std::string_view name, std::string_view meaning, Layer layer = Layer::ungraded) {
    return {name, "", CounterSource::hw_counters, Unit::packets, 0, layer, false, false, false, false, meaning, mlx5};
}

constexpr std::array table{
    shown("ExcessiveBufferOverrunErrors", "excessive_buffer_overrun_errors", 4, Layer::lossless_broken,
          "receive buffers overflowed for longer than allowed: flow control on the link failed"),
    judged("LinkDownedCounter", "link_downed", 8, Layer::physical,
           "the link went down: cable, optic, reset of either end, or reboot"),
    judged("LinkErrorRecoveryCounter", "link_error_recovery", 8, Layer::physical,
           "the link retrained itself after errors: a marginal cable or optic"),
    shown("LocalLinkIntegrityErrors", "local_link_integrity_errors", 4, Layer::physical,
          "more errors in a row than the link tolerates: a marginal cable or optic"),
    wide("PortMulticastRcvPkts", "multicast_rcv_packets", "multicast packets received"),
    wide("PortMulticastXmitPkts", "multicast_xmit_packets", "multicast packets sent"),
    shown("PortRcvConstraintErrors", "port_rcv_constraint_errors", 8, Layer::ungraded,
          "packets refused on receipt by partition or raw-packet rules: configuration, not the link"),
    shown("PortRcvData", "port_rcv_data", 32, Layer::ungraded, "data received, in units of four octets",
          Unit::octets_div_4),
    judged("PortRcvErrors", "port_rcv_errors", 16, Layer::physical,
           "packets arrived damaged: the cable or optic of this link, or the sender behind it"),
    shown("PortRcvPkts", "port_rcv_packets", 32, Layer::ungraded, "packets received", Unit::packets),
    shown("PortRcvRemotePhysicalErrors", "port_rcv_remote_physical_errors", 16, Layer::physical,
          "packets marked bad further upstream: the fault is on an earlier link"),
    shown("PortRcvSwitchRelayErrors", "port_rcv_switch_relay_errors", 16, Layer::ungraded,
          "packets the switch could not forward; multicast reflections count here, so growth is normal"),
    wide("PortUnicastRcvPkts", "unicast_rcv_packets", "unicast packets received"),
    wide("PortUnicastXmitPkts", "unicast_xmit_packets", "unicast packets sent"),
    shown("PortXmitConstraintErrors", "port_xmit_constraint_errors", 8, Layer::ungraded,
          "packets not sent because of partition or raw-packet rules: configuration, not the link"),
    shown("PortXmitData", "port_xmit_data", 32, Layer::ungraded, "data sent, in units of four octets",
          Unit::octets_div_4),
    judged("PortXmitDiscards", "port_xmit_discards", 16, Layer::lossless_broken,
           "packets dropped instead of sent: the port was down, or the receiver stalled past the lifetime limit"),
    shown("PortXmitPkts", "port_xmit_packets", 32, Layer::ungraded, "packets sent", Unit::packets),
    shown("PortXmitWait", "port_xmit_wait", 32, Layer::congestion,
          "ticks with data to send and no credit; an order among the ports of one switch, never a time", Unit::ticks),
    shown("QP1Dropped", "", 16, Layer::ungraded, "management packets dropped: the management agent was overrun"),
    judged("SymbolErrorCounter", "symbol_error", 16, Layer::physical,
           "bits were received wrong on a lane: cable, optic or connector"),
    shown("VL15Dropped", "VL15_dropped", 16, Layer::ungraded,
          "subnet management packets dropped for want of buffers: somebody asks too fast"),
    queue_packets("cc_rx_ce_pkts", "packets received with a congestion mark"),
    queue_packets("cc_rx_cnp_pkts", "congestion notifications received"),
    queue_packets("cc_tx_cnp_pkts", "congestion notifications sent"),
    queue("duplicate_request", "requests received twice: the peer repeated itself, its answer was lost or late"),
    queue("implied_nak_seq_err", "an answer came out of order: packets were lost or overtook each other",
          Layer::transport_retry, true),
    queue("local_ack_timeout_err", "a request was not answered in time and was sent again: lost, or the peer is stuck",
          Layer::transport_retry, true, true),
    queue_packets("np_cnp_sent", "congestion notifications sent: data arrived here with congestion marks",
                  Layer::congestion),
    queue_packets("np_ecn_marked_roce_packets", "packets that arrived with a congestion mark", Layer::congestion),
    queue("out_of_buffer", "messages arrived and no receive was posted: the application is late"),
    queue("out_of_sequence", "packets arrived out of order: lost, or on several paths at once", Layer::transport_retry,
          true),
    queue("packet_seq_err", "a packet was lost on the way and had to be sent again", Layer::transport_retry, true,
          true),
    queue("req_cqe_error", "requests of this host that completed with an error"),
    queue("req_cqe_flush_error", "requests of this host flushed because their connection had failed"),
    queue("req_remote_access_errors", "requests the remote side refused: access rights, application error"),
    queue("req_remote_invalid_request", "requests the remote side found invalid: application error"),
    queue("req_rnr_retries_exceeded", "connections given up because the receiver never became ready"),
    queue("req_transport_retries_exceeded", "connections given up after all retries: the path or the peer is gone"),
    queue("resp_cqe_error", "answers of this host that completed with an error"),
    queue("resp_cqe_flush_error", "receives of this host flushed because their connection had failed"),
    queue("resp_local_length_error", "messages longer than the posted receive: application error"),
    queue("resp_remote_access_errors", "requests from others refused here: access rights, application error"),
    queue("rnr_nak_retry_err", "the receiver had no buffer posted and the message was repeated: a late application",
          Layer::transport_retry, true, true),
    queue("roce_adp_retrans", "adaptive retransmissions"),
    queue("roce_adp_retrans_to", "adaptive retransmissions that timed out"),
    queue("roce_slow_restart", "times sending was slowed down after a loss"),
    queue("roce_slow_restart_cnps", "congestion notifications made by slow restart"),
    queue("roce_slow_restart_trans", "times the slow-restart state was entered"),
    queue_packets("rp_cnp_handled", "congestion notifications obeyed: this host slowed down", Layer::congestion),
    queue_packets("rp_cnp_ignored", "congestion notifications ignored"),
    queue("rx_atomic_requests", "atomic requests received"),
    queue("rx_dct_connect", "dynamic connections requested"),
    queue_packets("rx_icrc_encapsulated", "packets received with a bad invariant checksum: damaged on the way"),
    queue("rx_read_requests", "read requests received"),
    queue("rx_write_requests", "write requests received"),
};

constexpr bool by_name(const CounterInfo &a, const CounterInfo &b) {
    return a.name < b.name;
}
static_assert(std::is_sorted(table.begin(), table.end(), by_name));

struct Alias {
    std::string_view alias, name;
};

/// Other names of the same fields: sysfs counters_ext/ of old kernels, and older infiniband-diags.
constexpr std::array other_names{
    Alias{"ExcBufOverrunErrors", "ExcessiveBufferOverrunErrors"},
    Alias{"LinkDowned", "LinkDownedCounter"},
    Alias{"LinkIntegrityErrors", "LocalLinkIntegrityErrors"},
    Alias{"LinkRecovers", "LinkErrorRecoveryCounter"},
    Alias{"RcvConstraintErrors", "PortRcvConstraintErrors"},
    Alias{"RcvData", "PortRcvData"},
    Alias{"RcvErrors", "PortRcvErrors"},
    Alias{"RcvPkts", "PortRcvPkts"},
    Alias{"RcvRemotePhysErrors", "PortRcvRemotePhysicalErrors"},
    Alias{"RcvSwRelayErrors", "PortRcvSwitchRelayErrors"},
    Alias{"SymbolErrors", "SymbolErrorCounter"},
    Alias{"XmtConstraintErrors", "PortXmitConstraintErrors"},
    Alias{"XmtData", "PortXmitData"},
    Alias{"XmtDiscards", "PortXmitDiscards"},
    Alias{"XmtPkts", "PortXmitPkts"},
    Alias{"XmtWait", "PortXmitWait"},
    Alias{"port_multicast_rcv_packets", "PortMulticastRcvPkts"},
    Alias{"port_multicast_xmit_packets", "PortMulticastXmitPkts"},
    Alias{"port_rcv_data_64", "PortRcvData"},
    Alias{"port_rcv_packets_64", "PortRcvPkts"},
    Alias{"port_unicast_rcv_packets", "PortUnicastRcvPkts"},
    Alias{"port_unicast_xmit_packets", "PortUnicastXmitPkts"},
    Alias{"port_xmit_data_64", "PortXmitData"},
    Alias{"port_xmit_packets_64", "PortXmitPkts"},
};

constexpr std::size_t count_sysfs_names() {
    std::size_t count = 0;
    for (const CounterInfo &row : table) {
        count += row.sysfs.empty() ? 0 : 1;
    }
    return count;
}

constexpr bool by_alias(const Alias &a, const Alias &b) {
    return a.alias < b.alias;
}

constexpr auto aliases = [] {
    std::array<Alias, count_sysfs_names() + other_names.size()> all{};
    auto at = std::copy(other_names.begin(), other_names.end(), all.begin());
    for (const CounterInfo &row : table) {
        if (!row.sysfs.empty()) {
            *at++ = {row.sysfs, row.name};
        }
    }
    std::sort(all.begin(), all.end(), by_alias);
    return all;
}();

const CounterInfo *find_by_name(std::string_view name) noexcept {
    const auto at = std::lower_bound(table.begin(), table.end(), name,
                                     [](const CounterInfo &row, std::string_view wanted) { return row.name < wanted; });
    return at != table.end() && at->name == name ? &*at : nullptr;
}

} // namespace

std::string_view to_string(Layer layer) noexcept {
    switch (layer) {
    case Layer::physical:
        return "physical";
    case Layer::pause_storm:
        return "pause-storm";
    case Layer::lossless_broken:
        return "lossless-broken";
    case Layer::transport_retry:
        return "transport-retry";
    case Layer::routing_imbalance:
        return "routing-imbalance";
    case Layer::congestion:
        return "congestion";
    case Layer::ungraded:
        break;
    }
    return "ungraded";
}

std::span<const CounterInfo> counter_table() noexcept {
    return table;
}

const CounterInfo *find_counter(std::string_view name_or_alias) noexcept {
    if (const CounterInfo *row = find_by_name(name_or_alias)) {
        return row;
    }
    const auto at = std::lower_bound(aliases.begin(), aliases.end(), name_or_alias,
                                     [](const Alias &a, std::string_view wanted) { return a.alias < wanted; });
    return at != aliases.end() && at->alias == name_or_alias ? find_by_name(at->name) : nullptr;
}

std::uint64_t saturation_cap(std::uint8_t width) noexcept {
    switch (width) {
    case 4:
    case 8:
    case 16:
    case 32:
        return (std::uint64_t{1} << width) - 1;
    case 64:
        return ~std::uint64_t{0};
    default:
        return 0;
    }
}

bool driver_has_retry_counters(std::string_view driver) noexcept {
    // mlx5_core by PCI, mlx5_core.sf for subfunctions, mlx5_ib on the auxiliary bus.
    return driver == "mlx5_core" || driver == "mlx5_core.sf" || driver == "mlx5_ib" || driver == "mlx5_ib.rdma";
}

bool required_in_ib(const CounterInfo &counter, PortKind kind, std::string_view driver) noexcept {
    if (kind == PortKind::switch_port) {
        return counter.required_ib_switch;
    }
    return counter.required_ib_hca || (counter.required_ib_qp && driver_has_retry_counters(driver));
}

} // namespace fabric_check
