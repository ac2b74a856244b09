// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/analysis.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace fabric_check::fabric {
namespace {

constexpr unsigned bisections = 100;
constexpr unsigned bisection_seed = 1;

} // namespace

std::vector<double> Analysis::rates_of(Number at, const PortSet &set) const {
    std::vector<double> rates;
    for (const SwitchGraph::Edge &edge : graph_.edges(at))
        if (set.contains(edge.port))
            rates.push_back(edge.rate);
    return rates;
}

/// Flows to each destination that a pattern's sources at this switch send.
std::uint32_t Analysis::starts_at(const Pattern &pattern, Number at) const {
    const auto found = std::lower_bound(pattern.sources.begin(), pattern.sources.end(), at,
                                        [](const FlowCounter::Source &a, Number b) { return a.at < b; });
    return found != pattern.sources.end() && found->at == at ? found->flows : 0;
}

/// The LIDs that leave a switch by a set of ports, with their flows: those that start there (`own_only`), or all, of inside
/// the job, with their mean.
std::vector<Items> Analysis::items_at(Number at, std::uint16_t set, bool own_only) const {
    std::vector<Items> items;
    for (std::size_t p = 0; p < patterns_.size(); ++p) {
        if (!own_only && patterns_[p].direction != Direction::inside)
            continue;
        double flows = 0;
        std::size_t lids = 0;
        for (const FlowCounter::Use &use : uses_[at])
            if (use.set == set && use.pattern == p) {
                flows += use.flows;
                lids += use.lids;
            }
        const double size = own_only ? starts_at(patterns_[p], at) : lids == 0 ? 0 : flows / double(lids);
        if (size > 0 && lids > 0)
            items.push_back({size, lids});
    }
    return items;
}

double Analysis::host_rate(const Member &member) const {
    return graph_.rate(member.at, member.port);
}

/// The most that one endpoint sends or receives over links between switches, by the rate of its own link: no routing
/// relieves that one.
double Analysis::most_of_a_host() const {
    std::vector<std::vector<std::size_t>> wanted(patterns_.size(), std::vector<std::size_t>(targets_.size(), 0));
    for (std::size_t p = 0; p < patterns_.size(); ++p)
        for (const std::uint32_t m : patterns_[p].destinations)
            ++wanted[p][members_[m].target];
    const auto elsewhere = [&](std::size_t p, std::uint32_t target) {
        return double(patterns_[p].destinations.size() - wanted[p][target]);
    };
    const auto senders = [&](std::size_t p, Number at) {
        double sum = 0;
        for (const FlowCounter::Source &source : patterns_[p].sources)
            sum += source.at == at ? 0 : source.flows;
        return sum;
    };
    std::vector<std::vector<double>> received(patterns_.size(), std::vector<double>(targets_.size(), -1));
    double most = 0;
    for (const Member &member : members_) {
        if (member.port == 0)
            continue; // a switch's own LID has no link of its own
        double sends = 0, gets = 0;
        for (std::size_t p = 0; p < patterns_.size(); ++p) {
            const Pattern &pattern = patterns_[p];
            const bool of_rail = pattern.rail == member.rail;
            const bool source = member.service ? pattern.direction == Direction::from
                                               : pattern.direction == Direction::to ||
                                                     (pattern.direction == Direction::inside && of_rail);
            const bool destination = member.service ? pattern.direction == Direction::to
                                                    : pattern.direction != Direction::to && of_rail;
            if (source && !pattern.sources.empty())
                sends += elsewhere(p, member.target);
            if (destination) {
                double &here = received[p][member.target];
                if (here < 0)
                    here = senders(p, member.at);
                gets += here;
            }
        }
        most = std::max(most, std::max(sends, gets) / host_rate(member));
    }
    return most;
}

void Analysis::finish_imbalance() {
    double even = std::max(even_->busiest(), most_of_a_host());
    std::vector<bool> starts(graph_.size(), false);
    for (const Pattern &pattern : patterns_)
        for (const FlowCounter::Source &source : pattern.sources)
            starts[source.at] = true;
    for (const Number at : counter_->passed())
        for (std::uint16_t set = 0; starts[at] && set < counter_->sets(at).size(); ++set)
            if (const auto items = items_at(at, set, true); !items.empty())
                even = std::max(even, best_even_spread(rates_of(at, counter_->sets(at)[set]), items));
    if (!(even > 0))
        return;
    for (const Number at : counter_->passed()) {
        std::array<double, 256> flows{}, own{};
        for (const FlowCounter::Use &use : uses_[at]) {
            flows[use.port] += use.flows;
            own[use.port] += double(starts_at(patterns_[use.pattern], at)) * use.lids;
        }
        for (unsigned p = 0; p < graph_.ports(at); ++p) {
            if (flows[p] == 0)
                continue;
            const double rate = graph_.rate(at, std::uint8_t(p));
            const bool passing = own[p] < flows[p] / 2;
            const double ideal = passing ? std::max(even, 2.0 * counter_->most_received() / rate) : even;
            routes_.imbalance = std::max(routes_.imbalance, flows[p] / rate / ideal);
        }
    }
}

/// Everybody of a rail to everybody of it.
ShapeLoad Analysis::many_to_many() const {
    ShapeLoad out;
    double worst = 0;
    Number worst_at = SwitchGraph::nowhere;
    for (const Number at : counter_->passed()) {
        std::array<double, 256> flows{};
        for (const FlowCounter::Use &use : uses_[at])
            if (patterns_[use.pattern].direction == Direction::inside)
                flows[use.port] += use.flows;
        for (unsigned p = 0; p < graph_.ports(at); ++p) {
            const double weighted = flows[p] == 0 ? 0 : flows[p] / graph_.rate(at, std::uint8_t(p));
            // Of equals the lower switch and port.
            if (weighted > worst || (weighted > 0 && weighted == worst && graph_.node(at) < out.node)) {
                worst = weighted;
                worst_at = at;
                out.max_link_flows = flows[p];
                out.node = graph_.node(at);
                out.port = std::uint8_t(p);
            }
        }
    }
    if (worst_at == SwitchGraph::nowhere)
        return out;
    for (std::uint16_t set = 0; set < counter_->sets(worst_at).size(); ++set) {
        bool through = false;
        for (const FlowCounter::Use &use : uses_[worst_at])
            through = through || (use.set == set && use.port == out.port &&
                                  patterns_[use.pattern].direction == Direction::inside);
        if (through)
            out.ideal += best_even_spread(rates_of(worst_at, counter_->sets(worst_at)[set]), items_at(worst_at, set, false)) *
                         graph_.rate(worst_at, out.port);
    }
    out.ideal = out.ideal > 0 ? std::min(out.ideal, out.max_link_flows) : out.max_link_flows;
    out.factor = out.max_link_flows / out.ideal;
    return out;
}

void Analysis::finish_shapes() {
    const RouteMatrix matrix(graph_, *counter_);
    std::vector<FlowCounter::Destination> destinations;
    destinations.reserve(members_.size());
    std::vector<Participant> participants;
    for (std::uint32_t m = 0; m < members_.size(); ++m)
        if (!members_[m].service) {
            destinations.push_back(destination(m));
            participants.push_back({members_[m].at, &destinations.back(), host_rate(members_[m]), members_[m].rail});
        }
    routes_.shapes = Shapes{one_to_many(matrix, participants), many_to_one(matrix, participants), many_to_many()};
    routes_.effective_bisection = effective_bisection(matrix, participants, bisections, bisection_seed);
}

void Analysis::finish_ceiling() {
    if (routes_.worst < 0)
        return;
    const Group &group = routes_.groups[std::size_t(routes_.worst)];
    const double rate = query_.rate_per_node_gib_s;
    for (const GroupPort &port : group.ports) {
        if (port.lid_count == 0)
            continue;
        const double ceiling =
            query_.flat_ceiling_gib_s > 0 ? query_.flat_ceiling_gib_s : payload_ceiling_gib_s(port.rate, query_.ceilings);
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
