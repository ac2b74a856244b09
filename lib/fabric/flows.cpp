// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/flows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace fabric_check::fabric {
namespace {

constexpr std::uint64_t bit(std::size_t at) { return std::uint64_t(1) << at; }

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

FlowCounter::FlowCounter(const SwitchGraph &graph, const LftView &lfts, std::span<const Number> targets, bool by_set,
                         std::size_t columns)
    : graph_(graph), tree_(lfts), lfts_(lfts), targets_(targets.begin(), targets.end()), columns_(columns),
      switches_(graph.size()), rows_(graph.size()), rank_(ranks(graph, targets)), standing_(graph.size(), 0),
      sent_(graph.size(), 0), local_(graph.size(), 0), flows_(graph.size() * width, 0), pattern_of_(graph.size(), 0),
      alone_(lfts.map().nodes().size(), 0) {
    for (std::size_t first = 0; by_set && first < targets_.size(); first += width)
        reaches_.emplace_back(graph).run(std::span(targets_).subspan(first, std::min(width, targets_.size() - first)));
    std::uint8_t highest = 0;
    for (const std::uint8_t rank : rank_)
        highest = std::max(highest, rank);
    waiting_.resize(highest + 1U);
}

/// Which sets of ports lead from this switch to the targets.
void FlowCounter::open(Number at) {
    Switch &here = switches_[at];
    here.opened = true;
    here.table = lfts_.row(graph_.node(at));
    here.set_of.assign(targets_.size(), 0);
    passed_.push_back(at);
    if (columns_ != 0) {
        rows_[at] = {std::make_unique_for_overwrite<std::uint8_t[]>(columns_), std::make_unique<std::uint8_t[]>(columns_),
                     std::make_unique<std::uint16_t[]>(columns_)};
        std::fill_n(rows_[at].ports.get(), columns_, no_route);
    }
    if (reaches_.empty())
        here.sets.emplace_back();
    for (std::size_t r = 0; r < reaches_.size(); ++r) {
        reaches_[r].classes(at, classes_);
        for (const Reach::Class &one : classes_) {
            const auto found = std::find(here.sets.begin(), here.sets.end(), one.ports);
            const auto number = std::uint16_t(found - here.sets.begin());
            if (found == here.sets.end())
                here.sets.push_back(one.ports);
            for (std::uint64_t left = one.targets; left != 0; left &= left - 1)
                here.set_of[r * width + unsigned(std::countr_zero(left))] = number;
        }
    }
    here.first.resize(here.sets.size());
    here.uniform = true;
    bool any = false;
    for (std::size_t t = 0; t < targets_.size(); ++t) {
        if (targets_[t] == at)
            continue;
        here.uniform = here.uniform && (!any || here.set_of[t] == here.only_set);
        here.only_set = here.set_of[t];
        any = true;
    }
}

/// Makes the switch ready for the pattern at hand: a cell for every set and port.
void FlowCounter::prepare(Number at) {
    Switch &here = switches_[at];
    if (!here.opened)
        open(at);
    pattern_of_[at] = pattern_now_;
    const auto known = std::find_if(here.slots.begin(), here.slots.end(),
                                    [this](const Slot &one) { return one.pattern == pattern_; });
    if (known != here.slots.end()) { // of every set, one after the other
        for (std::size_t set = 0; set < here.sets.size(); ++set)
            here.first[set] = known[std::ptrdiff_t(set)].first;
        return;
    }
    const std::size_t before = here.cells.size(), ports = graph_.ports(at);
    here.cells.resize(before + here.sets.size() * ports);
    for (std::size_t set = 0; set < here.sets.size(); ++set) {
        here.first[set] = std::uint32_t(before + set * ports);
        here.slots.push_back({pattern_, std::uint16_t(set), here.first[set]});
    }
}

void FlowCounter::use_block(std::span<const Destination> destinations) {
    for (const Number at : block_at_)
        local_[at] = 0;
    block_at_.clear();
    destinations_ = destinations;
    highest_lid_ = 0;
    for (std::size_t j = 0; j < destinations.size(); ++j) {
        lid_[j] = destinations[j].endpoint->lid;
        target_[j] = destinations[j].target;
        local_[destinations[j].at] |= bit(j);
        block_at_.push_back(destinations[j].at);
        highest_lid_ = std::max(highest_lid_, lid_[j]);
    }
}

void FlowCounter::stand(Number at, std::uint64_t columns) {
    if (standing_[at] == 0)
        waiting_[rank_[at]].push_back(at);
    standing_[at] |= columns;
}

void FlowCounter::note_hop(Number at, std::size_t j, std::uint8_t out, std::uint32_t amount) {
    const std::uint32_t column = destinations_[j].column;
    Row &row = rows_[at];
    row.ports[column] = out;
    row.marks[column] |= mark_;
    if ((mark_ & mark_flows) != 0)
        row.flows[column] = std::uint16_t(row.flows[column] + amount);
}

/// As if the flows of the mark at hand had not passed.
void FlowCounter::take_hop_back(Number at, std::size_t j) {
    const std::uint32_t column = destinations_[j].column;
    Row &row = rows_[at];
    row.marks[column] &= std::uint8_t(~mark_);
    if ((mark_ & mark_flows) != 0)
        row.flows[column] = 0;
    if (row.marks[column] == 0)
        row.ports[column] = no_route;
}

/// What has come to its destination's own switch, and leaves the fabric there; what does not is left over.
std::uint64_t FlowCounter::deliver(Number at, std::uint64_t here) {
    std::uint64_t left_over = 0;
    for (std::uint64_t left = here; left != 0; left &= left - 1) {
        const auto j = std::size_t(std::countr_zero(left));
        const Destination &to = destinations_[j];
        const auto &table = switches_[at].table;
        const std::uint8_t out = lid_[j] < table.size() ? table[lid_[j]] : no_route;
        if (to.port != 0 && out != to.port) {
            left_over |= bit(j);
            continue;
        }
        if (to.port != 0 && columns_ != 0)
            note_hop(at, j, out, 0);
        flows_[at * width + j] = 0;
    }
    return left_over;
}

/// Moves what stands at a switch for these destinations to where its table leads; those for which it leads nowhere.
template <bool uniform, bool matrix>
std::uint64_t FlowCounter::send_all(Number at, std::uint64_t left, std::uint64_t before, bool take_back) {
    Switch &here = switches_[at];
    const SwitchGraph::Next next = graph_.next(at);
    const std::uint8_t *table = here.table.data();
    const std::size_t size = here.table.size();
    std::uint16_t *from = &flows_[at * width];
    Cell *only = uniform ? &here.cells[here.first[here.only_set]] : nullptr;
    std::uint64_t bad = 0;
    const auto one = [&](std::size_t j, std::uint8_t out) {
        const Number there = next[out];
        if (there == SwitchGraph::nowhere) {
            bad |= bit(j);
            return;
        }
        const std::uint16_t amount = from[j];
        std::uint16_t &to = flows_[there * width + j];
        to = std::uint16_t(to + amount);
        by_port_[out] |= bit(j);
        const Cell more = amount + ((before >> j & 1) != 0 ? 0 : one_lid);
        Cell &cell = uniform ? only[out] : here.cells[here.first[here.set_of[target_[j]]] + out];
        cell = take_back ? cell - more : cell + more;
        if constexpr (matrix)
            note_hop(at, j, out, amount);
    };
    if (left == ~std::uint64_t(0) && highest_lid_ < size) {
        for (std::size_t j = 0; j < width; ++j)
            one(j, table[lid_[j]]);
    } else {
        for (; left != 0; left &= left - 1) {
            const auto j = std::size_t(std::countr_zero(left));
            one(j, lid_[j] < size ? table[lid_[j]] : no_route);
        }
    }
    return bad;
}

/// Sends on what stands at a switch; the destinations for which it cannot.
std::uint64_t FlowCounter::send_on(Number at, bool take_back) {
    if (pattern_of_[at] != pattern_now_)
        prepare(at);
    std::uint64_t left = standing_[at];
    const std::uint64_t before = sent_[at];
    sent_[at] |= left;
    standing_[at] = 0;
    if (const std::uint64_t own = left & local_[at]; own != 0)
        left = (left & ~own) | deliver(at, own);
    const bool uniform = switches_[at].uniform && (left & local_[at]) == 0;
    const std::uint64_t bad = uniform ? columns_ != 0 ? send_all<true, true>(at, left, before, take_back)
                                                      : send_all<true, false>(at, left, before, take_back)
                              : columns_ != 0 ? send_all<false, true>(at, left, before, take_back)
                                              : send_all<false, false>(at, left, before, take_back);
    std::fill_n(&flows_[at * width], width, std::uint16_t(0));
    const SwitchGraph::Next next = graph_.next(at);
    for (std::size_t out = 0, ports = graph_.ports(at); out < ports && left != 0; ++out) {
        if (const std::uint64_t block = std::exchange(by_port_[out], 0); block != 0)
            stand(next[out], block);
    }
    return bad;
}

/// One pass of the block over these of its destinations; those whose flows are not all delivered.
std::uint64_t FlowCounter::run(std::span<const Source> sources, std::uint16_t own, std::uint64_t columns, bool take_back) {
    for (const Number s : passed_)
        sent_[s] = 0;
    for (const Source &source : sources) {
        std::uint16_t *flows = &flows_[source.at * width];
        std::uint64_t some = columns;
        if (columns == ~std::uint64_t(0)) {
            std::fill_n(flows, width, source.flows);
        } else {
            for (std::uint64_t left = columns; left != 0; left &= left - 1)
                flows[std::countr_zero(left)] = source.flows;
        }
        for (std::uint64_t left = columns & local_[source.at]; left != 0; left &= left - 1) {
            const auto j = std::size_t(std::countr_zero(left));
            flows[j] = std::uint16_t(source.flows - own);
            if (flows[j] == 0)
                some &= ~bit(j);
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
    // A round goes up all ranks and down again: ways of trees take one or two. What takes longer is walked alone, which
    // finds out whether it loops.
    constexpr std::size_t most_rounds = 16;
    bool more = true;
    for (std::size_t round = 0; more && round < most_rounds; ++round) {
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
            std::fill_n(flows_.begin() + std::ptrdiff_t(s * width), width, std::uint16_t(0));
        }
        rank.clear();
    }
    return bad;
}

void FlowCounter::count(std::uint16_t pattern, std::span<const Source> sources, std::span<const Destination> destinations,
                        std::uint16_t own, std::uint8_t mark) {
    use_block(destinations);
    mark_ = mark;
    if (pattern != pattern_ || pattern_now_ == 0)
        ++pattern_now_;
    pattern_ = pattern;
    const std::uint64_t all = destinations.size() == width ? ~std::uint64_t(0) : bit(destinations.size()) - 1;
    const std::uint64_t bad = run(sources, own, all, false);
    if (bad != 0) {
        run(sources, own, all, true); // the very same steps, taken back
        for (const Number s : passed_)
            for (std::size_t j = 0; columns_ != 0 && j < destinations.size(); ++j)
                take_hop_back(s, j);
        run(sources, own, all & ~bad, false);
    }
    for (std::uint64_t left = bad; left != 0; left &= left - 1)
        walk_alone(destinations[std::size_t(std::countr_zero(left))], sources, own);
}

std::vector<FlowCounter::Use> FlowCounter::uses(Number at) const {
    std::vector<Use> out;
    const Switch &here = switches_[at];
    for (const Slot &slot : here.slots)
        for (unsigned port = 0; port < graph_.ports(at); ++port)
            if (const Cell cell = here.cells[slot.first + port]; cell >= one_lid)
                out.push_back({slot.pattern, slot.set, std::uint8_t(port), std::uint32_t(cell), std::uint32_t(cell >> 32)});
    return out;
}

void FlowCounter::walk_alone(const Destination &to, std::span<const Source> sources, std::uint16_t own) {
    std::vector<std::uint32_t> from;
    for (const Source &source : sources)
        if (source.flows != (source.at == to.at ? own : 0))
            from.push_back(graph_.node(source.at));
    tree_.walk(*to.endpoint, from);
    for (const Source &source : sources) {
        const std::uint32_t amount = source.flows - (source.at == to.at ? own : 0U);
        const std::uint32_t node = graph_.node(source.at);
        if (amount == 0)
            continue;
        if (tree_.arrives(node)) {
            alone_[node] += amount;
            continue;
        }
        if (source.at != to.at)
            not_arrived_.push_back({pattern_, source.at, to.target, amount});
        const auto &failure = tree_.failure(node);
        starts_.insert(node);
        if (lost_seen_.insert({to.endpoint->lid, failure.at}).second)
            lost_.push_back({to.endpoint->lid, failure.why, failure.at});
    }
    const auto j = std::size_t(&to - destinations_.data());
    const auto &order = tree_.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
        const std::uint32_t amount = std::exchange(alone_[*it], 0), next = tree_.next(*it);
        if (amount == 0)
            continue;
        const Number at = graph_.number(*it);
        if (pattern_of_[at] != pattern_now_)
            prepare(at);
        const std::uint8_t out = tree_.port(*it);
        if (columns_ != 0 && out != 0)
            note_hop(at, j, out, next == no_node ? 0 : amount);
        if (next == no_node)
            continue;
        Switch &here = switches_[at];
        here.cells[here.first[here.set_of[to.target]] + out] += amount + one_lid;
        alone_[next] += amount;
    }
}

} // namespace fabric_check::fabric
