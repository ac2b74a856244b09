// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "verdict/causes.hpp"
#include "verdict/findings.hpp"
#include "verdict/links.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check {

namespace {

constexpr double least_told = 0.001;
constexpr std::size_t most_told = 8;
/// Clocks and counters are not read in one moment.
constexpr double most_believed = 1.05;

std::string percent(double share) {
    return fmt::format("{:.1f} %", std::min(share, 1.0) * 100);
}

char priority_in(std::string_view counter) {
    const auto digit = counter.find_first_of("01234567");
    return digit == std::string_view::npos ? ' ' : counter[digit];
}

/// Counts it the pauses of which `pause` is the time: of the same direction and priority?
bool is_count_of(const std::string &counter, const PauseShare &pause) {
    return is_congestion(counter, pause.sent ? Against::received : Against::sent) &&
           priority_in(counter) == priority_in(pause.counter);
}

} // namespace

std::vector<PauseShare> pause_shares(const PortResult &port) {
    std::vector<PauseShare> shares;
    if (!(port.seconds > 0)) {
        return shares;
    }
    for (const auto &[name, delta] : port.deltas) {
        const CounterInfo *info = find_counter(name);
        if (info == nullptr || info->unit != Unit::microseconds || info->against == Against::both || !delta.value) {
            continue;
        }
        const double share = static_cast<double>(*delta.value) / 1e6 / port.seconds;
        if (share <= most_believed) {
            shares.push_back({std::string(name), info->against == Against::received, std::min(share, 1.0)});
        }
    }
    return shares;
}

void tell_pauses(const PortSet &set, std::vector<Finding> &findings, std::vector<std::string> &notes) {
    struct Told {
        double share;
        std::string text;
    };
    std::vector<Told> told;
    for (const PortResult &port : set.ports) {
        if (port.role != "host") {
            continue;
        }
        for (const PauseShare &pause : pause_shares(port)) {
            for (Finding &finding : findings) {
                if (finding.read_at == port.where && is_count_of(finding.counter, pause)) {
                    annotate(finding, fmt::format("paused {} of the time", percent(pause.share)));
                }
            }
            if (pause.share >= least_told) {
                told.push_back({pause.share, pause.sent ? fmt::format("{} made its switch wait {} of the time ({}): "
                                                                      "this host is a slow receiver",
                                                                      port.where, percent(pause.share), pause.counter)
                                                        : fmt::format("{} was held back by its switch {} of the time ({})",
                                                                      port.where, percent(pause.share),
                                                                      pause.counter)});
            }
        }
    }
    std::stable_sort(told.begin(), told.end(), [](const Told &a, const Told &b) { return a.share > b.share; });
    for (std::size_t i = 0; i < told.size() && i < most_told; ++i) {
        notes.push_back(std::move(told[i].text));
    }
    if (told.size() > most_told) {
        notes.push_back(fmt::format("{} more pauses of {} of the time or more", told.size() - most_told,
                                    percent(least_told)));
    }
}

} // namespace fabric_check
