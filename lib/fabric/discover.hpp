// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "fabric/map_draft.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

struct ibnd_fabric; // libibnetdisc

namespace fabric_check {
namespace mad {
class Engine;
}
namespace fabric {

/// Told now and then how far a discovery is: "topology" (total not known: 0), "tables".
using Progress = std::function<void(std::string_view stage, std::size_t done, std::size_t total)>;

/// The fabric as it is now: topology through libibnetdisc, then every switch's forwarding table by LID-routed MADs.
/// Opens umad itself, twice but never at once (umad2sim serves one descriptor per process safely), through the
/// configured card. Errc::unavailable: no umad or no active port; Errc::no_answer: the fabric did not answer at all.
/// A switch that answers only in part is in the map with what it told, and a problem. The map is indexed.
/// `prepare` is called once MADs can be sent and before any is; an error of it ends the discovery.
Result<MapDraft> discover(const Config &config, const Progress &progress = {},
                          const std::function<Status()> &prepare = {});

/// The steps, for tests and for those who have an engine already.
/// Topology alone, from libibnetdisc's fabric: nodes, links, rates, LIDs; tables are empty; indexed.
MapDraft map_of(const ibnd_fabric &fabric);
/// Reads LinearFDBTop and blocks 0..LinearFDBTop/64 inclusive of every switch with a LID, and finds out whether they
/// route adaptively. Blocks that do not answer are no_route and a problem.
void read_tables(mad::Engine &engine, MapDraft &map, Deadline deadline, const Progress &progress = {});

/// Asks each of these switches, by LID, whether adaptive routing is enabled, through `engine`'s next
/// run(). A switch that refuses the vendor's attribute has none; one that is silent is unknown. `result` becomes on if
/// any is on, else unknown if any is, else off; for no switches at all it is off. It must outlive the run.
void ask_adaptive_routing(mad::Engine &engine, const std::vector<std::uint16_t> &switches, AdaptiveRouting &result);
/// Asks who the master subnet manager is, through `engine`'s next run(): the MasterSMLID of a switch tells where it is, and
/// it tells about itself. Fills map.subnet_manager; silence leaves it empty and is a problem of the map.
void ask_subnet_manager(mad::Engine &engine, MapDraft &map);
/// The configuration's word over what was detected: "on", "off", or "auto".
AdaptiveRouting adaptive_routing_of(const Config &config, AdaptiveRouting detected);

} // namespace fabric
} // namespace fabric_check
