// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/discover.hpp"

#include "fabric/identities.hpp"
#include "fabric/link_rates.hpp"
#include "fabric/own_switch.hpp"
#include "mad/attributes.hpp"
#include "mad/engine.hpp"
#include "mad/session.hpp"
#include "mad/transport.hpp"

#include <fmt/format.h>
#include <infiniband/ibnetdisc.h>

#include <algorithm>
#include <memory>

namespace fabric_check::fabric {

namespace {

constexpr std::size_t lids_per_block = 64;
// Directed routes all leave through our own port and the first switch: deeper queues there drop SMPs.
constexpr unsigned discovery_window = 16;

struct FabricDeleter {
    void operator()(ibnd_fabric_t *fabric) const { ibnd_destroy_fabric(fabric); }
};

Result<MapDraft> topology(const Config &config, std::uint64_t m_key) {
    ibnd_config_t settings{};
    settings.max_smps = std::clamp(config.mad.window, 1U, discovery_window);
    settings.timeout_ms = std::max(config.mad.timeout_ms, 1U);
    settings.retries = config.mad.retries;
    settings.flags = IBND_CONFIG_MLX_EPI; // tells FDR10 from QDR
    settings.mkey = m_key;
    std::string device = config.mad.device;
    const std::unique_ptr<ibnd_fabric_t, FabricDeleter> found(ibnd_discover_fabric(
        device.empty() ? nullptr : device.data(), static_cast<int>(config.mad.port), nullptr, &settings));
    if (!found)
        return Error{Errc::no_answer, "fabric: discovery failed (is the port active, and are directed-route SMPs "
                                      "allowed from this host?)"};
    return map_of(*found);
}

/// One run over all switches' tables.
class TableReader {
public:
    TableReader(mad::Engine &engine, MapDraft &map, const Progress &progress)
        : engine_(engine), map_(map), progress_(progress) {}

    void submit() {
        for (std::uint32_t i = 0; i < map_.nodes.size(); ++i) {
            DraftNode &node = map_.nodes[i];
            if (node.kind != NodeKind::switch_node)
                continue;
            node.lft.clear();
            if (node.lid == 0) {
                problem(i, "no LID: no subnet manager has routed this switch");
                continue;
            }
            engine_.submit({.lid = node.lid, .attribute = mad::attribute::switch_info},
                           [this, i](const mad::Reply &reply) { switch_info(i, reply); });
        }
    }

private:
    void problem(std::uint32_t index, std::string reason) {
        map_.problems.push_back({map_.display_name(index), "", std::move(reason)});
    }

    void switch_info(std::uint32_t index, const mad::Reply &reply) {
        DraftNode &node = map_.nodes[index];
        const auto info =
            reply.outcome == mad::Outcome::ok ? mad::decode_switch_info(reply.data) : std::nullopt;
        if (!info) {
            problem(index, fmt::format("SwitchInfo: {}; its forwarding table is not known", mad::words(reply.outcome)));
            return;
        }
        const unsigned blocks = info->blocks();
        node.lft.assign(blocks * lids_per_block, no_route);
        total_ += blocks;
        for (unsigned block = 0; block < blocks; ++block)
            engine_.submit({.lid = node.lid, .attribute = mad::attribute::linear_forwarding_table, .modifier = block},
                           [this, index, block](const mad::Reply &answer) { table_block(index, block, answer); });
    }

    void table_block(std::uint32_t index, unsigned block, const mad::Reply &reply) {
        DraftNode &node = map_.nodes[index];
        const auto ports =
            reply.outcome == mad::Outcome::ok ? mad::decode_lft_block(reply.data) : std::nullopt;
        if (ports)
            std::copy(ports->begin(), ports->end(),
                      node.lft.begin() + static_cast<std::ptrdiff_t>(block * lids_per_block));
        else
            problem(index, fmt::format("forwarding table, LIDs {}-{}: {}", block * lids_per_block,
                                      block * lids_per_block + lids_per_block - 1, mad::words(reply.outcome)));
        ++done_;
        if (progress_)
            progress_("tables", done_, total_);
    }

    mad::Engine &engine_;
    MapDraft &map_;
    const Progress &progress_;
    std::size_t done_ = 0, total_ = 0;
};

} // namespace

void ask_adaptive_routing(mad::Engine &engine, const std::vector<std::uint16_t> &switches, AdaptiveRouting &result) {
    result = AdaptiveRouting::off;
    for (const std::uint16_t lid : switches) {
        engine.submit({.lid = lid, .attribute = mad::attribute::adaptive_routing_info, .probe = true},
                      [&result](const mad::Reply &reply) {
                          if (reply.outcome == mad::Outcome::unsupported)
                              return;
                          const auto enabled = reply.outcome == mad::Outcome::ok
                                                   ? mad::decode_adaptive_routing(reply.data)
                                                   : std::nullopt;
                          if (enabled && *enabled)
                              result = AdaptiveRouting::on;
                          else if (!enabled && result == AdaptiveRouting::off)
                              result = AdaptiveRouting::unknown;
                      });
    }
}

AdaptiveRouting adaptive_routing_of(const Config &config, AdaptiveRouting detected) {
    if (config.adaptive_routing == "on")
        return AdaptiveRouting::on;
    if (config.adaptive_routing == "off")
        return AdaptiveRouting::off;
    return detected;
}

void read_tables(mad::Engine &engine, MapDraft &map, Deadline deadline, const Progress &progress) {
    watch_own_switch(engine, map);
    TableReader reader(engine, map, progress);
    reader.submit();
    std::vector<std::uint16_t> switches;
    for (const DraftNode &node : map.nodes)
        if (node.kind == NodeKind::switch_node && node.lid != 0)
            switches.push_back(node.lid);
    ask_adaptive_routing(engine, switches, map.adaptive_routing);
    engine.run(deadline);
    if (switches.empty())
        map.adaptive_routing = AdaptiveRouting::unknown;
    if (engine.failure())
        map.problems.push_back({"map", "", engine.failure()->message});
}

Result<MapDraft> discover(const Config &config, const Progress &progress, const std::function<Status()> &prepare) {
    const auto m_key = mad::read_m_key(config.mad.m_key_file);
    if (!m_key)
        return m_key.error();
    // libibnetdisc does not say why it fails; whether we may send MADs at all is found out first.
    if (auto tried = mad::UmadTransport::open(config.mad.device, config.mad.port); !tried)
        return tried.error();
    if (prepare)
        if (const Status prepared = prepare(); !prepared)
            return prepared.error();
    if (progress)
        progress("topology", 0, 0);
    auto map = topology(config, *m_key);
    if (!map)
        return map;
    const auto session = mad::open_session(config);
    if (!session)
        return session.error();
    ask_subnet_manager(*session->engine, *map); // answered in the same run
    read_tables(*session->engine, *map, Deadline::never(), progress);
    for (const std::string &problem : session->engine->problems())
        map->problems.push_back({"map", "", problem});
    map->adaptive_routing = adaptive_routing_of(config, map->adaptive_routing);
    map->index();
    agree_on_rates(*map);
    check_identities(*map);
    map->built_ns = wall_ns();
    map->source = "live";
    return map;
}

} // namespace fabric_check::fabric
