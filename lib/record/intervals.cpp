// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/intervals.hpp"

#include "counters/table.hpp"

#include <algorithm>
#include <limits>

namespace fabric_check {
namespace {

std::uint64_t sum(std::uint64_t a, std::uint64_t b) noexcept {
    return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

/// Touching spans of one reason are one. Where there are too many, the two with the least between them are joined: what
/// lies between them counts as lost then, which errs on the safe side.
void tidy(std::vector<LostSpan> &lost) {
    std::vector<LostSpan> kept;
    for (const auto &span : lost) {
        if (!kept.empty() && kept.back().why == span.why && span.from_ns <= kept.back().to_ns)
            kept.back().to_ns = std::max(kept.back().to_ns, span.to_ns);
        else
            kept.push_back(span);
    }
    while (kept.size() > most_lost_spans) {
        std::size_t best = 0;
        for (std::size_t i = 1; i + 1 < kept.size(); ++i)
            if (kept[i + 1].from_ns - kept[i].to_ns < kept[best + 1].from_ns - kept[best].to_ns)
                best = i;
        kept[best].to_ns = std::max(kept[best].to_ns, kept[best + 1].to_ns);
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    lost = std::move(kept);
}

/// Of spans that nobody vouches for: never overflows.
std::int64_t longer(std::int64_t total, const LostSpan &span) noexcept {
    const auto length = span.to_ns > span.from_ns ? span.to_ns - span.from_ns : 0;
    return total > std::numeric_limits<std::int64_t>::max() - length ? std::numeric_limits<std::int64_t>::max()
                                                                     : total + length;
}

void add(CounterMoves &a, const CounterMoves &b) {
    if (b.delta != 0) {
        a.from_ns = a.delta == 0 ? b.from_ns : std::min(a.from_ns, b.from_ns);
        a.to_ns = std::max(a.to_ns, b.to_ns);
        a.delta = sum(a.delta, b.delta);
    }
    a.lost.insert(a.lost.end(), b.lost.begin(), b.lost.end());
    tidy(a.lost);
}

const HcaPort *find_port(const NodeSnapshot &snapshot, const std::string &name) {
    for (const auto &port : snapshot.ports)
        if (port.name() == name)
            return &port;
    return nullptr;
}

CounterMoves moves_of(const std::string &counter, BaseReading &base, const HcaPort *port, std::int64_t now_ns,
                      bool closing) {
    const Reading *now = nullptr;
    if (port != nullptr)
        now = port->counters.get(counter);
    CounterMoves moves;
    const bool read = now != nullptr && now->value;
    if (!read && !closing)
        return moves;
    const auto *info = find_counter(counter);
    const auto delta = delta_of(&base.reading, now, info != nullptr ? info->width : std::uint8_t{0});
    if (!delta.value)
        moves.lost.push_back({base.time_ns, now_ns, delta.why});
    else if (*delta.value != 0)
        moves = {*delta.value, base.time_ns, now_ns, {}};
    if (read)
        base = {*now, now_ns};
    return moves;
}

} // namespace

bool is_tracked(std::string_view counter) noexcept {
    const auto *info = find_counter(counter);
    return info != nullptr && canonical_name(counter) == counter &&
           (info->graded(Profile::ib) || info->graded(Profile::roce) || info->unit == Unit::octets_div_4 ||
            info->unit == Unit::octets);
}

Bases bases_of(const NodeSnapshot &snapshot) {
    Bases bases;
    for (const auto &port : snapshot.ports)
        for (const auto &[counter, reading] : port.counters)
            if (reading.value && is_tracked(counter))
                bases[port.name()][std::string(counter)] = {reading, snapshot.time_ns};
    return bases;
}

Interval merged(Interval a, const Interval &b) {
    a.to_ns = b.to_ns;
    for (const auto &[port, counters] : b.ports)
        for (const auto &[counter, moves] : counters)
            add(a.ports[port][counter], moves);
    return a;
}

bool fold(Intervals &intervals, Bases &bases, std::int64_t last_ns, const NodeSnapshot &snapshot, bool closing) {
    if (snapshot.time_ns <= last_ns)
        return false;
    Interval interval{last_ns, snapshot.time_ns, {}};
    for (auto &[name, counters] : bases) {
        const auto *port = find_port(snapshot, name);
        for (auto &[counter, base] : counters) {
            auto moves = moves_of(counter, base, port, snapshot.time_ns, closing);
            if (moves.delta != 0 || !moves.lost.empty())
                interval.ports[name].emplace(counter, std::move(moves));
        }
    }
    // Where nothing happened there is nothing to keep apart.
    if (!intervals.empty() && intervals.back().ports.empty() && interval.ports.empty())
        intervals.back().to_ns = interval.to_ns;
    else
        intervals.push_back(std::move(interval));
    while (intervals.size() > most_intervals) {
        std::size_t best = 0;
        for (std::size_t i = 1; i + 1 < intervals.size(); ++i)
            if (intervals[i + 1].to_ns - intervals[i].from_ns < intervals[best + 1].to_ns - intervals[best].from_ns)
                best = i;
        intervals[best] = merged(std::move(intervals[best]), intervals[best + 1]);
        intervals.erase(intervals.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    return true;
}

std::map<std::string, CounterTotal> totals_of(const Intervals &intervals, const std::string &port) {
    std::map<std::string, CounterTotal> totals;
    for (const auto &interval : intervals) {
        const auto found = interval.ports.find(port);
        if (found == interval.ports.end())
            continue;
        for (const auto &[counter, moves] : found->second) {
            auto &total = totals[counter];
            if (moves.delta != 0)
                total.moves.push_back({moves.from_ns, moves.to_ns, moves.delta});
            total.delta = sum(total.delta, moves.delta);
            for (const auto &span : moves.lost) {
                total.lost_ns = longer(total.lost_ns, span);
                if (!total.lost.empty() && total.lost.back().why == span.why && span.from_ns <= total.lost.back().to_ns)
                    total.lost.back().to_ns = std::max(total.lost.back().to_ns, span.to_ns);
                else
                    total.lost.push_back(span);
            }
        }
    }
    return totals;
}

bool spans(const Intervals &intervals, std::int64_t from_ns, std::int64_t to_ns) noexcept {
    if (intervals.empty() || intervals.front().from_ns != from_ns || intervals.back().to_ns != to_ns)
        return false;
    for (std::size_t i = 1; i < intervals.size(); ++i)
        if (intervals[i].from_ns != intervals[i - 1].to_ns)
            return false;
    return true;
}

} // namespace fabric_check
