// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/job_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace fabric_check::testing {

/// A job on nodes with Ethernet cards alone: mlx5, flow control on priority 3, everything read on both sides 100 s apart;
/// every rail moved 1 GB by RDMA, and nothing else moved. No map, no scout.
class RoceJob {
public:
    static constexpr double seconds = 100;
    static constexpr std::uint64_t gigabyte = 1000000000;

    explicit RoceJob(unsigned nodes = 4, unsigned rails = 1) {
        evidence.job.id = 4712;
        evidence.job.state = "COMPLETED";
        evidence.job.start = 1700000000;
        evidence.job.end = 1700000100;
        for (unsigned i = 1; i <= nodes; ++i) {
            NodeEvidence node;
            node.node = fmt::format("node{:02}", i);
            NodeSnapshot snapshot;
            snapshot.node = node.node;
            snapshot.boot_id = node.node;
            snapshot.time_ns = 1700000000LL * 1000000000;
            for (unsigned rail = 0; rail < rails; ++rail) {
                snapshot.ports.push_back(port(fmt::format("mlx5_{}", rail), fmt::format("ens{}", rail + 1)));
            }
            node.start = snapshot;
            node.end = snapshot;
            node.end->time_ns += static_cast<std::int64_t>(seconds) * 1000000000;
            evidence.job.node_names.push_back(node.node);
            evidence.nodes.push_back(std::move(node));
            for (unsigned rail = 0; rail < rails; ++rail) {
                bytes(i, rail, gigabyte, 0);
            }
        }
    }

    static HcaPort port(const std::string &device, const std::string &netdev) {
        HcaPort port;
        port.device = device;
        port.driver = "mlx5_core";
        port.link_layer = LinkLayer::ethernet;
        port.state = "ACTIVE";
        port.phys_state = "LinkUp";
        port.rate = {4, "EDR", 100, 25.78125};
        port.netdev = netdev;
        port.pci = "0000:81:00." + device.substr(device.size() - 1);
        port.model = "MT4125";
        port.pcie = {16, 16, 16, 16};
        for (const char *name :
             {"tx_pause_storm_error_events", "rx_discards_phy", "rx_prio3_buf_discard", "packet_seq_err",
              "rnr_nak_retry_err", "local_ack_timeout_err", "rx_prio3_pause", "tx_prio3_pause", "rp_cnp_handled",
              "PortXmitData", "PortRcvData", "rx_prio3_pause_duration", "tx_prio3_pause_duration"}) {
            port.counters[name] = Reading::of(100);
        }
        for (unsigned priority = 0; priority < priorities; ++priority) {
            port.counters[fmt::format("rx_prio{}_buf_discard", priority)] = Reading::of(5);
        }
        return port;
    }
    /// A card for the site's management: the driver can RDMA, nobody uses it, and it has no flow control.
    static HcaPort management_port() {
        HcaPort management = port("mlx5_9", "eno1");
        erase_if(management.counters, [](const auto &counter) {
            return counter.first.find("_prio3_pause") != std::string::npos;
        });
        return management;
    }
    void add_management_ports() {
        for (NodeEvidence &node : evidence.nodes) {
            node.start->ports.push_back(management_port());
            node.end->ports.push_back(management_port());
        }
    }

    HcaPort &start(unsigned node, unsigned rail = 0) { return evidence.nodes[node - 1].start->ports[rail]; }
    HcaPort &end(unsigned node, unsigned rail = 0) { return evidence.nodes[node - 1].end->ports[rail]; }
    void moves(unsigned node, const std::string &counter, std::uint64_t delta, unsigned rail = 0) {
        end(node, rail).counters[counter] = Reading::of(*start(node, rail).counters[counter].value + delta);
    }
    void bytes(unsigned node, unsigned rail, std::uint64_t sent, std::uint64_t received) {
        moves(node, "PortXmitData", sent / 4, rail);
        moves(node, "PortRcvData", received / 4, rail);
    }
    /// What stands on both sides of every node's rail.
    template <class Change> void everywhere(const Change &change, unsigned rail = 0) {
        for (unsigned i = 1; i <= evidence.nodes.size(); ++i) {
            change(start(i, rail));
            change(end(i, rail));
        }
    }
    JobVerdict judge() const { return judge_job(evidence, config); }

    Config config;
    JobEvidence evidence;
};

/// The finding's words, or "none".
inline std::string note_of(const JobVerdict &verdict, const std::string &where, const std::string &counter) {
    const auto at = std::find_if(verdict.live.begin(), verdict.live.end(), [&](const Finding &finding) {
        return finding.where == where && finding.counter == counter;
    });
    return at == verdict.live.end() ? "none" : at->note;
}

} // namespace fabric_check::testing
