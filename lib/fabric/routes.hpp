// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fabric_check::fabric {

/// A host's port taking part in the question.
struct Endpoint {
    std::string name; ///< host name
    std::uint32_t node = no_node;
    std::uint8_t port = 0;
    std::uint16_t lid = 0; ///< base LID
};

/// Which way a group's traffic flows, seen from the job.
enum class Direction : std::uint8_t { inside, from, to }; ///< within the job; services to the job; the job to services
const char *to_string(Direction direction) noexcept;

struct GroupPort {
    std::uint8_t port = 0; ///< output port of the group's switch
    std::uint32_t peer = no_node;
    std::uint8_t peer_port = 0;
    LinkRate rate;
    std::vector<std::uint16_t> lids; ///< destinations routed out here, sorted
    double flows = 0;                ///< (source, destination) pairs through here
    bool minimal = true;             ///< false: the table takes a longer way through this port
    std::vector<std::uint32_t> sources; ///< indexes into Query::job, or ~index into Query::services, whose flows pass
};

/// All parallel inter-switch links through which one switch can send a set of destinations at equal hop count.
struct Group {
    std::uint32_t node = no_node; ///< the sending switch
    Direction direction = Direction::inside;
    std::vector<std::uint32_t> peers; ///< switches at the other end, sorted, distinct
    std::vector<GroupPort> ports;     ///< by port number; those with nothing routed to them included
    unsigned available = 0;           ///< ports that could be used
    unsigned used = 0;
    unsigned lids = 0;
    double imbalance = 1; ///< LIDs on the busiest port over the best possible, weighted by link rate
};

struct Unreachable {
    std::uint16_t lid = 0;
    std::string why; ///< "no entry at SwitchB", "loop at SwitchA", ...
    std::uint32_t at = no_node;
};

struct Ceiling {
    unsigned links = 0;      ///< used links of the worst group
    double gib_s = 0;        ///< what they can carry, GiB/s of payload
    double predicted_gib_s = 0; ///< with rate_per_node: sum over ports of min(ceiling, LIDs x rate); 0 not asked
};

/// Payload ceilings of a link in GiB/s, keyed "4X HDR". Missing keys are scaled from 4X HDR by data rate.
using PayloadCeilings = std::map<std::string, double>;
double payload_ceiling_gib_s(const LinkRate &rate, const PayloadCeilings &table);

struct Query {
    std::vector<Endpoint> job;
    std::vector<Endpoint> services; ///< sources and destinations outside the job
    double rate_per_node_gib_s = 0;
    PayloadCeilings ceilings;
    double flat_ceiling_gib_s = 0; ///< --payload-ceiling: the same for every link; 0: the table
};

struct Routes {
    std::vector<Group> groups;
    double imbalance = 1; ///< of the job: its busiest link over the busiest link were every group spread evenly
    int worst = -1;       ///< index into groups; -1: no group (no inter-switch link on the way)
    Ceiling ceiling;
    std::vector<Unreachable> unreachable;
    std::vector<std::string> warnings;
    /// switch node index -> output ports on the routes: inter-switch links and the ports facing endpoints.
    std::map<std::uint32_t, std::vector<std::uint8_t>> ports_on_routes;
    std::vector<std::uint32_t> switches; ///< every switch a route passes, sorted
};

/// Live LFT blocks laid over the map's tables; blocks not present fall back to the map.
class LftView {
public:
    explicit LftView(const Map &map) : map_(&map) {}
    LftView(const Map &map, const std::vector<LftBlock> &live);
    std::uint8_t at(std::uint32_t switch_node, std::uint16_t lid) const;
    const Map &map() const { return *map_; }

private:
    const Map *map_;
    std::unordered_map<std::uint64_t, std::array<std::uint8_t, 64>> live_; ///< key: node index << 16 | block
};

/// Walks every (source, destination) pair of the query over the tables and groups what it finds. Pure. A loop or a dead
/// end goes to `unreachable` and never hangs the walk.
Routes analyse(const LftView &lfts, const Query &query);

/// "SwitchB>SwitchA"; several peers: "SwitchB>SwitchA+2".
std::string group_name(const Map &map, const Group &group);
/// "SwitchA:13<->SwitchB:25"; a host's end is "node07/mlx5_0:1" when its description names the card, else "node07:1".
std::string link_name(const Map &map, std::uint32_t node, std::uint8_t port);

} // namespace fabric_check::fabric
