// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/port_verdict.hpp"

#include <algorithm>

namespace fabric_check {

namespace {

bool required_somewhere(const CounterInfo &info) noexcept {
    return info.required_ib_switch || info.required_ib_hca || info.required_ib_qp;
}

/// Neither side has it, or none was ever there: no gap unless the counter is required.
bool nowhere(NoDelta why) noexcept { return why == NoDelta::absent || why == NoDelta::unsupported; }

std::optional<std::uint64_t> octets(const Deltas &deltas, const char *counter) {
    const auto at = deltas.find(counter);
    // Quarter octets: beyond 2^62 of them no link has ever carried what the counter says.
    if (at == deltas.end() || !at->second.value || *at->second.value > UINT64_MAX / 4) {
        return std::nullopt;
    }
    return *at->second.value * 4;
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
        std::sort(verdict_.unread.begin(), verdict_.unread.end(),
                  [](const Unread &a, const Unread &b) { return a.counter < b.counter; });
        conclude();
        return std::move(verdict_);
    }

private:
    bool required(const CounterInfo &info) const { return rules_.required && rules_.required(info); }
    bool graded(const CounterInfo &info) const { return rules_.graded ? rules_.graded(info) : info.graded; }

    void grade(const CounterInfo &info) {
        const bool is_required = required(info);
        if (!is_required && !graded(info)) {
            return;
        }
        const auto at = deltas_.find(std::string(info.name));
        const Delta delta = at != deltas_.end() ? at->second : Delta{};
        if (delta.value) {
            moved(info, *delta.value);
        } else if (!is_missing(delta.why)) {
            verdict_.unread.push_back({std::string(info.name), to_string(delta.why), info.layer, false});
        } else if (is_required || (required_somewhere(info) && !nowhere(delta.why))) {
            verdict_.unread.push_back({std::string(info.name), to_string(delta.why), info.layer, true});
        }
    }

    void moved(const CounterInfo &info, std::uint64_t delta) {
        if (delta == 0) {
            return;
        }
        if (info.layer == Layer::congestion) {
            if (!rules_.bytes) {
                verdict_.unread.push_back({std::string(info.name), "bytes not known", info.layer, false});
                return;
            }
            const double gigabytes = static_cast<double>(*rules_.bytes) / 1e9;
            if (static_cast<double>(delta) <= rules_.congestion_per_gb * gigabytes) {
                return;
            }
        }
        verdict_.live.push_back({std::string(info.name), delta, info.layer});
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

PortVerdict judge_port(const Deltas &deltas, const PortRules &rules) { return Judge(deltas, rules).run(); }

std::optional<std::uint64_t> xmit_bytes(const Deltas &deltas) { return octets(deltas, "PortXmitData"); }
std::optional<std::uint64_t> rcv_bytes(const Deltas &deltas) { return octets(deltas, "PortRcvData"); }

} // namespace fabric_check
