// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/aliasing.hpp"
#include "fabric/routes.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::fabric {

/// The figures by which tables, or sets of nodes, are compared.
struct Figures {
    double imbalance = 1;    ///< of the job
    std::string group;       ///< the worst one's name; empty: no link between switches is on the way
    unsigned used = 0, available = 0;
    unsigned lids = 0;
    double busiest_lids = 0; ///< on the busiest port of the group by LIDs; a fraction where traffic is split over alternates
    double group_imbalance = 1;
    double ceiling_gib_s = 0; ///< of the links used
    std::size_t unreachable = 0; ///< LIDs that some flow does not reach
};
Figures figures_of(const Map &map, const Routes &routes);
/// The same, but of the group that goes the same way as `like` does in other tables. Without a group where none does.
Figures figures_of_same(const Map &map, const Routes &routes, const Query &query, const Group &like);

/// The imbalances of many tries.
struct Distribution {
    std::size_t runs = 0;
    double min = 1, median = 1, p90 = 1, max = 1;
    double better = 0; ///< share of the runs below what the tables do now
};
/// `values` in any order; all of it 1 when empty.
Distribution distribution_of(std::vector<double> values, double now);

/// A set of nodes of the job's size that the map's tables treat best, of those tried.
struct OtherNodes {
    std::string not_evaluated; ///< why; empty: evaluated
    std::size_t tried = 0;
    std::vector<std::string> nodes;
    bool compact = false; ///< neighbours on as few switches as possible; else drawn at random
    Figures then;
    Distribution all; ///< of all sets tried
};

struct RoutingOrder {
    std::string not_evaluated;
    std::vector<std::uint64_t> guids; ///< port GUIDs in the file's order; 0 where the map has none
    std::size_t unknown_guids = 0;
    Figures then;
    Figures group; ///< then, of the group that is the worst now
};

struct Scatter {
    std::string not_evaluated;
    std::uint64_t seed = 0;
    Distribution by_lot;      ///< each LID at each switch by lot among its shortest ways
    Distribution least_used;  ///< as opensm's scatter_ports: by lot among the least used of them
};

/// The worst group, were its LIDs spread evenly over its links and `more` like them. 0 more: over those it has.
struct MoreLinks {
    unsigned more = 0;
    unsigned links = 0, used = 0;
    double busiest_lids = 0;
    double ceiling_gib_s = 0;
};
struct Isls {
    std::string not_evaluated;
    std::vector<MoreLinks> steps;  ///< 0, 1, 2, and the first that relieves the busiest link further
    unsigned free_ports = 0;       ///< of the sending switch, without a link in the map
};

/// The worst group with 2^lmc LIDs to a port, spread evenly and all in use.
struct LmcStep {
    unsigned lmc = 0;
    unsigned used = 0;
    double busiest_lids = 0; ///< in LIDs' worth of traffic
    double ceiling_gib_s = 0;
    std::size_t lids_needed = 0; ///< by the whole fabric
    bool fits = true;            ///< there are that many unicast LIDs
    std::size_t blocks = 0;      ///< of 64 entries in each switch's table, at least
};
struct Lmc {
    std::string not_evaluated;
    unsigned now = 0; ///< the highest in the map
    std::vector<LmcStep> steps; ///< 1, 2, 3 as far as above `now`
};

struct Remedies {
    Figures now;
    std::optional<Aliasing> aliasing; ///< of the worst group
    OtherNodes other_nodes;
    RoutingOrder routing_order;
    Scatter scatter;
    Isls isls;
    Lmc lmc;
};

struct RemedyOptions {
    std::uint64_t seed = 1;
    std::size_t reroutings = 100;
    std::size_t random_sets = 40, compact_sets = 20;
    /// Table entries, LIDs times switches on the way, that all tries together may visit. What would need more is done
    /// with fewer tries, but not below fewest_tries: then it is not evaluated, and says so.
    std::size_t work = 300'000'000;
    std::function<void(std::string_view what, std::size_t done, std::size_t total)> progress;
};
inline constexpr std::size_t fewest_tries = 10;

/// Evaluates every remedy on this map for this query; `now` is what analyse() said of it. Pure, and the same for the same
/// seed.
Remedies evaluate_remedies(const Map &map, const Query &query, const Routes &now, const RemedyOptions &options = {});

/// Parts of it, for tests.
OtherNodes try_other_nodes(const Map &map, const Query &query, double now, const RemedyOptions &options);
Isls more_links(const Map &map, const Query &query, const Group &worst);
Lmc more_lids(const Map &map, const Query &query, const Group &worst);

} // namespace fabric_check::fabric
