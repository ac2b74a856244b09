// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/findings.hpp"
#include "verdict/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace fabric_check {

namespace {

constexpr std::size_t min_agreeing = 3;

struct Member {
    const PortResult *port = nullptr; ///< null: of the map alone, a peer that is not judged
    LinkRate rate;
};

bool is_up(const std::string &state) {
    return state.empty() || state == "ACTIVE";
}

/// The rate at the end of the job of a link that is up: a port that is down shows what it last had, or nothing.
void add_member(std::vector<Member> &tier, const PortResult &port) {
    const SwitchPort *read = port.switch_end;
    if (read != nullptr && read->rate.lanes != 0 && is_up(read->state)) {
        tier.push_back({&port, read->rate});
    }
}

/// A host's own word, where no switch port tells.
void add_host(std::map<std::string, std::vector<Member>> &tiers, const PortSet &set, const PortResult &port) {
    const HcaPort *card = port.host_end;
    const bool told = port.peer >= 0 && set.ports[static_cast<std::size_t>(port.peer)].switch_end != nullptr;
    if (card != nullptr && !told && card->rate.lanes != 0 && is_up(card->state)) {
        tiers[fmt::format("{} {}", to_string(port.profile), card->name())].push_back({&port, card->rate});
    }
}

/// The value two thirds of the members have, if it is at least three; zero otherwise.
template <class Key> double majority(const std::vector<Member> &tier, Key key) {
    std::map<double, std::size_t> votes;
    for (const Member &member : tier) {
        ++votes[key(member.rate)];
    }
    for (const auto &[value, count] : votes) {
        if (count >= min_agreeing && 3 * count >= 2 * tier.size()) {
            return value;
        }
    }
    return 0;
}

void judge_tier(const PortSet &set, const std::vector<Member> &tier, const char *peers, std::vector<Finding> &findings) {
    const auto lanes = [](const LinkRate &rate) { return static_cast<double>(rate.lanes); };
    const auto speed = [](const LinkRate &rate) { return rate.signalling_gbps; };
    const double usual_lanes = majority(tier, lanes);
    const double usual_speed = majority(tier, speed);
    const double usual_rate = majority(tier, [](const LinkRate &rate) { return rate.data_gbps; });
    const auto usual = std::find_if(tier.begin(), tier.end(),
                                    [&](const Member &member) { return speed(member.rate) == usual_speed; });
    for (const Member &member : tier) {
        if (member.port == nullptr || !member.port->on_route) {
            continue;
        }
        if (member.port->profile == Profile::roce) { // lanes are the kernel's way of saying a rate there
            if (usual_rate > 0 && member.rate.data_gbps < usual_rate) {
                add_link_finding(set, *member.port, "speed",
                                 fmt::format("{:g} Gb/s, {} {:g}", member.rate.data_gbps, peers, usual_rate), findings);
            }
            continue;
        }
        const auto add = [&](const char *counter, const std::string &note) {
            add_link_finding(set, *member.port, counter, note, findings);
        };
        if (usual_lanes > 0 && lanes(member.rate) < usual_lanes) {
            add("width", fmt::format("{}X, {} {}X", member.rate.lanes, peers, usual_lanes));
        }
        if (usual_speed > 0 && speed(member.rate) > 0 && speed(member.rate) < usual_speed) {
            add("speed", fmt::format("{}, {} {}", member.rate.speed, peers, usual->rate.speed));
        }
    }
}

/// The rates the map has for the other ports of the switches where the tier's ports are: those with hosts behind them
/// like the tier's, or with switches. A small job has too few links of its own to tell what is usual.
std::vector<Member> with_neighbours(const fabric::Map *map, std::vector<Member> tier) {
    if (map == nullptr || tier.empty() || tier.size() >= min_agreeing) {
        return tier;
    }
    std::set<MapPortId> own;
    std::set<std::pair<std::uint32_t, bool>> sides; // switch, and are its neighbours switches?
    for (const Member &member : tier) {
        const MapPortId at{member.port->map_node, member.port->map_port};
        own.insert(at);
        sides.emplace(at.first, map->is_switch(peer_of(*map, at).first));
    }
    for (const auto &[node, switches] : sides) {
        if (node >= map->nodes().size()) {
            continue;
        }
        const auto &ports = map->nodes()[node].ports;
        for (std::size_t port = 1; port < ports.size() && port <= UINT8_MAX; ++port) {
            const MapPortId at{node, static_cast<std::uint8_t>(port)};
            const bool alike = ports[port].peer < map->nodes().size() &&
                               map->nodes()[ports[port].peer].kind ==
                                   (switches ? fabric::NodeKind::switch_node : fabric::NodeKind::host);
            if (alike && !own.contains(at) && ports[port].rate.lanes != 0) {
                tier.push_back({nullptr, ports[port].rate});
            }
        }
    }
    return tier;
}

} // namespace

void find_narrow_and_slow(const JobEvidence &evidence, const PortSet &set, std::vector<Finding> &findings) {
    std::map<std::string, std::vector<Member>> rails; // by the card's port at the host's end
    std::map<std::string, std::vector<Member>> hosts; // by profile and port, where no switch tells
    std::vector<Member> services;
    for (const PortResult &port : set.ports) {
        if (port.role == "facing" && port.peer >= 0) {
            const PortResult &host = set.ports[static_cast<std::size_t>(port.peer)];
            const HcaPort *card = host.host_end != nullptr ? host.host_end : host.host_start;
            add_member(rails[card != nullptr ? card->name() : std::string()], port);
        } else if (port.role == "service") {
            add_member(services, port);
        } else if (port.role == "host") {
            add_host(hosts, set, port);
        }
    }
    for (const auto &[rail, tier] : rails) {
        const bool few = tier.size() < min_agreeing;
        judge_tier(set, with_neighbours(evidence.map, tier),
                   few ? "the other hosts at its switch have" : "the job's other nodes have", findings);
    }
    for (const auto &[rail, tier] : hosts) {
        judge_tier(set, tier, "the job's other nodes have", findings);
    }
    judge_tier(set, services, "the other services have", findings);
    if (const fabric::Routes *routes = evidence.map != nullptr ? job_routes(evidence) : nullptr) {
        for (const fabric::Group &group : routes->groups) {
            std::vector<Member> tier;
            for (const fabric::GroupPort &port : group.ports) {
                const PortResult *found = set.find({group.node, port.port});
                if (found != nullptr) {
                    add_member(tier, *found);
                }
            }
            const bool few = tier.size() < min_agreeing;
            judge_tier(set, with_neighbours(evidence.map, tier),
                       few ? "its switch's other links to switches have" : "the group's other links have", findings);
        }
    }
}

} // namespace fabric_check
