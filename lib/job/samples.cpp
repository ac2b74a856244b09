// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/samples.hpp"

#include "base/text.hpp"
#include "sample/differ.hpp"
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

void look_up(JobEvidence &evidence, const Config &config, Signer &signer, std::uint32_t slurm_uid) {
    const SpoolLayout spool{config.spool};
    if (::access(sample::samples_directory(spool).c_str(), F_OK) != 0)
        return;
    std::set<sample::PortId> ports;
    std::int64_t from_ns = evidence.job.start * second, to_ns = evidence.job.end * second;
    for (const auto *scout : {&evidence.scout.start, &evidence.scout.end})
        if (*scout)
            for (const SwitchPort &port : (*scout)->ports)
                ports.insert(id_of(port));
    if (ports.empty())
        return;
    const std::int64_t interval_ns = static_cast<std::int64_t>(config.sample.interval_s) * second;
    if (evidence.scout.start)
        from_ns = evidence.scout.start->time_ns;
    if (evidence.scout.end)
        to_ns = evidence.scout.end->time_ns;
    // A side that no scout read is looked for one interval around.
    const std::int64_t before = evidence.scout.start ? from_ns : from_ns - interval_ns;
    const std::int64_t after = evidence.scout.end ? to_ns : to_ns + interval_ns;
    if (after <= before)
        return;
    sample::Trust trust;
    if (slurm_uid != 0)
        trust.signers.push_back(slurm_uid);
    auto series = sample::read_series(spool, ports, before, after, signer, trust, evidence.problems);
    if (!series) {
        evidence.problems.push_back({"samples", "", series.error().message});
        return;
    }
    if (series->intervals_seen == 0)
        return;
    if (evidence.scout.start.has_value() != evidence.scout.end.has_value())
        (void)stand_in(evidence, *series, interval_ns);
    evidence.samples = std::move(*series);
}

} // namespace

bool stand_in(JobEvidence &evidence, const sample::Series &series, std::int64_t interval_ns) {
    const bool start = evidence.scout.start.has_value();
    const ScoutSnapshot &other = start ? *evidence.scout.start : *evidence.scout.end;
    const std::int64_t wanted = (start ? evidence.job.end : evidence.job.start) * second;
    // The end of an interval that is nearest to the moment wanted.
    std::optional<std::int64_t> found;
    for (const sample::SampledInterval &interval : series.intervals) {
        const std::int64_t at = start ? interval.to_ns : interval.from_ns;
        if (!found || std::abs(at - wanted) < std::abs(*found - wanted))
            found = at;
    }
    // Job times are whole seconds.
    if (!found || std::abs(*found - wanted) > interval_ns + second)
        return false;
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
        const std::int64_t from_ns = start ? time_of(port, other) : *found;
        const std::int64_t to_ns = start ? *found : time_of(port, other);
        // A port that was not watched from there to here without a gap is not known.
        const auto &known = series.ports[*column].known;
        const bool watched = to_ns > from_ns && std::any_of(known.begin(), known.end(), [&](const sample::Span &span) {
                                 return span.from_ns <= from_ns + interval_ns && span.to_ns >= to_ns - interval_ns;
                             });
        const StandIn port_stand_in(series, *column, from_ns, to_ns);
        if (watched)
            made.ports.push_back(start ? port_stand_in.at_end(port) : port_stand_in.at_start(port));
    }
    if (made.ports.empty())
        return false;
    evidence.problems.push_back(
        {"switches", "",
         fmt::format("no scout read them at the {}: the sampler's readings of {} stand in; bytes are by its rates",
                     start ? "end" : "start", clock_of(*found))});
    (start ? evidence.scout.end : evidence.scout.start) = std::move(made);
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
