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
    explicit LinkCounts(const SwitchGraph &graph) : counts_(graph.size() * 256, 0) {}
    void add(Number at, std::uint8_t port, std::uint32_t flows = 1) {
        const std::uint32_t link = at * 256U + port;
        if (counts_[link] == 0)
            used_.push_back(link);
        counts_[link] += flows;
    }
    std::uint32_t of(Number at, std::uint8_t port) const { return counts_[at * 256U + port]; }
    const std::vector<std::uint32_t> &used() const { return used_; } ///< switch number << 8 | port
    void clear() {
        for (const std::uint32_t link : used_)
            counts_[link] = 0;
        used_.clear();
    }

private:
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint32_t> used_;
};

/// Everybody of a rail at one switch sends the same ways: one of them for all, with how many they are.
std::vector<std::pair<const Participant *, std::uint32_t>> senders_of(std::span<const Participant> participants) {
    std::map<std::pair<Number, unsigned>, std::pair<const Participant *, std::uint32_t>> by_place;
    for (const Participant &one : participants) {
        auto &[first, many] = by_place.try_emplace({one.at, one.rail}, &one, 0).first->second;
        ++many;
    }
    std::vector<std::pair<const Participant *, std::uint32_t>> out;
    for (const auto &[place, senders] : by_place)
        out.push_back(senders);
    return out;
}

} // namespace

ShapeLoad one_to_many(const RouteMatrix &routes, std::span<const Participant> participants) {
    const SwitchGraph &graph = routes.graph();
    LinkCounts counts(graph);
    const auto senders = senders_of(participants);
    ShapeLoad out;
    double worst = 0;
    const Participant *worst_sender = nullptr;
    Number worst_at = 0;
    const auto from = [&](const Participant &sender, auto &&visit) {
        for (const Participant &to : participants)
            if (to.rail == sender.rail && to.at != sender.at)
                routes.walk(sender.at, *to.destination,
                            [&](Number at, std::uint8_t port) { visit(*to.destination, at, port); });
    };
    for (const auto &[sender, many] : senders) {
        counts.clear();
        from(*sender, [&](const auto &, Number at, std::uint8_t port) { counts.add(at, port); });
        for (const std::uint32_t link : counts.used()) {
            const auto at = Number(link >> 8);
            const auto port = std::uint8_t(link & 0xff);
            const double weighted = counts.of(at, port) / graph.rate(at, port);
            if (weighted > worst || (weighted == worst && sender == worst_sender && std::pair(at, port) < std::pair(worst_at, out.port))) {
                worst = weighted;
                worst_sender = sender;
                worst_at = at;
                out.max_link_flows = counts.of(at, port);
                out.node = graph.node(at);
                out.port = port;
            }
        }
    }
    if (worst_sender == nullptr)
        return out;
    // The sender's LIDs that could have left by the same links.
    std::vector<std::size_t> lids(routes.counter().sets(worst_at).size(), 0);
    std::vector<bool> here(lids.size(), false);
    from(*worst_sender, [&](const FlowCounter::Destination &to, Number at, std::uint8_t port) {
        if (at != worst_at)
            return;
        const std::uint16_t set = routes.counter().set(at, to.target);
        ++lids[set];
        here[set] = here[set] || port == out.port;
    });
    for (std::size_t set = 0; set < lids.size(); ++set)
        if (here[set])
            out.ideal += best_even_spread(rates_of(graph, worst_at, routes.counter().sets(worst_at)[set]), {{1, lids[set]}}) *
                         graph.rate(worst_at, out.port);
    out.ideal = out.ideal > 0 ? std::min(out.ideal, out.max_link_flows) : out.max_link_flows;
    out.factor = out.max_link_flows / out.ideal;
    return out;
}

ShapeLoad many_to_one(const RouteMatrix &routes, std::span<const Participant> participants) {
    const SwitchGraph &graph = routes.graph();
    ShapeLoad out;
    double worst = 0;
    std::vector<Number> passed = routes.counter().passed();
    std::sort(passed.begin(), passed.end());
    for (const Number at : passed) {
        const std::uint8_t *ports = routes.counter().ports(at);
        const std::uint16_t *flows = routes.counter().flows(at);
        std::array<std::uint16_t, 256> most{};
        for (const Participant &to : participants)
            if (const std::uint32_t column = to.destination->column; flows[column] != 0)
                most[ports[column]] = std::max(most[ports[column]], flows[column]);
        for (std::size_t port = 0; port < most.size(); ++port) {
            if (most[port] == 0)
                continue;
            const double weighted = most[port] / graph.rate(at, std::uint8_t(port));
            if (weighted > worst) {
                worst = weighted;
                out.max_link_flows = out.ideal = most[port];
                out.node = graph.node(at);
                out.port = std::uint8_t(port);
            }
        }
    }
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
