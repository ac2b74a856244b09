// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/hot.hpp"

#include <algorithm>
#include <limits>

namespace fabric_check {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// Sums what distinct host ports moved; a port that is not the job's, or was not read, sets no bound.
class Bound {
public:
    Bound(const PortSet &set, const Volume &volume) : set_(set), volume_(volume) {}
    void add_all() { sum_ = unbounded; }
    void add(MapPortId host, bool sent) {
        if (!counted_.insert(host).second) {
            return;
        }
        const PortResult *port = set_.find(host);
        const std::optional<double> bytes = port == nullptr || port->role != "host" ? std::nullopt
                                            : sent                                  ? volume_.sent(host)
                                                                                    : volume_.received(host);
        sum_ += bytes.value_or(unbounded);
    }
    double sum() const { return sum_; }

private:
    const PortSet &set_;
    const Volume &volume_;
    std::set<MapPortId> counted_;
    double sum_ = 0;
};

} // namespace

std::optional<double> own_share(const JobEvidence &evidence, const fabric::Query &query, const PortSet &set,
                                MapPortId port, const Volume &volume) {
    const PortResult *result = set.find(port);
    const fabric::Routes *routes = job_routes(evidence);
    const std::optional<double> moved = volume.sent(port);
    if (result == nullptr || !moved || evidence.map == nullptr || routes == nullptr) {
        return std::nullopt;
    }
    const double bytes = *moved;
    if (bytes <= 0) {
        return 0;
    }
    Bound sent(set, volume);
    Bound received(set, volume);
    const MapPortId peer = peer_of(*evidence.map, port);
    if (!evidence.map->is_switch(peer.first)) {
        if (result->role == "facing") {
            received.add(peer, false);
        } else {
            received.add_all();
        }
        if (query.job.empty() || (!query.services.empty() && result->role == "facing")) {
            sent.add_all();
        }
        for (const fabric::Endpoint &endpoint : query.job) {
            sent.add({endpoint.node, endpoint.port}, true);
        }
        return std::min({bytes, sent.sum(), received.sum()}) / bytes;
    }
    std::map<std::uint16_t, MapPortId> by_lid;
    for (const fabric::Endpoint &endpoint : query.job) {
        by_lid.emplace(endpoint.lid, MapPortId{endpoint.node, endpoint.port});
    }
    bool carries = false;
    for (const fabric::Group &group : routes->groups) {
        for (const fabric::GroupPort &member : group.ports) {
            if (group.node != port.first || member.port != port.second || member.lids.empty()) {
                continue;
            }
            carries = true;
            for (const std::uint16_t lid : member.lids) {
                const auto at = by_lid.find(lid);
                at == by_lid.end() ? received.add_all() : received.add(at->second, false);
            }
            fabric::each_source(*routes, group, member, [&](std::uint32_t source) {
                if (source < query.job.size()) {
                    sent.add({query.job[source].node, query.job[source].port}, true);
                } else {
                    sent.add_all();
                }
                return sent.sum() < bytes; // more would change nothing
            });
            if (member.senders.empty()) {
                sent.add_all();
            }
        }
    }
    return carries ? std::min({bytes, sent.sum(), received.sum()}) / bytes : 0;
}

std::optional<double> own_share_received(const fabric::Query &query, const PortSet &set, const PortResult &facing,
                                         const Volume &volume) {
    const std::optional<double> moved = volume.received({facing.map_node, facing.map_port});
    if (!moved) {
        return std::nullopt;
    }
    const double bytes = *moved;
    if (bytes <= 0) {
        return 0;
    }
    Bound received(set, volume);
    if (query.job.empty() || (facing.role == "facing" && !query.services.empty())) {
        received.add_all(); // what services received is nobody's record
    }
    for (const fabric::Endpoint &endpoint : query.job) {
        received.add({endpoint.node, endpoint.port}, false);
    }
    return std::min(bytes, received.sum()) / bytes;
}

} // namespace fabric_check
