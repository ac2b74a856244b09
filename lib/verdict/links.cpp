// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/links.hpp"

#include "sources/sysfs.hpp"
#include "verdict/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace fabric_check {

namespace {

constexpr const char *active = "ACTIVE";

struct Side {
    const std::string *state = nullptr;
    const LinkRate *rate = nullptr;
};

Side side_of(const HcaPort *host, const SwitchPort *at_switch) {
    if (host != nullptr) {
        return {&host->state, &host->rate};
    }
    return at_switch != nullptr ? Side{&at_switch->state, &at_switch->rate} : Side{};
}

/// The rate of a link that is up; a port that is down shows what it last had, or nothing.
const LinkRate *rate_of(const Side &side) {
    return side.rate != nullptr && side.rate->lanes != 0 && (side.state->empty() || *side.state == active) ? side.rate
                                                                                                           : nullptr;
}

std::string slot_text(const PcieLink &link) {
    return fmt::format("{}x {} GT/s", link.lanes, link.gts);
}

bool slower(const PcieLink &a, const PcieLink &b) {
    return a.lanes < b.lanes || a.gts < b.gts;
}

/// One card of one node; its ports share the slot.
struct Card {
    const PortResult *port = nullptr;
    const HcaPort *card = nullptr;
    PcieLink link;
};

std::vector<Card> cards_of(const PortSet &set) {
    std::vector<Card> cards;
    std::set<std::pair<std::string, std::string>> seen;
    for (const PortResult &port : set.ports) {
        const HcaPort *card = port.host_end != nullptr ? port.host_end : port.host_start;
        if (port.role == "host" && card != nullptr && seen.insert({port.node, card->device}).second) {
            cards.push_back({&port, card, card->pcie});
        }
    }
    return cards;
}

/// Two thirds of its peers, and one at least, run faster.
bool peers_run_faster(const Card &card, const std::vector<const Card *> &kind) {
    std::vector<const Card *> peers;
    const auto collect = [&](bool same_name) {
        for (const Card *other : kind) {
            const bool other_node = other->port->node != card.port->node;
            if (other != &card && (!same_name || (other_node && other->card->device == card.card->device))) {
                peers.push_back(other);
            }
        }
    };
    collect(true);
    if (peers.empty()) {
        collect(false);
    }
    const auto faster = std::count_if(peers.begin(), peers.end(), [&](const Card *peer) {
        return peer->link.capacity() > card.link.capacity();
    });
    return faster > 0 && 3 * static_cast<std::size_t>(faster) >= 2 * peers.size();
}

std::string kind_of(const HcaPort &card) {
    return card.model.empty() ? card.driver : card.model;
}

double signalling_of(const std::string &speed) {
    return link_rate(4, speed).signalling_gbps;
}

} // namespace

std::string link_of(const PortSet &set, const PortResult &port) {
    return port.node.empty() || port.peer < 0 ? port.where : set.ports[static_cast<std::size_t>(port.peer)].where;
}

std::string end_of(const PortSet &set, const PortResult &port) {
    return port.node.empty() ? set.names.end({port.map_node, port.map_port}) : port.where;
}

void add_link_finding(const PortSet &set, const PortResult &port, const char *counter, const std::string &note,
                      std::vector<Finding> &findings) {
    const std::string where = link_of(set, port);
    const std::string other = port.peer < 0 ? "" : set.ports[static_cast<std::size_t>(port.peer)].where;
    for (Finding &finding : findings) {
        if (finding.counter == counter && finding.layer == Layer::physical &&
            (finding.where == where || finding.where == port.where || finding.where == other)) {
            if (finding.note.find(note) == std::string::npos) {
                annotate(finding, note);
            }
            return;
        }
    }
    findings.push_back({where, counter, 0, Layer::physical, true, note, end_of(set, port)});
}

void find_changes(const PortSet &set, std::vector<Finding> &findings) {
    std::map<std::string, const PortResult *> by_end;
    for (const PortResult &port : set.ports) {
        if (!port.on_route || port.rebooted) {
            continue;
        }
        by_end.emplace(end_of(set, port), &port);
        const LinkRate *start = rate_of(side_of(port.host_start, port.switch_start));
        const LinkRate *end = rate_of(side_of(port.host_end, port.switch_end));
        if (start == nullptr || end == nullptr) {
            continue;
        }
        if (port.profile == Profile::roce) { // lanes are the kernel's way of saying a rate there
            if (start->data_gbps != end->data_gbps) {
                add_link_finding(set, port, "speed",
                                 fmt::format("{:g} Gb/s at start, {:g} at end", start->data_gbps, end->data_gbps),
                                 findings);
            }
            continue;
        }
        if (start->lanes != end->lanes) {
            add_link_finding(set, port, "width", fmt::format("{}X at start, {}X at end", start->lanes, end->lanes),
                             findings);
        }
        if (start->speed != end->speed) {
            add_link_finding(set, port, "speed", fmt::format("{} at start, {} at end", start->speed, end->speed),
                             findings);
        }
    }
    for (const Card &card : cards_of(set)) {
        const PortResult &port = *card.port;
        if (port.rebooted || port.host_start == nullptr || port.host_end == nullptr) {
            continue;
        }
        const PcieLink &start = port.host_start->pcie;
        const PcieLink &end = port.host_end->pcie;
        if (start.known() && end.known() && (start.lanes != end.lanes || start.gts != end.gts)) {
            findings.push_back({port.where, "pcie", 0, Layer::physical, true,
                                fmt::format("{} at start, {} at end", slot_text(start), slot_text(end)), port.where});
        }
    }
    for (Finding &finding : findings) {
        const auto at = by_end.find(finding.read_at);
        if ((finding.counter != "LinkDownedCounter" && !finding.counter.starts_with("link_down_events")) ||
            at == by_end.end()) {
            continue;
        }
        const Side start = side_of(at->second->host_start, at->second->switch_start);
        const Side end = side_of(at->second->host_end, at->second->switch_end);
        if (start.state != nullptr && end.state != nullptr && *start.state == active && *end.state == active) {
            annotate(finding, "went down and came back");
        }
    }
}

void find_below_policy(const PortSet &set, const Config::Policy &policy, std::vector<Finding> &findings) {
    const double least_speed = signalling_of(policy.speed);
    for (const PortResult &port : set.ports) {
        const LinkRate *end = port.on_route ? rate_of(side_of(port.host_end, port.switch_end)) : nullptr;
        if (end == nullptr) {
            continue;
        }
        if (port.profile == Profile::roce) {
            if (policy.ethernet_gbps > 0 && end->data_gbps < policy.ethernet_gbps) {
                add_link_finding(set, port, "speed",
                                 fmt::format("{:g} Gb/s, the site's policy is {:g}", end->data_gbps, policy.ethernet_gbps),
                                 findings);
            }
            continue;
        }
        // "4X": the configuration takes no other form.
        if (!policy.width.empty() && end->lanes < static_cast<unsigned>(std::stoul(policy.width))) {
            add_link_finding(set, port, "width", fmt::format("{}X, the site's policy is {}", end->lanes, policy.width),
                             findings);
        }
        if (least_speed > 0 && end->signalling_gbps > 0 && end->signalling_gbps < least_speed) {
            add_link_finding(set, port, "speed", fmt::format("{}, the site's policy is {}", end->speed, policy.speed),
                             findings);
        }
    }
}

void find_slow_slots(const PortSet &set, const Config::Policy &policy, std::vector<Finding> &findings,
                     std::vector<std::string> &notes) {
    const std::vector<Card> cards = cards_of(set);
    std::map<std::string, std::vector<const Card *>> kinds;
    for (const Card &card : cards) {
        if (card.link.known()) {
            kinds[kind_of(*card.card)].push_back(&card);
        }
    }
    for (const auto &[kind, members] : kinds) {
        std::map<std::string, std::size_t> slots;
        for (const Card *card : members) {
            ++slots[slot_text(card->link)];
        }
        std::string text;
        for (const auto &[slot, count] : slots) {
            text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", count, slot);
        }
        notes.push_back(fmt::format("PCI Express of the job's {}cards: {}", kind.empty() ? "" : kind + " ", text));
    }
    const auto wanted = parse_pcie(policy.pcie);
    for (const auto &[kind, members] : kinds) {
        std::size_t limited = 0;
        const Card *example = nullptr;
        for (const Card *card : members) {
            const PcieLink &link = card->link;
            std::string note;
            const bool below = link.max_lanes != 0 && link.max_gts > 0 &&
                               (link.lanes < link.max_lanes || link.gts < link.max_gts);
            if (below && peers_run_faster(*card, members)) {
                note = fmt::format("{}, the card can {}x {} GT/s and its peers run faster", slot_text(link),
                                   link.max_lanes, link.max_gts);
            }
            if (wanted && slower(link, *wanted)) {
                note += fmt::format("{}{}the site's policy is {}", note.empty() ? slot_text(link) : "", ", ",
                                    slot_text(*wanted));
            }
            if (!note.empty()) {
                const auto known = std::find_if(findings.begin(), findings.end(), [&](const Finding &finding) {
                    return finding.counter == "pcie" && finding.where == card->port->where;
                });
                if (known != findings.end()) {
                    annotate(*known, note);
                } else {
                    findings.push_back({card->port->where, "pcie", 0, Layer::physical, true, note, card->port->where});
                }
            } else if (below) {
                ++limited;
                example = example == nullptr ? card : example;
            }
        }
        if (example != nullptr) {
            notes.push_back(fmt::format("PCI Express: {} {} of kind {} {} below what the card can, as do most of its "
                                        "peers: perhaps the slots' limit ({}: {} of {}x {} GT/s)",
                                        limited, limited == 1 ? "card" : "cards", kind.empty() ? "unknown" : kind,
                                        limited == 1 ? "runs" : "run", example->port->where, slot_text(example->link),
                                        example->link.max_lanes, example->link.max_gts));
        }
    }
}

} // namespace fabric_check
