// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/job_verdict.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fabric_check {

/// Why a port of a node is part of the job's verdict, or is not.
enum class PortUse : std::uint8_t {
    infiniband,  ///< InfiniBand, ACTIVE at start or end
    bytes,       ///< Ethernet, moved bytes by RDMA
    counters,    ///< Ethernet, its other counters of RDMA moved
    rail,        ///< Ethernet, idle here and in use on most of the job's nodes
    not_known,   ///< Ethernet, no counter tells; counts only where nothing else of the node does
    idle,        ///< Ethernet, no RDMA on it; shown only where nothing else of the node counts
    excluded,    ///< by configuration
};

struct PortChoice {
    PortUse use = PortUse::idle;
    bool counts = false;
    std::string why; ///< plain words: "1.2 TB by RDMA", "rx_write_requests moved", "excluded as mlx5_bond_0"
};

/// The exclusion that a port falls under, or nullptr: a pattern of its device, device:port, network device or PCI address,
/// or its link layer.
const std::string *excluded_by(const HcaPort &port, const std::vector<std::string> &exclude);

/// A link layer that could not be read is InfiniBand where the port has a LID: Ethernet ports have none.
bool is_infiniband(const HcaPort &port) noexcept;
bool is_active(const HcaPort *port) noexcept;
/// The same port in a snapshot, or nullptr.
const HcaPort *find_port(const std::optional<NodeSnapshot> &snapshot, const HcaPort &like);

/// Decides for every port of the job's nodes that was ACTIVE at start or end, before any is judged: a rail is one by what
/// the other nodes do.
class PortChoices {
public:
    PortChoices(const JobEvidence &evidence, const Config::Ports &ports);
    /// nullptr: the port was not ACTIVE at either side.
    const PortChoice *of(const std::string &node, const HcaPort &port) const;
    /// What decided about Ethernet ports and what was left out, one line for each kind of port.
    std::vector<std::string> notes() const;

private:
    void choose(const NodeEvidence &node, const NodeSnapshot &snapshot, const Config::Ports &ports);
    void find_rails();
    void keep_something();

    std::map<std::pair<std::string, std::string>, PortChoice> choices_; ///< by node and port
    std::map<std::string, std::vector<PortChoice *>> by_port_, by_node_;
    std::map<std::string, std::string> netdevs_; ///< of the first node that has the port
};

} // namespace fabric_check
