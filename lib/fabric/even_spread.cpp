// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/even_spread.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace fabric_check::fabric {
namespace {

/// Whole items that links take up to this level of size over rate.
std::size_t room(std::span<const double> rates, std::span<const double> sizes, double item, double level) {
    double whole = 0;
    for (std::size_t i = 0; i < rates.size(); ++i)
        whole += std::max(0.0, std::floor((level * rates[i] - sizes[i]) / item + 1e-9));
    return whole >= 1e18 ? std::size_t(-1) : std::size_t(whole);
}

/// Adds equal items, each to the link that it leaves the least busy.
void add_items(std::span<const double> rates, std::vector<double> &sizes, const Items &items) {
    std::size_t left = items.count;
    const std::size_t links = rates.size();
    if (left > 4 * links) {
        // Up to a level where all but a few of them are placed, the order makes no difference.
        double low = 0, high = 0;
        for (std::size_t i = 0; i < links; ++i)
            high = std::max(high, (sizes[i] + items.size * double(left)) / rates[i]);
        for (int step = 0; step < 60; ++step) {
            const double middle = (low + high) / 2;
            (room(rates, sizes, items.size, middle) <= left ? low : high) = middle;
        }
        for (std::size_t i = 0; i < links; ++i) {
            const double whole = std::max(0.0, std::floor((low * rates[i] - sizes[i]) / items.size + 1e-9));
            const std::size_t taken = std::min(left, std::size_t(whole));
            sizes[i] += double(taken) * items.size;
            left -= taken;
        }
    }
    for (; left > 0; --left) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < links; ++i)
            if ((sizes[i] + items.size) / rates[i] < (sizes[best] + items.size) / rates[best])
                best = i;
        sizes[best] += items.size;
    }
}

} // namespace

std::vector<double> rates_of(const SwitchGraph &graph, SwitchGraph::Number at, const PortSet &set) {
    std::vector<double> rates;
    for (const SwitchGraph::Edge &edge : graph.edges(at))
        if (set.contains(edge.port))
            rates.push_back(graph.rate(at, edge.port));
    return rates;
}

std::vector<double> spread_items(std::span<const double> rates, std::vector<Items> items) {
    std::vector<double> sizes(rates.size(), 0);
    std::sort(items.begin(), items.end(), [](const Items &a, const Items &b) { return a.size > b.size; });
    for (const Items &some : items)
        if (!rates.empty() && some.size > 0)
            add_items(rates, sizes, some);
    return sizes;
}

double best_even_spread(std::span<const double> rates, std::vector<Items> items) {
    const bool equal = std::all_of(rates.begin(), rates.end(), [&rates](double rate) { return rate == rates[0]; });
    if (items.size() == 1 && equal && !rates.empty())
        return items[0].size * double((items[0].count + rates.size() - 1) / rates.size()) / rates[0];
    const std::vector<double> sizes = spread_items(rates, std::move(items));
    double most = 0;
    for (std::size_t i = 0; i < rates.size(); ++i)
        most = std::max(most, sizes[i] / rates[i]);
    return most;
}

void EvenSpread::add(const Reach &reach, std::span<const Start> starts) {
    constexpr std::size_t width = Reach::width;
    constexpr int few_targets = 8;
    here_.assign(graph_.size() * width, 0);
    some_.assign(graph_.size(), 0);
    for (const Start &start : starts) {
        here_[start.at * width + start.place] += start.flows;
        some_[start.at] |= std::uint64_t(1) << start.place;
    }
    const auto &levels = reach.levels();
    std::array<double, width> part{};
    for (std::size_t level = levels.size(); level-- > 1;)
        for (const auto &[s, targets] : levels[level]) {
            if ((some_[s] & targets) == 0)
                continue;
            const double *from = &here_[s * width];
            const auto edges = graph_.edges(s);
            const std::uint32_t first = graph_.first_edge(s);
            reach.classes(s, classes_);
            for (const Reach::Class &one : classes_) {
                const std::uint64_t mine = one.targets & targets & some_[s];
                const bool few = std::popcount(mine) <= few_targets;
                double total = 0, rates = 0;
                if (!few)
                    part.fill(0);
                for (std::uint64_t left = mine; left != 0; left &= left - 1) {
                    const auto t = std::size_t(std::countr_zero(left));
                    part[t] = from[t];
                    total += from[t];
                }
                if (!(total > 0))
                    continue;
                for (const SwitchGraph::Edge &edge : edges)
                    if (one.ports.contains(edge.port))
                        rates += graph_.rate(s, edge.port);
                for (std::size_t e = 0; e < edges.size(); ++e) {
                    if (!one.ports.contains(edges[e].port))
                        continue;
                    const double share = graph_.rate(s, edges[e].port) / rates;
                    load_[first + e] += total * share;
                    double *to = &here_[edges[e].to * width];
                    some_[edges[e].to] |= mine;
                    if (few) {
                        for (std::uint64_t left = mine; left != 0; left &= left - 1)
                            to[std::countr_zero(left)] += part[std::size_t(std::countr_zero(left))] * share;
                    } else { // all of them: what is not there adds nothing, and the machine does several at once
                        for (std::size_t t = 0; t < width; ++t)
                            to[t] += part[t] * share;
                    }
                }
            }
        }
}

double EvenSpread::share(Number at, std::uint8_t port) const {
    const std::uint32_t first = graph_.first_edge(at);
    const auto edges = graph_.edges(at);
    for (std::size_t e = 0; e < edges.size(); ++e)
        if (edges[e].port == port)
            return load_[first + e] / graph_.rate(at, port);
    return 0;
}

double EvenSpread::busiest() const {
    double most = 0;
    for (Number s = 0; s < graph_.size(); ++s) {
        std::uint32_t e = graph_.first_edge(s);
        for (const SwitchGraph::Edge &edge : graph_.edges(s))
            most = std::max(most, load_[e++] / graph_.rate(s, edge.port));
    }
    return most;
}

} // namespace fabric_check::fabric
