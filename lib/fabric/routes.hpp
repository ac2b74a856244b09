// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/map.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
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
    unsigned lid_count = 0;          ///< destinations routed out here
    std::vector<std::uint16_t> lids; ///< which, sorted; empty where Query::want_lids is off
    double flows = 0;                ///< (source, destination) pairs through here
    bool minimal = true;             ///< false: the table takes a longer way through this port
    std::vector<bool> senders; ///< of Routes::senders from Group::first_senders on: whose flows pass; empty: nobody's
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
    double flows = 0;     ///< (source, destination) pairs through the group
    unsigned rail = 0;    ///< of the LIDs of the job; one group has those of one rail only
    double imbalance = 1; ///< LIDs on the busiest port over the best possible, weighted by link rate
    std::uint32_t first_senders = 0; ///< in Routes::senders: of its direction and rail
};

struct Unreachable {
    std::uint16_t lid = 0;
    std::string why; ///< "no entry at SwitchB", "loop at SwitchA", ...
    std::uint32_t at = no_node;
};

/// How many LIDs are among them: one may be lost in several places.
std::size_t unreachable_lids(const std::vector<Unreachable> &lost);

struct Ceiling {
    unsigned links = 0;      ///< used links of the worst group
    double gib_s = 0;        ///< what they can carry, GiB/s of payload
    /// With rate_per_node: sum over ports of min(ceiling, LIDs x rate); 0 not asked. Where the LIDs are the services'
    /// (direction `to`), a node's rate is shared by all services: flows x rate / services instead.
    double predicted_gib_s = 0;
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
    /// Inside the job never between two rails; off: every LID talks to every other of its subnet, and subnets take the
    /// place of rails.
    bool rails_apart = true;
    bool want_sources = true;      ///< fill GroupPort::senders
    bool want_lids = true;         ///< fill GroupPort::lids; costs memory by groups x job when the job is the fabric
    bool want_shapes = false;      ///< fill Routes::shapes and effective_bisection
};

/// What a link carries at most, by the query's flat ceiling or its table.
double link_ceiling_gib_s(const LinkRate &rate, const Query &query);

/// Link load of one traffic pattern over the job's endpoints, inter-switch links only.
struct ShapeLoad {
    double max_link_flows = 0; ///< flows on the busiest directed link (by flows over link rate)
    double ideal = 0;          ///< what it would carry were its own group spread as evenly as LIDs allow
    double factor = 1;         ///< the one over the other
    std::uint32_t node = no_node; ///< sending switch of the busiest link; no_node: no inter-switch link on the way
    std::uint8_t port = 0;
};

/// Each endpoint to all others (the worst sender), all others to each (the worst receiver), everybody to everybody.
struct Shapes {
    ShapeLoad one_to_many, many_to_one, many_to_many;
};

/// Random halves of the job's endpoints, each of one half exchanging with one of the other, all at once, both ways; what a
/// pair gets is its share of the busiest link on its way (T. Hoefler, T. Schneider, A. Lumsdaine: Multistage Switches are not Crossbars,
/// Cluster 2008). 1: every pair has its hosts' links for itself. Full-bisection networks with static routes have 0.55-0.6.
struct EffectiveBisection {
    double mean = 1;          ///< over all pairs of all bisections
    double low = 1, high = 1; ///< 95 % confidence interval of the mean, between bisections
    double worst = 1;         ///< the worst bisection's mean
    unsigned bisections = 0;
    unsigned seed = 0;
};

/// The link that sets a job's imbalance.
struct ImbalanceLink {
    std::uint32_t node = no_node; ///< sending switch
    std::uint8_t port = 0;
    double flows = 0;
    double even = 0; ///< flows it would have, were everything spread evenly: flows / even is the imbalance
};

struct Routes {
    std::vector<Group> groups; ///< worst first: by imbalance, then flows
    /// Endpoints of one switch that send in one direction and rail: indexes into Query::job, or ~index into
    /// Query::services.
    std::vector<std::vector<std::uint32_t>> senders;
    /// Of the job: its busiest link's flows by rate over what the busiest would carry were every group spread evenly, all
    /// along the way: what starts at a switch by whole LIDs, what passes by shares. A link that passes others' flows on is
    /// also measured against its own even share rounded up by a LID, as far as its group could do better; and where two
    /// LIDs meet on a link without alternative, by what others chose, that is chance and condemns no job.
    double imbalance = 1;
    std::optional<ImbalanceLink> imbalance_link; ///< absent where the imbalance is 1
    int worst = -1;       ///< index into groups; -1: no group (no inter-switch link on the way)
    Ceiling ceiling;
    std::vector<Unreachable> unreachable;
    std::vector<std::string> warnings;
    /// switch node index -> output ports on the routes: inter-switch links and the ports facing endpoints.
    std::map<std::uint32_t, std::vector<std::uint8_t>> ports_on_routes;
    std::vector<std::uint32_t> switches; ///< every switch a route passes, sorted
    std::optional<Shapes> shapes; ///< Query::want_shapes
    std::optional<EffectiveBisection> effective_bisection; ///< likewise; absent with less than two endpoints
};

/// Calls visit(index into Query::job, or ~index into Query::services) for everybody whose flows pass a port of a group;
/// false from it ends that.
template <class Visit>
void each_source(const Routes &routes, const Group &group, const GroupPort &port, Visit &&visit) {
    for (std::size_t i = 0; i < port.senders.size(); ++i)
        if (port.senders[i])
            for (const std::uint32_t source : routes.senders[group.first_senders + i])
                if (!visit(source))
                    return;
}

/// Live readings laid over the map: LFT blocks, where those not present fall back to the map's tables, and ports that
/// were read as down or not yet brought up, whose links are not available though the map has them.
class LftView {
public:
    explicit LftView(Map map) : map_(std::move(map)) {}
    LftView(Map map, const std::vector<LftBlock> &live, const std::vector<SwitchPort> &ports = {});
    std::uint8_t at(std::uint32_t switch_node, std::uint16_t lid) const {
        const auto table = row(switch_node);
        return lid < table.size() ? table[lid] : no_route;
    }
    /// The switch's table as it is seen: output port by LID; a LID beyond its end has no route.
    std::span<const std::uint8_t> row(std::uint32_t switch_node) const;
    const Map &map() const { return map_; }
    /// The same routes, of the same map.
    bool same_as(const LftView &other) const { return patched_ == other.patched_ && down_ == other.down_; }
    /// Inter-switch links that carry nothing, both ends: (index into Map::nodes, port).
    const std::set<std::pair<std::uint32_t, std::uint8_t>> &down() const { return down_; }

private:
    Map map_;
    std::set<std::pair<std::uint32_t, std::uint8_t>> down_;
    std::unordered_map<std::uint32_t, std::vector<std::uint8_t>> patched_; ///< tables of switches with live blocks
};

/// Counts every (source, destination) pair of the query over the tables and groups what it finds. Pure; the cost goes by
/// destinations times switches on the way, not by pairs. Pairs: inside the job, services to the job, the job to services;
/// never a LID to itself, and inside the job never between two rails: rail talks to rail. Services that are also in the job count as the job's. A loop or a dead end goes to
/// `unreachable`, its flows count nowhere, and it never hangs the walk.
Routes analyse(const LftView &lfts, const Query &query);

/// Up to so many endpoints, link loads by shape are found faster than anybody waits, in 100 MB.
inline constexpr std::size_t shape_limit = 16384;
/// Up to so many, LIDs are listed port by port.
inline constexpr std::size_t list_limit = 4096;

/// The rail of each endpoint: hosts of several ports have one rail for each. By the card's name and port, so that a host
/// lacking one keeps the numbers of the others; where names do not tell, by order. All 0 where no host has two ports.
std::vector<unsigned> rails_of(const Map &map, const std::vector<Endpoint> &endpoints);
/// What the cards of each rail are called, by rail: "mlx5_0", "mlx5_0:2" where cards have several ports; several names
/// where hosts call them differently, sorted. Empty where there is one rail.
std::vector<std::vector<std::string>> rail_names(const Map &map, const std::vector<Endpoint> &endpoints);

/// Routes::shapes over the job's endpoints alone; services take no part. Pure.
Shapes shape_loads(const LftView &lfts, const Query &query);

/// Every port with a LID of these hosts, in the order of the names. Names found nowhere go to `missing` with the reason:
/// "node99: not in the map", "node07: in the map, but no port of it has a LID".
std::vector<Endpoint> endpoints_by_name(const Map &map, const std::vector<std::string> &names,
                                        std::vector<std::string> &missing);
/// Every host port with a LID.
std::vector<Endpoint> all_host_endpoints(const Map &map);
/// The port holding this LID (an LMC alternate gives its base LID), or nothing.
std::optional<Endpoint> endpoint_by_lid(const Map &map, std::uint16_t lid);

/// "SwitchB>SwitchA"; several peers: "SwitchB>SwitchA+2".
std::string group_name(const Map &map, const Group &group);
/// "SwitchA:13<->SwitchB:25"; a host's end is "node07/mlx5_0:1" when its description names the card, else "node07:1".
std::string link_name(const Map &map, std::uint32_t node, std::uint8_t port);

} // namespace fabric_check::fabric
