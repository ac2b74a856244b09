// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/port_use.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check {

namespace {

constexpr std::uint16_t no_lid = 0xffff; // what sysfs shows for a port without one

/// Counters of RDMA alone: all of the card's own, and of its network device those that say so.
bool counts_rdma(std::string_view name) {
    const CounterInfo *info = find_counter(name);
    return info == nullptr || info->source != CounterSource::ethtool ||
           name.find("_vport_rdma_") != std::string_view::npos;
}

/// Bytes moved by RDMA; nullopt when no counter of them has a delta.
std::optional<std::uint64_t> rdma_bytes(const Deltas &deltas) {
    std::optional<std::uint64_t> most;
    for (const char *counter : {"PortXmitData", "PortRcvData", "tx_vport_rdma_unicast_bytes",
                                "rx_vport_rdma_unicast_bytes"}) {
        const auto at = deltas.find(counter);
        if (at != deltas.end() && at->second.value) {
            const bool quads = *counter == 'P';
            const std::uint64_t bytes = quads && *at->second.value <= UINT64_MAX / 4 ? *at->second.value * 4
                                                                                      : *at->second.value;
            most = std::max(most.value_or(0), bytes);
        }
    }
    return most;
}

PortChoice choose_ethernet(const HcaPort *start, const HcaPort *end) {
    if (start == nullptr || end == nullptr) {
        return {PortUse::not_known, false, "read at one side of the job only"};
    }
    const Deltas deltas = deltas_of(start->counters, end->counters);
    const auto bytes = rdma_bytes(deltas);
    if (bytes.value_or(0) > 0) {
        return {PortUse::bytes, true, human_bytes(*bytes) + " by RDMA"};
    }
    bool read = bytes.has_value();
    std::string unread;
    for (const auto &[name, delta] : deltas) {
        if (!counts_rdma(name)) {
            continue;
        }
        if (delta.value.value_or(0) > 0) {
            return {PortUse::counters, true, std::string(name) + " moved"};
        }
        read = read || delta.value.has_value();
        if (!delta.value && !is_missing(delta.why)) {
            unread = fmt::format("{}: {}", name, to_string(delta.why));
        }
    }
    if (!unread.empty()) { // an event that nobody can see any more is an event all the same
        return {PortUse::counters, true, unread};
    }
    return read ? PortChoice{PortUse::idle, false, "no RDMA on it"}
                : PortChoice{PortUse::not_known, false, "its driver shows no counters of RDMA"};
}

} // namespace

bool is_infiniband(const HcaPort &port) noexcept {
    const bool has_lid = port.lid != 0 && port.lid != no_lid;
    return port.link_layer == LinkLayer::infiniband || (port.link_layer == LinkLayer::unknown && has_lid);
}

bool is_active(const HcaPort *port) noexcept {
    return port != nullptr && port->state == "ACTIVE";
}

const HcaPort *find_port(const std::optional<NodeSnapshot> &snapshot, const HcaPort &like) {
    if (!snapshot) {
        return nullptr;
    }
    const auto at = std::find_if(snapshot->ports.begin(), snapshot->ports.end(), [&](const HcaPort &port) {
        return port.device == like.device && port.number == like.number;
    });
    return at == snapshot->ports.end() ? nullptr : &*at;
}

PortChoices::PortChoices(const JobEvidence &evidence, const Config::Ports &ports) {
    for (const NodeEvidence &node : evidence.nodes) {
        for (const auto *side : {&node.start, &node.end}) {
            if (*side) {
                choose(node, **side, ports);
            }
        }
    }
    for (auto &[key, choice] : choices_) {
        by_node_[key.first].push_back(&choice);
        by_port_[key.second].push_back(&choice);
    }
    find_rails();
    keep_something();
}

void PortChoices::choose(const NodeEvidence &node, const NodeSnapshot &snapshot, const Config::Ports &ports) {
    for (const HcaPort &port : snapshot.ports) {
        const HcaPort *start = find_port(node.start, port);
        const HcaPort *end = find_port(node.end ? node.end : node.mid, port);
        const std::pair key{node.node, port.name()};
        if ((!is_active(start) && !is_active(end)) || choices_.contains(key)) {
            continue;
        }
        netdevs_.emplace(port.name(), port.netdev);
        PortChoice choice;
        if (const std::string *pattern = excluded_by(port, ports.exclude)) {
            choice = {PortUse::excluded, false, "excluded as " + *pattern};
        } else if (is_infiniband(port)) {
            choice = {PortUse::infiniband, true, "InfiniBand"};
        } else {
            choice = choose_ethernet(start, end);
        }
        choices_.emplace(key, std::move(choice));
    }
}

/// A port that more than half of the nodes that have it use is a rail of the job, on all of them.
void PortChoices::find_rails() {
    for (auto &[port, choices] : by_port_) {
        const auto used = std::count_if(choices.begin(), choices.end(), [](const PortChoice *choice) {
            return choice->use == PortUse::bytes || choice->use == PortUse::counters;
        });
        if (2 * static_cast<std::size_t>(used) <= choices.size()) {
            continue;
        }
        for (PortChoice *choice : choices) {
            if (choice->use == PortUse::idle || choice->use == PortUse::not_known) {
                *choice = {PortUse::rail, true, fmt::format("in use on {} of {} nodes", used, choices.size())};
            }
        }
    }
}

/// A node is not left without a port where it has some that may have been used.
void PortChoices::keep_something() {
    for (auto &[node, choices] : by_node_) {
        if (std::none_of(choices.begin(), choices.end(), [](const PortChoice *choice) { return choice->counts; })) {
            for (PortChoice *choice : choices) {
                choice->counts = choice->use == PortUse::not_known;
            }
        }
    }
}

const PortChoice *PortChoices::of(const std::string &node, const HcaPort &port) const {
    const auto at = choices_.find({node, port.name()});
    return at == choices_.end() ? nullptr : &at->second;
}

std::vector<std::string> PortChoices::notes() const {
    std::vector<std::string> notes;
    for (const auto &[port, choices] : by_port_) {
        // By what was decided, and an example of the reason.
        std::map<std::pair<PortUse, bool>, std::pair<std::size_t, const PortChoice *>> kinds;
        for (const PortChoice *choice : choices) {
            if (choice->use != PortUse::infiniband) {
                auto &[count, first] = kinds[{choice->use, choice->counts}];
                first = first == nullptr ? choice : first;
                ++count;
            }
        }
        const std::string &netdev = netdevs_.at(port);
        for (const auto &[kind, found] : kinds) {
            const auto &[count, first] = found;
            const bool same = kind.first != PortUse::bytes || count == 1;
            notes.push_back(fmt::format("port {}{} {} on {} {}: {}", port, netdev.empty() ? "" : " (" + netdev + ")",
                                        kind.second ? "counts" : "does not count", count,
                                        count == 1 ? "node" : "nodes", same ? first->why : "it moved data by RDMA"));
        }
    }
    return notes;
}

} // namespace fabric_check
