// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/deal.hpp"
#include "fabric/remedies.hpp"
#include "fabric/tree.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace fabric_check::fabric {

namespace {

/// A host and the ports of it that would take part.
struct Candidate {
    std::vector<Endpoint> ports;
    std::uint32_t leaf = no_node;
    std::uint8_t leaf_port = 0;
};

struct RailPort {
    Endpoint endpoint;
    unsigned rail;
};

using PortKey = std::pair<std::uint32_t, std::uint8_t>;

class Sets {
public:
    Sets(const Map &map, const Query &query) : map_(map) {
        std::vector<Endpoint> all = all_host_endpoints(map);
        const std::vector<unsigned> rails = rails_of(map, all);
        std::map<std::string, std::vector<RailPort>> hosts;
        for (std::size_t i = 0; i < all.size(); ++i)
            hosts[all[i].name].push_back({all[i], rails[i]});
        std::set<PortKey> services;
        for (const Endpoint &endpoint : query.job)
            job_.emplace(endpoint.node, endpoint.port);
        for (const Endpoint &endpoint : query.services)
            services.emplace(endpoint.node, endpoint.port);
        const RailsOfTheJob rails_of_the_job = rails_of_job(hosts);
        for (const auto &[name, ports] : hosts) {
            const auto any_in = [&all = ports](const std::set<PortKey> &keys) {
                return std::any_of(all.begin(), all.end(), [&keys](const RailPort &one) {
                    return keys.contains({one.endpoint.node, one.endpoint.port});
                });
            };
            const bool of_the_job = any_in(job_);
            size_ += of_the_job ? 1 : 0;
            if (any_in(services) && !of_the_job)
                continue;
            if (Candidate one; take(ports, rails_of_the_job, one))
                pool_.push_back(std::move(one));
        }
        std::sort(pool_.begin(), pool_.end(), [](const Candidate &a, const Candidate &b) {
            return std::tuple(a.leaf, a.leaf_port, a.ports[0].node) < std::tuple(b.leaf, b.leaf_port, b.ports[0].node);
        });
    }

    std::size_t size() const { return size_; }
    std::size_t candidates() const { return pool_.size(); }

    /// Where a leaf begins, of those that have candidates.
    std::vector<std::size_t> leaf_starts() const {
        std::vector<std::size_t> out;
        for (std::size_t i = 0; i < pool_.size(); ++i)
            if (i == 0 || pool_[i].leaf != pool_[i - 1].leaf)
                out.push_back(i);
        return out;
    }
    std::vector<std::size_t> neighbours_from(std::size_t start) const {
        std::vector<std::size_t> out;
        out.reserve(size_);
        for (std::size_t i = 0; i < size_; ++i)
            out.push_back((start + i) % pool_.size());
        return out;
    }
    std::vector<std::size_t> drawn(Lots &lots) const {
        std::vector<std::size_t> all(pool_.size());
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = i;
        for (std::size_t i = 0; i < size_; ++i)
            std::swap(all[i], all[i + lots.below(all.size() - i)]);
        all.resize(size_);
        std::sort(all.begin(), all.end());
        return all;
    }
    std::vector<Endpoint> endpoints(const std::vector<std::size_t> &set) const {
        std::vector<Endpoint> out;
        for (const std::size_t i : set)
            out.insert(out.end(), pool_[i].ports.begin(), pool_[i].ports.end());
        return out;
    }
    /// Nothing but ports of the job.
    bool is_the_job(const std::vector<Endpoint> &set) const {
        return std::all_of(set.begin(), set.end(), [this](const Endpoint &one) { return job_.contains({one.node, one.port}); });
    }
    std::vector<std::string> names(const std::vector<std::size_t> &set) const {
        std::vector<std::string> out;
        out.reserve(set.size());
        for (const std::size_t i : set)
            out.push_back(pool_[i].ports[0].name);
        return out;
    }

private:
    struct RailsOfTheJob {
        std::set<unsigned> all;      ///< that some host of it has
        std::set<unsigned> required; ///< that most of its hosts have
    };
    RailsOfTheJob rails_of_job(const std::map<std::string, std::vector<RailPort>> &hosts) const {
        std::map<unsigned, std::size_t> having;
        std::size_t size = 0;
        for (const auto &[name, ports] : hosts) {
            std::set<unsigned> own;
            for (const RailPort &one : ports)
                if (job_.contains({one.endpoint.node, one.endpoint.port}))
                    own.insert(one.rail);
            size += own.empty() ? 0 : 1;
            for (const unsigned rail : own)
                ++having[rail];
        }
        RailsOfTheJob out;
        for (const auto &[rail, count] : having) {
            out.all.insert(rail);
            if (2 * count > size)
                out.required.insert(rail);
        }
        return out;
    }
    /// The host's ports of the job's rails, if it has all that most of the job's hosts have.
    bool take(const std::vector<RailPort> &ports, const RailsOfTheJob &rails, Candidate &out) const {
        std::set<unsigned> missing = rails.required;
        for (const RailPort &one : ports) {
            if (!rails.all.contains(one.rail))
                continue;
            const Attachment at = attachment(map_, one.endpoint);
            if (at.node == no_node)
                continue;
            if (out.ports.empty()) {
                out.leaf = at.node;
                out.leaf_port = at.port;
            }
            out.ports.push_back(one.endpoint);
            missing.erase(one.rail);
        }
        return !out.ports.empty() && missing.empty();
    }

    const Map &map_;
    std::set<PortKey> job_;
    std::vector<Candidate> pool_;
    std::size_t size_ = 0; ///< hosts of the job
};

} // namespace

OtherNodes try_other_nodes(const Map &map, const Query &query, double now, const RemedyOptions &options) {
    OtherNodes out;
    const Sets sets(map, query);
    if (sets.size() == 0) {
        out.not_evaluated = "the job's LIDs are not those of hosts in the map";
        return out;
    }
    if (sets.candidates() <= sets.size()) {
        out.not_evaluated = fmt::format("the map has {} host{} with the cards that most of the job's hosts have, beside the services, "
                                        "and the job has {} hosts",
                                        sets.candidates(), sets.candidates() == 1 ? "" : "s", sets.size());
        return out;
    }
    Lots lots(options.seed);
    std::vector<std::pair<std::vector<std::size_t>, bool>> tries;
    std::vector<std::size_t> starts = sets.leaf_starts();
    while (starts.size() > options.compact_sets)
        starts.erase(starts.begin() + std::ptrdiff_t(lots.below(starts.size())));
    tries.reserve(starts.size() + options.random_sets);
    for (const std::size_t start : starts)
        tries.emplace_back(sets.neighbours_from(start), true);
    for (std::size_t i = 0; i < options.random_sets; ++i)
        tries.emplace_back(sets.drawn(lots), false);

    Query other = query;
    other.want_sources = false;
    std::vector<double> all;
    for (const auto &[set, compact] : tries) {
        if (options.progress)
            options.progress("other nodes", out.tried, tries.size());
        other.job = sets.endpoints(set);
        if (sets.is_the_job(other.job))
            continue;
        const Figures then = figures_of(map, analyse(LftView(map), other));
        ++out.tried;
        if (then.unreachable > 0)
            continue; // cheap to spread what does not arrive
        all.push_back(then.imbalance);
        if (out.nodes.empty() || std::pair(then.imbalance, then.group_imbalance) <
                                     std::pair(out.then.imbalance, out.then.group_imbalance)) {
            out.then = then;
            out.nodes = sets.names(set);
            out.compact = compact;
        }
    }
    out.all = distribution_of(std::move(all), now);
    if (out.nodes.empty())
        out.not_evaluated = "every set tried has nodes that the tables do not reach";
    return out;
}

} // namespace fabric_check::fabric
