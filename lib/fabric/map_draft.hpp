// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "fabric/node_names.hpp"
#include "snapshot/model.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fabric_check::fabric {

inline constexpr std::uint32_t no_node = 0xffffffff;
inline constexpr std::uint8_t no_route = 0xff; ///< LFT entry: no output port for this LID
inline constexpr std::uint16_t first_multicast_lid = 0xc000;

constexpr bool is_unicast(std::uint32_t lid) noexcept { return lid != 0 && lid < first_multicast_lid; }

/// The subnet manager that was master when the map was built, as its SMInfo says.
struct SubnetManager {
    std::uint64_t guid = 0;    ///< of the port it runs on: a host's port GUID, a switch's node GUID
    std::uint16_t lid = 0;     ///< of that port
    std::uint8_t priority = 0; ///< 0-15
    std::uint8_t state = 0;    ///< 0 not active, 1 discovering, 2 standby, 3 master
    bool operator==(const SubnetManager &) const = default;
};
const char *sm_state_name(std::uint8_t state) noexcept; ///< "master", ...; "unknown" for other codes

struct DraftPort {
    std::uint32_t peer = no_node; ///< index into MapDraft::nodes; no_node: nothing there, or half known
    std::uint8_t peer_port = 0;
    LinkRate rate;
    std::uint64_t guid = 0; ///< port GUID; hosts only
    std::uint16_t lid = 0;  ///< hosts only; 0 none
    std::uint8_t lmc = 0;   ///< of the LID above; a switch's own stands at its port 0
};

struct DraftNode {
    std::uint64_t guid = 0;  ///< node GUID
    std::string description; ///< NodeDescription as it is
    NodeKind kind = NodeKind::other;
    std::vector<DraftPort> ports;  ///< by port number; [0] is the switch's management port, unused on hosts
    std::uint16_t lid = 0;         ///< switches: LID of port 0
    std::vector<std::uint8_t> lft; ///< switches: output port by LID; shorter than a LID means no_route
};

/// Calls visit(node, port, LID, LMC) for every port that may have a LID, in the order of nodes and ports: a switch's 0.
template <class Visit> void each_lid(const std::vector<DraftNode> &nodes, Visit &&visit) {
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        const DraftNode &node = nodes[n];
        if (node.kind == NodeKind::switch_node) {
            visit(n, std::uint8_t(0), node.lid, node.ports.empty() ? std::uint8_t(0) : node.ports[0].lmc);
            continue;
        }
        for (std::size_t p = 0; p < node.ports.size() && p < 256; ++p)
            visit(n, std::uint8_t(p), node.ports[p].lid, node.ports[p].lmc);
    }
}

/// The fabric as discovery and import fill it in. Readers use Map, which is made from one of these and does not change.
struct MapDraft {
    std::vector<DraftNode> nodes;
    std::int64_t built_ns = 0; ///< wall clock
    std::string source;        ///< "live", or the files' names
    std::vector<Problem> problems;
    AdaptiveRouting adaptive_routing = AdaptiveRouting::unknown;
    std::optional<SubnetManager> subnet_manager;

    /// Indexes over nodes; call index() after changing them.
    void index();
    std::uint32_t by_lid(std::uint16_t lid) const;        ///< node holding this LID (LMC ranges included), or no_node
    std::uint8_t port_of_lid(std::uint16_t lid) const;    ///< that node's port (0 for switches)
    std::uint32_t by_guid(std::uint64_t node_guid) const; ///< or no_node
    std::uint32_t by_port_guid(std::uint64_t port_guid, std::uint8_t *port) const;
    /// As Map::display_name.
    std::string display_name(std::uint32_t node) const;

private:
    std::vector<std::pair<std::uint32_t, std::uint8_t>> lids_;
    std::unordered_map<std::uint64_t, std::uint32_t> guids_;
    std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint8_t>> port_guids_;
    std::unordered_map<std::string, unsigned> switch_names_; ///< how many switches are called so
};

} // namespace fabric_check::fabric
