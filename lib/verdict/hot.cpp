// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/hot.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fabric_check {

namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

class Load {
public:
    Load(const JobEvidence &evidence, const fabric::Query &query, const std::vector<GroupMeasure> &measures,
         const PortSet &set, const Config &config, AdaptiveRouting adaptive_routing, bool routes_changed)
        : evidence_(evidence), query_(query), measures_(measures), set_(set), config_(config),
          adaptive_routing_(adaptive_routing), routes_changed_(routes_changed), routes_(job_routes(evidence)),
          job_volume_(set) {}

    LoadVerdict run() {
        if (evidence_.map == nullptr || routes_ == nullptr) {
            return std::move(load_);
        }
        find_hot();
        find_full_senders();
        for (const GroupMeasure &measure : measures_) {
            if (!judge_group(view_of(measure))) {
                judge_intervals(measure);
            }
        }
        for (HotPort &hot : load_.hot) {
            if (hot.cause.empty()) {
                hot.cause = cause_of(hot);
            }
        }
        std::stable_sort(load_.hot.begin(), load_.hot.end(),
                         [](const HotPort &a, const HotPort &b) { return a.share > b.share; });
        for (const HotPort &hot : load_.hot) {
            const bool routing = hot.cause == "routing";
            load_.findings.push_back({hot.where, "hot", static_cast<std::uint64_t>(std::lround(hot.share * 100)),
                                      routing ? Layer::routing_imbalance : Layer::congestion, true,
                                      explain(hot), hot.sender});
        }
        return std::move(load_);
    }

private:
    const fabric::Map &map() const { return *evidence_.map; }

    LinkRate rate_of(const PortResult &port) const {
        for (const SwitchPort *side : {port.switch_end, port.switch_start}) {
            if (side != nullptr && side->rate.data_gbps > 0) {
                return side->rate;
            }
        }
        const auto known = find_port(map(), {port.map_node, port.map_port});
        return known ? known->rate : LinkRate{};
    }

    std::optional<double> share_of(const PortResult &port, std::optional<std::uint64_t> bytes) const {
        const double ceiling = fabric::payload_ceiling_gib_s(rate_of(port), config_.payload_ceilings);
        if (!bytes || !(port.seconds > 0) || !(ceiling > 0)) {
            return std::nullopt;
        }
        return static_cast<double>(*bytes) / gib / port.seconds / ceiling;
    }

    /// How full a port was at its fullest.
    struct Fullest {
        double share = 0;
        const sample::SampledInterval *interval = nullptr; ///< null: over the job
        double hot_seconds = 0;
    };

    /// In the sampler's fullest interval, where that is hot, else over the job. `sent`: by the port, else received.
    std::optional<Fullest> fullest(MapPortId place, const PortResult &port, bool sent) const {
        const double ceiling = fabric::payload_ceiling_gib_s(rate_of(port), config_.payload_ceilings) * gib;
        const auto column = evidence_.samples ? column_of(map(), *evidence_.samples, place) : std::nullopt;
        Fullest best;
        if (column && ceiling > 0) {
            for (const sample::SampledInterval &interval : evidence_.samples->intervals) {
                const auto rate = sent ? evidence_.samples->xmit(interval, *column) : evidence_.samples->rcv(interval, *column);
                const double share = rate.value_or(0) / ceiling;
                best.hot_seconds += share >= config_.thresholds.hot_share ? interval.seconds() : 0;
                if (share > best.share) {
                    best.share = share;
                    best.interval = &interval;
                }
            }
        }
        if (best.share >= config_.thresholds.hot_share) {
            return best;
        }
        const auto share = share_of(port, sent ? port.xmit_bytes : port.rcv_bytes);
        return share ? std::optional(Fullest{*share, nullptr, 0}) : std::nullopt;
    }

    /// "10:02:00-10:02:30"
    static std::string interval_text(const PortResult &port, const sample::SampledInterval *interval) {
        return interval == nullptr
                   ? "job"
                   : fmt::format("{}-{}", moment(port.times, interval->from_ns), moment(port.times, interval->to_ns));
    }

    static void set_interval(HotPort &hot, const PortResult &port, const Fullest &full) {
        hot.share = full.share;
        hot.interval = interval_text(port, full.interval);
        if (full.interval != nullptr) {
            hot.from_ns = full.interval->from_ns;
            hot.to_ns = full.interval->to_ns;
            hot.hot_seconds = full.hot_seconds;
        }
    }

    /// Calls `use` with what moved in that interval; null: in the job.
    template <class Use> auto with_volume(const sample::SampledInterval *interval, Use use) const {
        if (interval == nullptr) {
            return use(static_cast<const Volume &>(job_volume_));
        }
        const IntervalVolume volume(map(), *evidence_.samples, *interval);
        return use(static_cast<const Volume &>(volume));
    }

    double own(MapPortId place, const sample::SampledInterval *interval) const {
        return with_volume(interval, [&](const Volume &volume) {
            return own_share(evidence_, query_, set_, place, volume).value_or(0);
        });
    }

    HotPort hot_port(MapPortId place, const PortResult &port, const Fullest &full) const {
        HotPort hot;
        // A cable is called by the end where what it carries arrives, as its errors are.
        const MapPortId receiver = peer_of(map(), place);
        hot.where = map().is_switch(receiver.first) ? set_.names.link(receiver) : port.where;
        hot.sender = set_.names.end(place);
        hot.node = place.first;
        hot.port = place.second;
        hot.facing = port.role != "isl";
        set_interval(hot, port, full);
        hot.own = own(place, full.interval);
        hot.direction = hot.facing ? "" : direction_of(place);
        return hot;
    }

    /// Which of the job's traffic takes this link most, by flows.
    std::string direction_of(MapPortId place) const {
        const char *direction = "";
        double most = 0;
        for (const fabric::Group &group : routes_->groups) {
            for (const fabric::GroupPort &port : group.ports) {
                if (group.node == place.first && port.port == place.second && port.flows > most) {
                    most = port.flows;
                    direction = to_string(group.direction);
                }
            }
        }
        return direction;
    }

    void find_hot() {
        bool clocks = false;
        for (const MapPortId &place : set_.outputs) {
            const PortResult *port = set_.find(place);
            if (port == nullptr || !port->on_route || port->switch_start == nullptr || port->switch_end == nullptr) {
                continue;
            }
            clocks = clocks || !(port->seconds > 0);
            const auto full = fullest(place, *port, true);
            if (full && full->share >= config_.thresholds.hot_share) {
                load_.hot.push_back(hot_port(place, *port, *full));
                hot_.emplace(place, full->interval);
            }
        }
        if (clocks) {
            load_.unread.push_back({"switches", "", "the scouts' second time is not later than the first: no rates",
                                    Layer::congestion, true});
        }
    }

    /// Hosts whose link is full the other way, into their switch: a server that cannot send any faster.
    void find_full_senders() {
        for (const PortResult &port : set_.ports) {
            if ((port.role != "facing" && port.role != "service") || !port.on_route || port.switch_start == nullptr ||
                port.switch_end == nullptr) {
                continue;
            }
            const auto full = fullest({port.map_node, port.map_port}, port, false);
            if (!full || full->share < config_.thresholds.hot_share) {
                continue;
            }
            const MapPortId host = peer_of(map(), {port.map_node, port.map_port});
            HotPort hot;
            hot.where = port.where;
            // The map knows the card of a host that is not the job's; a link's name ends with it.
            const auto arrow = port.where.find("<->");
            hot.sender = arrow == std::string::npos ? set_.names.end(host) : port.where.substr(arrow + 3);
            hot.node = host.first;
            hot.port = host.second;
            set_interval(hot, port, *full);
            hot.own = with_volume(full->interval, [&](const Volume &volume) {
                return own_share_received(query_, set_, port, volume).value_or(0);
            });
            hot.cause = "sender";
            load_.hot.push_back(std::move(hot));
        }
    }

    /// What a group carried in a stretch of time.
    struct View {
        const GroupMeasure *measure = nullptr;
        const sample::SampledInterval *interval = nullptr; ///< null: the job
        std::optional<double> spread;
        std::vector<std::optional<double>> sent; ///< by the group's ports
    };

    View view_of(const GroupMeasure &measure) const {
        View view{&measure, nullptr, measure.spread, {}};
        for (const auto &bytes : measure.xmit_bytes) {
            view.sent.push_back(bytes ? std::optional<double>(*bytes) : std::nullopt);
        }
        return view;
    }

    View view_of(const GroupMeasure &measure, const sample::SampledInterval &interval) const {
        const fabric::Group &group = routes_->groups[static_cast<std::size_t>(measure.group)];
        const IntervalVolume volume(map(), *evidence_.samples, interval);
        View view{&measure, &interval, {}, {}};
        double sum = 0, busiest = 0;
        bool complete = !group.ports.empty();
        for (const fabric::GroupPort &port : group.ports) {
            view.sent.push_back(volume.sent({group.node, port.port}));
            complete = complete && view.sent.back();
            sum += view.sent.back().value_or(0);
            busiest = std::max(busiest, view.sent.back().value_or(0));
        }
        if (complete && busiest >= config_.thresholds.spread_min_gb * 1e9) {
            view.spread = busiest / (sum / static_cast<double>(group.ports.size()));
        }
        return view;
    }

    /// The intervals in which ports of the group were at their fullest, as long as none shows an imbalance.
    void judge_intervals(const GroupMeasure &measure) {
        const fabric::Group &group = routes_->groups[static_cast<std::size_t>(measure.group)];
        std::set<const sample::SampledInterval *> intervals;
        for (const fabric::GroupPort &port : group.ports) {
            const auto at = hot_.find({group.node, port.port});
            if (at != hot_.end() && at->second != nullptr) {
                intervals.insert(at->second);
            }
        }
        for (const sample::SampledInterval *interval : intervals) {
            if (judge_group(view_of(measure, *interval))) {
                return;
            }
        }
    }

    /// Was it hot then? null: over the job.
    bool is_hot(MapPortId place, const sample::SampledInterval *interval) const {
        const auto at = hot_.find(place);
        const PortResult *port = set_.find(place);
        if (at == hot_.end() || port == nullptr || at->second == interval) {
            return at != hot_.end();
        }
        if (interval == nullptr) {
            const auto share = share_of(*port, port->xmit_bytes);
            return share && *share >= config_.thresholds.hot_share;
        }
        const auto column = column_of(map(), *evidence_.samples, place);
        const auto rate = column ? evidence_.samples->xmit(*interval, *column) : std::nullopt;
        const double ceiling = fabric::payload_ceiling_gib_s(rate_of(*port), config_.payload_ceilings) * gib;
        return rate && ceiling > 0 ? *rate / ceiling >= config_.thresholds.hot_share : false;
    }

    /// The port's wait grew by more than half of what the whole group's did.
    static bool holds_wait(const GroupMeasure &measure, std::size_t port) {
        double sum = 0;
        for (const auto &wait : measure.xmit_wait) {
            if (!wait) {
                return false;
            }
            sum += static_cast<double>(*wait);
        }
        return sum > 0 && static_cast<double>(*measure.xmit_wait[port]) * 2 > sum;
    }

    /// One destination behind a cable cannot be spread over several by any table.
    bool could_be_spread(const fabric::GroupPort &port) const {
        return adaptive_routing_ == AdaptiveRouting::on || port.lids.size() > 1;
    }

    /// True: an imbalance was found, be it that a change of routes forbids to call it so.
    bool judge_group(const View &view) {
        const fabric::Group &group = routes_->groups[static_cast<std::size_t>(view.measure->group)];
        if (!view.spread || *view.spread <= config_.thresholds.spread || group.ports.size() < 2) {
            return false;
        }
        // The busiest of all may be one that no table could relieve; that does not acquit the cables beside it.
        std::optional<std::size_t> guilty;
        for (std::size_t i = 0; i < group.ports.size(); ++i) {
            if (is_routing(view, group, i) && (!guilty || *view.sent[i] > *view.sent[*guilty])) {
                guilty = i;
            }
        }
        if (!guilty) {
            return false;
        }
        const std::size_t busiest = *guilty;
        if (routes_changed_) {
            load_.notes.push_back(fmt::format("{} carried {:.1f} times the mean of {}, but routes changed during the job: "
                                              "that is not called a routing imbalance",
                                              set_.names.end({group.node, group.ports[busiest].port}), *view.spread,
                                              fabric::group_name(map(), group)));
            return true;
        }
        blame(group, busiest);
        // The other full cables of the group are part of the same story.
        for (std::size_t i = 0; i < group.ports.size(); ++i) {
            if (i != busiest && is_routing(view, group, i)) {
                blame(group, i);
            }
        }
        if (load_.group < 0 || *view.spread > most_spread_) {
            load_.group = view.measure->group;
            most_spread_ = *view.spread;
            load_.spread.reset();
            if (view.interval != nullptr) {
                const PortResult &port = *set_.find({group.node, group.ports[busiest].port});
                load_.spread = {*view.spread, interval_text(port, view.interval)};
            }
        }
        corroborate(group);
        return true;
    }

    bool is_routing(const View &view, const fabric::Group &group, std::size_t i) const {
        const fabric::GroupPort &port = group.ports[i];
        const MapPortId place{group.node, port.port};
        const PortResult *result = set_.find(place);
        return result != nullptr && result->on_route && !port.lids.empty() && view.sent[i] &&
               *view.sent[i] >= config_.thresholds.spread_min_gb * 1e9 &&
               (is_hot(place, view.interval) || (view.interval == nullptr && holds_wait(*view.measure, i))) &&
               could_be_spread(port) && own(place, view.interval) >= config_.thresholds.own_share;
    }

    void blame(const fabric::Group &group, std::size_t i) {
        const MapPortId place{group.node, group.ports[i].port};
        auto at = std::find_if(load_.hot.begin(), load_.hot.end(), [&](const HotPort &hot) {
            return hot.node == place.first && hot.port == place.second;
        });
        if (at == load_.hot.end()) {
            const PortResult &port = *set_.find(place);
            load_.hot.push_back(hot_port(place, port, {share_of(port, port.xmit_bytes).value_or(0), nullptr, 0}));
            at = std::prev(load_.hot.end());
            at->by_wait = true;
        }
        at->cause = "routing";
    }

    /// Received bytes of the nodes behind each cable tell the same story, or do not.
    void corroborate(const fabric::Group &group) {
        if (group.direction == fabric::Direction::to) {
            return;
        }
        std::map<std::uint16_t, const PortResult *> hosts;
        for (const fabric::Endpoint &endpoint : query_.job) {
            hosts.emplace(endpoint.lid, set_.find({endpoint.node, endpoint.port}));
        }
        std::string text;
        for (const fabric::GroupPort &port : group.ports) {
            double sum = 0;
            std::size_t nodes = 0;
            for (const std::uint16_t lid : port.lids) {
                const auto host = hosts.find(lid);
                if (host != hosts.end() && host->second != nullptr && host->second->rcv_bytes) {
                    sum += static_cast<double>(*host->second->rcv_bytes);
                    ++nodes;
                }
            }
            if (nodes > 0) {
                text += fmt::format("{}{}: {}, {}{}", text.empty() ? "" : "; ", set_.names.end({group.node, port.port}),
                                    nodes == 1 ? "1 node" : fmt::format("{} nodes", nodes),
                                    human_bytes(static_cast<std::uint64_t>(sum / static_cast<double>(nodes)), " "),
                                    nodes == 1 ? "" : " each");
            }
        }
        if (!text.empty()) {
            load_.notes.push_back("received by the nodes behind each cable: " + text);
        }
    }

    std::string cause_of(const HotPort &hot) const {
        if (hot.facing) {
            return "receiver";
        }
        const auto when = hot_.find({hot.node, hot.port});
        const sample::SampledInterval *interval = when == hot_.end() ? nullptr : when->second;
        bool all_hot = false;
        bool receiver_full = false;
        for (const fabric::Group &group : routes_->groups) {
            if (group.node != hot.node) {
                continue;
            }
            const auto member = std::find_if(group.ports.begin(), group.ports.end(),
                                             [&](const fabric::GroupPort &port) { return port.port == hot.port; });
            if (member == group.ports.end()) {
                continue;
            }
            all_hot = all_hot || std::all_of(group.ports.begin(), group.ports.end(), [&](const fabric::GroupPort &port) {
                          return is_hot({group.node, port.port}, interval);
                      });
            for (const std::uint16_t lid : member->lids) {
                const std::uint32_t node = map().by_lid(lid);
                const MapPortId facing = peer_of(map(), {node, map().port_of_lid(lid)});
                receiver_full = receiver_full || is_hot(facing, interval);
            }
        }
        if (all_hot) {
            return "capacity";
        }
        if (hot.own < config_.thresholds.own_share) {
            return "others";
        }
        return receiver_full ? "incast" : "load";
    }

    static std::string explain(const HotPort &hot) {
        std::string text;
        if (hot.cause == "routing") {
            text = "the tables put too many of the job's nodes on this cable";
        } else if (hot.cause == "capacity") {
            text = "all links of the group are full: not enough of them";
        } else if (hot.cause == "others") {
            text = "mostly other jobs' traffic";
        } else if (hot.cause == "incast") {
            text = "the traffic leads to a host port that is full";
        } else if (hot.cause == "receiver") {
            text = "the host's own port is full";
        } else if (hot.cause == "sender") {
            text = "the host sends at full rate";
        } else {
            text = "the job's own load fills this cable";
        }
        if (std::lround(hot.share * 100) > 100) {
            text += "; above the ceiling: the interval was too short to measure, or payload_ceilings is too low";
        }
        return hot.by_wait ? text + "; it holds the group's waiting" : text;
    }

    const JobEvidence &evidence_;
    const fabric::Query &query_;
    const std::vector<GroupMeasure> &measures_;
    const PortSet &set_;
    const Config &config_;
    AdaptiveRouting adaptive_routing_;
    bool routes_changed_;
    const fabric::Routes *routes_;
    JobVolume job_volume_;
    std::map<MapPortId, const sample::SampledInterval *> hot_; ///< and when they were at their fullest; null: over the job
    double most_spread_ = 0; ///< of load_.group
    LoadVerdict load_;
};

} // namespace

LoadVerdict judge_load(const JobEvidence &evidence, const fabric::Query &query, const std::vector<GroupMeasure> &measures,
                       const PortSet &set, const Config &config, AdaptiveRouting adaptive_routing, bool routes_changed) {
    return Load(evidence, query, measures, set, config, adaptive_routing, routes_changed).run();
}

} // namespace fabric_check
