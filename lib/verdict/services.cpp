// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hostlist.hpp"
#include "verdict/ports.hpp"

#include <algorithm>

namespace fabric_check {

namespace {

constexpr std::size_t most_services = 65536;

std::string lost_reason(const JobEvidence &evidence, const std::string &service, bool in_map) {
    for (const auto *scout : {&evidence.scout.end, &evidence.scout.start}) {
        if (*scout) {
            for (const Problem &problem : (*scout)->problems) {
                if (problem.where == service && problem.counter.empty()) {
                    return problem.reason;
                }
            }
        }
    }
    return in_map ? "the map knows no link here: its switch port was not read"
                  : "not in the fabric map: its switch port was not read";
}

bool any_match(const std::optional<ScoutSnapshot> &scout) { return scout && !scout->hosts.empty(); }

} // namespace

void add_lost_services(const JobEvidence &evidence, const std::string &services, const fabric::Query &query, PortSet &set) {
    const bool matched = any_match(evidence.scout.start) || any_match(evidence.scout.end);
    if (services.empty() || evidence.map == nullptr || !matched) {
        return;
    }
    const Result<std::vector<std::string>> names = expand_hostlist(services, most_services);
    if (!names) {
        set.unread.push_back({"services", "", names.error().message, Layer::physical, true});
        set.cover.missing.emplace_back("services");
        return;
    }
    std::set<std::string> in_map;
    std::set<std::string> done(evidence.job.node_names.begin(), evidence.job.node_names.end());
    for (const fabric::Endpoint &service : query.services) {
        in_map.insert(service.name);
        if (evidence.map->is_switch(peer_of(*evidence.map, {service.node, service.port}).first)) {
            done.insert(service.name);
        }
    }
    for (const std::string &service : *names) {
        if (!done.insert(service).second) {
            continue;
        }
        ++set.cover.ports_expected;
        set.cover.missing.push_back(service);
        set.unread.push_back(
            {service, "", lost_reason(evidence, service, in_map.contains(service)), Layer::physical, true});
    }
}

} // namespace fabric_check
