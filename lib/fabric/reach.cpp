// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/reach.hpp"

#include <algorithm>
#include <bit>

namespace fabric_check::fabric {

unsigned PortSet::size() const {
    unsigned count = 0;
    for (const std::uint64_t word : words_)
        count += unsigned(std::popcount(word));
    return count;
}

std::vector<std::uint8_t> PortSet::ports() const {
    std::vector<std::uint8_t> out;
    out.reserve(size());
    for (std::size_t w = 0; w < words_.size(); ++w)
        for (std::uint64_t left = words_[w]; left != 0; left &= left - 1)
            out.push_back(std::uint8_t(w * 64 + unsigned(std::countr_zero(left))));
    return out;
}

Reach::Reach(const SwitchGraph &graph)
    : graph_(&graph), seen_(graph.size()), next_(graph.size()), nearer_(graph.edges().size()) {}

void Reach::run(std::span<const Number> targets) {
    std::fill(seen_.begin(), seen_.end(), 0);
    std::fill(nearer_.begin(), nearer_.end(), 0);
    levels_.clear();
    levels_.emplace_back();
    all_ = targets.size() == width ? ~std::uint64_t(0) : (std::uint64_t(1) << targets.size()) - 1;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        seen_[targets[i]] |= std::uint64_t(1) << i;
        levels_[0].emplace_back(targets[i], std::uint64_t(1) << i);
    }
    std::vector<Number> touched;
    while (!levels_.back().empty()) {
        touched.clear();
        for (const auto &[from, front] : levels_.back())
            for (const SwitchGraph::Edge &edge : graph_->edges(from)) {
                const std::uint64_t fresh = front & ~seen_[edge.to];
                if (fresh == 0)
                    continue;
                nearer_[edge.mirror] |= fresh;
                if (next_[edge.to] == 0)
                    touched.push_back(edge.to);
                next_[edge.to] |= fresh;
            }
        auto &level = levels_.emplace_back();
        level.reserve(touched.size());
        for (const Number s : touched) {
            level.emplace_back(s, next_[s]);
            seen_[s] |= next_[s];
            next_[s] = 0;
        }
    }
    levels_.pop_back();
}

void Reach::classes(Number at, std::vector<Class> &out) const {
    out.clear();
    out.push_back({all_, {}});
    std::uint32_t e = graph_->first_edge(at);
    for (const SwitchGraph::Edge &edge : graph_->edges(at)) {
        const std::uint64_t through = nearer_[e++];
        for (std::size_t i = 0, before = out.size(); through != 0 && i < before; ++i) {
            const std::uint64_t both = out[i].targets & through;
            if (both == 0)
                continue;
            if (both != out[i].targets) {
                out.push_back({out[i].targets & ~both, out[i].ports});
                out[i].targets = both;
            }
            out[i].ports.insert(edge.port);
        }
    }
}

} // namespace fabric_check::fabric
