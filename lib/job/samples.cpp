// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/samples.hpp"

#include "base/hostlist.hpp"
#include "base/text.hpp"
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
        const auto &events = series_.ports[column_].events;
        Reading reading = other;
        if (forward) {
            for (const CounterEvent &event : events)
                if (event.counter == name && event.to_ns > from_ns_ && event.to_ns <= to_ns_ && has_after(event))
                    reading.value = event.after;
            return reading;
        }
        for (const CounterEvent &event : events)
            if (event.counter == name && event.from_ns >= from_ns_ && event.from_ns < to_ns_)
                return Reading::of(event.before, other.width);
        return reading;
    }

    static bool has_after(const CounterEvent &event) {
        return event.kind == EventKind::moved || event.kind == EventKind::reset || event.kind == EventKind::saturated;
    }

    /// By the rates of the intervals between; nothing where one of them is not known.
    Reading moved(std::string_view name, const Reading &other, bool forward) const {
        double bytes = 0;
        for (const sample::SampledInterval &interval : series_.intervals) {
            if (interval.from_ns < from_ns_ || interval.to_ns > to_ns_)
                continue;
            const auto rate = name == "PortXmitData" ? series_.xmit(interval, column_) : series_.rcv(interval, column_);
            if (!rate)
                return Reading::missing(Absence::absent);
            bytes += *rate * interval.seconds();
        }
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
    return scout && std::any_of(scout->ports.begin(), scout->ports.end(), [](const SwitchPort &port) { return was_read(port); });
}

/// What `other` would have been at the sampler's moment nearest to `wanted_ns`, before or after it; nothing where that is
/// further than an interval away, or no port was watched from there to here.
std::optional<ScoutSnapshot> move_to(const ScoutSnapshot &other, const sample::Series &series, std::int64_t wanted_ns,
                                     std::int64_t interval_ns, bool forward) {
    std::optional<std::int64_t> found;
    for (const sample::SampledInterval &interval : series.intervals) {
        const std::int64_t at = forward ? interval.to_ns : interval.from_ns;
        if (!found || std::abs(at - wanted_ns) < std::abs(*found - wanted_ns))
            found = at;
    }
    // Job times are whole seconds.
    if (!found || std::abs(*found - wanted_ns) > interval_ns + second)
        return std::nullopt;
    ScoutSnapshot made = other;
    made.time_ns = *found;
    made.took_ns = 0;
    made.lfts.clear();
    made.problems.clear();
    made.ports.clear();
    for (const SwitchPort &port : other.ports) {
        const auto column = series.find(id_of(port));
        if (!column)
            continue;
        const std::int64_t from_ns = forward ? time_of(port, other) : *found;
        const std::int64_t to_ns = forward ? *found : time_of(port, other);
        // A port that was not watched from there to here without a gap is not known.
        const auto &known = series.ports[*column].known;
        const bool watched = to_ns > from_ns && std::any_of(known.begin(), known.end(), [&](const sample::Span &span) {
                                 return span.from_ns <= from_ns + interval_ns && span.to_ns >= to_ns - interval_ns;
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

struct LastReadings {
    ScoutSnapshot snapshot;
    fabric::Routes routes; ///< by the map's tables
};

/// The sampler's last readings of the job's ports, by the map and its tables, where no scout read any.
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
    ScoutSnapshot made;
    made.hosts = match_hosts(map, request, unmatched);
    const fabric::Query query = query_from(map, made.hosts, config);
    auto keys = facing_ports(map, query, unmatched);
    LastReadings last{{}, fabric::analyse(fabric::LftView(map), query)};
    keys.merge(ports_on_routes(map, last.routes));
    std::set<sample::PortId> ports;
    std::set<std::uint64_t> switches;
    for (const auto &[node, port] : keys)
        if (map.is_switch(node)) {
            ports.insert({map.nodes()[node].guid, static_cast<std::uint8_t>(port)});
            switches.insert(map.nodes()[node].guid);
        }
    if (ports.empty())
        return std::nullopt;
    const std::int64_t interval_ns = static_cast<std::int64_t>(config.sample.interval_s) * second;
    auto pass = sample::read_pass(sample::samples_directory(spool) + "/" + std::string(sample::newest_name), switches,
                                  evidence.job.end * second - interval_ns - second, signer, trust);
    if (!pass || pass->to_ns > evidence.job.end * second + latest_readings)
        return std::nullopt;
    made.time_ns = pass->to_ns;
    made.took_ns = pass->to_ns - pass->from_ns;
    made.map_id = pass->map_id;
    for (SwitchPort &port : pass->ports)
        if (was_read(port) && ports.contains(id_of(port)))
            made.ports.push_back(std::move(port));
    if (made.ports.empty())
        return std::nullopt;
    last.snapshot = std::move(made);
    return last;
}

/// START and END of a job whose switches no scout read.
void stand_in_for_both(JobEvidence &evidence, LastReadings found, const sample::Series &series, std::int64_t interval_ns) {
    const std::int64_t end_ns = evidence.job.end * second;
    const ScoutSnapshot &last = found.snapshot;
    auto end = last.time_ns <= end_ns + interval_ns + second ? std::optional(last)
                                                             : move_to(last, series, end_ns, interval_ns, false);
    auto start = end ? move_to(*end, series, evidence.job.start * second, interval_ns, false) : std::nullopt;
    if (!start)
        return;
    evidence.problems.push_back(
        {"switches", "",
         fmt::format("no scout read them: the sampler's readings of {} and {} stand in; bytes are by its rates, routes by the map's "
                     "tables, which nobody compared with the switches",
                     clock_of(start->time_ns), clock_of(end->time_ns))});
    replace(evidence.scout.start, std::move(*start), evidence);
    replace(evidence.scout.end, std::move(*end), evidence);
    evidence.routes_start.reset();
    evidence.routes_end = std::move(found.routes);
}

void look_up(JobEvidence &evidence, const Config &config, Signer &signer, std::uint32_t slurm_uid) {
    const SpoolLayout spool{config.spool};
    if (::access(sample::samples_directory(spool).c_str(), F_OK) != 0)
        return;
    sample::Trust trust;
    if (slurm_uid != 0)
        trust.signers.push_back(slurm_uid);
    const bool started = has_ports(evidence.scout.start), ended = has_ports(evidence.scout.end);
    std::optional<LastReadings> last;
    if (!started && !ended)
        last = last_readings(evidence, config, signer, trust);
    std::set<sample::PortId> ports;
    for (const ScoutSnapshot *scout : {started ? &*evidence.scout.start : nullptr, ended ? &*evidence.scout.end : nullptr,
                                       last ? &last->snapshot : nullptr})
        if (scout != nullptr)
            for (const SwitchPort &port : scout->ports)
                ports.insert(id_of(port));
    if (ports.empty())
        return;
    const std::int64_t interval_ns = static_cast<std::int64_t>(config.sample.interval_s) * second;
    // A side that no scout read is looked for one interval around.
    const std::int64_t before = started ? evidence.scout.start->time_ns : evidence.job.start * second - interval_ns;
    const std::int64_t after = ended ? evidence.scout.end->time_ns
                                     : std::max(evidence.job.end * second + interval_ns, last ? last->snapshot.time_ns : 0);
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
        (void)stand_in(evidence, *series, interval_ns);
    else if (last)
        stand_in_for_both(evidence, std::move(*last), *series, interval_ns);
    evidence.samples = std::move(*series);
}

} // namespace

bool stand_in(JobEvidence &evidence, const sample::Series &series, std::int64_t interval_ns) {
    const bool start = has_ports(evidence.scout.start);
    const ScoutSnapshot &other = start ? *evidence.scout.start : *evidence.scout.end;
    auto made = move_to(other, series, (start ? evidence.job.end : evidence.job.start) * second, interval_ns, start);
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
