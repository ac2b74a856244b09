// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/samples.hpp"

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "job/evidence.hpp"
#include "job/hosts.hpp"
#include "sample/differ.hpp"
#include "sample/pass.hpp"
#include "sources/job_ports.hpp"
#include "sources/scout.hpp"
#include "verdict/sampled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace fabric_check {

namespace {

using sample::CounterEvent;
using sample::EventKind;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t pass_time = second; ///< how long a pass of the sampler may take, at most a tenth of it as a rule
constexpr std::int64_t latest_readings = 3600 * second; ///< after a job's end, from which its end can be told

sample::PortId id_of(const SwitchPort &port) {
    return {port.switch_guid, static_cast<std::uint8_t>(std::min(port.port, 255U))};
}

std::int64_t time_of(const SwitchPort &port, const ScoutSnapshot &scout) {
    return port.time_ns != 0 ? port.time_ns : scout.time_ns;
}

/// One port of the side that was not read.
class StandIn {
public:
    StandIn(const sample::Series &series, std::uint32_t column, std::int64_t from_ns, std::int64_t to_ns)
        : series_(series), column_(column), from_ns_(from_ns), to_ns_(to_ns) {}

    SwitchPort at_end(SwitchPort port) const {
        port.time_ns = to_ns_;
        for (auto &[name, reading] : port.counters)
            reading = told(name, reading, true);
        return port;
    }
    SwitchPort at_start(SwitchPort port) const {
        port.time_ns = from_ns_;
        for (auto &[name, reading] : port.counters)
            reading = told(name, reading, false);
        return port;
    }

private:
    Reading told(std::string_view name, const Reading &other, bool forward) const {
        if (!other.value)
            return other;
        if (name == "PortXmitData" || name == "PortRcvData")
            return moved(name, other, forward);
        if (!sample::keeps_movement(name))
            return Reading::missing(Absence::absent);
        Reading reading = other;
        for (const CounterEvent &event : series_.ports[column_].events) {
            if (event.counter != name || event.to_ns <= from_ns_ || event.from_ns >= to_ns_)
                continue;
            // Where something happened while nobody looked, at the moment that is asked for, nothing is known.
            const bool across = forward ? event.to_ns > to_ns_ : event.from_ns < from_ns_;
            if (across || !has_values(event))
                reading = Reading::missing(has_values(event) ? Absence::timed_out : event.why);
            else
                reading = Reading::of(forward ? event.after : event.before, other.width);
            if (!forward) // the first tells what was before it
                break;
        }
        return reading;
    }

    static bool has_values(const CounterEvent &event) {
        return event.kind == EventKind::moved || event.kind == EventKind::reset || event.kind == EventKind::saturated;
    }

    /// By the rates of the intervals between, of the first and the last by what of them lies there; nothing where they
    /// leave a hole, or one of them is not known.
    Reading moved(std::string_view name, const Reading &other, bool forward) const {
        double bytes = 0;
        std::int64_t covered_to = from_ns_;
        for (const sample::SampledInterval &interval : series_.intervals) {
            const std::int64_t from = std::max(interval.from_ns, from_ns_), to = std::min(interval.to_ns, to_ns_);
            if (to <= from)
                continue;
            const auto rate = name == "PortXmitData" ? series_.xmit(interval, column_) : series_.rcv(interval, column_);
            if (!rate || from > covered_to + pass_time)
                return Reading::missing(Absence::absent);
            bytes += *rate * static_cast<double>(to - from) / second;
            covered_to = to;
        }
        if (covered_to < to_ns_ - pass_time)
            return Reading::missing(Absence::absent);
        const auto quads = static_cast<std::uint64_t>(bytes / 4);
        const std::uint64_t value = *other.value;
        if (forward)
            return Reading::of(value > UINT64_MAX - quads ? UINT64_MAX - 1 : value + quads, other.width);
        return Reading::of(value - std::min(value, quads), other.width);
    }

    const sample::Series &series_;
    std::uint32_t column_;
    std::int64_t from_ns_, to_ns_;
};

std::string clock_of(std::int64_t time_ns) { return format_time(time_ns / second); }

bool has_ports(const std::optional<ScoutSnapshot> &scout) {
    return scout &&
           std::any_of(scout->ports.begin(), scout->ports.end(), [](const SwitchPort &port) { return was_read(port); });
}

/// The sampler's moment nearest to `wanted_ns` that is not before it (or, not after it), no further away than an
/// interval: all of the job lies between such moments.
std::optional<std::int64_t> moment(const sample::Series &series, std::int64_t wanted_ns, std::int64_t interval_ns,
                                   bool not_before) {
    std::optional<std::int64_t> found;
    for (const sample::SampledInterval &interval : series.intervals)
        for (const std::int64_t at : {interval.from_ns, interval.to_ns})
            if ((not_before ? at >= wanted_ns : at <= wanted_ns) &&
                (!found || (not_before ? at < *found : at > *found)))
                found = at;
    return found && std::abs(*found - wanted_ns) <= interval_ns + second ? found : std::nullopt;
}

/// What `other` would have been at another moment; nothing where no port was watched from there to here.
std::optional<ScoutSnapshot> move_to(const ScoutSnapshot &other, const sample::Series &series,
                                     std::optional<std::int64_t> at) {
    if (!at)
        return std::nullopt;
    ScoutSnapshot made = other;
    made.time_ns = *at;
    made.took_ns = 0;
    made.lfts.clear();
    made.problems.clear();
    made.ports.clear();
    for (const SwitchPort &port : other.ports) {
        const auto column = series.find(id_of(port));
        if (!column)
            continue;
        const bool forward = *at >= time_of(port, other);
        const std::int64_t from_ns = forward ? time_of(port, other) : *at;
        const std::int64_t to_ns = forward ? *at : time_of(port, other);
        // A port that was not watched from there to here without a gap is not known. A pass is not a moment: the
        // sampler's own last reading of a port may be a little later than its interval's end.
        const auto &known = series.ports[*column].known;
        const bool watched = to_ns <= from_ns || std::any_of(known.begin(), known.end(), [&](const sample::Span &span) {
                                 return span.from_ns <= from_ns && span.to_ns >= (forward ? to_ns : to_ns - pass_time);
                             });
        const StandIn port_stand_in(series, *column, from_ns, to_ns);
        if (watched)
            made.ports.push_back(forward ? port_stand_in.at_end(port) : port_stand_in.at_start(port));
    }
    if (made.ports.empty())
        return std::nullopt;
    return made;
}

/// Puts it in the place of a scout's that is missing, or that read nothing; what that one says is kept.
void replace(std::optional<ScoutSnapshot> &side, ScoutSnapshot made, JobEvidence &evidence) {
    if (side)
        evidence.problems.insert(evidence.problems.end(), side->problems.begin(), side->problems.end());
    side = std::move(made);
}

/// The sampler's last pass over these ports, if it ended between `from_ns` and an hour after the job.
std::optional<ScoutSnapshot> last_pass(const std::set<sample::PortId> &ports, std::int64_t from_ns,
                                       const JobEvidence &evidence, const SpoolLayout &spool, Signer &signer,
                                       const sample::Trust &trust) {
    std::set<std::uint64_t> switches;
    for (const sample::PortId &id : ports)
        switches.insert(id.guid);
    if (switches.empty())
        return std::nullopt;
    auto pass = sample::read_pass(sample::newest_file(spool), switches, from_ns, signer, trust);
    if (!pass || pass->to_ns > evidence.job.end * second + latest_readings)
        return std::nullopt;
    ScoutSnapshot made;
    made.time_ns = pass->to_ns;
    made.took_ns = pass->to_ns - pass->from_ns;
    made.map_id = pass->map_id;
    for (SwitchPort &port : pass->ports)
        if (was_read(port) && ports.contains(id_of(port)))
            made.ports.push_back(std::move(port));
    if (made.ports.empty())
        return std::nullopt;
    return made;
}

struct LastReadings {
    ScoutSnapshot snapshot;
    fabric::Routes routes; ///< by the map's tables
};

/// The same of all ports of the job, by the map and its tables, where no scout read any. Not of a pass from before its
/// end: errors of its last seconds would be missed.
std::optional<LastReadings> last_readings(const JobEvidence &evidence, const Config &config, Signer &signer,
                                          const sample::Trust &trust) {
    if (evidence.map == nullptr)
        return std::nullopt;
    const fabric::Map &map = *evidence.map;
    const SpoolLayout spool{config.spool};
    ScoutRequest request;
    request.job_nodes = evidence.job.node_names;
    if (auto services = expand_hostlist(config.services))
        request.services = std::move(*services);
    if (auto hosts = load_hosts(spool.hosts_file()))
        request.known_guids = std::move(*hosts);
    std::vector<Problem> unmatched; // the verdict names the hosts that are not covered
    auto hosts = match_hosts(map, request, unmatched);
    drop_excluded(hosts, excluded_guids(evidence, config));
    const fabric::Query query = query_from(map, hosts, config);
    auto keys = facing_ports(map, query, unmatched);
    keys.merge(ports_on_routes(map, fabric::analyse(fabric::LftView(map), query)));
    std::set<sample::PortId> ports;
    for (const auto &[node, port] : keys)
        if (map.is_switch(node))
            ports.insert({map.nodes()[node].guid, static_cast<std::uint8_t>(port)});
    auto made = last_pass(ports, evidence.job.end * second, evidence, spool, signer, trust);
    if (!made)
        return std::nullopt;
    made->hosts = std::move(hosts);
    auto routes = fabric::analyse(fabric::LftView(map, {}, made->ports), query); // links that are down carry nothing
    return LastReadings{std::move(*made), std::move(routes)};
}

/// START and END of a job whose switches no scout read.
void stand_in_for_both(JobEvidence &evidence, LastReadings found, const sample::Series &series,
                       std::int64_t interval_ns) {
    const std::int64_t start_ns = evidence.job.start * second, end_ns = evidence.job.end * second;
    const ScoutSnapshot &last = found.snapshot;
    auto end = last.time_ns <= end_ns + interval_ns + second
                   ? std::optional(last)
                   : move_to(last, series, moment(series, end_ns, interval_ns, true));
    auto start = move_to(last, series, moment(series, start_ns, interval_ns, false));
    if (!start || !end)
        return;
    evidence.problems.push_back({"switches", "",
                                 fmt::format("no scout read them: the sampler's readings of {} and {} stand in; bytes "
                                             "are by its rates, routes by the map's "
                                             "tables, which nobody compared with the switches",
                                             clock_of(start->time_ns), clock_of(end->time_ns))});
    replace(evidence.scout.start, std::move(*start), evidence);
    replace(evidence.scout.end, std::move(*end), evidence);
    evidence.routes_start.reset();
    evidence.routes_end = std::move(found.routes);
    evidence.routes_unchecked = true;
}

std::set<sample::PortId> ports_of(const ScoutSnapshot &scout) {
    std::set<sample::PortId> ports;
    for (const SwitchPort &port : scout.ports)
        ports.insert(id_of(port));
    return ports;
}

/// What was before START or after END is no part of the job.
void clip(sample::Series &series, const ScoutEvidence &scout) {
    if (!scout.start || !scout.end)
        return;
    series.intervals_seen -= std::erase_if(series.intervals, [&](const sample::SampledInterval &interval) {
        const std::int64_t slack = (interval.to_ns - interval.from_ns) / 10;
        return interval.from_ns + slack < scout.start->time_ns || interval.to_ns - slack > scout.end->time_ns;
    });
}

void look_up(JobEvidence &evidence, const Config &config, Signer &signer, std::uint32_t slurm_uid) {
    const SpoolLayout spool{config.spool};
    if (::access(sample::samples_directory(spool).c_str(), F_OK) != 0)
        return;
    sample::Trust trust;
    if (slurm_uid != 0)
        trust.signers.push_back(slurm_uid);
    const std::int64_t start_ns = evidence.job.start * second, end_ns = evidence.job.end * second;
    const bool started = has_ports(evidence.scout.start), ended = has_ports(evidence.scout.end);
    std::set<sample::PortId> ports;
    if (started)
        ports.merge(ports_of(*evidence.scout.start));
    if (ended)
        ports.merge(ports_of(*evidence.scout.end));
    std::optional<LastReadings> both;
    std::optional<ScoutSnapshot> last;
    if (!started && !ended && (both = last_readings(evidence, config, signer, trust)))
        ports = ports_of(both->snapshot);
    if (!started && ended && (last = last_pass(ports, start_ns, evidence, spool, signer, trust)))
        last->hosts = evidence.scout.end->hosts;
    if (ports.empty())
        return;
    const std::int64_t interval_ns = static_cast<std::int64_t>(config.sample.interval_s) * second;
    // A side that no scout read is looked for one interval around, and what leads there from the other as well.
    const std::int64_t around = started && ended ? 0 : interval_ns + second;
    const std::int64_t before = (started ? evidence.scout.start->time_ns : start_ns) - around;
    const std::int64_t after = std::max({(ended ? evidence.scout.end->time_ns : end_ns) + around,
                                         last ? last->time_ns : 0, both ? both->snapshot.time_ns : 0});
    if (after <= before)
        return;
    auto series = sample::read_series(spool, ports, before, after, signer, trust, evidence.problems);
    if (!series) {
        evidence.problems.push_back({"samples", "", series.error().message});
        return;
    }
    if (series->intervals_seen == 0)
        return;
    if (started != ended)
        (void)stand_in(evidence, *series, interval_ns, last ? &*last : nullptr);
    else if (both)
        stand_in_for_both(evidence, std::move(*both), *series, interval_ns);
    clip(*series, evidence.scout);
    if (series->intervals_seen > 0)
        evidence.samples = std::move(*series);
}

} // namespace

bool stand_in(JobEvidence &evidence, const sample::Series &series, std::int64_t interval_ns,
              const ScoutSnapshot *last) {
    const bool start = has_ports(evidence.scout.start);
    // What happened since the sampler's last pass, END's own readings have already, and no event tells: walked back is
    // from it.
    const ScoutSnapshot &other = start ? *evidence.scout.start : last != nullptr ? *last : *evidence.scout.end;
    auto made = move_to(other, series,
                        moment(series, (start ? evidence.job.end : evidence.job.start) * second, interval_ns, start));
    if (!made)
        return false;
    evidence.problems.push_back(
        {"switches", "",
         fmt::format("no scout read them at the {}: the sampler's readings of {} stand in; bytes are by its rates",
                     start ? "end" : "start", clock_of(made->time_ns))});
    replace(start ? evidence.scout.end : evidence.scout.start, std::move(*made), evidence);
    return true;
}

void add_samples(JobEvidence &evidence, const Config &config, Signer &signer, std::uint32_t slurm_uid) noexcept {
    try {
        look_up(evidence, config, signer, slurm_uid);
    } catch (const std::exception &error) {
        evidence.samples.reset();
        try {
            evidence.problems.push_back({"samples", "", error.what()});
        } catch (...) { // no memory: the job is judged without
        }
    }
}

} // namespace fabric_check
