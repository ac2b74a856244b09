// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/ports.hpp"

#include <set>
#include <string>
#include <vector>

namespace fabric_check {

/// How the routes of a job differ between its start and its end.
struct RouteChanges {
    std::vector<std::string> texts; ///< plain words: which switch, LID, old and new port
    std::set<MapPortId> ports;      ///< old and new output ports
    unsigned not_compared = 0;      ///< blocks that one side only has
};

/// Compares the forwarding tables as the last scout read them with the map's, for the LIDs of the query only: which switch,
/// LID, the map's and the present port. Tables that the map lacks say nothing.
std::vector<std::string> changes_since_map(const JobEvidence &evidence, const fabric::Query &query);

/// Compares the forwarding tables of both scouts block by block, for the LIDs of the query only.
RouteChanges compare_tables(const JobEvidence &evidence, const fabric::Query &query);

/// Bytes, waits and spread of every group, measured between the scout's readings. A group whose busiest port carried less
/// than `least_bytes` has no spread: a few management packets are always uneven.
std::vector<GroupMeasure> measure_groups(const fabric::Routes &routes, const PortSet &set, double least_bytes);

/// Index of the group the job's line is about: the highest imbalance; of equals, the one that carried most. -1: no group.
int worst_group(const fabric::Routes &routes, const std::vector<GroupMeasure> &measures);

/// As configured ("on", "off"), else as the scout or the map found it.
AdaptiveRouting adaptive_routing_of(const JobEvidence &evidence, const Config &config);

/// ok, imbalanced, changed or unknown, by the tables alone. A change, during the job or since the map was made
/// (`since_map`), comes before all; the verdict may be routing-imbalance beside the latter.
RouteStatus route_status(const JobEvidence &evidence, const RouteChanges &changes, bool since_map, double bar);

/// Discards on ports whose routes changed may be the re-sweep's.
void annotate_discards(const RouteChanges &changes, const Names &names, std::vector<Finding> &findings);

} // namespace fabric_check
