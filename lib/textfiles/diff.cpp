// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff.hpp"

#include "base/result.hpp"

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

/// "lid 4:25" -> "lid 4": what several ports of one switch have in common.
std::string owner(const std::string &port) {
    return port.substr(0, port.rfind(':'));
}

/// LIDs that show several ports: a card's port has a LID of its own, so these are switches.
std::set<std::string> switches(const Loaded &before, const Loaded &after) {
    std::map<std::string, std::set<std::string>> ports_of;
    for (const Loaded *side : {&before, &after}) {
        for (const PortCounters &port : side->ports) {
            if (port.kind == KeyKind::lid) {
                ports_of[owner(port.port)].insert(port.port);
            }
        }
    }
    std::set<std::string> found;
    for (const auto &[lid, ports] : ports_of) {
        if (ports.size() > 1) {
            found.insert(lid);
        }
    }
    return found;
}

/// Sum of both directions, of what is known.
std::optional<std::uint64_t> bytes_of(const Deltas &deltas) {
    const auto sent = xmit_bytes(deltas), received = rcv_bytes(deltas);
    if (!sent && !received) {
        return std::nullopt;
    }
    std::uint64_t sum = 0;
    return __builtin_add_overflow(sent.value_or(0), received.value_or(0), &sum) ? UINT64_MAX : sum;
}

class Differ {
public:
    Differ(const Loaded &before, const Loaded &after, const DiffOptions &options)
        : options_(options), switches_(switches(before, after)) {}

    DiffPort port(const std::string &name, const PortCounters *before, const PortCounters *after) const {
        static const PortCounters nothing;
        const PortCounters &first = before != nullptr ? *before : nothing;
        const PortCounters &second = after != nullptr ? *after : nothing;
        DiffPort result;
        result.port = name;
        result.deltas = deltas_of(first.counters, second.counters);
        result.bytes = options_.bytes ? options_.bytes : bytes_of(result.deltas);
        const PortCounters &known = after != nullptr ? second : first;
        const std::string &driver = second.driver.empty() ? first.driver : second.driver;
        PortRules rules;
        rules.profile = options_.profile;
        rules.driver = driver;
        if (!options_.whole_profile && known.kind == KeyKind::lid && switches_.contains(owner(known.port))) {
            rules.kind = PortKind::switch_port;
        } else {
            rules.whole_profile = options_.whole_profile || driver.empty();
        }
        rules.congestion_per_gb = options_.congestion_per_gb;
        rules.bytes = result.bytes;
        rules.min_bytes = 1;
        rules.list_live_when_incomplete = false;
        result.verdict = judge_port(result.deltas, rules);
        return result;
    }

private:
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

} // namespace

Diff diff(const Loaded &before, const Loaded &after, const DiffOptions &options) {
    Diff result;
    result.profile = options.profile;
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
        const ByName first = by_name(before), second = by_name(after);
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

} // namespace fabric_check::textfiles
