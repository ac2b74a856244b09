// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/analysis.hpp"

#include <algorithm>
#include <tuple>

namespace fabric_check::fabric {
namespace {

constexpr std::uint32_t no_group = 0xffffffff;

GroupPort &port_of(Group &group, std::uint8_t port) {
    return *std::lower_bound(group.ports.begin(), group.ports.end(), port,
                             [](const GroupPort &a, std::uint8_t b) { return a.port < b; });
}

} // namespace

Group Analysis::finish(Number at, std::span<const FlowCounter::Use> uses) {
    const Pattern &pattern = patterns_[uses[0].pattern];
    const PortSet &minimal = counter_->sets(at)[uses[0].set];
    Group group;
    group.node = graph_.node(at);
    group.direction = pattern.direction;
    group.rail = pattern.rail;
    group.available = minimal.size();
    PortSet members = minimal;
    for (const FlowCounter::Use &use : uses)
        members.insert(use.port);
    std::vector<double> rates;
    double busiest = 0;
    const MapNode node = map_.nodes()[group.node];
    for (const std::uint8_t port : members.ports()) {
        const MapPort link = node.ports[port];
        const bool used = !uses.empty() && uses.front().port == port;
        const FlowCounter::Use use = used ? uses.front() : FlowCounter::Use{};
        uses = uses.subspan(used ? 1 : 0);
        GroupPort out;
        out.port = port;
        out.peer = link.peer;
        out.peer_port = link.peer_port;
        out.rate = link.rate;
        out.minimal = minimal.contains(port);
        out.lid_count = use.lids;
        out.flows = use.flows;
        group.peers.push_back(link.peer);
        const double rate = graph_.rate(at, port);
        guessed_rate_ = guessed_rate_ || !graph_.rate_known(at, port);
        if (out.minimal)
            rates.push_back(rate);
        group.used += use.lids != 0 ? 1 : 0;
        group.lids += use.lids;
        group.flows += use.flows;
        busiest = std::max(busiest, use.lids / rate);
        group.ports.push_back(std::move(out));
    }
    std::sort(group.peers.begin(), group.peers.end(),
              [this](std::uint32_t a, std::uint32_t b) { return graph_.number(a) < graph_.number(b); });
    group.peers.erase(std::unique(group.peers.begin(), group.peers.end()), group.peers.end());
    if (group.available >= 2)
        group.imbalance = std::max(1.0, busiest / best_even_spread(rates, {{1, group.lids}}));
    return group;
}

std::uint32_t Analysis::group_of(Number at, std::size_t pattern, std::uint16_t set) const {
    const auto &known = group_of_[at];
    return known.empty() ? no_group : known[pattern * counter_->sets(at).size() + set];
}

/// The LIDs of each port, from the matrix of routes.
void Analysis::fill_lids() {
    for (const Number at : counter_->passed()) {
        const std::uint8_t *ports = counter_->ports(at), *marks = counter_->marks(at);
        const SwitchGraph::Next next = graph_.next(at);
        for (const std::uint32_t m : order_) {
            const Member &to = members_[m];
            // The host's own link, whatever its switch says of that port, or one that a second switch claims to it.
            if (at == to.at || next[ports[m]] == SwitchGraph::nowhere)
                continue;
            const std::uint16_t set = counter_->set(at, to.target);
            for (const std::uint8_t mark : {mark_job, mark_services}) {
                if ((marks[m] & mark) == 0)
                    continue;
                const std::size_t pattern = mark == mark_services ? rails_ + to.rail : to.service ? 2 * rails_ + graph_.subnet(to.at) : to.rail;
                if (const std::uint32_t group = group_of(at, pattern, set); group != no_group)
                    port_of(routes_.groups[group], ports[m]).lids.push_back(to.endpoint->lid);
            }
        }
    }
    for (Group &group : routes_.groups)
        for (GroupPort &port : group.ports)
            std::sort(port.lids.begin(), port.lids.end());
}

/// Whose flows pass each port: every switch with senders is followed to every destination.
void Analysis::fill_sources() {
    const RouteMatrix matrix(graph_, *counter_);
    // By group and port: the places among the targets of the switches whose flows pass.
    std::vector<std::vector<std::vector<bool>>> passing(routes_.groups.size());
    for (std::size_t g = 0; g < passing.size(); ++g)
        passing[g].resize(routes_.groups[g].ports.size());
    for (std::size_t p = 0; p < patterns_.size(); ++p)
        for (const FlowCounter::Source &source : patterns_[p].sources) {
            const auto place = std::size_t(std::lower_bound(targets_.begin(), targets_.end(), source.at) - targets_.begin());
            for (const std::uint32_t m : patterns_[p].destinations)
                matrix.walk(source.at, destination(m), [&](Number at, std::uint8_t port) {
                    const std::uint32_t group = group_of(at, p, counter_->set(at, members_[m].target));
                    if (group == no_group)
                        return;
                    GroupPort &out = port_of(routes_.groups[group], port);
                    auto &bits = passing[group][std::size_t(&out - routes_.groups[group].ports.data())];
                    bits.resize(targets_.size());
                    bits[place] = true;
                });
        }
    for (std::size_t g = 0; g < passing.size(); ++g) {
        Group &group = routes_.groups[g];
        for (std::size_t i = 0; i < group.ports.size(); ++i)
            for (const Member &member : members_)
                if (!passing[g][i].empty() && passing[g][i][member.target] &&
                    member.service == (group.direction == Direction::from) &&
                    (group.direction != Direction::inside || member.rail == group.rail))
                    group.ports[i].sources.push_back(member.source);
    }
}

void Analysis::finish_groups() {
    group_of_.resize(graph_.size());
    each_group([this](Number at, std::span<const FlowCounter::Use> uses) {
        auto &known = group_of_[at];
        if (known.empty())
            known.assign(patterns_.size() * counter_->sets(at).size(), no_group);
        known[uses[0].pattern * counter_->sets(at).size() + uses[0].set] = std::uint32_t(routes_.groups.size());
        routes_.groups.push_back(finish(at, uses));
    });
    if (query_.want_lids)
        fill_lids();
    if (query_.want_sources)
        fill_sources();
    std::stable_sort(routes_.groups.begin(), routes_.groups.end(), [this](const Group &a, const Group &b) {
        if (a.imbalance != b.imbalance)
            return a.imbalance > b.imbalance;
        return a.flows != b.flows ? a.flows > b.flows
                                  : std::tuple(graph_.number(a.node), a.direction, a.rail, a.ports[0].port) <
                                        std::tuple(graph_.number(b.node), b.direction, b.rail, b.ports[0].port);
    });
    routes_.worst = routes_.groups.empty() ? -1 : 0;
}

} // namespace fabric_check::fabric
