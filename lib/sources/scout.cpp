// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/scout.hpp"

#include "fabric/discover.hpp"
#include "fabric/live_lfts.hpp"
#include "fabric/own_switch.hpp"
#include "mad/engine.hpp"
#include "mad/port_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fabric_check {

namespace {

using SwitchPortKey = std::pair<std::uint32_t, unsigned>; ///< index into Map::nodes, port

/// The switch end of a host's link, or no_node.
SwitchPortKey facing(const fabric::Map &map, const fabric::Endpoint &host) {
    const auto &ports = map.nodes()[host.node].ports;
    if (host.port >= ports.size() || ports[host.port].peer == fabric::no_node)
        return {fabric::no_node, 0};
    return {ports[host.port].peer, ports[host.port].peer_port};
}

class Scout {
public:
    Scout(mad::Engine &engine, const fabric::Map &map, const ScoutRequest &request, const Config &config)
        : engine_(engine), map_(map), request_(request), config_(config),
          reader_(engine, {.info = true, .details = config.mad.details}) {}

    ScoutSnapshot run() {
        const std::int64_t began = wall_ns();
        out_.node = request_.node;
        out_.time_ns = began;
        out_.map_id = map_.id();
        out_.hosts = match_hosts(map_, request_, out_.problems);
        const fabric::Query query = query_from(map_, out_.hosts, config_);

        fabric::watch_own_switch(engine_, map_);
        // The facing ports are known without any table; they are read while the routes are followed.
        for (const auto *side : {&query.job, &query.services})
            for (const fabric::Endpoint &host : *side)
                read_facing(host);
        // A switch that is silent must not keep the others from being read: the walk has part of the time only.
        const auto share = request_.deadline.left() / 5 * 3;
        auto live = fabric::read_live_lfts(engine_, map_, destinations(query), Deadline::after(share),
                                           [this](std::uint32_t node) {
                                               if (const auto lid = map_.nodes()[node].lid; lid != 0)
                                                   reader_.prepare(lid);
                                           });
        out_.lfts = std::move(live.blocks);
        std::move(live.problems.begin(), live.problems.end(), std::back_inserter(out_.problems));

        const fabric::LftView view(map_, out_.lfts);
        const fabric::Routes routes = fabric::analyse(view, query);
        for (const SwitchPortKey &port : ports_of(routes))
            read_port(port);
        AdaptiveRouting detected = AdaptiveRouting::unknown;
        if (config_.adaptive_routing == "auto" && !live.switches.empty())
            fabric::ask_adaptive_routing(engine_, lids_of(live.switches), detected);
        engine_.run(request_.deadline);

        for (const auto &[where, numbers] : silent_)
            out_.problems.push_back(
                {where.first, "", fmt::format("PortInfo of port {}: {}", fmt::join(numbers, ", "), where.second)});
        out_.adaptive_routing = fabric::adaptive_routing_of(config_, detected);
        if (engine_.sl_problem())
            out_.problems.push_back({request_.node, "", *engine_.sl_problem()});
        if (engine_.failure())
            out_.problems.push_back({request_.node, "", engine_.failure()->message});
        std::sort(out_.ports.begin(), out_.ports.end(), [](const SwitchPort &a, const SwitchPort &b) {
            return std::pair(a.switch_guid, a.port) < std::pair(b.switch_guid, b.port);
        });
        out_.took_ns = wall_ns() - began;
        return std::move(out_);
    }

private:
    std::vector<std::uint16_t> lids_of(const std::vector<std::uint32_t> &switches) const {
        std::vector<std::uint16_t> lids;
        for (const std::uint32_t node : switches)
            lids.push_back(map_.nodes()[node].lid);
        return lids;
    }

    void read_facing(const fabric::Endpoint &host) {
        const SwitchPortKey port = facing(map_, host);
        if (port.first == fabric::no_node)
            out_.problems.push_back({host.name, "", "the map does not say which switch port it is on"});
        else
            read_port(port);
    }

    /// Every source's first switch for every destination: job and services to the job, the job to the services.
    std::vector<fabric::Destination> destinations(const fabric::Query &query) const {
        std::vector<std::uint32_t> from_job, from_all;
        for (const fabric::Endpoint &host : query.job)
            from_job.push_back(facing(map_, host).first);
        std::sort(from_job.begin(), from_job.end());
        from_job.erase(std::unique(from_job.begin(), from_job.end()), from_job.end());
        from_all = from_job;
        for (const fabric::Endpoint &host : query.services)
            from_all.push_back(facing(map_, host).first);
        std::sort(from_all.begin(), from_all.end());
        from_all.erase(std::unique(from_all.begin(), from_all.end()), from_all.end());

        std::vector<fabric::Destination> all;
        for (const fabric::Endpoint &host : query.job)
            all.push_back({host.lid, from_all});
        for (const fabric::Endpoint &host : query.services)
            all.push_back({host.lid, from_job});
        return all;
    }

    /// Output ports on the routes, the far ends of their inter-switch links (errors count where they arrive), and all
    /// members of the groups on the way (an idle member is what makes a spread uneven).
    std::set<SwitchPortKey> ports_of(const fabric::Routes &routes) const {
        std::set<SwitchPortKey> ports;
        for (const auto &[node, numbers] : routes.ports_on_routes)
            for (const std::uint8_t number : numbers) {
                ports.emplace(node, number);
                if (number >= map_.nodes()[node].ports.size())
                    continue;
                const fabric::MapPort link = map_.nodes()[node].ports[number];
                if (link.peer != fabric::no_node && map_.nodes()[link.peer].kind == fabric::NodeKind::switch_node)
                    ports.emplace(link.peer, link.peer_port);
            }
        for (const fabric::Group &group : routes.groups)
            for (const fabric::GroupPort &member : group.ports)
                ports.emplace(group.node, member.port);
        return ports;
    }

    void read_port(const SwitchPortKey &key) {
        if (key.first >= map_.nodes().size() || !asked_.insert(key).second)
            return;
        const fabric::MapNode at = map_.nodes()[key.first];
        if (at.kind != fabric::NodeKind::switch_node)
            return;
        if (at.lid == 0) {
            silent_[{map_.display_name(key.first), "the map has no LID for this switch"}].insert(key.second);
            return;
        }
        SwitchPort port;
        port.switch_guid = at.guid;
        port.switch_name = at.description;
        port.switch_lid = at.lid;
        port.port = key.second;
        reader_.ask(at.lid, key.second, [this, key, port = std::move(port)](mad::PortReading reading) mutable {
            if (reading.info) {
                port.state = reading.info->state_name();
                port.rate = reading.info->rate(reading.extended_speeds);
                // PortInfo shows FDR10 as QDR; the map knows better.
                const auto &ports = map_.nodes()[key.first].ports;
                if (key.second < ports.size() && port.rate.speed == "QDR" &&
                    ports[key.second].rate.speed == "FDR10" && ports[key.second].rate.lanes == port.rate.lanes)
                    port.rate = ports[key.second].rate;
            } else {
                silent_[{map_.display_name(key.first), mad::words(reading.info_outcome)}].insert(port.port);
            }
            port.counters = std::move(reading.counters);
            out_.ports.push_back(std::move(port));
        });
    }

    mad::Engine &engine_;
    const fabric::Map &map_;
    const ScoutRequest &request_;
    const Config &config_;
    mad::PortReader reader_;
    std::set<SwitchPortKey> asked_;
    std::map<std::pair<std::string, std::string>, std::set<unsigned>> silent_; ///< switch and reason -> ports
    ScoutSnapshot out_;
};

} // namespace

Result<ScoutSnapshot> scout(mad::Engine &engine, const fabric::Map &map, const ScoutRequest &request,
                            const Config &config) {
    Scout pass(engine, map, request, config);
    ScoutSnapshot snapshot = pass.run();
    if (engine.failure() && engine.stats().answered == 0)
        return *engine.failure();
    return snapshot;
}

} // namespace fabric_check
