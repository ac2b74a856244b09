// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/times.hpp"

#include "base/text.hpp"
#include "counters/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check {

namespace {

constexpr std::size_t movements_told = 3;
constexpr std::size_t spans_told = 2;

bool is_data(const std::string &counter) {
    const CounterInfo *info = find_counter(counter);
    return info != nullptr && (info->unit == Unit::octets_div_4 || info->unit == Unit::octets);
}

std::string between(const PortTimes &times, std::int64_t from_ns, std::int64_t to_ns) {
    return fmt::format("between {} and {} UTC", moment(times, from_ns), moment(times, to_ns));
}

} // namespace

Deltas with_intervals(Deltas deltas, const PortTimes &times, double lost_share) {
    const double job = times.to_ns > times.from_ns
                           ? static_cast<double>(times.to_ns) - static_cast<double>(times.from_ns)
                           : 0;
    for (const auto &[counter, total] : times.totals) {
        const bool little = static_cast<double>(total.lost_ns) <= lost_share * job;
        if (total.lost.empty() || little || (total.delta > 0 && !is_data(counter))) {
            deltas[counter] = {total.delta, NoDelta::absent};
            continue;
        }
        const auto longest =
            std::max_element(total.lost.begin(), total.lost.end(), [](const LostSpan &a, const LostSpan &b) {
                return a.to_ns - a.from_ns < b.to_ns - b.from_ns;
            });
        deltas[counter] = {std::nullopt, longest->why};
    }
    return deltas;
}

std::string moment(const PortTimes &times, std::int64_t time_ns) {
    constexpr std::int64_t second = 1'000'000'000, day = 86400 * second;
    std::string text = format_time(time_ns / second); // 2026-11-30T10:02:00Z
    if (text.size() != std::string_view("2026-11-30T10:02:00Z").size()) {
        return text;
    }
    const std::string clock = text.substr(11, 8);
    return times.from_ns / day == times.to_ns / day ? clock : fmt::format("{:.10} {}", text, clock);
}

std::string when_moved(const PortTimes &times, const std::string &counter) {
    const auto found = times.totals.find(counter);
    if (found == times.totals.end() || found->second.moves.empty()) {
        return {};
    }
    const std::vector<Movement> &moves = found->second.moves;
    const auto told = [&](const Movement &move) {
        return fmt::format("{} (+{})", between(times, move.from_ns, move.to_ns), move.delta);
    };
    if (moves.size() > movements_told) {
        const auto most = std::max_element(moves.begin(), moves.end(), [](const Movement &a, const Movement &b) {
            return a.delta < b.delta;
        });
        return fmt::format("in {} intervals {}, most {}", moves.size(),
                           between(times, moves.front().from_ns, moves.back().to_ns), told(*most));
    }
    std::string words;
    for (const Movement &move : moves) {
        words += (words.empty() ? "" : ", ") + told(move);
    }
    return words;
}

std::string when_lost(const PortTimes &times, const std::string &counter) {
    const auto found = times.totals.find(counter);
    if (found == times.totals.end() || found->second.lost.empty()) {
        return {};
    }
    const std::vector<LostSpan> &lost = found->second.lost;
    std::string words;
    for (std::size_t i = 0; i < lost.size() && i < spans_told; ++i) {
        words += fmt::format("{}{} {}", i == 0 ? "" : ", ", to_string(lost[i].why),
                             between(times, lost[i].from_ns, lost[i].to_ns));
    }
    if (lost.size() > spans_told) {
        words += fmt::format(" and {} more times", lost.size() - spans_told);
    }
    return fmt::format("{}; +{} in the rest", words, found->second.delta);
}

} // namespace fabric_check
