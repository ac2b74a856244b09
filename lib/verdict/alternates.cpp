// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/links.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check {

namespace {

constexpr unsigned most_lmc = 7;
constexpr unsigned first_multicast_lid = 0xc000;

} // namespace

std::vector<std::string> alternate_lids(const JobEvidence &evidence, const PortSet &set) {
    fabric::Query query;
    query.want_sources = false;
    std::size_t with_alternates = 0;
    unsigned most = 0;
    for (const PortResult &port : set.ports) {
        if (port.role != "host" || port.profile != Profile::ib) {
            continue;
        }
        const std::optional<fabric::MapPort> there =
            evidence.map != nullptr ? find_port(*evidence.map, {port.map_node, port.map_port}) : std::nullopt;
        const HcaPort *card = port.host_end != nullptr ? port.host_end : port.host_start;
        const unsigned lmc = std::min(most_lmc, std::max<unsigned>(there ? there->lmc : 0U,
                                                                   card != nullptr ? card->lmc : 0U));
        if (lmc == 0) {
            continue;
        }
        ++with_alternates;
        most = std::max(most, lmc);
        for (unsigned i = 1; there && there->lid != 0 && i < 1U << lmc; ++i) {
            if (there->lid + i < first_multicast_lid) {
                query.job.push_back({port.node, port.map_node, port.map_port, static_cast<std::uint16_t>(there->lid + i)});
            }
        }
    }
    if (with_alternates == 0) {
        return {};
    }
    std::vector<std::string> texts{fmt::format("LMC: {} of the job's ports {} up to {} LIDs; the base LIDs are judged, "
                                               "the others are shown apart",
                                               with_alternates, with_alternates == 1 ? "has" : "have", 1U << most)};
    if (query.job.empty()) {
        return texts;
    }
    const fabric::Routes routes = fabric::analyse(fabric::LftView(*evidence.map), query);
    constexpr std::size_t most_told = 4;
    for (std::size_t g = 0; g < routes.groups.size() && g < most_told; ++g) {
        const fabric::Group &group = routes.groups[g];
        texts.push_back(fmt::format("alternate LIDs, by the map's tables: {}: {} LIDs on {} of {} links, imbalance {:.2f}",
                                    fabric::group_name(*evidence.map, group), group.lids, group.used, group.available,
                                    group.imbalance));
    }
    if (routes.groups.size() > most_told) {
        texts.push_back(fmt::format("alternate LIDs: {} more groups of links", routes.groups.size() - most_told));
    }
    if (!routes.unreachable.empty()) {
        texts.push_back(fmt::format("alternate LIDs: {} not reachable by the tables", routes.unreachable.size()));
    }
    return texts;
}

} // namespace fabric_check
