// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/loads.hpp"
#include "fabric/routes.hpp"
#include "fabric/tree.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>
#include <unordered_set>

namespace fabric_check::fabric {
namespace {

/// A set of source switches, by their number among the source switches.
using Bits = std::vector<std::uint64_t>;

void unite(Bits &into, const Bits &from) {
    if (into.size() < from.size())
        into.resize(from.size(), 0);
    for (std::size_t i = 0; i < from.size(); ++i)
        into[i] |= from[i];
}

struct PortDraft {
    std::vector<std::uint16_t> lids;
    double flows = 0;
    Bits sources;
};

struct GroupDraft {
    std::uint32_t node, set;
    Direction direction;
    unsigned rail;
    std::map<std::uint8_t, PortDraft> ports;
};

/// What one switch sends onwards of the destination at hand.
struct Passing {
    std::uint64_t job = 0, services = 0; ///< sources
    Bits job_switches, service_switches;
};

class Analysis {
public:
    Analysis(const LftView &lfts, const Query &query)
        : lfts_(lfts), map_(lfts.map()), query_(query), hops_(lfts), tree_(lfts), loads_(hops_),
          passing_(map_.nodes.size()) {}

    Routes run();

private:
    /// An endpoint of the query that takes part.
    struct Member {
        const Endpoint *endpoint;
        std::uint32_t source; ///< as in GroupPort::sources
        Attachment at;
        std::uint32_t switch_number; ///< among the source switches
        unsigned rail;               ///< of the job's; services talk to all
    };

    void admit(const std::vector<Endpoint> &endpoints, bool service, std::vector<Member> &members);
    void destination(const Member &to, bool service);
    void pass_on(const Member &to, bool service);
    void count(std::uint32_t node, const Member &to, Direction direction, double flows, const Bits &sources);
    void note_port(std::uint32_t node, std::uint8_t port);
    void finish_groups();
    Group finish(const GroupDraft &draft);
    void finish_ceiling();
    void expand(const GroupDraft &draft, const Bits &switches, std::vector<std::uint32_t> &out) const;
    double ceiling_of(const LinkRate &rate) const;

    const LftView &lfts_;
    const Map &map_;
    const Query &query_;
    Hops hops_;
    RouteTree tree_;
    Loads loads_;
    Routes routes_;
    std::vector<Member> job_, services_;
    std::unordered_set<std::uint16_t> seen_lids_;
    std::vector<std::uint32_t> source_switches_;
    std::unordered_map<std::uint32_t, std::uint32_t> switch_number_;
    std::vector<std::uint64_t> job_at_, services_at_;        ///< sources by switch number
    std::vector<std::vector<std::uint64_t>> job_at_by_rail_; ///< the same, by rail first
    std::vector<Passing> passing_; ///< by node; emptied after every destination
    std::map<std::tuple<std::uint32_t, Direction, std::uint32_t, unsigned>, GroupDraft> drafts_;
    std::map<std::uint32_t, std::set<std::uint8_t>> ports_;
    std::set<std::uint32_t> switches_;
    std::set<std::pair<std::uint16_t, std::uint32_t>> lost_;
};

void Analysis::admit(const std::vector<Endpoint> &endpoints, bool service, std::vector<Member> &members) {
    const std::vector<unsigned> rails = service ? std::vector<unsigned>(endpoints.size(), 0) : rails_of(map_, endpoints);
    if (!service && !rails.empty())
        job_at_by_rail_.resize(*std::max_element(rails.begin(), rails.end()) + 1);
    for (std::uint32_t i = 0; i < endpoints.size(); ++i) {
        const Endpoint &endpoint = endpoints[i];
        const auto name = [&endpoint] { return fmt::format("{}:{} (LID {})", endpoint.name, endpoint.port, endpoint.lid); };
        if (endpoint.node >= map_.nodes.size() || endpoint.lid == 0 || endpoint.lid >= 0xc000) {
            routes_.warnings.push_back(fmt::format("{} has no usable LID and takes no part", name()));
            continue;
        }
        if (!seen_lids_.insert(endpoint.lid).second)
            continue;
        const Attachment at = attachment(map_, endpoint);
        if (at.node == no_node) {
            routes_.unreachable.push_back({endpoint.lid, "attached to no switch", no_node});
            continue;
        }
        const auto [number, fresh] = switch_number_.try_emplace(at.node, std::uint32_t(source_switches_.size()));
        if (fresh) {
            source_switches_.push_back(at.node);
            job_at_.push_back(0);
            services_at_.push_back(0);
            for (auto &at_switch : job_at_by_rail_)
                at_switch.push_back(0);
        }
        if (!service)
            ++job_at_by_rail_[rails[i]][number->second];
        ++(service ? services_at_ : job_at_)[number->second];
        members.push_back({&endpoint, service ? ~i : i, at, number->second, rails[i]});
        if (!service)
            note_port(at.node, at.port);
    }
}

void Analysis::note_port(std::uint32_t node, std::uint8_t port) {
    switches_.insert(node);
    if (port != 0)
        ports_[node].insert(port);
}

void Analysis::count(std::uint32_t node, const Member &to, Direction direction, double flows, const Bits &sources) {
    const std::uint32_t set = hops_.minimal_set(node, to.at.node);
    const std::uint8_t port = tree_.port(node);
    auto [found, fresh] = drafts_.try_emplace({node, direction, set, to.rail});
    GroupDraft &draft = found->second;
    if (fresh) {
        draft.node = node;
        draft.set = set;
        draft.direction = direction;
        draft.rail = to.rail;
    }
    PortDraft &out = draft.ports[port];
    out.lids.push_back(to.endpoint->lid);
    out.flows += flows;
    if (query_.want_sources)
        unite(out.sources, sources);
}

void Analysis::pass_on(const Member &to, bool service) {
    const auto &order = tree_.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
        Passing &here = passing_[*it];
        const std::uint32_t next = tree_.next(*it);
        if (here.job + here.services == 0)
            continue;
        note_port(*it, tree_.port(*it));
        if (next == no_node)
            continue;
        if (here.job > 0)
            count(*it, to, service ? Direction::to : Direction::inside, double(here.job), here.job_switches);
        if (here.services > 0)
            count(*it, to, Direction::from, double(here.services), here.service_switches);
        loads_.add(*it, tree_.port(*it), hops_.minimal_set(*it, to.at.node), double(here.job + here.services));
        Passing &there = passing_[next];
        there.job += here.job;
        there.services += here.services;
        if (query_.want_sources) {
            unite(there.job_switches, here.job_switches);
            unite(there.service_switches, here.service_switches);
        }
    }
}

void Analysis::destination(const Member &to, bool service) {
    tree_.walk(*to.endpoint, source_switches_);
    for (std::uint32_t i = 0; i < source_switches_.size(); ++i) {
        const std::uint32_t from = source_switches_[i];
        const std::uint64_t self = !service && i == to.switch_number ? 1 : 0;
        const std::uint64_t job = service ? job_at_[i] : job_at_by_rail_[to.rail][i] - self;
        const std::uint64_t services = service ? 0 : services_at_[i];
        if (job + services == 0)
            continue;
        if (!tree_.arrives(from)) {
            const auto &failure = tree_.failure(from);
            switches_.insert(from);
            if (lost_.insert({to.endpoint->lid, failure.at}).second)
                routes_.unreachable.push_back({to.endpoint->lid, failure.why, failure.at});
            continue;
        }
        Passing &here = passing_[from];
        here.job += job;
        here.services += services;
        if (query_.want_sources) {
            Bits bit(i / 64 + 1, 0);
            bit[i / 64] = std::uint64_t(1) << (i % 64);
            if (job > 0)
                unite(here.job_switches, bit);
            if (services > 0)
                unite(here.service_switches, bit);
        }
    }
    pass_on(to, service);
    for (const std::uint32_t node : tree_.order())
        passing_[node] = {};
}

void Analysis::expand(const GroupDraft &draft, const Bits &switches, std::vector<std::uint32_t> &out) const {
    for (const Member &member : draft.direction == Direction::from ? services_ : job_)
        if (const std::uint32_t n = member.switch_number;
            (draft.direction != Direction::inside || member.rail == draft.rail) && n / 64 < switches.size() && (switches[n / 64] >> (n % 64) & 1) != 0)
            out.push_back(member.source);
}

Group Analysis::finish(const GroupDraft &draft) {
    Group group;
    group.node = draft.node;
    group.direction = draft.direction;
    group.rail = draft.rail;
    const auto &minimal = hops_.ports(draft.set);
    group.available = unsigned(minimal.size());
    std::set<std::uint8_t> members(minimal.begin(), minimal.end());
    for (const auto &[port, unused] : draft.ports)
        members.insert(port);
    std::set<std::uint32_t> peers;
    std::vector<double> rates;
    double busiest = 0;
    for (const std::uint8_t port : members) {
        const MapPort &link = map_.nodes[draft.node].ports[port];
        GroupPort out;
        out.port = port;
        out.peer = link.peer;
        out.peer_port = link.peer_port;
        out.rate = link.rate;
        out.minimal = std::binary_search(minimal.begin(), minimal.end(), port);
        peers.insert(link.peer);
        const double rate = hops_.rate(draft.node, port);
        if (out.minimal)
            rates.push_back(rate);
        if (const auto used = draft.ports.find(port); used != draft.ports.end()) {
            out.lids = used->second.lids;
            std::sort(out.lids.begin(), out.lids.end());
            out.flows = used->second.flows;
            expand(draft, used->second.sources, out.sources);
            ++group.used;
            group.lids += unsigned(out.lids.size());
            group.flows += out.flows;
            busiest = std::max(busiest, double(out.lids.size()) / rate);
        }
        group.ports.push_back(std::move(out));
    }
    group.peers.assign(peers.begin(), peers.end());
    if (group.available >= 2)
        group.imbalance = std::max(1.0, busiest / best_even_spread(rates, group.lids));
    return group;
}

void Analysis::finish_groups() {
    for (const auto &[key, draft] : drafts_)
        routes_.groups.push_back(finish(draft));
    std::stable_sort(routes_.groups.begin(), routes_.groups.end(), [](const Group &a, const Group &b) {
        return a.imbalance != b.imbalance ? a.imbalance > b.imbalance : a.flows > b.flows;
    });
    routes_.worst = routes_.groups.empty() ? -1 : 0;
    const Loads::Busiest busiest = loads_.busiest(), ideal = loads_.ideal();
    if (ideal.weighted > 0)
        routes_.imbalance = busiest.weighted / ideal.weighted;
}

double Analysis::ceiling_of(const LinkRate &rate) const {
    return query_.flat_ceiling_gib_s > 0 ? query_.flat_ceiling_gib_s : payload_ceiling_gib_s(rate, query_.ceilings);
}

void Analysis::finish_ceiling() {
    if (routes_.worst < 0)
        return;
    const Group &group = routes_.groups[std::size_t(routes_.worst)];
    const double rate = query_.rate_per_node_gib_s;
    for (const GroupPort &port : group.ports) {
        if (port.lids.empty())
            continue;
        const double ceiling = ceiling_of(port.rate);
        const double demand = group.direction == Direction::to ? port.flows * rate / double(services_.size())
                                                               : double(port.lids.size()) * rate;
        ++routes_.ceiling.links;
        routes_.ceiling.gib_s += ceiling;
        routes_.ceiling.predicted_gib_s += ceiling > 0 ? std::min(ceiling, demand) : demand;
        if (ceiling <= 0)
            routes_.warnings.push_back(fmt::format("{}: rate not known, no ceiling for it",
                                                   link_name(map_, group.node, port.port)));
    }
}

Routes Analysis::run() {
    admit(query_.job, false, job_);
    admit(query_.services, true, services_);
    for (const Member &to : job_)
        destination(to, false);
    for (const Member &to : services_)
        destination(to, true);
    // A service takes part through its own port as soon as there is somebody to talk to.
    if (!job_.empty())
        for (const Member &service : services_)
            note_port(service.at.node, service.at.port);
    finish_groups();
    finish_ceiling();
    if (hops_.guessed_a_rate())
        routes_.warnings.emplace_back("links of unknown rate were weighed like the most frequent rate between switches");
    for (const auto &[node, ports] : ports_)
        routes_.ports_on_routes[node].assign(ports.begin(), ports.end());
    routes_.switches.assign(switches_.begin(), switches_.end());
    for (const auto &[node, port] : lfts_.down())
        if (const MapPort &link = map_.nodes[node].ports[port];
            switches_.contains(node) && std::pair(node, port) < std::pair(link.peer, link.peer_port))
            routes_.warnings.push_back(fmt::format("{} is in the map but not up: it does not count as available",
                                                   link_name(map_, node, port)));
    return std::move(routes_);
}

} // namespace

Routes analyse(const LftView &lfts, const Query &query) { return Analysis(lfts, query).run(); }

} // namespace fabric_check::fabric
