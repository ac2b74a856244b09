// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/aliasing.hpp"

#include "fabric/deal.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace fabric_check::fabric {

namespace {

constexpr unsigned fewest_lids = 4;
constexpr unsigned small_moduli = 16; ///< looked at beside the number of ports
constexpr double significant = 0.01;
constexpr unsigned lids_per_link = 4; ///< so many of others, and they must follow the pattern too
constexpr double purity_bar = 0.75;

double log_choose(unsigned n, unsigned k) { return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0); }

/// The chance that at least `hits` of `n` fall where each falls with probability `p`.
double tail(unsigned n, unsigned hits, double p) {
    if (p >= 1)
        return 1;
    double sum = 0;
    for (unsigned k = hits; k <= n; ++k)
        sum += std::exp(log_choose(n, k) + k * std::log(p) + (n - k) * std::log1p(-p));
    return std::min(1.0, sum);
}

/// A LID of the switch's table that leaves by one of the group's ports.
struct Entry {
    std::uint16_t lid;
    std::uint8_t port;
    bool ours;
    std::uint32_t place = 0; ///< in the order at hand
};

class Search {
public:
    Search(const LftView &lfts, const Group &group) : map_(lfts.map()), group_(group) {
        std::map<std::uint8_t, std::size_t> at;
        for (const GroupPort &port : group.ports) {
            at.emplace(port.port, at.size());
            for (const std::uint16_t lid : port.lids)
                ours_.emplace(lid, port.port);
        }
        for (const DealtLid &dealt : deal_order(map_)) {
            const std::uint8_t port = lfts.at(group.node, dealt.lid);
            if (at.contains(port) && dealt.at != group.node) {
                entries_.push_back({dealt.lid, port, ours_.contains(dealt.lid)});
                guids_.push_back(dealt.guid);
            }
        }
        // A switch's LID, or an LMC alternate, has no place in the order.
        strangers_ = std::size_t(std::count_if(entries_.begin(), entries_.end(),
                                               [](const Entry &entry) { return entry.ours; })) < ours_.size();
    }

    std::optional<Aliasing> run() {
        // Each modulus, and each of the three orders, is looked at in two ways: a chance for chance.
        std::set<unsigned> moduli{group_.available};
        for (unsigned m = 2; m <= small_moduli; ++m)
            moduli.insert(m);
        tests_ = 2 * (static_cast<unsigned>(moduli.size()) + 3);
        order(DealOrder::lid_value, moduli);
        if (!strangers_)
            for (const DealOrder each : {DealOrder::by_lid, DealOrder::by_guid, DealOrder::by_leaf_port})
                order(each, {group_.available});
        return best_;
    }

private:
    void order(DealOrder which, const std::set<unsigned> &moduli) {
        if (which == DealOrder::lid_value && strangers_) {
            entries_.clear();
            for (const auto &[lid, port] : ours_)
                entries_.push_back({lid, port, true});
        }
        std::vector<std::size_t> sorted(entries_.size());
        for (std::size_t i = 0; i < sorted.size(); ++i)
            sorted[i] = i;
        if (which == DealOrder::by_lid)
            std::sort(sorted.begin(), sorted.end(),
                      [this](std::size_t a, std::size_t b) { return entries_[a].lid < entries_[b].lid; });
        if (which == DealOrder::by_guid)
            std::sort(sorted.begin(), sorted.end(), [this](std::size_t a, std::size_t b) {
                return std::pair(guids_[a], a) < std::pair(guids_[b], b);
            });
        for (std::size_t place = 0; place < sorted.size(); ++place)
            entries_[sorted[place]].place = which == DealOrder::lid_value ? entries_[sorted[place]].lid : std::uint32_t(place);
        for (const unsigned modulus : moduli)
            if (follows(modulus) || (modulus != group_.available && follows(group_.available)))
                classes(which, modulus);
    }

    /// Do the table's LIDs, where there are enough of them to tell, leave by their class?
    bool follows(unsigned modulus) const {
        if (entries_.size() < std::size_t(lids_per_link) * modulus || entries_.size() < 2 * ours_.size())
            return true;
        std::map<std::pair<unsigned, std::uint8_t>, unsigned> count;
        for (const Entry &entry : entries_)
            ++count[{entry.place % modulus, entry.port}];
        std::map<unsigned, unsigned> most;
        for (const auto &[key, n] : count)
            most[key.first] = std::max(most[key.first], n);
        unsigned pure = 0;
        for (const auto &[residue, n] : most)
            pure += n;
        return pure >= purity_bar * double(entries_.size());
    }

    void classes(DealOrder which, unsigned modulus) {
        std::map<unsigned, unsigned> members;
        unsigned all = 0;
        for (const Entry &entry : entries_)
            if (entry.ours) {
                ++members[entry.place % modulus];
                ++all;
            }
        if (members.empty())
            return;
        std::vector<unsigned> residues;
        residues.reserve(members.size());
        for (const auto &[residue, n] : members)
            residues.push_back(residue);
        consider(which, modulus, residues, all, all);
        const auto biggest = std::max_element(members.begin(), members.end(),
                                              [](const auto &a, const auto &b) { return a.second < b.second; });
        consider(which, modulus, {biggest->first}, biggest->second, all);
    }

    void consider(DealOrder which, unsigned modulus, const std::vector<unsigned> &residues, unsigned lids, unsigned all) {
        const auto kinds = static_cast<unsigned>(residues.size());
        if (lids < fewest_lids || kinds >= modulus)
            return;
        const double chance =
            tests_ * std::exp(log_choose(modulus, kinds)) * tail(all, lids, double(kinds) / double(modulus));
        if (chance >= significant || (best_ && chance >= best_->chance))
            return;
        std::set<std::uint8_t> links;
        for (const Entry &entry : entries_)
            if (entry.ours && std::binary_search(residues.begin(), residues.end(), entry.place % modulus))
                links.insert(entry.port);
        // What an even table would do with so many LIDs is no sharing.
        const double share = std::ceil(double(group_.available) * kinds / modulus);
        if (double(links.size()) > std::max(1.0, share) || links.size() >= std::min(group_.available, lids))
            return;
        best_ = Aliasing{which, modulus, residues, lids, all, unsigned(links.size()), group_.available, chance};
    }

    const Map &map_;
    const Group &group_;
    std::map<std::uint16_t, std::uint8_t> ours_; ///< LID -> port
    std::vector<Entry> entries_;                 ///< in opensm's order
    std::vector<std::uint64_t> guids_;           ///< of the entries
    bool strangers_ = false;
    unsigned tests_ = 1;
    std::optional<Aliasing> best_;
};

} // namespace

const char *to_string(DealOrder order) noexcept {
    switch (order) {
    case DealOrder::lid_value:
        return "lid-value";
    case DealOrder::by_lid:
        return "lid-order";
    case DealOrder::by_guid:
        return "guid-order";
    case DealOrder::by_leaf_port:
        return "leaf-port-order";
    }
    return "lid-value";
}

std::optional<Aliasing> find_aliasing(const LftView &lfts, const Group &group) {
    if (group.available < 2 || group.lids < fewest_lids || group.imbalance <= 1)
        return std::nullopt;
    return Search(lfts, group).run();
}

} // namespace fabric_check::fabric
