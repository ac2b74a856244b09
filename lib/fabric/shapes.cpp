// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/even_spread.hpp"
#include "fabric/route_matrix.hpp"
#include "fabric/routes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

namespace fabric_check::fabric {
namespace {

using Number = SwitchGraph::Number;

/// A count for each output port of each switch, cleared at the cost of what was counted.
class LinkCounts {
public:
    explicit LinkCounts(const SwitchGraph &graph) : graph_(graph), counts_(graph.places(), 0) {}
    void add(Number at, std::uint8_t port) {
        if (std::uint32_t &count = counts_[graph_.place(at, port)]; count++ == 0)
            used_.emplace_back(at, port);
    }
    std::uint32_t of(Number at, std::uint8_t port) const { return counts_[graph_.place(at, port)]; }
    const std::vector<std::pair<Number, std::uint8_t>> &used() const { return used_; }
    void clear() {
        for (const auto &[at, port] : used_)
            counts_[graph_.place(at, port)] = 0;
        used_.clear();
    }

private:
    const SwitchGraph &graph_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::pair<Number, std::uint8_t>> used_;
};

/// Everybody of a rail at one switch sends the same ways: one of them for all.
std::vector<const Participant *> senders_of(std::span<const Participant> participants) {
    std::map<std::pair<Number, unsigned>, const Participant *> by_place;
    for (const Participant &one : participants)
        by_place.try_emplace({one.at, one.rail}, &one);
    std::vector<const Participant *> out;
    out.reserve(by_place.size());
    for (const auto &[place, sender] : by_place)
        out.push_back(sender);
    return out;
}

/// The worst sender's link so far.
struct WorstSender {
    const Participant *sender = nullptr;
    double weighted = 0; ///< flows over rate
    Number at = 0;
    std::uint8_t port = 0;
    std::uint32_t flows = 0;

    void offer(const SwitchGraph &graph, const Participant *from, Number switch_, std::uint8_t out, std::uint32_t count) {
        const double here = count / graph.rate(switch_, out);
        if (here > weighted || (here == weighted && from == sender && std::pair(switch_, out) < std::pair(at, port)))
            *this = {from, here, switch_, out, count};
    }
};

/// The links by which senders leave their own switches.
void offer_first_hops(const RouteMatrix &routes, std::span<const Participant> participants,
                      std::span<const Participant *const> senders, WorstSender &worst) {
    const SwitchGraph &graph = routes.graph();
    for (const Participant *sender : senders) {
        const std::uint8_t *row = routes.counter().ports(sender->at);
        if (row == nullptr)
            continue;
        const SwitchGraph::Next next = graph.next(sender->at);
        std::array<std::uint32_t, 256> counts{};
        for (const Participant &to : participants)
            if (to.rail == sender->rail && to.at != sender->at)
                ++counts[row[to.destination->column]];
        for (unsigned port = 0; port < counts.size(); ++port)
            if (counts[port] != 0 && next[port] != SwitchGraph::nowhere)
                worst.offer(graph, sender, sender->at, std::uint8_t(port), counts[port]);
    }
}

/// All links of the senders' ways to the LIDs that leave by some link in a greater number than the worst so far: no sender
/// has more on a link than leave by it at all.
void offer_later_hops(const RouteMatrix &routes, std::span<const Participant> participants,
                      std::span<const Participant *const> senders, std::span<const LinkUse> links, WorstSender &worst) {
    const SwitchGraph &graph = routes.graph();
    std::vector<bool> taken(participants.size(), false);
    for (const LinkUse &link : links)
        if (link.lids / graph.rate(link.at, link.port) > worst.weighted) {
            const std::uint8_t *row = routes.counter().ports(link.at);
            for (std::size_t i = 0; i < participants.size(); ++i)
                taken[i] = taken[i] || row[participants[i].destination->column] == link.port;
        }
    std::vector<const Participant *> to;
    for (std::size_t i = 0; i < participants.size(); ++i)
        if (taken[i])
            to.push_back(&participants[i]);
    if (to.empty())
        return;
    LinkCounts counts(graph);
    for (const Participant *sender : senders) {
        counts.clear();
        for (const Participant *one : to)
            if (one->rail == sender->rail && one->at != sender->at)
                routes.walk(sender->at, *one->destination, [&](Number at, std::uint8_t port) { counts.add(at, port); });
        for (const auto &[at, port] : counts.used())
            worst.offer(graph, sender, at, port, counts.of(at, port));
    }
}

} // namespace

ShapeLoad one_to_many(const RouteMatrix &routes, std::span<const Participant> participants, std::span<const LinkUse> links) {
    const SwitchGraph &graph = routes.graph();
    const auto senders = senders_of(participants);
    WorstSender worst;
    offer_first_hops(routes, participants, senders, worst);
    offer_later_hops(routes, participants, senders, links, worst);
    ShapeLoad out;
    if (worst.sender == nullptr)
        return out;
    out.max_link_flows = worst.flows;
    out.node = graph.node(worst.at);
    out.port = worst.port;
    // The sender's LIDs that could have left by the same links.
    std::vector<std::size_t> lids(routes.counter().sets(worst.at).size(), 0);
    std::vector<bool> here(lids.size(), false);
    for (const Participant &to : participants) {
        if (to.rail != worst.sender->rail || to.at == worst.sender->at)
            continue;
        routes.walk(worst.sender->at, *to.destination, [&](Number at, std::uint8_t port) {
            if (at != worst.at)
                return;
            const std::uint16_t set = routes.counter().set(at, to.destination->target);
            ++lids[set];
            here[set] = here[set] || port == out.port;
        });
    }
    for (std::size_t set = 0; set < lids.size(); ++set)
        if (here[set])
            out.ideal += best_even_spread(rates_of(graph, worst.at, routes.counter().sets(worst.at)[set]), {{1, lids[set]}}) *
                         graph.rate(worst.at, out.port);
    out.ideal = out.ideal > 0 ? std::min(out.ideal, out.max_link_flows) : out.max_link_flows;
    out.factor = out.max_link_flows / out.ideal;
    return out;
}

ShapeLoad many_to_one(const RouteMatrix &routes, std::span<const Participant> participants, std::span<const LinkUse> links) {
    const SwitchGraph &graph = routes.graph();
    ShapeLoad out;
    double worst = 0;
    LinkUse worst_link{};
    const auto offer = [&](const LinkUse &link, std::uint32_t flows) {
        const double weighted = flows / graph.rate(link.at, link.port);
        if (weighted <= worst)
            return;
        worst = weighted;
        worst_link = link;
        out.max_link_flows = out.ideal = flows;
        out.node = graph.node(link.at);
        out.port = link.port;
    };
    for (const LinkUse &link : links)
        if (link.lids == 1)
            offer(link, link.flows);
    for (const LinkUse &link : links) {
        // Each other LID of the link has a flow at least.
        if (link.lids == 1 || (link.flows - link.lids + 1) / graph.rate(link.at, link.port) <= worst)
            continue;
        const std::uint8_t *ports = routes.counter().ports(link.at);
        const std::uint16_t *flows = routes.counter().flows(link.at);
        std::uint32_t most = 0;
        for (const Participant &to : participants)
            if (const std::uint32_t column = to.destination->column; ports[column] == link.port)
                most = std::max<std::uint32_t>(most, flows[column]);
        offer(link, most);
    }
    if (out.node == no_node)
        return out;
    // A LID goes whole over one link: the best that its group has is its fastest.
    const FlowCounter &counter = routes.counter();
    const Number at = worst_link.at;
    double fastest = 0;
    for (const Participant &to : participants) {
        const std::uint32_t column = to.destination->column;
        if (counter.ports(at)[column] != out.port || counter.flows(at)[column] != out.max_link_flows)
            continue;
        for (const double rate : rates_of(graph, at, counter.sets(at)[counter.set(at, to.destination->target)]))
            fastest = std::max(fastest, rate);
    }
    out.factor = std::max(1.0, fastest / graph.rate(at, out.port));
    out.ideal = out.max_link_flows / out.factor;
    return out;
}

std::optional<EffectiveBisection> effective_bisection(const RouteMatrix &routes, std::span<const Participant> participants,
                                                      unsigned bisections, unsigned seed) {
    const SwitchGraph &graph = routes.graph();
    LinkCounts counts(graph);
    std::vector<std::vector<const Participant *>> rails;
    for (const Participant &one : participants) {
        if (rails.size() <= one.rail)
            rails.resize(one.rail + 1U);
        rails[one.rail].push_back(&one);
    }
    EffectiveBisection out;
    out.bisections = bisections;
    out.seed = seed;
    struct Way {
        std::size_t first, last; ///< into links
        double alone;            ///< Gb/s, of the two hosts' own links
        bool arrives;
    };
    std::vector<Way> ways;
    std::vector<std::pair<Number, std::uint8_t>> links;
    std::mt19937 random(seed);
    double sum = 0, squares = 0;
    for (unsigned round = 0; round < bisections; ++round) {
        double got = 0;
        counts.clear();
        ways.clear();
        links.clear();
        for (auto &rail : rails) {
            // Fisher and Yates by hand: std::shuffle's order is each library's own.
            for (std::size_t i = rail.size(); i > 1; --i)
                std::swap(rail[i - 1], rail[random() % i]);
            for (std::size_t i = 0; i + 1 < rail.size(); i += 2)
                for (const auto &[from, to] : {std::pair(rail[i], rail[i + 1]), std::pair(rail[i + 1], rail[i])}) {
                    const std::size_t before = links.size();
                    const bool arrives = routes.walk(from->at, *to->destination, [&](Number at, std::uint8_t port) {
                        counts.add(at, port);
                        links.emplace_back(at, port);
                    });
                    ways.push_back({before, links.size(), std::min(from->host_rate, to->host_rate), arrives});
                }
        }
        for (const Way &way : ways) {
            double narrowest = way.alone;
            for (const auto &[at, port] : std::span(links).subspan(way.first, way.last - way.first))
                narrowest = std::min(narrowest, graph.rate(at, port) / counts.of(at, port));
            got += way.arrives ? narrowest / way.alone : 0;
        }
        if (ways.empty())
            return std::nullopt;
        const double mean = got / double(ways.size());
        sum += mean;
        squares += mean * mean;
        out.worst = std::min(out.worst, mean);
    }
    if (bisections == 0)
        return std::nullopt;
    out.mean = sum / bisections;
    const double spread = bisections > 1 ? std::sqrt(std::max(0.0, (squares - sum * out.mean) / (bisections - 1))) : 0;
    const double half = 1.96 * spread / std::sqrt(double(bisections));
    out.low = std::max(0.0, out.mean - half);
    out.high = std::min(1.0, out.mean + half);
    return out;
}

Shapes shape_loads(const LftView &lfts, const Query &query) {
    Query inside;
    inside.job = query.job;
    inside.rails_apart = query.rails_apart;
    inside.want_sources = false;
    inside.want_lids = false;
    inside.want_shapes = true;
    return analyse(lfts, inside).shapes.value_or(Shapes{});
}

} // namespace fabric_check::fabric
