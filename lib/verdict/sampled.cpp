// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/sampled.hpp"

#include "counters/table.hpp"

#include <algorithm>

namespace fabric_check {

namespace {

using sample::CounterEvent;
using sample::EventKind;
using sample::Span;

constexpr std::size_t most_moves = 48;

const Reading *find_reading(const SwitchPort &port, std::string_view name) {
    const Reading *reading = port.counters.get(name);
    return reading != nullptr && reading->value ? reading : nullptr;
}

std::uint64_t cap_of(const std::string &name, const Reading &reading) {
    const CounterInfo *info = find_counter(name);
    return saturation_cap(reading.width != 0 ? reading.width : info != nullptr ? info->width : std::uint8_t{0});
}

/// One counter from its START to its END.
class Walk {
public:
    Walk(const sample::PortSeries &series, const Reading *start, std::int64_t from_ns, std::int64_t to_ns)
        : series_(series), from_ns_(from_ns), to_ns_(to_ns), known_ns_(from_ns) {
        if (start != nullptr)
            now_ = *start->value;
    }

    void take(const CounterEvent &event) {
        if (event.to_ns <= from_ns_ || event.from_ns >= to_ns_)
            return;
        if (event.to_ns > to_ns_) { // what it was at `to`, END itself tells
            if (event.kind == EventKind::reset)
                late_reset_ = event.from_ns;
            return;
        }
        switch (event.kind) {
        case EventKind::moved:
            to(event, now_ ? *now_ : event.before);
            break;
        case EventKind::reset:
            reset(event);
            break;
        case EventKind::saturated:
            if (!full_since_)
                full_since_ = begin(event);
            now_ = event.after;
            break;
        case EventKind::unread:
        case EventKind::silent:
            break;
        }
    }

    CounterTotal finish(const std::string &name, const Reading *end) {
        if (full_since_)
            lose(*full_since_, to_ns_, NoDelta::saturated);
        else if (end != nullptr && now_)
            finish_with(name, *end);
        while (total_.moves.size() > most_moves)
            halve();
        return std::move(total_);
    }

private:
    std::int64_t begin(const CounterEvent &event) const { return std::max(event.from_ns, from_ns_); }

    void move(std::int64_t from_ns, std::int64_t to_ns, std::uint64_t delta) {
        if (delta == 0)
            return;
        total_.delta = delta > UINT64_MAX - total_.delta ? UINT64_MAX : total_.delta + delta;
        total_.moves.push_back({from_ns, to_ns, delta});
    }

    void lose(std::int64_t from_ns, std::int64_t to_ns, NoDelta why) {
        if (to_ns <= from_ns)
            return;
        total_.lost.push_back({from_ns, to_ns, why});
        total_.lost_ns += to_ns - from_ns;
    }

    void to(const CounterEvent &event, std::uint64_t base) {
        if (event.after >= base)
            move(begin(event), event.to_ns, event.after - base);
        else // START saw more than the sampler did later: somebody reset it in between
            lose(begin(event), event.to_ns, NoDelta::reset);
        now_ = event.after;
        known_ns_ = event.to_ns;
    }

    void reset(const CounterEvent &event) {
        if (full_since_) {
            lose(*full_since_, event.to_ns, NoDelta::saturated);
            full_since_.reset();
        } else if (event.from_ns < from_ns_ && now_ && *now_ < event.before && *now_ <= event.after) {
            to(event, *now_); // it was reset before START
            return;
        } else {
            if (now_ && event.before > *now_)
                move(known_ns_, begin(event), event.before - *now_);
            lose(begin(event), event.to_ns, NoDelta::reset);
        }
        now_ = event.after;
        known_ns_ = event.to_ns;
    }

    void finish_with(const std::string &name, const Reading &end) {
        if (*end.value < *now_) {
            if (late_reset_)
                lose(std::max(*late_reset_, from_ns_), to_ns_, NoDelta::reset);
            else
                lose_unwatched();
        } else if (const std::uint64_t cap = cap_of(name, end); cap != 0 && *end.value == cap) {
            lose(known_ns_, to_ns_, NoDelta::saturated);
        } else {
            move(known_ns_, to_ns_, *end.value - *now_);
        }
    }

    /// It was reset when nobody looked: nothing of a watched interval is lost.
    void lose_unwatched() {
        std::int64_t at = known_ns_;
        const std::size_t before = total_.lost.size();
        for (const Span &span : series_.known) {
            if (span.to_ns <= at)
                continue;
            lose(at, std::min(span.from_ns, to_ns_), NoDelta::reset);
            at = std::max(at, span.to_ns);
        }
        lose(at, to_ns_, NoDelta::reset);
        if (total_.lost.size() == before)
            lose(known_ns_, to_ns_, NoDelta::reset);
    }

    void halve() {
        std::vector<Movement> &moves = total_.moves;
        for (std::size_t i = 0; i + 1 < moves.size(); ++i) {
            moves[i].to_ns = moves[i + 1].to_ns;
            moves[i].delta += std::min(moves[i + 1].delta, UINT64_MAX - moves[i].delta);
            moves.erase(moves.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
    }

    const sample::PortSeries &series_;
    std::int64_t from_ns_, to_ns_;
    std::int64_t known_ns_; ///< until then everything is in the total
    std::optional<std::uint64_t> now_;
    std::optional<std::int64_t> full_since_, late_reset_;
    CounterTotal total_;
};

} // namespace

std::map<std::string, CounterTotal> sampled_totals(const sample::PortSeries &series, const SwitchPort &start,
                                                   const SwitchPort &end, std::int64_t from_ns, std::int64_t to_ns) {
    std::map<std::string, Walk> walks;
    const auto walk_of = [&](std::string_view name) -> Walk & {
        return walks.try_emplace(std::string(name), series, find_reading(start, name), from_ns, to_ns).first->second;
    };
    for (const CounterEvent &event : series.events) {
        walk_of(event.counter).take(event);
    }
    if (!series.known.empty()) {
        for (const auto &[name, reading] : end.counters) {
            const Reading *before = find_reading(start, name);
            if (before != nullptr && reading.value && *reading.value < *before->value) {
                (void)walk_of(name);
            }
        }
    }
    std::map<std::string, CounterTotal> totals;
    for (auto &[name, walk] : walks) {
        CounterTotal total = walk.finish(name, find_reading(end, name));
        if (total.delta != 0 || !total.lost.empty()) {
            totals.emplace(name, std::move(total));
        }
    }
    return totals;
}

std::optional<double> JobVolume::sent(MapPortId port) const {
    const PortResult *result = set_->find(port);
    return result == nullptr || !result->xmit_bytes ? std::nullopt : std::optional<double>(*result->xmit_bytes);
}

std::optional<double> JobVolume::received(MapPortId port) const {
    const PortResult *result = set_->find(port);
    return result == nullptr || !result->rcv_bytes ? std::nullopt : std::optional<double>(*result->rcv_bytes);
}

std::optional<std::uint32_t> column_of(const fabric::Map &map, const sample::Series &series, MapPortId port) {
    if (!map.is_switch(port.first)) {
        return std::nullopt;
    }
    return series.find({map.nodes()[port.first].guid, port.second});
}

std::optional<double> IntervalVolume::bytes(MapPortId port, bool sent) const {
    const bool host = !map_->is_switch(port.first);
    const auto column = column_of(*map_, *series_, host ? peer_of(*map_, port) : port);
    if (!column) {
        return std::nullopt;
    }
    const auto rate = sent != host ? series_->xmit(*interval_, *column) : series_->rcv(*interval_, *column);
    return rate ? std::optional(*rate * interval_->seconds()) : std::nullopt;
}

} // namespace fabric_check
