// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/port_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check {

namespace {

const Delta *find(const Deltas &deltas, const std::string &counter) {
    const auto at = deltas.find(counter);
    return at == deltas.end() ? nullptr : &at->second;
}

std::optional<std::uint64_t> octets(const Deltas &deltas, const std::string &counter) {
    const Delta *delta = find(deltas, counter);
    if (delta == nullptr || !delta->value) {
        return std::nullopt;
    }
    const CounterInfo *info = find_counter(counter);
    if (info == nullptr || info->unit != Unit::octets_div_4) {
        return delta->value;
    }
    // Quarter octets: beyond 2^62 of them no link has ever carried what the counter says.
    return *delta->value > UINT64_MAX / 4 ? std::nullopt : std::optional(*delta->value * 4);
}

/// A priority has flow control where its pauses are counted.
bool has_flow_control(const Deltas &deltas, unsigned priority) {
    const Delta *pauses = find(deltas, "rx_prio" + std::to_string(priority) + "_pause");
    return pauses != nullptr && (pauses->value || !is_nowhere(pauses->why));
}

/// The first of these that is there, even without a delta: another one counts other things.
std::optional<std::uint64_t> bytes_by(const Deltas &deltas, std::span<const char *const> counters,
                                      const std::string &direction) {
    for (const char *counter : counters) {
        if (const Delta *delta = find(deltas, counter); delta != nullptr && (delta->value || !is_nowhere(delta->why))) {
            return octets(deltas, counter);
        }
    }
    std::optional<std::uint64_t> sum;
    for (unsigned priority = 0; priority < priorities; ++priority) {
        if (!has_flow_control(deltas, priority)) {
            continue;
        }
        const auto bytes = octets(deltas, direction + "_prio" + std::to_string(priority) + "_bytes");
        std::uint64_t total = 0;
        if (!bytes || __builtin_add_overflow(sum.value_or(0), *bytes, &total)) {
            return std::nullopt;
        }
        sum = total;
    }
    // bnxt_re's and efa's; of an mlx5 network device it is what is left without RDMA, so it comes last.
    return sum ? sum : octets(deltas, direction + "_bytes");
}

std::string shortest(double number) {
    return fmt::format("{}", number);
}

class Judge {
public:
    Judge(const Deltas &deltas, const PortRules &rules) : deltas_(deltas), rules_(rules) {}

    PortVerdict run() {
        for (const CounterInfo &info : counter_table()) {
            grade(info);
        }
        std::sort(verdict_.live.begin(), verdict_.live.end(),
                  [](const LiveCounter &a, const LiveCounter &b) { return a.counter < b.counter; });
        std::sort(verdict_.below.begin(), verdict_.below.end(),
                  [](const LiveCounter &a, const LiveCounter &b) { return a.counter < b.counter; });
        std::sort(verdict_.unread.begin(), verdict_.unread.end(),
                  [](const Unread &a, const Unread &b) { return a.counter < b.counter; });
        conclude();
        return std::move(verdict_);
    }

private:
    void grade(const CounterInfo &info) {
        const bool is_required =
            rules_.whole_profile ? required_by_profile(info, rules_.profile)
                                 : required(info, rules_.profile, rules_.kind, rules_.driver) && !info.has(capability);
        const bool is_graded = info.graded(rules_.profile) && !(rules_.ungraded && rules_.ungraded(info));
        if (!is_required && !is_graded) {
            return;
        }
        if (!info.is_family()) {
            grade(info, std::string(info.name), is_required);
            return;
        }
        bool any = false;
        for (unsigned priority = 0; priority < priorities; ++priority) {
            // Other cards count the pauses of all priorities, whether they have flow control or not.
            const bool counts = (info.drivers & mlx5) != 0 ? has_flow_control(deltas_, priority)
                                                           : find(deltas_, info.of_priority(priority)) != nullptr;
            if (counts) {
                any = true;
                grade(info, info.of_priority(priority), is_required);
            }
        }
        if (!any && is_required && !(paused_as_a_whole() && !rules_.whole_profile)) {
            verdict_.unread.push_back({std::string(info.name), "no priority has flow control", info.layer, true});
        }
    }

    void grade(const CounterInfo &info, const std::string &name, bool is_required) {
        const Delta *there = find(deltas_, name);
        const Delta delta = there != nullptr ? *there : Delta{};
        if (delta.value) {
            moved(info, name, *delta.value);
        } else if (!is_missing(delta.why)) {
            verdict_.unread.push_back({name, to_string(delta.why), info.layer, false});
        } else if (is_required || (required_somewhere(info, rules_.profile) && !is_nowhere(delta.why))) {
            verdict_.unread.push_back({name, to_string(delta.why), info.layer, true});
        }
    }

    /// 802.3x: the whole port pauses, whatever the priority.
    bool paused_as_a_whole() const {
        const Delta *pauses = find(deltas_, "rx_global_pause");
        return pauses != nullptr && pauses->value;
    }

    Bar bar_of(const CounterInfo &info, const std::string &name) const {
        if (rules_.bars != nullptr) {
            for (const std::string &key : {name, std::string(info.name)}) {
                if (const auto at = rules_.bars->find(key); at != rules_.bars->end()) {
                    return at->second;
                }
            }
        }
        Bar bar;
        (info.layer == Layer::congestion ? bar.per_gb : bar.per_job) =
            info.layer == Layer::congestion ? rules_.congestion_per_gb : 0;
        return bar;
    }

    std::optional<std::uint64_t> bytes_against(const CounterInfo &info) const {
        const auto &one_way = info.against == Against::sent ? rules_.sent : rules_.received;
        return info.against != Against::both && one_way ? one_way : rules_.bytes;
    }

    void moved(const CounterInfo &info, const std::string &name, std::uint64_t delta) {
        if (delta == 0) {
            return;
        }
        const Bar bar = bar_of(info, name);
        const auto count = static_cast<double>(delta);
        const auto bytes = bytes_against(info);
        std::string crossed, unknown;
        const auto hold = [&](const std::optional<double> &limit, const std::optional<double> &units, const char *unit,
                              const char *missing) {
            if (!limit || !crossed.empty()) {
                return;
            }
            if (!units) {
                unknown = missing;
            } else if (count > *limit * *units) {
                crossed = shortest(*limit) + unit;
            }
        };
        hold(bar.per_job, 1.0, "", "");
        hold(bar.per_gb, bytes ? std::optional(static_cast<double>(*bytes) / 1e9) : std::nullopt, " per GB",
             "bytes not known");
        hold(bar.per_hour, rules_.seconds > 0 ? std::optional(rules_.seconds / 3600) : std::nullopt, " per hour",
             "time not known");
        if (!crossed.empty()) {
            verdict_.live.push_back({name, delta, info.layer, std::move(crossed)});
        } else if (!unknown.empty()) {
            verdict_.unread.push_back({name, std::move(unknown), info.layer, false});
        } else if (info.layer != Layer::congestion) {
            verdict_.below.push_back({name, delta, info.layer, {}});
        }
    }

    void conclude() {
        const bool gap = std::any_of(verdict_.unread.begin(), verdict_.unread.end(),
                                     [](const Unread &unread) { return unread.missing; });
        if (gap) {
            verdict_.outcome = Outcome::incomplete;
            if (!rules_.list_live_when_incomplete) {
                verdict_.live.clear();
            }
        } else if (!verdict_.unread.empty()) {
            verdict_.outcome = Outcome::unusable;
        } else if (rules_.bytes && *rules_.bytes < rules_.min_bytes) {
            verdict_.outcome = Outcome::no_traffic;
        } else if (!verdict_.live.empty()) {
            verdict_.outcome = Outcome::live;
        }
        for (const LiveCounter &live : verdict_.live) {
            verdict_.layer = std::min(verdict_.layer, live.layer);
        }
    }

    const Deltas &deltas_;
    const PortRules &rules_;
    PortVerdict verdict_;
};

} // namespace

std::string PortVerdict::word() const {
    switch (outcome) {
    case Outcome::clean:
        return "clean";
    case Outcome::live:
        return std::string(to_string(layer));
    case Outcome::unusable:
        return "unusable";
    case Outcome::incomplete:
        return "incomplete";
    case Outcome::no_traffic:
        break;
    }
    return "no-traffic";
}

std::string LiveCounter::bar_note() const { return bar == "0" ? std::string() : "more than " + bar; }

std::vector<std::string> PortVerdict::detail() const {
    std::vector<std::string> names;
    if (outcome == Outcome::live) {
        for (const LiveCounter &counter : live) {
            if (counter.layer == layer) {
                names.push_back(counter.counter);
            }
        }
    } else if (outcome == Outcome::unusable || outcome == Outcome::incomplete) {
        for (const Unread &counter : unread) {
            if (counter.missing == (outcome == Outcome::incomplete)) {
                names.push_back(counter.counter);
            }
        }
    }
    return names;
}

PortVerdict judge_port(const Deltas &deltas, const PortRules &rules) {
    return Judge(deltas, rules).run();
}

std::optional<std::uint64_t> xmit_bytes(const Deltas &deltas) {
    return bytes_by(deltas, sent_byte_counters, "tx");
}

std::optional<std::uint64_t> rcv_bytes(const Deltas &deltas) {
    return bytes_by(deltas, received_byte_counters, "rx");
}

} // namespace fabric_check
