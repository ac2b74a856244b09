// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/pegged.hpp"

#include "fabric/own_switch.hpp"
#include "mad/attributes.hpp"
#include "mad/port_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace fabric_check::fabric {

Pegged find_pegged(mad::Engine &engine, const Map &map, Deadline deadline) {
    Pegged found;
    watch_own_switch(engine, map);
    mad::PortReader reader(engine, {.info = true, .details = false});
    std::map<std::pair<std::uint32_t, std::string>, unsigned> silent; ///< switch and reason -> ports
    for (std::uint32_t n = 0; n < map.nodes().size(); ++n) {
        const MapNode node = map.nodes()[n];
        if (node.kind != NodeKind::switch_node)
            continue;
        if (node.lid == 0) {
            found.problems.push_back({map.display_name(n), "", "the map has no LID for this switch"});
            continue;
        }
        for (std::size_t p = 1; p < node.ports.size() && p < 255; ++p) {
            if (node.ports[p].peer == no_node)
                continue;
            const auto port = static_cast<std::uint8_t>(p);
            reader.ask(node.lid, port, [&found, &silent, n, port](const mad::PortReading &reading) {
                const auto symbols = reading.counters.find("SymbolErrorCounter");
                if (symbols == reading.counters.end() || !symbols->second.value) {
                    const Absence why = symbols == reading.counters.end() ? Absence::absent : symbols->second.absence;
                    ++silent[{n, to_string(why)}];
                }
                for (const auto &[counter, value] : reading.counters)
                    if (mad::error_counter_at_cap(counter, value))
                        found.counters.push_back({n, port, std::string(counter), *value.value, false, {}});
            });
        }
    }
    engine.run(deadline);
    for (const auto &[where, ports] : silent)
        found.problems.push_back(
            {map.display_name(where.first), "", fmt::format("counters of {} ports not read: {}", ports, where.second)});
    for (const std::string &problem : engine.problems())
        found.problems.push_back({"map", "", problem});
    std::sort(found.counters.begin(), found.counters.end(), [](const PeggedCounter &a, const PeggedCounter &b) {
        return std::tie(a.node, a.port, a.counter) < std::tie(b.node, b.port, b.counter);
    });
    return found;
}

void reset_pegged(mad::Engine &engine, const Map &map, std::vector<PeggedCounter> &counters, Deadline deadline) {
    for (PeggedCounter &each : counters) {
        each.problem = "no answer";
        engine.submit({.mad_class = mad::MadClass::gmp,
                       .lid = map.nodes()[each.node].lid,
                       .attribute = mad::attribute::port_counters,
                       .port_select = each.port,
                       .reset = mad::counter_select(each.counter)},
                      [&each](const mad::Reply &reply) {
                          each.problem = reply.outcome == mad::Outcome::ok ? "" : mad::words(reply.outcome);
                      });
    }
    engine.run(deadline);

    mad::PortReader reader(engine, {.info = true, .details = false});
    for (PeggedCounter &each : counters) {
        if (!each.problem.empty())
            continue;
        each.problem = "not read again";
        reader.ask(map.nodes()[each.node].lid, each.port, [&each](const mad::PortReading &reading) {
            const auto at = reading.counters.find(each.counter);
            if (at == reading.counters.end() || !at->second.value)
                return;
            each.reset = !mad::error_counter_at_cap(each.counter, at->second);
            each.problem = each.reset ? "" : "the switch took the request and left the counter";
        });
    }
    engine.run(deadline);
}

} // namespace fabric_check::fabric
