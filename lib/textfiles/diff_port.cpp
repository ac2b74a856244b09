// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff_port.hpp"

#include "textfiles/diff_kind.hpp"
#include "textfiles/diff_links.hpp"
#include "verdict/known.hpp"
#include "verdict/trust.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace fabric_check::textfiles {

namespace {

using Spoilt = const Deltas::value_type *;

/// The data counter that answers for one direction, when it was read and proves nothing.
Spoilt spoilt(const Deltas &deltas, std::span<const char *const> counters) {
    for (const char *counter : counters) {
        const auto at = deltas.find(counter);
        if (at != deltas.end() && (at->second.value || !is_missing(at->second.why))) {
            return at->second.value ? nullptr : &*at;
        }
    }
    return nullptr;
}

template <class List> void sort_by_counter(List &list) {
    std::sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return a.counter < b.counter; });
}

/// Its rate could not be told; that it moved could.
bool is_unrated(const Unread &counter) {
    return counter.reason == "bytes not known" || counter.reason == "time not known";
}

class Judge {
public:
    Judge(const PortPair &pair, const DiffOptions &options, const std::set<std::string> &switches)
        : pair_(pair), options_(options), before_(pair.before != nullptr ? *pair.before : nothing()),
          after_(pair.after != nullptr ? *pair.after : nothing()) {
        const PortCounters &known = pair.known();
        result_.port = pair.name;
        result_.driver = driver_of(before_, after_);
        const TakenProfile taken =
            options.profile ? TakenProfile{*options.profile, "given"} : profile_of(before_, after_, result_.driver);
        result_.profile = taken.profile;
        result_.profile_from = taken.from;
        result_.profile_told = taken.told;
        result_.profile_given = options.profile.has_value();
        result_.from = known.kind;
        const bool is_switch = known.kind == KeyKind::lid && switches.contains(owner(known.port));
        result_.kind = options.kind.value_or(is_switch ? PortKind::switch_port : PortKind::hca);
        result_.rebooted = !before_.boot_id.empty() && !after_.boot_id.empty() && before_.boot_id != after_.boot_id;
    }

    DiffPort run() {
        result_.deltas = deltas_of(before_.counters.map(), after_.counters.map());
        const double seconds = before_.time_ns != 0 ? seconds_between(before_.time_ns, after_.time_ns) : 0;
        if (before_.hca != nullptr && after_.hca != nullptr) {
            distrust_data(result_.deltas, std::max(before_.hca->rate.data_gbps, after_.hca->rate.data_gbps), seconds);
        }
        count_bytes();
        if (result_.rebooted) {
            // Counters of the host began anew, and a link that went down went down with it.
            refuse({"boot_id", "rebooted", Layer::physical, true});
            return std::move(result_);
        }
        if (const OtherPort other = other_port(before_, after_); !other.what.empty()) {
            refuse({other.what, other.reason, Layer::physical, true});
            result_.other = true;
            return std::move(result_);
        }
        by_counters(seconds);
        by_links();
        set_known();
        conclude();
        return std::move(result_);
    }

private:
    static const PortCounters &nothing() {
        static const PortCounters none;
        return none;
    }

    void refuse(Unread why) {
        result_.verdict.outcome = Outcome::incomplete;
        result_.verdict.unread = {std::move(why)};
    }

    void count_bytes() {
        if (options_.bytes) {
            result_.bytes = options_.bytes;
            return;
        }
        const auto sent = xmit_bytes(result_.deltas), received = rcv_bytes(result_.deltas);
        const Spoilt no_sent = spoilt(result_.deltas, sent_byte_counters),
                     no_received = spoilt(result_.deltas, received_byte_counters);
        if (no_sent != nullptr || no_received != nullptr) {
            result_.no_bytes = to_string((no_sent != nullptr ? no_sent : no_received)->second.why);
            result_.sent = sent;
            result_.received = received;
            return;
        }
        if (sent && received) {
            result_.sent = sent;
            result_.received = received;
        }
        if (sent || received) {
            std::uint64_t sum = 0;
            result_.bytes = __builtin_add_overflow(sent.value_or(0), received.value_or(0), &sum) ? UINT64_MAX : sum;
        }
    }

    void by_counters(double seconds) {
        PortRules rules;
        rules.profile = result_.profile;
        rules.kind = result_.kind;
        rules.driver = result_.driver;
        rules.whole_profile = options_.profile || (result_.kind == PortKind::hca && result_.driver.empty());
        rules.congestion_per_gb = options_.congestion_per_gb;
        rules.bars = options_.bars;
        rules.bytes = result_.bytes;
        rules.sent = result_.sent;
        rules.received = result_.received;
        rules.seconds = seconds;
        result_.verdict = judge_port(result_.deltas, rules);
    }

    void by_links() {
        for (const Finding &finding :
             link_findings(before_, after_, options_.site != nullptr ? &options_.site->policy : nullptr)) {
            result_.verdict.live.push_back({finding.counter, 0, finding.layer, ""});
            result_.notes[finding.counter] = finding.note;
        }
        sort_by_counter(result_.verdict.live);
    }

    /// What the site knows of is shown and decides nothing.
    void set_known() {
        if (options_.site == nullptr || options_.site->known.empty()) {
            return;
        }
        const PortCounters &port = pair_.known();
        const std::string where =
            port.hca != nullptr && !port.node.empty() ? port.node + "/" + port.hca->name() : pair_.name;
        std::vector<Finding> findings;
        for (const LiveCounter &live : result_.verdict.live) {
            findings.push_back({where, live.counter, live.delta, live.layer, true, "", where});
        }
        std::vector<UnreadCounter> unread;
        for (const Unread &counter : result_.verdict.unread) {
            unread.push_back({where, counter.counter, counter.reason, counter.layer, counter.missing});
        }
        set_known_aside(options_.site->known, port.time_ns != 0 ? port.time_ns / 1'000'000'000 : options_.now, findings,
                        unread);
        for (const Finding &finding : findings) {
            std::string &note = result_.notes[finding.counter];
            note += (note.empty() || finding.note.empty() ? "" : "; ") + finding.note;
            if (!finding.leads) {
                result_.known.push_back({finding.counter, finding.delta, note});
                std::erase_if(result_.verdict.live, [&](const LiveCounter &l) { return l.counter == finding.counter; });
            }
        }
        for (const UnreadCounter &counter : unread) {
            if (counter.layer == Layer::ungraded) {
                result_.known.push_back({counter.counter, std::nullopt, counter.reason});
                std::erase_if(result_.verdict.unread, [&](const Unread &u) { return u.counter == counter.counter; });
            }
        }
    }

    Layer lowest_live() const {
        Layer layer = Layer::ungraded;
        for (const LiveCounter &live : result_.verdict.live) {
            layer = std::min(layer, live.layer);
        }
        return layer;
    }

    /// Was anything read that this port is judged by?
    bool was_judged() const {
        return std::any_of(result_.deltas.begin(), result_.deltas.end(), [&](const auto &delta) {
            const CounterInfo *row = delta.second.value ? find_counter(delta.first) : nullptr;
            return row != nullptr && row->graded(result_.profile);
        });
    }

    void conclude() {
        PortVerdict &verdict = result_.verdict;
        const auto is_link = [](const LiveCounter &live) { return live.delta == 0; };
        const bool gap = std::any_of(verdict.unread.begin(), verdict.unread.end(),
                                     [](const Unread &counter) { return counter.missing; });
        const bool link = std::any_of(verdict.live.begin(), verdict.live.end(), is_link);
        if (gap) {
            std::copy_if(verdict.live.begin(), verdict.live.end(), std::back_inserter(result_.moved),
                         std::not_fn(is_link));
            std::erase_if(verdict.live, [&](const LiveCounter &live) { return !is_link(live); });
        }
        // A rate that is not known hides nothing below it.
        const bool only_unrated = std::all_of(verdict.unread.begin(), verdict.unread.end(), [&](const Unread &counter) {
            return is_unrated(counter) && lowest_live() < counter.layer;
        });
        const bool judged = !gap && only_unrated && result_.bytes != std::uint64_t{0};
        // No traffic and no other reading is needed to prove that a link went down or got narrower.
        if (link || (judged && !verdict.live.empty())) {
            verdict.outcome = Outcome::live;
        } else if (gap) {
            verdict.outcome = Outcome::incomplete;
        } else if (!only_unrated) {
            verdict.outcome = Outcome::unusable;
        } else if (result_.bytes == std::uint64_t{0}) {
            verdict.outcome = Outcome::no_traffic;
        } else if (!was_judged() && result_.known.empty()) {
            refuse({"counters", "none that this port is judged by", Layer::physical, true});
        } else if (*result_.no_bytes != '\0') {
            without_bytes();
        } else {
            verdict.outcome = Outcome::clean;
        }
        verdict.layer = lowest_live();
    }

    /// Whoever resets data counters resets the others too; the other reasons only hide how much was moved.
    void without_bytes() {
        for (const Spoilt data :
             {spoilt(result_.deltas, sent_byte_counters), spoilt(result_.deltas, received_byte_counters)}) {
            if (data != nullptr) {
                const bool reset = data->second.why == NoDelta::reset;
                result_.verdict.unread.push_back({std::string(data->first), to_string(data->second.why),
                                                  reset ? Layer::physical : Layer::congestion, false});
            }
        }
        sort_by_counter(result_.verdict.unread);
        result_.verdict.outcome = Outcome::unusable;
    }

    const PortPair &pair_;
    const DiffOptions &options_;
    const PortCounters &before_, &after_;
    DiffPort result_;
};

} // namespace

DiffPort judge_pair(const PortPair &pair, const DiffOptions &options, const std::set<std::string> &switches) {
    return Judge(pair, options, switches).run();
}

} // namespace fabric_check::textfiles
