// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/flows.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace fabric_check::fabric {
namespace {

constexpr std::uint64_t bit(std::size_t at) { return std::uint64_t(1) << at; }

/// As if the flows of this mark had not passed.
void take_hop_back(FlowCounter::Hop &hop, std::uint8_t mark) {
    hop.marks &= std::uint8_t(~mark);
    if (hop.marks == 0)
        hop.port = no_route;
}

/// Hops from the nearest of these switches; those that cannot be reached come last.
std::vector<std::uint8_t> ranks(const SwitchGraph &graph, std::span<const SwitchGraph::Number> from) {
    constexpr std::uint8_t far = 0xff;
    std::vector<std::uint8_t> rank(graph.size(), far);
    std::vector<SwitchGraph::Number> queue;
    for (const auto s : from)
        if (rank[s] == far) {
            rank[s] = 0;
            queue.push_back(s);
        }
    for (std::size_t i = 0; i < queue.size(); ++i)
        for (const SwitchGraph::Edge &edge : graph.edges(queue[i]))
            if (rank[edge.to] == far) {
                rank[edge.to] = std::uint8_t(std::min(rank[queue[i]] + 1, far - 1));
                queue.push_back(edge.to);
            }
    return rank;
}

} // namespace

FlowCounter::FlowCounter(const SwitchGraph &graph, const LftView &lfts, std::span<const Number> targets,
                         std::span<const Number> endpoints_at, std::size_t columns)
    : graph_(graph), tree_(lfts), reach_(graph), lfts_(lfts), all_targets_(targets.begin(), targets.end()), columns_(columns), switches_(graph.size()),
      rank_(ranks(graph, endpoints_at)), standing_(graph.size(), 0), sent_(graph.size(), 0),
      flows_(graph.size() * width, 0), set_of_(graph.size() * width), cells_of_(graph.size() * width),
      batch_of_(graph.size(), 0), pattern_of_(graph.size(), 0), alone_(lfts.map().nodes().size(), 0) {
    std::uint8_t highest = 0;
    for (const std::uint8_t rank : rank_)
        highest = std::max(highest, rank);
    waiting_.resize(highest + 1U);
}

void FlowCounter::open(Number at) {
    Switch &here = switches_[at];
    here.opened = true;
    here.table = lfts_.row(graph_.node(at));
    passed_.push_back(at);
    if (columns_ != 0) {
        here.hops = std::make_unique<Hop[]>(columns_);
        here.set_by_target.assign(all_targets_.size(), 0);
    }
}

/// Makes set_of_ right for this switch: its set of ports towards every target of the batch.
void FlowCounter::classify(Number at) {
    batch_of_[at] = batch_;
    if (by_set_)
        reach_.classes(at, classes_);
    else
        classes_.assign(1, {~std::uint64_t(0) >> (width - targets_), {}});
    Switch &here = switches_[at];
    for (const Reach::Class &one : classes_) {
        const auto found = std::find(here.sets.begin(), here.sets.end(), one.ports);
        const auto number = std::uint16_t(found - here.sets.begin());
        if (found == here.sets.end())
            here.sets.push_back(one.ports);
        for (std::uint64_t left = one.targets; left != 0; left &= left - 1) {
            const auto place = std::size_t(std::countr_zero(left));
            set_of_[at * width + place] = number;
            if (columns_ != 0)
                here.set_by_target[first_target_ + place] = number;
        }
    }
}

/// Makes cells_of_ right for this switch: cells of the pattern at hand towards every target of the batch.
void FlowCounter::prepare(Number at) {
    if (!switches_[at].opened)
        open(at);
    if (batch_of_[at] != batch_)
        classify(at);
    pattern_of_[at] = pattern_now_;
    Switch &here = switches_[at];
    std::array<std::uint32_t, width> first{};
    std::array<std::uint16_t, width> known{};
    std::size_t have = 0;
    for (std::size_t i = 0; i < targets_; ++i) {
        const std::uint16_t set = set_of_[at * width + i];
        std::size_t k = 0;
        while (k < have && known[k] != set)
            ++k;
        if (k == have) {
            const auto slot = std::find_if(here.slots.begin(), here.slots.end(), [&](const Slot &one) {
                return one.pattern == pattern_ && one.set == set;
            });
            if (slot != here.slots.end()) {
                first[k] = slot->first;
            } else {
                first[k] = std::uint32_t(here.cells.size());
                here.slots.push_back({pattern_, set, first[k]});
                here.cells.resize(here.cells.size() + graph_.ports(at));
            }
            known[k] = set;
            ++have;
        }
        cells_of_[at * width + i] = first[k];
    }
}

void FlowCounter::batch(std::size_t first, std::size_t count, bool by_set) {
    ++batch_;
    first_target_ = first;
    targets_ = count;
    by_set_ = by_set;
    if (by_set)
        reach_.run(std::span(all_targets_).subspan(first, count));
}

void FlowCounter::stand(Number at, std::uint64_t columns) {
    if (standing_[at] == 0)
        waiting_[rank_[at]].push_back(at);
    standing_[at] |= columns;
}

/// Sends on what stands at a switch; the destinations for which it cannot.
std::uint64_t FlowCounter::send_on(Number at, bool take_back) {
    if (pattern_of_[at] != pattern_now_)
        prepare(at);
    Switch &here = switches_[at];
    const auto &next = graph_.next(at);
    const std::uint8_t *table = here.table.data();
    const std::size_t size = here.table.size();
    const std::uint32_t *cells_of = &cells_of_[at * width];
    std::uint32_t *flows = &flows_[at * width];
    std::uint64_t bad = 0;
    const std::uint64_t before = sent_[at];
    std::uint64_t left = standing_[at];
    sent_[at] |= left;
    standing_[at] = 0;
    for (; left != 0; left &= left - 1) {
        const auto j = std::size_t(std::countr_zero(left));
        const Destination &to = destinations_[j];
        const std::uint32_t amount = flows[j];
        flows[j] = 0;
        if (to.target == at && to.port == 0)
            continue;
        const std::uint16_t lid = to.endpoint->lid;
        const std::uint8_t out = lid < size ? table[lid] : no_route;
        if (here.hops) {
            here.hops[to.column].port = out;
            here.hops[to.column].marks |= mark_;
        }
        if (to.target == at && out == to.port)
            continue;
        const Number there = next[out];
        if (there == SwitchGraph::nowhere) {
            bad |= bit(j);
            continue;
        }
        Cell &cell = here.cells[cells_of[to.place] + out];
        const std::uint32_t fresh = (before >> j & 1) != 0 ? 0 : 1;
        cell.flows += take_back ? 0 - amount : amount;
        cell.lids += take_back ? 0 - fresh : fresh;
        flows_[there * width + j] += amount;
        if (there == to.target)
            received_[j] += amount;
        stand(there, bit(j));
    }
    return bad;
}

/// One pass of the block over these of its destinations; those whose flows are not all delivered.
std::uint64_t FlowCounter::run(std::span<const Source> sources, std::uint32_t own, std::uint64_t columns, bool take_back) {
    received_.fill(0);
    for (const Number s : passed_)
        sent_[s] = 0;
    for (const Source &source : sources) {
        std::uint64_t some = 0;
        for (std::uint64_t left = columns; left != 0; left &= left - 1) {
            const auto j = std::size_t(std::countr_zero(left));
            const std::uint32_t amount = source.flows - (destinations_[j].target == source.at ? own : 0);
            flows_[source.at * width + j] = amount;
            some |= amount != 0 ? bit(j) : 0;
        }
        if (some != 0)
            stand(source.at, some);
    }
    std::uint64_t bad = 0;
    const auto send_rank = [&](std::vector<Number> &rank) {
        round_.swap(rank);
        for (const Number s : round_)
            if (standing_[s] != 0)
                bad |= send_on(s, take_back);
        round_.clear();
        return !rank.empty();
    };
    // Every round moves whatever stands by one hop at least, and no way without a loop has more hops than switches.
    bool more = true;
    for (std::size_t round = 0; more && round <= graph_.size(); ++round) {
        more = false;
        for (auto &rank : waiting_)
            send_rank(rank);
        for (std::size_t r = waiting_.size(); r-- > 0;)
            more = send_rank(waiting_[r]) || more;
        for (const auto &rank : waiting_)
            more = more || !rank.empty();
    }
    for (auto &rank : waiting_) {
        for (const Number s : rank) {
            bad |= standing_[s];
            standing_[s] = 0;
            std::fill_n(flows_.begin() + std::ptrdiff_t(s * width), width, 0);
        }
        rank.clear();
    }
    return bad;
}

void FlowCounter::count(std::uint16_t pattern, std::span<const Source> sources, std::span<const Destination> destinations,
                        std::uint32_t own, std::uint8_t mark) {
    destinations_ = destinations;
    mark_ = mark;
    pattern_ = pattern;
    ++pattern_now_;
    const std::uint64_t all = destinations.size() == width ? ~std::uint64_t(0) : bit(destinations.size()) - 1;
    const std::uint64_t bad = run(sources, own, all, false);
    if (bad != 0) {
        run(sources, own, all, true); // the very same steps, taken back
        for (const Number s : passed_)
            for (std::uint64_t left = bad; columns_ != 0 && left != 0; left &= left - 1)
                take_hop_back(switches_[s].hops[destinations[std::size_t(std::countr_zero(left))].column], mark);
        run(sources, own, all & ~bad, false);
    }
    most_received_ = std::max(most_received_, *std::max_element(received_.begin(), received_.end()));
    for (std::uint64_t left = bad; left != 0; left &= left - 1)
        walk_alone(destinations[std::size_t(std::countr_zero(left))], sources, own);
}

void FlowCounter::walk_alone(const Destination &to, std::span<const Source> sources, std::uint32_t own) {
    std::vector<std::uint32_t> from;
    for (const Source &source : sources)
        if (source.flows != (source.at == to.target ? own : 0))
            from.push_back(graph_.node(source.at));
    tree_.walk(*to.endpoint, from);
    for (const Source &source : sources) {
        const std::uint32_t amount = source.flows - (source.at == to.target ? own : 0);
        const std::uint32_t node = graph_.node(source.at);
        if (amount == 0)
            continue;
        if (tree_.arrives(node)) {
            alone_[node] += amount;
            continue;
        }
        const auto &failure = tree_.failure(node);
        starts_.insert(node);
        if (lost_seen_.insert({to.endpoint->lid, failure.at}).second)
            lost_.push_back({to.endpoint->lid, failure.why, failure.at});
    }
    std::uint32_t received = 0;
    const auto &order = tree_.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
        const std::uint32_t amount = alone_[*it], next = tree_.next(*it);
        alone_[*it] = 0;
        if (amount == 0)
            continue;
        const Number at = graph_.number(*it);
        if (pattern_of_[at] != pattern_now_)
            prepare(at);
        const std::uint8_t out = tree_.port(*it);
        if (switches_[at].hops) {
            switches_[at].hops[to.column].port = out;
            switches_[at].hops[to.column].marks |= mark_;
        }
        if (next == no_node)
            continue;
        Cell &cell = switches_[at].cells[cells_of_[at * width + to.place] + out];
        cell.flows += amount;
        ++cell.lids;
        alone_[next] += amount;
        if (graph_.number(next) == to.target)
            received += amount;
    }
    most_received_ = std::max(most_received_, received);
}

} // namespace fabric_check::fabric
