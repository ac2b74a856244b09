// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/steps.hpp"

#include "verdict/findings.hpp"
#include "verdict/known.hpp"
#include "verdict/links.hpp"
#include "verdict/precedence.hpp"
#include "verdict/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>

namespace fabric_check {

namespace {

constexpr std::int64_t second = 1'000'000'000;

struct StepOnNode {
    const std::string *node = nullptr;
    const StepRecord *record = nullptr;
};

/// A step's deltas of a port: what it recorded, and 0 for every counter that the port had all the time and that did not
/// move in the step.
Deltas step_deltas(const StepRecord &step, const PortResult &port) {
    Deltas deltas;
    const HcaPort &start = *port.host_start;
    const HcaPort &end = port.host_end != nullptr ? *port.host_end : start;
    for (const auto &[counter, reading] : start.counters) {
        if (!is_tracked(counter)) {
            continue;
        }
        const Reading *after = end.counters.get(counter);
        deltas[counter] = reading.value && after != nullptr && after->value
                              ? Delta{0, NoDelta::absent}
                              : delta_of(&reading, after, std::uint8_t{0});
    }
    const auto moved = step.ports.find(start.name());
    if (moved != step.ports.end()) {
        for (const auto &[counter, moves] : moved->second) {
            deltas[counter] = moves.lost.empty() ? Delta{moves.delta, NoDelta::absent}
                                                 : Delta{std::nullopt, moves.lost.back().why};
        }
    }
    return deltas;
}

class Step {
public:
    Step(std::uint32_t id, const JobEvidence &evidence, const PortSet &set, const Grading &grading,
         const Config::Known &known)
        : evidence_(evidence), set_(set), grading_(grading), known_(known) {
        verdict_.id = fmt::format("{}.{}", evidence.job.id, id);
    }

    void add(const StepOnNode &on) {
        const StepRecord &record = *on.record;
        verdict_.nodes.push_back(*on.node);
        verdict_.name = verdict_.name.empty() ? record.name : verdict_.name;
        expected_ = std::max<std::size_t>(expected_, record.nodes);
        first_ns_ = first_ns_ == 0 ? record.start_ns : std::min(first_ns_, record.start_ns);
        last_ns_ = std::max(last_ns_, record.end_ns);
        if (record.end_ns == 0) {
            gap(*on.node, "no reading at the step's end");
            return;
        }
        for (const PortResult &port : set_.ports) {
            if (port.role == "host" && port.node == *on.node && port.host_start != nullptr) {
                judge(record, port);
            }
        }
    }

    StepVerdict finish(bool last) {
        const std::size_t seen = verdict_.nodes.size();
        if (seen < expected_) {
            gap(verdict_.id, fmt::format("{} of its {} nodes left no record", expected_ - seen, expected_));
        }
        if (ports_ == 0) {
            gap(verdict_.id, "no port was read at both its ends");
        }
        verdict_.node_count = std::max(seen, expected_);
        verdict_.start = first_ns_ / second;
        verdict_.end = last_ns_ / second;
        annotate_reordering(grading_.adaptive_routing, verdict_.live);
        if (last) { // what ends with the job may have been ended by it
            set_teardown_aside(evidence_.job, verdict_.live);
        }
        set_known_aside(known_, evidence_.job.end, verdict_.live, verdict_.unread);
        const Ruling ruling = rule(verdict_.live, verdict_.unread, ports_ > 0 && !traffic_);
        verdict_.verdict = ruling.verdict;
        verdict_.rest = ports_ > 0 ? ruling.rest : std::string();
        verdict_.because = findings_of(ruling.layer, verdict_.live);
        std::stable_sort(verdict_.live.begin(), verdict_.live.end(), [](const Finding &a, const Finding &b) {
            return std::tuple(a.layer, !a.leads, b.delta) < std::tuple(b.layer, !b.leads, a.delta);
        });
        return std::move(verdict_);
    }

    std::int64_t last_ns() const { return last_ns_; }
    std::int64_t first_ns() const { return first_ns_; }

private:
    void gap(const std::string &where, std::string reason) {
        verdict_.unread.push_back({where, "", std::move(reason), Layer::physical, true});
    }

    void judge(const StepRecord &record, const PortResult &port) {
        ++ports_;
        const double seconds = seconds_between(record.start_ns, record.end_ns);
        Deltas deltas = step_deltas(record, port);
        distrust_data(deltas, link_gbps(port), seconds);
        const auto sent = xmit_bytes(deltas), received = rcv_bytes(deltas);
        PortRules rules = host_rules(*port.host_start, port.profile, grading_);
        if (sent && received) {
            rules.bytes = *sent + *received;
        }
        rules.sent = sent;
        rules.received = received;
        rules.seconds = seconds;
        traffic_ = traffic_ || !sent || !received || *sent + *received >= grading_.min_bytes;
        verdict_.bytes_moved += sent.value_or(0);
        verdict_.bytes_received += received.value_or(0);
        const PortVerdict judged = judge_port(deltas, rules);
        for (const LiveCounter &live : judged.live) {
            verdict_.live.push_back({live.layer == Layer::physical ? link_of(set_, port) : port.where, live.counter,
                                     live.delta, live.layer, true, live.bar_note(), port.where});
        }
        for (const Unread &unread : judged.unread) {
            verdict_.unread.push_back({unread.layer == Layer::physical ? link_of(set_, port) : port.where,
                                       unread.counter, unread.reason, unread.layer, unread.missing});
        }
    }

    const JobEvidence &evidence_;
    const PortSet &set_;
    const Grading &grading_;
    const Config::Known &known_;
    StepVerdict verdict_;
    std::size_t expected_ = 1;
    unsigned ports_ = 0;
    bool traffic_ = false;
    std::int64_t first_ns_ = 0, last_ns_ = 0;
};

} // namespace

std::vector<StepVerdict> judge_steps(const JobEvidence &evidence, const PortSet &set, const Grading &grading,
                                     const Config::Known &known) {
    std::map<std::uint32_t, std::vector<StepOnNode>> by_id;
    for (const NodeEvidence &node : evidence.nodes) {
        for (const StepRecord &record : node.steps.steps) {
            by_id[record.id].push_back({&node.node, &record});
        }
    }
    std::list<Step> steps;
    for (const auto &[id, nodes] : by_id) {
        steps.emplace_back(id, evidence, set, grading, known);
        for (const StepOnNode &on : nodes) {
            steps.back().add(on);
        }
    }
    steps.sort([](const Step &a, const Step &b) { return a.first_ns() < b.first_ns(); });
    std::int64_t end_ns = 0;
    for (const Step &step : steps) {
        end_ns = std::max(end_ns, step.last_ns());
    }
    std::vector<StepVerdict> verdicts;
    for (Step &step : steps) {
        verdicts.push_back(step.finish(step.last_ns() == end_ns));
    }
    return verdicts;
}

} // namespace fabric_check
