// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/remedies.hpp"

#include "fabric/deal.hpp"
#include "fabric/even_spread.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace fabric_check::fabric {

namespace {

constexpr std::size_t unicast_lids = 0xbfff;
constexpr std::size_t lids_per_block = 64;
constexpr double hair = 1e-9; ///< by which imbalances must differ to differ
constexpr unsigned links_looked_at = 64;

/// Links of a group that traffic may take, the fastest first: where there are fewer LIDs than links, those are used.
std::vector<const GroupPort *> minimal_ports(const Group &group) {
    std::vector<const GroupPort *> out;
    for (const GroupPort &port : group.ports)
        if (port.minimal)
            out.push_back(&port);
    std::stable_sort(out.begin(), out.end(), [](const GroupPort *a, const GroupPort *b) {
        return a->rate.data_gbps > b->rate.data_gbps;
    });
    return out;
}

std::vector<std::uint8_t> minimal_numbers(const Group &group) {
    std::vector<std::uint8_t> out;
    for (const GroupPort &port : group.ports)
        if (port.minimal)
            out.push_back(port.port);
    return out;
}

void add_group(Figures &out, const Map &map, const Group &group) {
    out.group = group_name(map, group);
    out.used = group.used;
    out.available = group.available;
    out.lids = group.lids;
    out.group_imbalance = group.imbalance;
    for (const GroupPort &port : group.ports)
        out.busiest_lids = std::max(out.busiest_lids, double(port.lid_count));
}

/// What an even spread of so many items over these links makes of them.
struct Even {
    unsigned used = 0;
    double busiest = 0; ///< items
    double ceiling_gib_s = 0;
};
Even spread_evenly(const std::vector<const GroupPort *> &links, std::size_t items, const Query &query) {
    std::vector<double> rates;
    rates.reserve(links.size());
    for (const GroupPort *link : links)
        rates.push_back(std::max(link->rate.data_gbps, 1.0));
    const std::vector<double> count = spread_items(rates, {{1, items}});
    Even out;
    for (std::size_t i = 0; i < links.size(); ++i) {
        out.used += count[i] > 0 ? 1 : 0;
        out.busiest = std::max(out.busiest, count[i]);
        out.ceiling_gib_s += count[i] > 0 ? link_ceiling_gib_s(links[i]->rate, query) : 0;
    }
    return out;
}

/// Table entries on the way that the fewest tries can afford, and memory: an entry takes about 20 bytes.
std::size_t entries_allowed(const RemedyOptions &options) {
    constexpr std::size_t most = 20'000'000;
    return std::min(options.work / fewest_tries, most);
}

class Evaluation {
public:
    Evaluation(const Map &map, const Query &query, const Routes &now, const RemedyOptions &options)
        : map_(map), query_(query), routes_(now), options_(options), deal_(map, query, entries_allowed(options)) {
        query_.want_sources = query_.want_lids = query_.want_shapes = false;
    }

    Remedies run() {
        Remedies out;
        out.now = figures_of(map_, routes_);
        if (routes_.worst < 0) {
            const std::string why = "no link between switches is on the way";
            out.other_nodes.not_evaluated = out.routing_order.not_evaluated = out.scatter.not_evaluated =
                out.isls.not_evaluated = out.lmc.not_evaluated = why;
            return out;
        }
        const Group &worst = routes_.groups[std::size_t(routes_.worst)];
        out.aliasing = find_aliasing(LftView(map_), worst);
        out.isls = more_links(map_, query_, worst);
        out.lmc = more_lids(map_, query_, worst);
        routing_order(out.routing_order);
        scatter(out.scatter);
        other_nodes(out.other_nodes);
        return out;
    }

private:
    Routes with(const std::vector<LftBlock> &blocks) const { return analyse(LftView(map_, blocks), query_); }

    /// So many tries, of `wanted`, of so many analyses as large as this job's; 0: not even the fewest.
    std::size_t affordable(std::size_t wanted, std::size_t analyses = 1) const {
        // Where each switch is a destination of its own kind, as in random graphs, it is the groups that take time.
        constexpr std::size_t entries_of_a_group = 100;
        const std::size_t each = (deal_.entries() + entries_of_a_group * routes_.groups.size() + 1) * analyses;
        const std::size_t tries = std::min(wanted, options_.work / each);
        return tries < std::min(wanted, fewest_tries) ? 0 : tries;
    }
    std::string too_large() const {
        return fmt::format("too large a question: more than {} table entries are on the way, LIDs times switches",
                           entries_allowed(options_));
    }

    void routing_order(RoutingOrder &out) const {
        if (deal_.too_many()) {
            out.not_evaluated = too_large();
            return;
        }
        out.guids = deal_.guids();
        out.unknown_guids = static_cast<std::size_t>(std::count(out.guids.begin(), out.guids.end(), 0));
        const Routes then = with(deal_.first_in_turn());
        out.then = figures_of(map_, then);
        out.group = figures_of_same(map_, then, query_, routes_.groups[std::size_t(routes_.worst)]);
    }

    void scatter(Scatter &out) const {
        out.seed = options_.seed;
        const std::size_t runs = deal_.too_many() ? 0 : affordable(options_.reroutings, 2);
        if (runs == 0) {
            out.not_evaluated = too_large();
            return;
        }
        Lots lots(options_.seed);
        std::vector<double> by_lot, least_used;
        for (std::size_t i = 0; i < runs; ++i) {
            if (options_.progress)
                options_.progress("scatter", i, runs);
            by_lot.push_back(with(deal_.by_lot(lots)).imbalance);
            least_used.push_back(with(deal_.by_lot_among_least_used(lots)).imbalance);
        }
        out.by_lot = distribution_of(std::move(by_lot), routes_.imbalance);
        out.least_used = distribution_of(std::move(least_used), routes_.imbalance);
    }

    void other_nodes(OtherNodes &out) const {
        RemedyOptions options = options_;
        const std::size_t sets = deal_.too_many() ? 0 : affordable(options.random_sets + options.compact_sets);
        if (sets == 0) {
            out.not_evaluated = too_large();
            return;
        }
        options.compact_sets = std::min(options.compact_sets, sets / 2);
        options.random_sets = std::min(options.random_sets, sets - options.compact_sets);
        out = try_other_nodes(map_, query_, routes_.imbalance, options);
    }

    const Map &map_;
    Query query_;
    const Routes &routes_;
    const RemedyOptions &options_;
    Deal deal_;
};

} // namespace

Figures figures_of(const Map &map, const Routes &routes) {
    Figures out;
    out.imbalance = routes.imbalance;
    out.unreachable = unreachable_lids(routes.unreachable);
    if (routes.worst < 0)
        return out;
    add_group(out, map, routes.groups[std::size_t(routes.worst)]);
    out.ceiling_gib_s = routes.ceiling.gib_s;
    return out;
}

Figures figures_of_same(const Map &map, const Routes &routes, const Query &query, const Group &like) {
    Figures out;
    out.imbalance = routes.imbalance;
    out.unreachable = unreachable_lids(routes.unreachable);
    const auto same = std::find_if(routes.groups.begin(), routes.groups.end(), [&like](const Group &group) {
        return group.node == like.node && group.direction == like.direction && group.rail == like.rail &&
               minimal_numbers(group) == minimal_numbers(like);
    });
    if (same == routes.groups.end())
        return out;
    add_group(out, map, *same);
    for (const GroupPort &port : same->ports)
        out.ceiling_gib_s += port.lid_count == 0 ? 0 : link_ceiling_gib_s(port.rate, query);
    return out;
}

Distribution distribution_of(std::vector<double> values, double now) {
    Distribution out;
    out.runs = values.size();
    if (values.empty())
        return out;
    std::sort(values.begin(), values.end());
    // The smallest value that at least this share of all does not exceed.
    const auto at = [&values](double share) {
        const auto rank = static_cast<std::size_t>(std::ceil(share * double(values.size())));
        return values[std::max<std::size_t>(rank, 1) - 1];
    };
    out.min = values.front();
    out.median = at(0.5);
    out.p90 = at(0.9);
    out.max = values.back();
    const auto better = std::count_if(values.begin(), values.end(), [now](double value) { return value < now - hair; });
    out.better = double(better) / double(values.size());
    return out;
}

Isls more_links(const Map &map, const Query &query, const Group &worst) {
    Isls out;
    std::vector<const GroupPort *> links = minimal_ports(worst);
    if (links.empty()) {
        out.not_evaluated = "no shortest way leads out of the group";
        return out;
    }
    const MapPorts ports = map.nodes()[worst.node].ports;
    for (std::size_t p = 1; p < ports.size(); ++p)
        out.free_ports += ports[p].peer == no_node ? 1 : 0;
    const Even as_it_is = spread_evenly(links, worst.lids, query);
    const auto note = [&](unsigned more, const Even &even) {
        out.steps.push_back({more, unsigned(links.size()), even.used, even.busiest, even.ceiling_gib_s});
    };
    note(0, as_it_is);
    const GroupPort *like = links.front(); // as fast as the fastest
    for (unsigned more = 1; more <= links_looked_at; ++more) {
        links.push_back(like);
        const Even even = spread_evenly(links, worst.lids, query);
        const bool relieved = even.busiest < as_it_is.busiest;
        if (more <= 2 || relieved)
            note(more, even);
        if (relieved && more >= 2)
            break;
    }
    return out;
}

Lmc more_lids(const Map &map, const Query &query, const Group &worst) {
    Lmc out;
    std::size_t ports = 0, switches = 0;
    for (std::uint32_t n = 0; n < map.nodes().size(); ++n) {
        const auto &node = map.nodes()[n];
        if (node.kind == NodeKind::switch_node) {
            ++switches; // one LID each: port 0 takes more only with lmc_esp0
            continue;
        }
        for (const auto &port : node.ports)
            if (port.lid != 0) {
                ++ports;
                out.now = std::max<unsigned>(out.now, port.lmc);
            }
    }
    const std::vector<const GroupPort *> links = minimal_ports(worst);
    if (links.empty()) {
        out.not_evaluated = "no shortest way leads out of the group";
        return out;
    }
    for (unsigned lmc = 1; lmc <= 3; ++lmc) {
        if (lmc <= out.now)
            continue;
        const std::size_t each = std::size_t(1) << lmc;
        const Even even = spread_evenly(links, worst.lids * each, query);
        LmcStep step;
        step.lmc = lmc;
        step.used = even.used;
        step.busiest_lids = even.busiest / double(each);
        step.ceiling_gib_s = even.ceiling_gib_s;
        step.lids_needed = ports * each + switches;
        step.fits = step.lids_needed <= unicast_lids;
        step.blocks = step.lids_needed / lids_per_block + 1;
        out.steps.push_back(step);
    }
    if (out.steps.empty())
        out.not_evaluated = fmt::format("the fabric has LMC {} already", out.now);
    return out;
}

Remedies evaluate_remedies(const Map &map, const Query &query, const Routes &now, const RemedyOptions &options) {
    return Evaluation(map, query, now, options).run();
}

} // namespace fabric_check::fabric
