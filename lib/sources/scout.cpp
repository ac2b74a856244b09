// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/scout.hpp"

#include "fabric/discover.hpp"
#include "fabric/live_lfts.hpp"
#include "fabric/own_switch.hpp"
#include "mad/engine.hpp"
#include "mad/port_reader.hpp"
#include "sample/board.hpp"
#include "sources/job_ports.hpp"
#include "sources/switch_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fabric_check {

namespace {

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
        for (const SwitchPortKey &port : facing_ports(map_, query, out_.problems))
            if (needed_.insert(port).second)
                read_port(port);
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
        const std::set<SwitchPortKey> on_routes = ports_on_routes(map_, routes);
        const auto young = static_cast<std::int64_t>(config_.sample.share_ms) * 1'000'000;
        acquire(on_routes, request_.phase == Phase::start ? began - young : began);
        AdaptiveRouting detected = AdaptiveRouting::unknown;
        if (config_.adaptive_routing == "auto" && !live.switches.empty())
            fabric::ask_adaptive_routing(engine_, lids_of(live.switches), detected);
        engine_.run(request_.deadline);
        await_others();

        for (const auto &[where, numbers] : silent_)
            out_.problems.push_back(
                {where.first, "", fmt::format("PortInfo of port {}: {}", fmt::join(numbers, ", "), where.second)});
        out_.adaptive_routing = fabric::adaptive_routing_of(config_, detected);
        for (const std::string &problem : engine_.problems())
            out_.problems.push_back({request_.node, "", problem});
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

    bool is_switch(const SwitchPortKey &key) const { return map_.is_switch(key.first); }
    std::optional<SwitchPortKey> key_of(const sample::PortId &id) const {
        const std::uint32_t node = map_.by_guid(id.guid);
        return node == fabric::no_node ? std::nullopt : std::optional(SwitchPortKey{node, id.port});
    }
    sample::PortId id_of(const SwitchPortKey &key) const {
        return {map_.nodes()[key.first].guid, static_cast<std::uint8_t>(key.second)};
    }

    /// Has these ports read, by others where that is young enough; what others are reading at this moment is awaited later.
    void acquire(const std::set<SwitchPortKey> &ports, std::int64_t not_before_ns) {
        sample::Board::Ports wanted;
        for (const SwitchPortKey &key : ports)
            if (is_switch(key) && needed_.insert(key).second)
                wanted.insert(id_of(key));
        if (request_.board == nullptr) {
            for (const sample::PortId &id : wanted)
                read_port(*key_of(id));
            return;
        }
        keep(request_.board->take(wanted, not_before_ns));
        if (wanted.empty())
            return;
        for (const sample::PortId &id : request_.board->claim(wanted, not_before_ns))
            read_port(*key_of(id));
        awaited_[not_before_ns].insert(wanted.begin(), wanted.end());
    }

    void keep(std::vector<SwitchPort> ports) {
        std::move(ports.begin(), ports.end(), std::back_inserter(out_.ports));
    }

    /// Hands on what was read, waits for what others are reading, and reads what does not come.
    void await_others() {
        if (request_.board != nullptr && !out_.ports.empty())
            share();
        for (auto &[not_before_ns, open] : awaited_) {
            keep(request_.board->await(open, not_before_ns, request_.deadline));
            keep(request_.board->take(open, not_before_ns));
            for (const sample::PortId &id : open)
                read_port(*key_of(id));
        }
        engine_.run(request_.deadline);
    }

    void share() {
        std::vector<SwitchPort> own;
        for (const SwitchPort &port : out_.ports)
            if (asked_.contains({map_.by_guid(port.switch_guid), port.port}))
                own.push_back(port);
        if (const auto shared = request_.board->publish(std::move(own), map_.id()); !shared)
            out_.problems.push_back({"spool", "", "readings not shared: " + shared.error().message});
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
        SwitchPort port = switch_port(map_, key.first, key.second);
        reader_.ask(at.lid, key.second, [this, key, port = std::move(port)](mad::PortReading reading) mutable {
            if (!reading.info)
                silent_[{map_.display_name(key.first), mad::words(reading.info_outcome)}].insert(port.port);
            take_reading(map_, key.first, std::move(reading), port);
            out_.ports.push_back(std::move(port));
        });
    }

    mad::Engine &engine_;
    const fabric::Map &map_;
    const ScoutRequest &request_;
    const Config &config_;
    mad::PortReader reader_;
    std::set<SwitchPortKey> needed_; ///< so far
    std::set<SwitchPortKey> asked_;  ///< by us
    std::map<std::int64_t, sample::Board::Ports> awaited_; ///< by how old the reading may be
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
