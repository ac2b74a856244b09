// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/even_spread.hpp"
#include "fabric/route_matrix.hpp"
#include "fabric/routes.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace fabric_check::fabric {

/// One run of analyse(). Sources, in the order of their work: analysis.cpp, groups.cpp, job_imbalance.cpp.
class Analysis {
public:
    using Number = SwitchGraph::Number;

    Analysis(const LftView &lfts, const Query &query) : lfts_(lfts), map_(lfts.map()), query_(query), graph_(lfts) {}
    Routes run();

private:
    static constexpr std::uint8_t mark_job = 1, mark_services = 2; ///< in the matrix: whose flows passed

    /// An endpoint of the query that takes part.
    struct Member {
        const Endpoint *endpoint;
        std::uint32_t source; ///< as in Routes::senders
        Number at;
        std::uint8_t port; ///< of that switch
        unsigned rail;     ///< of the job's; services talk to all
        bool service;
        std::uint32_t target; ///< place of its switch among the targets
    };
    /// Traffic between two kinds of endpoints. By number: inside each rail, from the services to each rail, to the services
    /// of each subnet. Services talk to those whom links join with them.
    struct Pattern {
        Direction direction;
        unsigned rail;
        std::vector<std::uint32_t> senders;       ///< members
        std::vector<FlowCounter::Source> sources; ///< their switches
        std::vector<std::uint32_t> destinations; ///< members, by LID
    };

    void admit(const std::vector<Endpoint> &endpoints, bool service);
    void warn_of_shared_names();
    void set_targets();
    void set_patterns();
    std::vector<FlowCounter::Source> sources_of(const std::vector<std::uint32_t> &members) const;
    void count();
    FlowCounter::Destination destination(std::uint32_t member) const;
    void count_pattern(std::size_t number);
    void add_even(std::size_t reach);
    void finish_groups();
    Group finish(Number at, std::span<const FlowCounter::Use> uses);
    /// Calls visit(switch, uses of one pattern and set) for all that were used.
    template <class Visit> void each_group(Visit &&visit) const {
        for (const Number at : counter_->passed())
            for (std::size_t i = 0, end = 0; i < uses_[at].size(); i = end) {
                const FlowCounter::Use &first = uses_[at][i];
                while (end < uses_[at].size() && uses_[at][end].pattern == first.pattern && uses_[at][end].set == first.set)
                    ++end;
                visit(at, std::span(uses_[at]).subspan(i, end - i));
            }
    }
    std::uint32_t group_of(Number at, std::size_t pattern, std::uint16_t set) const;
    void fill_lids();
    class Passing;
    void fill_sources();
    void finish_imbalance();
    void finish_shapes();
    std::vector<LinkUse> links_inside() const;
    ShapeLoad many_to_many(std::span<const LinkUse> links) const;
    std::vector<Items> items_at(Number at, std::uint16_t set, bool own_only) const;
    std::size_t same_lids(std::size_t pattern) const;
    double best_of_group(Number at, std::uint16_t set) const;
    double starts_when_even() const;
    bool judge_links(double even);
    std::uint32_t starts_at(const Pattern &pattern, Number at) const;
    void finish_ceiling();
    void finish_ports();

    const LftView &lfts_;
    const Map &map_;
    const Query &query_;
    SwitchGraph graph_;
    std::optional<FlowCounter> counter_;
    std::vector<std::vector<FlowCounter::Use>> uses_; ///< by switch number
    std::optional<EvenSpread> even_;
    Routes routes_;
    std::vector<Member> members_;
    std::vector<std::uint32_t> order_; ///< members by LID
    std::vector<Number> targets_;
    std::vector<Pattern> patterns_;
    unsigned rails_ = 1;
    std::size_t services_ = 0;
    std::set<std::pair<std::uint32_t, std::uint16_t>> seen_lids_; ///< subnet, LID
    /// By switch number, pattern and set: index into routes_.groups before they are sorted, or no_group.
    std::vector<std::vector<std::uint32_t>> group_of_;
    bool guessed_rate_ = false;
};

} // namespace fabric_check::fabric
