// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/scout.hpp"

#include <fmt/format.h>

#include <set>

namespace fabric_check {

namespace {

/// The matches of one host, or a problem.
class Matcher {
public:
    Matcher(const fabric::Map &map, const ScoutRequest &request, std::vector<HostMatch> &found,
            std::vector<Problem> &problems)
        : map_(map), request_(request), found_(found), problems_(problems) {}

    void match(const std::string &host, bool service) {
        if (!hosts_.insert(host).second)
            return; // a service that is in the job is judged as the job's
        const std::size_t before = found_.size();
        bool without_lid = false;
        if (const auto known = request_.known_guids.find(host); known != request_.known_guids.end())
            for (const std::uint64_t guid : known->second) {
                std::uint8_t port = 0;
                const std::uint32_t node = map_.by_port_guid(guid, &port);
                if (node != fabric::no_node)
                    without_lid |= !add(host, service, MatchedBy::guid, node, port);
            }
        if (found_.size() == before)
            for (const auto &[node, port] : map_.by_name(host))
                without_lid |= !add(host, service, MatchedBy::description, node, port);
        if (found_.size() > before)
            return;
        problems_.push_back(
            {host, "",
             without_lid ? "its ports have no LID in the map: they were down when it was built (fabric-check map build)"
                         : "not in the map, neither by port GUID nor by node description (fabric-check map build)"});
    }

private:
    /// False: the port has no LID to be found by.
    bool add(const std::string &host, bool service, MatchedBy by, std::uint32_t node, std::uint8_t port) {
        const fabric::MapNode at = map_.nodes()[node];
        if (port >= at.ports.size() || at.ports[port].lid == 0)
            return false;
        const fabric::MapPort found = at.ports[port];
        if (lids_.insert(found.lid).second)
            found_.push_back({host, found.guid, found.lid, service, by});
        return true;
    }

    const fabric::Map &map_;
    const ScoutRequest &request_;
    std::vector<HostMatch> &found_;
    std::vector<Problem> &problems_;
    std::set<std::string> hosts_;
    std::set<std::uint16_t> lids_;
};

} // namespace

std::vector<HostMatch> match_hosts(const fabric::Map &map, const ScoutRequest &request,
                                   std::vector<Problem> &problems) {
    std::vector<HostMatch> found;
    Matcher matcher(map, request, found, problems);
    for (const std::string &host : request.job_nodes)
        matcher.match(host, false);
    for (const std::string &host : request.services)
        matcher.match(host, true);
    return found;
}

fabric::Query query_from(const fabric::Map &map, const std::vector<HostMatch> &hosts, const Config &config) {
    fabric::Query query;
    query.ceilings = default_payload_ceilings();
    for (const auto &[link, ceiling] : config.payload_ceilings)
        query.ceilings[link] = ceiling;
    for (const HostMatch &host : hosts) {
        fabric::Endpoint endpoint;
        endpoint.name = host.node;
        endpoint.lid = host.lid;
        // The map may be newer than the match (another LID) or have no GUIDs (made from files): either finds the port.
        if (host.port_guid != 0)
            endpoint.node = map.by_port_guid(host.port_guid, &endpoint.port);
        if (endpoint.node == fabric::no_node) {
            endpoint.node = map.by_lid(host.lid);
            endpoint.port = endpoint.node == fabric::no_node ? std::uint8_t{0} : map.port_of_lid(host.lid);
        }
        if (endpoint.node == fabric::no_node || map.nodes()[endpoint.node].kind == fabric::NodeKind::switch_node)
            continue;
        (host.service ? query.services : query.job).push_back(std::move(endpoint));
    }
    return query;
}

} // namespace fabric_check
