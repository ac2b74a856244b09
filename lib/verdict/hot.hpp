// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/routing.hpp"
#include "verdict/sampled.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fabric_check {

/// What the load of the links says.
struct LoadVerdict {
    std::vector<HotPort> hot;        ///< hottest first
    std::vector<Finding> findings;   ///< routing-imbalance and congestion
    std::vector<UnreadCounter> unread;
    std::vector<std::string> notes;
    int group = -1;                  ///< the group that routing-imbalance is about; -1: none
    std::optional<HotSpread> spread; ///< of that group, where one of the sampler's intervals shows it and the job does not
};

/// Hot ports of the job's routes, in any of the sampler's intervals or on average over the job, and why they are hot.
/// routing-imbalance: a group spread above the bar, over the job or in an interval in which one of its ports is hottest,
/// with a port that is hot then, or newly holds the group's wait, and carries LIDs of the job and at least half
/// its bytes for it; the busiest of those. Anything else that is hot is congestion: capacity, others, incast, a host's
/// own link, full towards it or from it.
LoadVerdict judge_load(const JobEvidence &evidence, const fabric::Query &query, const std::vector<GroupMeasure> &measures,
                       const PortSet &set, const Config &config, AdaptiveRouting adaptive_routing, bool routes_changed);

/// The most of a port's bytes that can be the job's, 0..1: limited by what its sources sent and its destinations
/// received. nullopt without the port's bytes. `volume`: of the time that is meant.
std::optional<double> own_share(const JobEvidence &evidence, const fabric::Query &query, const PortSet &set,
                                MapPortId port, const Volume &volume);
/// The same of what a port facing a host received from it: limited by what the job's other ports received.
std::optional<double> own_share_received(const fabric::Query &query, const PortSet &set, const PortResult &facing,
                                         const Volume &volume);

} // namespace fabric_check
