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

/// Where the bits of a switch's output ports lie: one place for each pattern, set and port of a group.
class Analysis::Passing {
public:
    explicit Passing(Analysis &of) : of_(of), first_(of.graph_.size(), none) {}

    /// Of the groups of one pattern, with a bit for each of its sources.
    void begin(std::size_t pattern, std::size_t sources) {
        pattern_ = pattern;
        words_ = (sources + bits - 1) / bits;
        places_.clear();
        words_of_.clear();
        groups_.clear();
        std::fill(first_.begin(), first_.end(), none);
    }
    void mark(Number at, std::uint16_t set, std::uint8_t port, std::size_t source) {
        if (first_[at] == none)
            open(at);
        const std::uint32_t place = places_[first_[at] + std::size_t(set) * ports_of(at) + port];
        if (place != none)
            words_of_[place * words_ + source / bits] |= std::uint64_t(1) << source % bits;
    }
    void finish(std::size_t first_sender, std::size_t sources) {
        for (std::size_t place = 0; place < groups_.size(); ++place) {
            Group &group = of_.routes_.groups[groups_[place].first];
            group.first_senders = std::uint32_t(first_sender);
            const std::uint64_t *words = &words_of_[place * words_];
            if (std::all_of(words, words + words_, [](std::uint64_t word) { return word == 0; }))
                continue;
            auto &senders = group.ports[groups_[place].second].senders;
            senders.resize(sources);
            for (std::size_t i = 0; i < sources; ++i)
                senders[i] = (words[i / bits] >> i % bits & 1) != 0;
        }
    }

private:
    static constexpr std::uint32_t none = 0xffffffff;
    static constexpr std::size_t bits = 64;

    std::size_t ports_of(Number at) const { return of_.map_.nodes()[of_.graph_.node(at)].ports.size(); }

    void open(Number at) {
        const std::size_t sets = of_.counter_->sets(at).size();
        first_[at] = std::uint32_t(places_.size());
        places_.resize(places_.size() + sets * ports_of(at), none);
        for (std::size_t set = 0; set < sets; ++set) {
            const std::uint32_t number = of_.group_of(at, pattern_, std::uint16_t(set));
            if (number == no_group)
                continue;
            const Group &group = of_.routes_.groups[number];
            for (std::size_t i = 0; i < group.ports.size(); ++i) {
                places_[first_[at] + set * ports_of(at) + group.ports[i].port] = std::uint32_t(groups_.size());
                groups_.emplace_back(number, i);
            }
        }
        words_of_.resize(groups_.size() * words_);
    }

    Analysis &of_;
    std::size_t pattern_ = 0, words_ = 0;
    std::vector<std::uint32_t> first_;  ///< by switch number: into places_
    std::vector<std::uint32_t> places_; ///< by set and port
    std::vector<std::uint64_t> words_of_;
    std::vector<std::pair<std::uint32_t, std::size_t>> groups_; ///< by place: group, and which of its ports
};

/// Whose flows pass each port: every switch with senders is followed to every destination.
void Analysis::fill_sources() {
    const RouteMatrix matrix(graph_, *counter_);
    Passing passing(*this);
    for (std::size_t p = 0; p < patterns_.size(); ++p) {
        const Pattern &pattern = patterns_[p];
        const std::size_t first = routes_.senders.size();
        routes_.senders.resize(first + pattern.sources.size());
        for (const std::uint32_t m : pattern.senders) {
            const auto at = std::lower_bound(pattern.sources.begin(), pattern.sources.end(), members_[m].at,
                                             [](const FlowCounter::Source &a, Number b) { return a.at < b; });
            routes_.senders[first + std::size_t(at - pattern.sources.begin())].push_back(members_[m].source);
        }
        passing.begin(p, pattern.sources.size());
        for (const std::uint32_t m : pattern.destinations) {
            const FlowCounter::Destination to = destination(m);
            for (std::size_t i = 0; i < pattern.sources.size(); ++i)
                matrix.walk(pattern.sources[i].at, to, [&](Number at, std::uint8_t port) {
                    passing.mark(at, counter_->set(at, to.target), port, i);
                });
        }
        passing.finish(first, pattern.sources.size());
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
