// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace fabric_check {

namespace {

constexpr std::size_t min_agreeing = 3;

struct Member {
    const PortResult *port = nullptr;
    LinkRate rate;
};

/// The rate at the end of the job of a link that is up: a port that is down shows what it last had, or nothing.
void add_member(std::vector<Member> &tier, const PortResult &port) {
    const SwitchPort *read = port.switch_end;
    if (read != nullptr && read->rate.lanes != 0 && (read->state.empty() || read->state == "ACTIVE")) {
        tier.push_back({&port, read->rate});
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
    const auto usual = std::find_if(tier.begin(), tier.end(),
                                    [&](const Member &member) { return speed(member.rate) == usual_speed; });
    for (const Member &member : tier) {
        if (!member.port->on_route) {
            continue;
        }
        const std::string end = set.names.end({member.port->map_node, member.port->map_port});
        // A link is as narrow at one end as at the other: one finding.
        const std::string other = member.port->peer < 0 ? "" : set.ports[static_cast<std::size_t>(member.port->peer)].where;
        const auto add = [&](const char *counter, const std::string &note) {
            const bool known = std::any_of(findings.begin(), findings.end(), [&](const Finding &finding) {
                return finding.counter == counter && (finding.where == member.port->where || finding.where == other);
            });
            if (!known) {
                findings.push_back({member.port->where, counter, 0, Layer::physical, true, note, end});
            }
        };
        if (usual_lanes > 0 && lanes(member.rate) < usual_lanes) {
            add("width", fmt::format("{}X, {} {}X", member.rate.lanes, peers, usual_lanes));
        }
        if (usual_speed > 0 && speed(member.rate) > 0 && speed(member.rate) < usual_speed) {
            add("speed", fmt::format("{}, {} {}", member.rate.speed, peers, usual->rate.speed));
        }
    }
}

} // namespace

void find_narrow_and_slow(const JobEvidence &evidence, const PortSet &set, std::vector<Finding> &findings) {
    if (evidence.map == nullptr) {
        return;
    }
    std::map<std::string, std::vector<Member>> rails; // by the card's port at the host's end
    std::vector<Member> services;
    for (const PortResult &port : set.ports) {
        if (port.role == "facing" && port.peer >= 0) {
            const PortResult &host = set.ports[static_cast<std::size_t>(port.peer)];
            const HcaPort *card = host.host_end != nullptr ? host.host_end : host.host_start;
            add_member(rails[card != nullptr ? card->name() : std::string()], port);
        } else if (port.role == "service") {
            add_member(services, port);
        }
    }
    for (const auto &[rail, tier] : rails) {
        judge_tier(set, tier, "the job's other nodes have", findings);
    }
    judge_tier(set, services, "the other services have", findings);
    if (const fabric::Routes *routes = job_routes(evidence)) {
        for (const fabric::Group &group : routes->groups) {
            std::vector<Member> tier;
            for (const fabric::GroupPort &port : group.ports) {
                const PortResult *found = set.find({group.node, port.port});
                if (found != nullptr) {
                    add_member(tier, *found);
                }
            }
            judge_tier(set, tier, "the group's other links have", findings);
        }
    }
}

} // namespace fabric_check
