// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "textfiles/diff_kind.hpp"
#include "textfiles/diff_links.hpp"
#include "verdict/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace fabric_check::textfiles {

namespace {

using ByName = std::map<std::string, const PortCounters *>;

ByName by_name(const Loaded &loaded) {
    ByName ports;
    for (const PortCounters &port : loaded.ports) {
        ports.emplace(port.port, &port);
    }
    return ports;
}

double seconds_between(const PortCounters &before, const PortCounters &after) noexcept {
    return before.time_ns != 0 && after.time_ns > before.time_ns
               ? static_cast<double>(after.time_ns - before.time_ns) / 1e9
               : 0;
}

/// The data counter that answers for one direction, when it was read and proves nothing.
const std::pair<const std::string, Delta> *spoilt(const Deltas &deltas, std::initializer_list<const char *> counters) {
    for (const char *counter : counters) {
        const auto at = deltas.find(counter);
        if (at != deltas.end() && (at->second.value || !is_missing(at->second.why))) {
            return at->second.value ? nullptr : &*at;
        }
    }
    return nullptr;
}

class Differ {
public:
    Differ(const Loaded &before, const Loaded &after, const DiffOptions &options)
        : options_(options), switches_(switches(before, after)) {}

    DiffPort port(const std::string &name, const PortCounters *before, const PortCounters *after) const {
        static const PortCounters nothing;
        const PortCounters &first = before != nullptr ? *before : nothing;
        const PortCounters &second = after != nullptr ? *after : nothing;
        const PortCounters &known = after != nullptr ? second : first;
        DiffPort result;
        result.port = name;
        result.deltas = deltas_of(first.counters.map(), second.counters.map());
        result.driver = driver_of(first, second);
        const TakenProfile taken =
            options_.profile ? TakenProfile{*options_.profile, "given"} : profile_of(first, second, result.driver);
        result.profile = taken.profile;
        result.profile_from = taken.from;
        result.profile_told = taken.told;
        result.profile_given = options_.profile.has_value();
        const bool is_switch = known.kind == KeyKind::lid && switches_.contains(owner(known.port));
        result.kind = options_.kind.value_or(is_switch ? PortKind::switch_port : PortKind::hca);
        result.rebooted = !first.boot_id.empty() && !second.boot_id.empty() && first.boot_id != second.boot_id;
        const double seconds = seconds_between(first, second);
        if (first.card != nullptr && second.card != nullptr) {
            distrust_data(result.deltas, std::max(first.card->rate.data_gbps, second.card->rate.data_gbps), seconds);
        }
        count_bytes(result);

        PortRules rules;
        rules.profile = result.profile;
        rules.kind = result.kind;
        rules.driver = result.driver;
        rules.whole_profile = options_.profile || (result.kind == PortKind::hca && result.driver.empty());
        rules.congestion_per_gb = options_.congestion_per_gb;
        rules.bars = options_.bars;
        rules.bytes = result.bytes;
        rules.sent = result.sent;
        rules.received = result.received;
        rules.seconds = seconds;
        rules.min_bytes = 1;
        rules.list_live_when_incomplete = false;
        result.verdict = judge_port(result.deltas, rules);
        correct(result);
        if (!result.rebooted) {
            add_links(first, second, result);
        }
        return result;
    }

private:
    /// No traffic and no other reading is needed to prove that a link went down or got narrower.
    void add_links(const PortCounters &before, const PortCounters &after, DiffPort &result) const {
        result.links = link_findings(before, after, options_.site != nullptr ? &options_.site->policy : nullptr);
        if (result.links.empty()) {
            return;
        }
        PortVerdict &verdict = result.verdict;
        for (const Finding &finding : result.links) {
            verdict.live.push_back({finding.counter, 0, finding.layer, ""});
        }
        std::sort(verdict.live.begin(), verdict.live.end(),
                  [](const LiveCounter &a, const LiveCounter &b) { return a.counter < b.counter; });
        verdict.outcome = Outcome::live;
        verdict.layer = Layer::physical;
    }

    void count_bytes(DiffPort &result) const {
        if (options_.bytes) {
            result.bytes = options_.bytes;
            return;
        }
        const auto sent = xmit_bytes(result.deltas), received = rcv_bytes(result.deltas);
        const auto *no_sent = spoilt_sent(result.deltas), *no_received = spoilt_received(result.deltas);
        if (no_sent != nullptr || no_received != nullptr) {
            result.no_bytes = to_string((no_sent != nullptr ? no_sent : no_received)->second.why);
            result.sent = sent;
            result.received = received;
            return;
        }
        if (sent && received) {
            result.sent = sent;
            result.received = received;
        }
        if (sent || received) {
            std::uint64_t sum = 0;
            result.bytes =
                __builtin_add_overflow(sent.value_or(0), received.value_or(0), &sum) ? UINT64_MAX : sum;
        }
    }

    static const std::pair<const std::string, Delta> *spoilt_sent(const Deltas &deltas) {
        return spoilt(deltas, {"PortXmitData", "tx_vport_rdma_unicast_bytes", "tx_bytes_phy"});
    }
    static const std::pair<const std::string, Delta> *spoilt_received(const Deltas &deltas) {
        return spoilt(deltas, {"PortRcvData", "rx_vport_rdma_unicast_bytes", "rx_bytes_phy"});
    }

    /// What the counters alone do not tell.
    static void correct(DiffPort &result) {
        if (result.rebooted) {
            // Counters of the host began anew, and a link that went down went down with it.
            result.verdict.outcome = Outcome::incomplete;
            result.verdict.live.clear();
            result.verdict.layer = Layer::ungraded;
            result.verdict.unread = {{"boot_id", "rebooted", Layer::physical, true}};
            return;
        }
        if (*result.no_bytes == '\0' || result.verdict.outcome != Outcome::clean) {
            return;
        }
        // Whoever resets data counters resets the others too; the others' reasons only hide how much was moved.
        for (const auto *data : {spoilt_sent(result.deltas), spoilt_received(result.deltas)}) {
            if (data != nullptr) {
                const bool reset = data->second.why == NoDelta::reset;
                result.verdict.unread.push_back({data->first, to_string(data->second.why),
                                                 reset ? Layer::physical : Layer::congestion, false});
            }
        }
        std::sort(result.verdict.unread.begin(), result.verdict.unread.end(),
                  [](const Unread &a, const Unread &b) { return a.counter < b.counter; });
        result.verdict.outcome = Outcome::unusable;
    }

    const DiffOptions &options_;
    std::set<std::string> switches_;
};

std::optional<std::uint64_t> all_bytes(const std::vector<DiffPort> &ports) {
    std::uint64_t sum = 0;
    for (const DiffPort &port : ports) {
        if (!port.bytes || __builtin_add_overflow(sum, *port.bytes, &sum)) {
            return std::nullopt;
        }
    }
    return sum;
}

/// The word for several ports together.
std::string overall(const std::vector<DiffPort> &ports) {
    if (ports.size() == 1) {
        return ports.front().verdict.word();
    }
    Layer live = Layer::ungraded, unread = Layer::ungraded;
    bool missing = false, traffic = false;
    for (const DiffPort &port : ports) {
        traffic = traffic || port.verdict.outcome != Outcome::no_traffic;
        for (const LiveCounter &counter : port.verdict.live) {
            const bool counts = port.verdict.outcome != Outcome::no_traffic || counter.layer == Layer::physical;
            live = counts ? std::min(live, counter.layer) : live;
        }
        for (const Unread &counter : port.verdict.unread) {
            missing =
                counter.layer < unread ? counter.missing : (missing || (counter.layer == unread && counter.missing));
            unread = std::min(unread, counter.layer);
        }
    }
    if (unread < live) {
        return missing ? "incomplete" : "unusable";
    }
    if (live != Layer::ungraded) {
        return std::string(to_string(live));
    }
    return traffic ? "clean" : "no-traffic";
}

/// "node07/" when all names of a side begin with it.
std::string shared_directory(const ByName &ports) {
    const auto slash = ports.begin()->first.find('/');
    const std::string directory = ports.begin()->first.substr(0, slash == std::string::npos ? 0 : slash + 1);
    const bool all = std::all_of(ports.begin(), ports.end(),
                                 [&](const auto &port) { return port.first.starts_with(directory); });
    return all ? directory : std::string();
}

ByName without(const ByName &ports, const std::string &directory) {
    ByName shorter;
    for (const auto &[name, port] : ports) {
        shorter.emplace(name.substr(directory.size()), port);
    }
    return shorter;
}

void pair_ports(const Loaded &before, const Loaded &after, const Differ &differ, Diff &result) {
    ByName first = by_name(before), second = by_name(after);
    const bool any = std::any_of(first.begin(), first.end(),
                                 [&](const auto &port) { return second.contains(port.first); });
    if (!any && !first.empty() && !second.empty()) {
        const std::string a = shared_directory(first), b = shared_directory(second);
        if (!a.empty() || !b.empty()) {
            result.problems.push_back(fmt::format("the sides name different places, \"{}\" and \"{}\": compared all the "
                                                  "same", printable(a), printable(b)));
            first = without(first, a);
            second = without(second, b);
        }
    }
    std::set<std::string> names;
    for (const ByName *side : {&first, &second}) {
        for (const auto &[name, port] : *side) {
            names.insert(name);
        }
    }
    for (const std::string &name : names) {
        const auto a = first.find(name), b = second.find(name);
        result.ports.push_back(
            differ.port(name, a != first.end() ? a->second : nullptr, b != second.end() ? b->second : nullptr));
    }
}

} // namespace

Status check_order(const Loaded &before, const Loaded &after) {
    const ByName first = by_name(before), second = by_name(after);
    const bool only = before.ports.size() == 1 && after.ports.size() == 1;
    for (const auto &[name, port] : second) {
        const auto other = only ? first.begin() : first.find(name);
        if (other != first.end() && other->second->time_ns != 0 && port->time_ns != 0 &&
            port->time_ns < other->second->time_ns) {
            return Error{Errc::usage, fmt::format("AFTER is older than BEFORE: swap them ({} was taken {}, {} {})",
                                                  before.path, format_time(other->second->time_ns / 1'000'000'000),
                                                  after.path, format_time(port->time_ns / 1'000'000'000))};
        }
    }
    return {};
}

Diff diff(const Loaded &before, const Loaded &after, const DiffOptions &options) {
    Diff result;
    for (const Loaded *side : {&before, &after}) {
        for (const TextProblem &problem : side->problems) {
            result.problems.push_back(problem.text());
        }
    }
    const Differ differ(before, after, options);
    if (before.ports.size() == 1 && after.ports.size() == 1) {
        const PortCounters &a = before.ports.front(), &b = after.ports.front();
        if (!a.port.empty() && !b.port.empty() && a.port != b.port) {
            result.problems.push_back("the files name different ports, " + a.port + " and " + b.port +
                                      ": compared all the same");
        }
        result.ports.push_back(differ.port(b.port.empty() ? a.port : b.port, &a, &b));
    } else {
        pair_ports(before, after, differ, result);
    }
    for (const DiffPort &port : result.ports) {
        if (port.rebooted) {
            result.problems.push_back(fmt::format("{}: the host rebooted between the readings (their boot ids differ): "
                                                  "its counters began anew", port.port));
        }
    }
    if (!result.ports.empty()) {
        const Profile profile = result.ports.front().profile;
        const bool same = std::all_of(result.ports.begin(), result.ports.end(),
                                      [profile](const DiffPort &port) { return port.profile == profile; });
        result.profile = same ? std::optional(profile) : std::nullopt;
    }
    result.bytes = options.bytes ? options.bytes : all_bytes(result.ports);
    result.verdict = overall(result.ports);
    return result;
}

int exit_code(const Diff &diff) noexcept {
    if (diff.verdict == "clean") {
        return exit_status::done;
    }
    const bool no_answer = diff.verdict == "unusable" || diff.verdict == "incomplete" || diff.verdict == "no-traffic";
    return no_answer ? exit_status::no_answer : exit_status::finding;
}

std::vector<std::string> blamed(const DiffPort &port, const std::string &verdict) {
    if (port.verdict.word() == verdict) {
        return port.verdict.detail();
    }
    std::vector<std::string> found;
    for (const LiveCounter &counter : port.verdict.live) {
        if (to_string(counter.layer) == verdict) {
            found.push_back(counter.counter);
        }
    }
    return found;
}

} // namespace fabric_check::textfiles
