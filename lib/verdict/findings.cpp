// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/findings.hpp"

#include "counters/table.hpp"
#include "verdict/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace fabric_check {

namespace {

constexpr const char *active = "ACTIVE";

/// Its state at the end if it was ACTIVE at the start and is not any more; empty otherwise.
std::string went_down(const PortResult &port) {
    const std::string *start = nullptr;
    const std::string *end = nullptr;
    if (port.host_start != nullptr && port.host_end != nullptr) {
        start = &port.host_start->state;
        end = &port.host_end->state;
    } else if (port.switch_start != nullptr && port.switch_end != nullptr) {
        start = &port.switch_start->state;
        end = &port.switch_end->state;
    }
    return start != nullptr && *start == active && *end != active ? *end : std::string();
}

const char *data_counter_reason(const PortResult &port, const char *counter, bool *missing) {
    const auto at = port.deltas.find(counter);
    const NoDelta why = at == port.deltas.end() ? NoDelta::absent : at->second.why;
    *missing = is_missing(why);
    return to_string(why);
}

class Collector {
public:
    Collector(const JobEvidence &evidence, const PortSet &set, std::vector<Finding> &findings,
              std::vector<UnreadCounter> &unread)
        : set_(set), findings_(findings), unread_(unread) {
        for (const NodeEvidence &node : evidence.nodes) {
            if (node.slurmd_died) {
                died_.insert(node.node);
            }
        }
    }

    void add(const PortResult &port) {
        if (!port.on_route) {
            return;
        }
        const std::string end = end_of(set_, port);
        // What a host told before it died is evidence; what its link did when it died is not.
        const bool died = port.rebooted && !port.times.until_mid;
        for (const LiveCounter &live : port.verdict.live) {
            if (live.layer == Layer::physical && died) {
                rebooted(port, live.counter);
                continue;
            }
            findings_.push_back({live.layer == Layer::physical ? link_of(set_, port) : port.where, live.counter,
                                 live.delta, live.layer, true, note_of(port, live), end,
                                 movements(port, live.counter)});
        }
        for (const auto &[counter, total] : port.times.totals) {
            // Judged by the rest: it hides nothing, and stands there for who wants to know.
            const auto delta = port.deltas.find(counter);
            if (!total.lost.empty() && delta != port.deltas.end() && delta->second.value) {
                unread_.push_back({port.where, counter, when_lost(port.times, counter), Layer::ungraded, false});
            }
        }
        for (const Unread &counter : port.verdict.unread) {
            if (counter.layer == Layer::physical && died && counter.reason == to_string(NoDelta::reset)) {
                rebooted(port, counter.counter);
                continue;
            }
            unread_.push_back({port.where, counter.counter, counter.reason, counter.layer, counter.missing,
                               read_at(port)});
        }
        if (const std::string state = went_down(port); !state.empty()) {
            if (died) {
                rebooted(port, "state");
            } else if (!said(link_of(set_, port), port)) {
                findings_.push_back({link_of(set_, port), "state", 0, Layer::physical, true,
                                     fmt::format("ACTIVE at start, {} at end", state), end});
            }
        }
        if (port.deltas.empty()) {
            return;
        }
        if (!port.xmit_bytes) {
            data_unread(port, "PortXmitData", port.role == "isl" ? Layer::routing_imbalance : Layer::congestion);
        }
        // Of a host's link both directions are judged; what it sends is what its switch port receives.
        if (!port.rcv_bytes && (port.role == "facing" || port.role == "service")) {
            data_unread(port, "PortRcvData", Layer::congestion);
        }
    }

private:
    static std::vector<Movement> movements(const PortResult &port, const std::string &counter) {
        const auto found = port.times.totals.find(counter);
        return found == port.times.totals.end() ? std::vector<Movement>{} : found->second.moves;
    }

    /// Which bar it crossed, and what records in mid-job tell about the time.
    static std::string note_of(const PortResult &port, const LiveCounter &live) {
        const std::string bar = live.bar_note(), time = time_note(port, live.counter);
        return bar + (bar.empty() || time.empty() ? "" : "; ") + time;
    }

    static std::string time_note(const PortResult &port, const std::string &counter) {
        std::string note = when_moved(port.times, counter);
        const auto found = port.times.totals.find(counter);
        if (found != port.times.totals.end() && !found->second.lost.empty()) {
            note += (note.empty() ? "" : "; ") + std::string("at least: it was also ") + when_lost(port.times, counter);
        }
        if (port.times.until_mid) {
            note += (note.empty() ? "" : "; ") +
                    fmt::format("known until {} UTC", moment(port.times, port.times.to_ns));
        }
        return note;
    }

    /// Both ends of a link go down together: one finding.
    bool said(const std::string &where, const PortResult &port) const {
        const std::string other = port.peer < 0 ? "" : set_.ports[static_cast<std::size_t>(port.peer)].where;
        return std::any_of(findings_.begin(), findings_.end(), [&](const Finding &finding) {
            return finding.counter == "state" && (finding.where == where || finding.where == other);
        });
    }

    void data_unread(const PortResult &port, const char *counter, Layer hides) {
        bool missing = true;
        const char *reason = data_counter_reason(port, counter, &missing);
        unread_.push_back({port.where, counter, reason, hides, missing, read_at(port)});
    }

    /// Of a link between switches either end may be the one; a host's link is read at the end that `where` starts with.
    std::string read_at(const PortResult &port) const { return port.role == "isl" ? end_of(set_, port) : std::string(); }

    void rebooted(const PortResult &port, const std::string &counter) {
        const PortResult &host = port.node.empty() ? set_.ports[static_cast<std::size_t>(port.peer)] : port;
        unread_.push_back({port.where, counter, died_.contains(host.node) ? "rebooted (slurmd died)" : "rebooted",
                           Layer::physical, true});
    }

    const PortSet &set_;
    std::vector<Finding> &findings_;
    std::vector<UnreadCounter> &unread_;
    std::unordered_set<std::string> died_;
};

/// Blocks that forward error correction gave up, where the port counts them.
std::uint64_t beyond_repair(const Deltas &deltas) {
    std::uint64_t blocks = 0;
    for (const auto &[name, delta] : deltas) {
        const CounterInfo *counter = find_counter(name);
        if (counter != nullptr && counter->source == CounterSource::pma_details && counter->has(bit_errors)) {
            blocks += delta.value.value_or(0);
        }
    }
    return blocks;
}

} // namespace

void annotate(Finding &finding, const std::string &note) {
    finding.note += finding.note.empty() ? note : "; " + note;
}

void collect_findings(const JobEvidence &evidence, const PortSet &set, std::vector<Finding> &findings,
                      std::vector<UnreadCounter> &unread) {
    Collector collector(evidence, set, findings, unread);
    for (const PortResult &port : set.ports) {
        collector.add(port);
    }
}

void set_teardown_aside(const JobInfo &job, std::vector<Finding> &findings) {
    if (job.state.empty() || job.state.starts_with("COMPLETED")) {
        return;
    }
    const bool lower = std::any_of(findings.begin(), findings.end(), [](const Finding &finding) {
        return finding.leads && finding.layer < Layer::transport_retry;
    });
    if (lower) {
        return;
    }
    for (Finding &finding : findings) {
        if (finding.layer == Layer::transport_retry) {
            finding.leads = false;
            annotate(finding, "teardown?");
        }
    }
}

void annotate_reordering(AdaptiveRouting adaptive_routing, std::vector<Finding> &findings) {
    if (adaptive_routing != AdaptiveRouting::unknown) {
        return;
    }
    for (Finding &finding : findings) {
        if (finding.counter == "out_of_sequence") {
            annotate(finding, "normal if adaptive routing is on, which is not known");
        }
    }
}

std::vector<Finding> told_findings(const PortSet &set) {
    std::vector<Finding> told;
    for (const PortResult &port : set.ports) {
        if (!port.on_route) {
            continue;
        }
        const std::string end = end_of(set, port);
        for (const LiveCounter &below : port.verdict.below) {
            told.push_back({port.where, below.counter, below.delta, below.layer, false, "below its bar", end});
        }
        for (const auto &[name, delta] : port.deltas) {
            const CounterInfo *row = delta.value.value_or(0) > 0 ? find_counter(name) : nullptr;
            if (row == nullptr || row->graded(port.profile)) {
                continue;
            }
            if (row->has(fabric_check::told) || (row->layer < Layer::congestion && row->roles != shown)) {
                told.push_back({port.where, std::string(name), *delta.value, row->layer, false, "not judged", end});
            }
        }
    }
    std::stable_sort(told.begin(), told.end(), [](const Finding &a, const Finding &b) {
        return std::tuple(a.layer, b.delta) < std::tuple(b.layer, a.delta);
    });
    if (told.size() > max_told) {
        told.resize(max_told);
    }
    return told;
}

HwStatus judge_hw(const PortSet &set, const std::vector<Finding> &findings, double bit_error_rate) {
    HwStatus status = HwStatus::none;
    // Of the results fail outranks unknown, and unknown pass.
    const auto raise = [&status](HwStatus to) {
        const auto rank = [](HwStatus s) { return s == HwStatus::fail ? 3 : s == HwStatus::unknown ? 2 : s == HwStatus::pass; };
        status = rank(to) > rank(status) ? to : status;
    };
    std::unordered_map<std::string, const PortResult *> by_end;
    for (const PortResult &port : set.ports) {
        by_end.emplace(end_of(set, port), &port);
    }
    for (const Finding &finding : findings) {
        if (finding.layer != Layer::physical || !finding.leads) {
            continue;
        }
        const CounterInfo *counter = find_counter(finding.counter);
        if (counter == nullptr || !counter->has(bit_errors)) {
            raise(HwStatus::fail);
            continue;
        }
        const auto at = by_end.find(finding.read_at);
        const PortResult *port = at == by_end.end() ? nullptr : at->second;
        const LinkRate *rate = port == nullptr                ? nullptr
                               : port->host_end != nullptr    ? &port->host_end->rate
                               : port->switch_end != nullptr ? &port->switch_end->rate
                                                              : nullptr;
        const double bits =
            rate == nullptr ? 0 : rate->signalling_gbps * 1e9 * static_cast<double>(rate->lanes) * port->seconds;
        if (port == nullptr || !(bits > 0)) {
            raise(HwStatus::unknown);
        } else {
            const std::uint64_t errors = std::max(finding.delta, beyond_repair(port->deltas));
            raise(static_cast<double>(errors) / bits > bit_error_rate ? HwStatus::fail : HwStatus::pass);
        }
    }
    return status;
}

} // namespace fabric_check
