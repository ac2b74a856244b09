// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "snapshot/model.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fabric_check::fabric {

inline constexpr std::uint32_t no_node = 0xffffffff;
inline constexpr std::uint8_t no_route = 0xff; ///< LFT entry: no output port for this LID

enum class NodeKind : std::uint8_t {
    switch_node,
    host,
    other, ///< routers, gateways, SHARP aggregation nodes: in the map, never hosts
};

struct MapPort {
    std::uint32_t peer = no_node; ///< index into Map::nodes; no_node: nothing there, or half known
    std::uint8_t peer_port = 0;
    LinkRate rate;
    std::uint64_t guid = 0; ///< port GUID; hosts only
    std::uint16_t lid = 0;  ///< hosts only; 0 none
    std::uint8_t lmc = 0;   ///< of the LID above; a switch's own stands at its port 0
};

struct MapNode {
    std::uint64_t guid = 0;   ///< node GUID
    std::string description;  ///< NodeDescription as it is
    NodeKind kind = NodeKind::other;
    std::vector<MapPort> ports; ///< by port number; [0] is the switch's management port, unused on hosts
    std::uint16_t lid = 0;      ///< switches: LID of port 0
    std::vector<std::uint8_t> lft; ///< switches: output port by LID; shorter than a LID means no_route

    /// First word of the description without the card ("node01" of "node01 mlx5_0"): the host's name. Empty for factory
    /// texts ("MT4129 ConnectX7   Mellanox Technologies"), which name no host.
    std::string host_name() const;
    /// The card as the description names it ("mlx5_0", "HCA-1"), or empty.
    std::string card_name() const;
};

/// What a channel adapter is, by its description: SHARP aggregation nodes and gateways are no hosts.
NodeKind classify_adapter(std::string_view description) noexcept;

/// Who runs the fabric, as the master subnet manager says of itself (SMInfo).
struct SubnetManager {
    std::uint64_t guid = 0;    ///< of the port it runs on: a host's port GUID, a switch's node GUID
    std::uint16_t lid = 0;     ///< that port's LID
    std::uint8_t priority = 0; ///< 0 to 15
    std::uint8_t state = 0;    ///< 0 not active, 1 discovering, 2 standby, 3 master
    bool operator==(const SubnetManager &) const = default;
};
const char *sm_state_name(std::uint8_t state) noexcept; ///< "master", ...; "unknown" for other codes

/// The fabric: topology and tables, as one moment's discovery or as files told it.
struct Map {
    std::vector<MapNode> nodes;
    std::int64_t built_ns = 0; ///< wall clock
    std::string source;        ///< "live", or the files' names
    std::vector<Problem> problems;
    AdaptiveRouting adaptive_routing = AdaptiveRouting::unknown;
    std::optional<SubnetManager> subnet_manager; ///< nothing: not asked, or no answer
    std::uint64_t id = 0; ///< checksum of the stored form; 0 before it was saved or loaded

    /// Indexes over nodes; call index() after changing them.
    void index();
    std::uint32_t by_lid(std::uint16_t lid) const;        ///< node holding this LID (LMC ranges included), or no_node
    std::uint8_t port_of_lid(std::uint16_t lid) const;    ///< that node's port (0 for switches)
    std::uint32_t by_guid(std::uint64_t node_guid) const; ///< or no_node
    std::uint32_t by_port_guid(std::uint64_t port_guid, std::uint8_t *port) const;
    /// Hosts with this host_name(), every rail: (node index, port), sorted. A name without a domain also finds hosts that
    /// call themselves by their full name.
    std::vector<std::pair<std::uint32_t, std::uint8_t>> by_name(const std::string &host) const;
    /// How to call a node towards people: "SwitchA"; "leaf03" of "MF0;leaf03:MQM9700/U1"; a host's name; the GUID where
    /// the description says nothing. Two switches of one name carry their GUID in brackets.
    std::string display_name(std::uint32_t node) const;

private:
    std::vector<std::pair<std::uint32_t, std::uint8_t>> lids_;
    std::unordered_map<std::uint64_t, std::uint32_t> guids_;
    std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint8_t>> port_guids_;
    std::unordered_multimap<std::string, std::pair<std::uint32_t, std::uint8_t>> names_;
    std::unordered_map<std::string, unsigned> switch_names_; ///< how many switches are called so
};

/// Writes the map under a temporary name and renames it; sets map.id.
Status save_map(Map &map, const std::string &path);
/// Reads and verifies a map. Refuses a wrong magic, version, checksum or inconsistent reference, naming the file; never
/// trusts a length in it. Fuzzed through parse_map.
Result<Map> load_map(const std::string &path);
Result<Map> parse_map(std::span<const std::uint8_t> bytes, const std::string &name);

} // namespace fabric_check::fabric
