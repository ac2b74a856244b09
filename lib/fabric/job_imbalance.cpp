// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/analysis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace fabric_check::fabric {
namespace {

constexpr unsigned bisection_seed = 1;

/// Enough random halves for a mean of about 10,000 pairs: of many pairs a few halves differ little.
unsigned bisections_of(std::size_t participants) {
    constexpr std::size_t pairs = 10000, fewest = 20, most = 100;
    return unsigned(std::clamp(2 * pairs / std::max<std::size_t>(participants, 1), fewest, most));
}

} // namespace

/// Flows to each destination that a pattern's sources at this switch send.
std::uint32_t Analysis::starts_at(const Pattern &pattern, Number at) const {
    const auto found = std::lower_bound(pattern.sources.begin(), pattern.sources.end(), at,
                                        [](const FlowCounter::Source &a, Number b) { return a.at < b; });
    return found != pattern.sources.end() && found->at == at ? found->flows : 0;
}

/// The pattern by which a LID's flows of several patterns are taken together: they go whole over one link.
std::size_t Analysis::same_lids(std::size_t pattern) const {
    return patterns_[pattern].direction == Direction::from ? pattern - rails_ : pattern;
}

/// The LIDs that leave a switch by a set of ports, with their flows: those that start there (`own_only`), or all, of inside
/// the job, with their mean.
std::vector<Items> Analysis::items_at(Number at, std::uint16_t set, bool own_only) const {
    struct Sum {
        double flows = 0, starts = 0;
        std::size_t lids = 0; ///< of the pattern at hand
    };
    std::map<std::size_t, Sum> sums; // by pattern
    for (const FlowCounter::Use &use : uses_[at])
        if (use.set == set && (own_only || patterns_[use.pattern].direction == Direction::inside)) {
            Sum &sum = sums[use.pattern];
            sum.flows += use.flows;
            sum.lids += use.lids;
            sum.starts = starts_at(patterns_[use.pattern], at);
        }
    std::map<std::size_t, Items> items;
    for (const auto &[pattern, sum] : sums) {
        const double size = own_only ? sum.starts : sum.flows / double(sum.lids);
        if (!(size > 0))
            continue;
        Items &item = items.try_emplace(same_lids(pattern), Items{0, 0}).first->second;
        item.size += size;
        item.count = std::max(item.count, sum.lids);
    }
    std::vector<Items> out;
    out.reserve(items.size());
    for (const auto &[pattern, item] : items)
        out.push_back(item);
    return out;
}

/// The busiest link of the set of ports if what leaves by it now were spread over it by whole LIDs of their mean size.
double Analysis::best_of_group(Number at, std::uint16_t set) const {
    double flows = 0;
    std::map<std::size_t, std::map<std::size_t, std::size_t>> lids; // by those taken together, pattern
    for (const FlowCounter::Use &use : uses_[at])
        if (use.set == set) {
            flows += use.flows;
            lids[same_lids(use.pattern)][use.pattern] += use.lids;
        }
    std::size_t count = 0;
    for (const auto &[together, by_pattern] : lids) {
        std::size_t most = 0;
        for (const auto &[pattern, some] : by_pattern)
            most = std::max(most, some);
        count += most;
    }
    return count == 0 ? 0 : best_even_spread(rates_of(graph_, at, counter_->sets(at)[set]), {{flows / double(count), count}});
}

/// What the busiest link carries, by its rate, of what starts at its switch, when that is spread evenly by whole LIDs.
double Analysis::starts_when_even() const {
    double even = 0;
    std::vector<bool> starts(graph_.size(), false);
    for (const Pattern &pattern : patterns_)
        for (const FlowCounter::Source &source : pattern.sources)
            starts[source.at] = true;
    for (const Number at : counter_->passed())
        for (std::uint16_t set = 0; starts[at] && set < counter_->sets(at).size(); ++set)
            if (const auto items = items_at(at, set, true); !items.empty())
                even = std::max(even, best_even_spread(rates_of(graph_, at, counter_->sets(at)[set]), items));
    return even;
}

/// Measures every link against what the busiest carries when all is even. Without even_ it stops at the first link that is
/// above that, and says so.
bool Analysis::judge_links(double even) {
    struct Link {
        double flows = 0, own = 0;
        std::map<std::size_t, std::size_t> lids; ///< by pattern, those of one LID together
        unsigned choices = 0;                    ///< ports of the largest set that uses it
        std::vector<std::uint16_t> sets;
    };
    std::map<std::uint8_t, Link> links;
    for (const Number at : counter_->passed()) {
        links.clear();
        for (const FlowCounter::Use &use : uses_[at]) {
            Link &link = links[use.port];
            link.flows += use.flows;
            link.own += double(starts_at(patterns_[use.pattern], at)) * use.lids;
            std::size_t &lids = link.lids[same_lids(use.pattern)];
            lids = std::max<std::size_t>(lids, use.lids);
            link.choices = std::max(link.choices, counter_->sets(at)[use.set].size());
            if (std::find(link.sets.begin(), link.sets.end(), use.set) == link.sets.end())
                link.sets.push_back(use.set);
        }
        for (const auto &[port, link] : links) {
            const double rate = graph_.rate(at, port), weighted = link.flows / rate;
            if (weighted <= even * routes_.imbalance)
                continue;
            double ideal = even;
            if (link.own < link.flows / 2) {
                // Others' choice, further up. Of two LIDs that meet where nothing can be chosen, chance is told.
                std::size_t lids = 0;
                for (const auto &[pattern, some] : link.lids)
                    lids += some;
                if (link.choices <= 1 && lids <= 2)
                    continue;
                if (!even_)
                    return true;
                // Where there is a choice a link takes whole LIDs: up to one more than its even share.
                double best = 0;
                for (const std::uint16_t set : link.sets)
                    best += best_of_group(at, set);
                if (link.choices > 1)
                    ideal = std::max(even, std::min(best, even_->share(at, port) + link.flows / double(lids) / rate));
            }
            if (!even_)
                return true;
            if (weighted / ideal > routes_.imbalance) {
                routes_.imbalance = weighted / ideal;
                routes_.imbalance_link = ImbalanceLink{graph_.node(at), port, link.flows, ideal * rate};
            }
        }
    }
    return false;
}

void Analysis::finish_imbalance() {
    const double starts = starts_when_even();
    if (!(starts > 0) || !judge_links(starts))
        return; // no link has more than what must start somewhere: nothing can be better
    even_.emplace(graph_);
    for (std::size_t r = 0; r < counter_->reaches().size(); ++r)
        add_even(r);
    judge_links(std::max(starts, even_->busiest()));
    constexpr double grain = 1e9; // sums of fractions are a little off: 1.5 is not above a bar of 1.5
    routes_.imbalance = std::round(routes_.imbalance * grain) / grain;
}

/// By switch and port.
std::vector<LinkUse> Analysis::links_inside() const {
    std::vector<Number> passed = counter_->passed();
    std::sort(passed.begin(), passed.end());
    std::vector<LinkUse> out;
    for (const Number at : passed) {
        std::array<LinkUse, 256> links{};
        for (const FlowCounter::Use &use : uses_[at])
            if (patterns_[use.pattern].direction == Direction::inside) {
                links[use.port].flows += use.flows;
                links[use.port].lids += use.lids;
            }
        for (unsigned port = 0; port < graph_.ports(at); ++port)
            if (links[port].flows != 0)
                out.push_back({at, std::uint8_t(port), links[port].flows, links[port].lids});
    }
    return out;
}

/// Everybody of a rail to everybody of it.
ShapeLoad Analysis::many_to_many(std::span<const LinkUse> links) const {
    ShapeLoad out;
    double worst = 0;
    Number worst_at = SwitchGraph::nowhere;
    for (const LinkUse &link : links)
        if (const double weighted = link.flows / graph_.rate(link.at, link.port); weighted > worst) {
            worst = weighted;
            worst_at = link.at;
            out.max_link_flows = link.flows;
            out.node = graph_.node(link.at);
            out.port = link.port;
        }
    if (worst_at == SwitchGraph::nowhere)
        return out;
    for (std::uint16_t set = 0, end = std::uint16_t(counter_->sets(worst_at).size()); set < end; ++set) {
        bool through = false;
        for (const FlowCounter::Use &use : uses_[worst_at])
            through = through || (use.set == set && use.port == out.port &&
                                  patterns_[use.pattern].direction == Direction::inside);
        if (through)
            out.ideal += best_even_spread(rates_of(graph_, worst_at, counter_->sets(worst_at)[set]), items_at(worst_at, set, false)) *
                         graph_.rate(worst_at, out.port);
    }
    out.ideal = out.ideal > 0 ? std::min(out.ideal, out.max_link_flows) : out.max_link_flows;
    out.factor = out.max_link_flows / out.ideal;
    return out;
}

void Analysis::finish_shapes() {
    // What single walks would cost: nearly all of what flows over links. Long chains of switches are no fabrics.
    constexpr double most_steps = 2e9;
    const std::vector<LinkUse> links = links_inside();
    double steps = 0;
    for (const LinkUse &link : links)
        steps += link.flows;
    if (steps > most_steps) {
        routes_.warnings.emplace_back("no link loads by shape and no bisections: the ways are too long and too many");
        return;
    }
    const RouteMatrix matrix(graph_, *counter_);
    std::vector<FlowCounter::Destination> destinations;
    destinations.reserve(members_.size());
    std::vector<Participant> participants;
    for (const std::uint32_t m : order_)
        if (!members_[m].service) {
            destinations.push_back(destination(m));
            participants.push_back({members_[m].at, &destinations.back(), graph_.rate(members_[m].at, members_[m].port), members_[m].rail});
        }
    routes_.shapes = Shapes{one_to_many(matrix, participants, links), many_to_one(matrix, participants, links), many_to_many(links)};
    routes_.effective_bisection = effective_bisection(matrix, participants, bisections_of(participants.size()), bisection_seed);
}

void Analysis::finish_ceiling() {
    if (routes_.worst < 0)
        return;
    const Group &group = routes_.groups[std::size_t(routes_.worst)];
    const double rate = query_.rate_per_node_gib_s;
    for (const GroupPort &port : group.ports) {
        if (port.lid_count == 0)
            continue;
        const double ceiling = link_ceiling_gib_s(port.rate, query_);
        const double demand =
            group.direction == Direction::to ? port.flows * rate / double(services_) : port.lid_count * rate;
        ++routes_.ceiling.links;
        routes_.ceiling.gib_s += ceiling;
        routes_.ceiling.predicted_gib_s += ceiling > 0 ? std::min(ceiling, demand) : demand;
        if (ceiling <= 0)
            routes_.warnings.push_back(link_name(map_, group.node, port.port) + ": rate not known, no ceiling for it");
    }
}

} // namespace fabric_check::fabric
