// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/analysis.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace fabric_check::fabric {

void Analysis::admit(const std::vector<Endpoint> &endpoints, bool service) {
    const std::vector<unsigned> rails = service || !query_.rails_apart ? std::vector<unsigned>() : rails_of(map_, endpoints);
    std::unordered_map<std::uint32_t, unsigned> subnets; // those with endpoints, numbered
    for (std::uint32_t i = 0; i < endpoints.size(); ++i) {
        const Endpoint &endpoint = endpoints[i];
        const auto name = [&endpoint] { return fmt::format("{}:{} (LID {})", endpoint.name, endpoint.port, endpoint.lid); };
        if (endpoint.node >= map_.nodes().size() || !is_unicast(endpoint.lid)) {
            routes_.warnings.push_back(fmt::format("{} has no usable LID and takes no part", name()));
            continue;
        }
        const Attachment at = attachment(map_, endpoint);
        if (at.node == no_node || graph_.number(at.node) == SwitchGraph::nowhere) {
            routes_.unreachable.push_back({endpoint.lid, "attached to no switch", no_node});
            continue;
        }
        if (!seen_lids_.insert({graph_.subnet(graph_.number(at.node)), endpoint.lid}).second)
            continue;
        unsigned rail = rails.empty() ? 0 : rails[i];
        if (!service && !query_.rails_apart)
            rail = subnets.try_emplace(graph_.subnet(graph_.number(at.node)), unsigned(subnets.size())).first->second;
        members_.push_back({&endpoint, service ? ~i : i, graph_.number(at.node), at.port, rail, service, 0});
        rails_ = std::max(rails_, rail + 1);
        services_ += service ? 1 : 0;
    }
}

void Analysis::set_targets() {
    for (const Member &member : members_)
        targets_.push_back(member.at);
    std::sort(targets_.begin(), targets_.end());
    targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
    for (Member &member : members_)
        member.target = std::uint32_t(std::lower_bound(targets_.begin(), targets_.end(), member.at) - targets_.begin());
    order_.resize(members_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
        return members_[a].endpoint->lid < members_[b].endpoint->lid;
    });
}

std::vector<FlowCounter::Source> Analysis::sources_of(const std::vector<std::uint32_t> &members) const {
    std::vector<FlowCounter::Source> sources;
    if (members.empty())
        return sources;
    std::vector<std::uint16_t> at(targets_.size(), 0);
    for (const std::uint32_t m : members)
        ++at[members_[m].target];
    for (std::size_t t = 0; t < targets_.size(); ++t)
        if (at[t] != 0)
            sources.push_back({targets_[t], at[t]});
    return sources;
}

void Analysis::set_patterns() {
    std::vector<std::vector<std::uint32_t>> by_rail(rails_);
    std::vector<std::uint32_t> job, services;
    for (const std::uint32_t m : order_) {
        (members_[m].service ? services : job).push_back(m);
        if (!members_[m].service)
            by_rail[members_[m].rail].push_back(m);
    }
    const auto subnet = [this](std::uint32_t m) { return graph_.subnet(members_[m].at); };
    const auto joined_with = [&](const std::vector<std::uint32_t> &members, const std::vector<std::uint32_t> &others) {
        std::vector<bool> there(graph_.subnets(), false);
        for (const std::uint32_t m : others)
            there[subnet(m)] = true;
        std::vector<std::uint32_t> out;
        for (const std::uint32_t m : members)
            if (there[subnet(m)])
                out.push_back(m);
        return out;
    };
    const auto add = [this](Direction direction, unsigned rail, std::vector<std::uint32_t> senders,
                            std::vector<std::uint32_t> destinations) {
        auto sources = sources_of(senders);
        patterns_.push_back({direction, rail, std::move(senders), std::move(sources), std::move(destinations)});
    };
    for (unsigned r = 0; r < rails_; ++r)
        add(Direction::inside, r, by_rail[r], by_rail[r]);
    for (unsigned r = 0; r < rails_; ++r)
        add(Direction::from, r, joined_with(services, by_rail[r]), by_rail[r]);
    for (std::uint32_t s = 0; s < graph_.subnets(); ++s) {
        std::vector<std::uint32_t> here;
        for (const std::uint32_t m : services)
            if (subnet(m) == s)
                here.push_back(m);
        add(Direction::to, 0, joined_with(job, here), here);
    }
    for (const std::uint32_t m : services)
        if (joined_with({m}, job).empty() && !job.empty())
            routes_.warnings.push_back(fmt::format("{} is in another subnet than the nodes and takes no part",
                                                   members_[m].endpoint->name));
}

FlowCounter::Destination Analysis::destination(std::uint32_t m) const {
    const Member &member = members_[m];
    return {member.endpoint, member.at, member.port, member.target, m};
}

void Analysis::count_pattern(std::size_t number) {
    const Pattern &pattern = patterns_[number];
    if (pattern.sources.empty())
        return;
    const bool inside = pattern.direction == Direction::inside;
    const std::uint8_t mark = pattern.direction == Direction::from ? mark_services : mark_job;
    std::vector<FlowCounter::Destination> block;
    for (std::size_t next = 0; next < pattern.destinations.size(); next += block.size()) {
        block.clear();
        for (std::size_t m = next; m < pattern.destinations.size() && block.size() < Reach::width; ++m)
            block.push_back(destination(pattern.destinations[m]));
        counter_->count(std::uint16_t(number), pattern.sources, block, inside ? 1 : 0,
                        inside ? std::uint8_t(mark | FlowCounter::mark_flows) : mark);
    }
}

/// The even spread to the targets of one search, all patterns together.
void Analysis::add_even(std::size_t reach) {
    const std::size_t first = reach * Reach::width, size = std::min(Reach::width, targets_.size() - first);
    std::vector<EvenSpread::Start> starts;
    for (const Pattern &pattern : patterns_) {
        if (pattern.sources.empty())
            continue;
        std::vector<double> wanted(size, 0);
        for (const std::uint32_t m : pattern.destinations)
            if (const std::uint32_t t = members_[m].target; t >= first && t < first + size)
                ++wanted[t - first];
        for (std::size_t t = 0; t < size; ++t)
            for (const FlowCounter::Source &source : pattern.sources)
                if (wanted[t] > 0 && source.at != targets_[first + t])
                    starts.push_back({source.at, std::uint8_t(t), source.flows * wanted[t]});
    }
    for (const FlowCounter::NotArrived &lost : counter_->not_arrived()) // added above with the rest: taken out again
        if (lost.target >= first && lost.target < first + size)
            starts.push_back({lost.from, std::uint8_t(lost.target - first), -double(lost.flows)});
    even_->add(counter_->reaches()[reach], starts);
}

void Analysis::count() {
    const bool matrix = query_.want_lids || query_.want_sources || query_.want_shapes;
    counter_.emplace(graph_, lfts_, targets_, true, matrix ? members_.size() : 0);
    for (std::size_t p = 0; p < patterns_.size(); ++p)
        count_pattern(p);
    uses_.resize(graph_.size());
    for (const Number at : counter_->passed())
        uses_[at] = counter_->uses(at);
    routes_.unreachable.insert(routes_.unreachable.end(), counter_->lost().begin(), counter_->lost().end());
    std::stable_sort(routes_.unreachable.begin(), routes_.unreachable.end(),
                     [](const Unreachable &a, const Unreachable &b) { return a.lid < b.lid; });
}

void Analysis::finish_ports() {
    std::map<std::uint32_t, std::set<std::uint8_t>> ports;
    std::set<std::uint32_t> switches(counter_->starts());
    const bool job = std::any_of(members_.begin(), members_.end(), [](const Member &m) { return !m.service; });
    // A service takes part through its own port as soon as there is somebody to talk to.
    for (const Member &member : members_)
        if (!member.service || job) {
            switches.insert(graph_.node(member.at));
            if (member.port != 0)
                ports[graph_.node(member.at)].insert(member.port);
        }
    for (const Number at : counter_->passed())
        for (const FlowCounter::Use &use : uses_[at]) {
            switches.insert(graph_.node(at));
            ports[graph_.node(at)].insert(use.port);
        }
    for (const auto &[node, numbers] : ports)
        routes_.ports_on_routes[node].assign(numbers.begin(), numbers.end());
    routes_.switches.assign(switches.begin(), switches.end());
    for (const std::uint32_t node : routes_.switches)
        if (map_.nodes()[node].lft_damaged())
            routes_.warnings.push_back(fmt::format("the forwarding table of {} does not match its checksum in the map and is "
                                                   "taken for none; build the map again (fabric-check map build)",
                                                   map_.display_name(node)));
    for (const auto &[node, port] : lfts_.down())
        if (const MapPort link = map_.nodes()[node].ports[port];
            switches.contains(node) && std::pair(node, port) < std::pair(link.peer, link.peer_port))
            routes_.warnings.push_back(fmt::format("{} is in the map but not up: it does not count as available",
                                                   link_name(map_, node, port)));
}

/// Names that several hosts' cards of one rail share: whoever is meant, all of them were taken.
void Analysis::warn_of_shared_names() {
    std::map<std::tuple<std::string_view, unsigned>, std::set<std::uint32_t>> nodes;
    for (const Member &member : members_)
        if (!member.service)
            nodes[{member.endpoint->name, member.rail}].insert(member.endpoint->node);
    std::size_t shared = 0, cards_of_first = 0;
    std::string first;
    for (const auto &[name, cards] : nodes)
        if (cards.size() > 1 && query_.rails_apart && ++shared == 1) {
            first = std::get<0>(name);
            cards_of_first = cards.size();
        }
    if (shared != 0)
        routes_.warnings.push_back(fmt::format("{} cards of one kind call themselves {}{}: they were taken for as many hosts",
                                               cards_of_first, printable(first),
                                               shared > 1 ? fmt::format(" (and {} more such names)", shared - 1) : ""));
}

Routes Analysis::run() {
    admit(query_.job, false);
    admit(query_.services, true);
    warn_of_shared_names();
    set_targets();
    set_patterns();
    count();
    finish_groups();
    finish_imbalance();
    if (query_.want_shapes)
        finish_shapes();
    finish_ceiling();
    if (guessed_rate_)
        routes_.warnings.emplace_back("links of unknown rate were weighed like the most frequent rate between switches");
    finish_ports();
    return std::move(routes_);
}

Routes analyse(const LftView &lfts, const Query &query) { return Analysis(lfts, query).run(); }

} // namespace fabric_check::fabric
