// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/loads.hpp"

#include <algorithm>
#include <array>

namespace fabric_check::fabric {
namespace {

/// Ties go to the lower switch and port, so that results do not depend on the order of a hash table.
bool busier(const Loads::Busiest &a, const Loads::Busiest &b) {
    if (a.weighted != b.weighted)
        return a.weighted > b.weighted;
    return std::pair(a.node, a.port) < std::pair(b.node, b.port);
}

Loads::Busiest busiest_of(std::uint32_t node, const std::array<double, 256> &flows, Hops &hops) {
    Loads::Busiest out;
    for (std::size_t p = 0; p < flows.size(); ++p) {
        if (flows[p] == 0)
            continue;
        const Loads::Busiest one{flows[p] / hops.rate(node, std::uint8_t(p)), flows[p], node, std::uint8_t(p)};
        if (busier(one, out))
            out = one;
    }
    return out;
}

} // namespace

double best_even_spread(const std::vector<double> &rates, std::size_t count) {
    if (rates.empty())
        return 0;
    std::vector<std::size_t> items(rates.size(), 0);
    double worst = 0;
    if (std::all_of(rates.begin(), rates.end(), [&](double r) { return r == rates[0]; })) {
        const std::size_t fullest = (count + rates.size() - 1) / rates.size();
        return double(fullest) / rates[0];
    }
    for (; count > 0; --count) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < rates.size(); ++i)
            if (double(items[i] + 1) / rates[i] < double(items[best] + 1) / rates[best])
                best = i;
        worst = std::max(worst, double(++items[best]) / rates[best]);
    }
    return worst;
}

void Loads::add(std::uint32_t node, std::uint8_t port, std::uint32_t set, double flows) {
    switches_[node].push_back({flows, set, port});
}

Loads::Busiest Loads::busiest() const {
    Busiest out;
    for (const auto &[node, items] : switches_) {
        std::array<double, 256> flows{};
        for (const Item &item : items)
            flows[item.port] += item.flows;
        const Busiest one = busiest_of(node, flows, *hops_);
        if (busier(one, out))
            out = one;
    }
    return out;
}

Loads::Busiest Loads::ideal() const {
    Busiest out;
    for (const auto &[node, items] : switches_) {
        std::vector<Item> sorted = items;
        std::stable_sort(sorted.begin(), sorted.end(), [this](const Item &a, const Item &b) {
            if (a.flows != b.flows)
                return a.flows > b.flows;
            return hops_->ports(a.set).size() < hops_->ports(b.set).size();
        });
        std::array<double, 256> rates{}, flows{};
        for (const Item &item : sorted)
            for (const std::uint8_t p : hops_->ports(item.set))
                if (rates[p] == 0)
                    rates[p] = hops_->rate(node, p);
        for (const Item &item : sorted) {
            std::uint8_t best = item.port; // no shorter way known: where it is
            bool first = true;
            for (const std::uint8_t p : hops_->ports(item.set))
                if (first || (flows[p] + item.flows) / rates[p] < (flows[best] + item.flows) / rates[best]) {
                    best = p;
                    first = false;
                }
            flows[best] += item.flows;
        }
        const Busiest one = busiest_of(node, flows, *hops_);
        if (busier(one, out))
            out = one;
    }
    const Busiest actual = busiest();
    return actual.weighted < out.weighted ? actual : out;
}

} // namespace fabric_check::fabric
