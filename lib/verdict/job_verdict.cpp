// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/job_verdict.hpp"

#include "verdict/advice.hpp"
#include "verdict/findings.hpp"
#include "verdict/hot.hpp"
#include "verdict/known.hpp"
#include "verdict/links.hpp"
#include "verdict/ports.hpp"
#include "verdict/precedence.hpp"
#include "verdict/routing.hpp"
#include "verdict/steps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check {

namespace {

constexpr std::uint64_t megabyte = 1000000;

/// Every host port that was read moved less than the floor. A port whose bytes nobody knows may have moved anything.
bool without_traffic(const PortSet &set, std::uint64_t floor) {
    bool any = false;
    for (const PortResult &port : set.ports) {
        if (port.role != "host" || (port.host_start == nullptr && port.host_end == nullptr)) {
            continue;
        }
        if (!port.xmit_bytes && !port.rcv_bytes) {
            // A node that did not answer at one side is a gap of its own; the others tell whether the job moved data.
            if (port.host_start != nullptr && port.host_end != nullptr) {
                return false;
            }
            continue;
        }
        if (port.xmit_bytes.value_or(0) + port.rcv_bytes.value_or(0) >= floor) {
            return false;
        }
        any = true;
    }
    return any;
}

std::string sampled_note(const JobEvidence &evidence, const JobVerdict &verdict) {
    const auto &intervals = evidence.samples->intervals;
    double watched = 0;
    for (const sample::SampledInterval &interval : intervals) {
        watched += interval.seconds();
    }
    std::string text = fmt::format("rates are judged by {} of the sampler, {:.0f} s in all",
                                   intervals.size() == 1 ? "1 interval" : fmt::format("{} intervals", intervals.size()),
                                   watched);
    if (verdict.seconds > 0) {
        text += fmt::format(", of the {:.0f} s between the two readings of the switches; and by the average over those",
                            verdict.seconds);
    }
    return text;
}

void add_notes(const JobEvidence &evidence, const RouteChanges &changes,
               JobVerdict &verdict) {
    std::vector<std::string> &notes = verdict.notes;
    if (verdict.intervals > 0) {
        notes.push_back(sampled_note(evidence, verdict));
    } else if (verdict.seconds > 0) {
        notes.push_back(fmt::format("rates are averages over the {:.0f} s between the two readings of the switches",
                                    verdict.seconds));
    }
    if (std::any_of(verdict.live.begin(), verdict.live.end(), [](const Finding &finding) {
            return finding.note.find("teardown?") != std::string::npos;
        })) {
        notes.emplace_back("teardown?: the job did not complete, and processes that die make their peers send again; "
                           "without evidence below them such retries do not lead");
    }
    if (verdict.adaptive_routing == AdaptiveRouting::on) {
        notes.emplace_back("adaptive routing is on: the routes are the static ones, packets may take others");
    } else if (verdict.adaptive_routing == AdaptiveRouting::unknown && job_routes(evidence) != nullptr) {
        notes.emplace_back("whether adaptive routing is on is not known: the routes are the static ones");
    }
    if (changes.not_compared > 0) {
        notes.push_back(fmt::format("{} of the blocks of forwarding tables were read at one side of the job only: "
                                    "whether those routes changed is not known",
                                    changes.not_compared));
    }
    for (const auto *scout : {&evidence.scout.end, &evidence.scout.start}) {
        if (*scout && !(*scout)->hosts.empty()) {
            const auto &hosts = (*scout)->hosts;
            const auto by_guid = std::count_if(hosts.begin(), hosts.end(), [](const HostMatch &match) {
                return match.by == MatchedBy::guid;
            });
            const auto others = std::ssize(hosts) - by_guid;
            notes.push_back(others == 0 ? fmt::format("hosts found in the map: {} by port GUID", by_guid)
                                        : fmt::format("hosts found in the map: {} by port GUID, {} by description",
                                                      by_guid, others));
            break;
        }
    }
    if (job_routes(evidence) != nullptr) {
        for (const std::string &warning : job_routes(evidence)->warnings) {
            notes.push_back(warning);
        }
    }
    const auto quote = [&notes](const std::vector<Problem> &problems, const std::string &scout) {
        for (const Problem &problem : problems) {
            // A port or another host speaks for itself; of a scout's map or device it matters whose.
            const bool whole = !scout.empty() && (problem.where == "switches" || problem.where == "map");
            std::string text = whole ? std::string() : problem.where;
            text += problem.counter.empty() ? "" : "/" + problem.counter;
            text += text.empty() ? problem.reason : ": " + problem.reason;
            text = whole || problem.where == "services" ? by_node(scout, text) : text;
            if (std::find(notes.begin(), notes.end(), text) == notes.end()) {
                notes.push_back(std::move(text));
            }
        }
    };
    std::vector<Problem> of_the_job = evidence.problems;
    if (verdict.host_scope) { // nobody missed a map
        std::erase_if(of_the_job, [](const Problem &problem) { return problem.where == "map"; });
        notes.emplace_back("all of the job's ports are Ethernet: no switch is read, and the verdict is about the hosts' "
                           "ports only");
    }
    quote(of_the_job, {});
    for (const auto *scout : {&evidence.scout.start, &evidence.scout.end}) {
        if (*scout) {
            quote((*scout)->problems, (*scout)->node);
        }
    }
    for (const NodeEvidence &node : evidence.nodes) {
        for (const auto *side : {&node.start, &node.end}) {
            if (*side) {
                quote((*side)->problems, {});
            }
        }
    }
}

/// Lowest layer first; what leads before what does not; larger first.
void sort_findings(std::vector<Finding> &findings) {
    std::stable_sort(findings.begin(), findings.end(), [](const Finding &a, const Finding &b) {
        return std::tuple(a.layer, !a.leads, b.delta) < std::tuple(b.layer, !b.leads, a.delta);
    });
}

} // namespace

JobVerdict judge_job(const JobEvidence &evidence, const Config &config) {
    JobVerdict verdict;
    verdict.adaptive_routing = adaptive_routing_of(evidence, config);
    const fabric::Query query = job_query(evidence, config);
    const Grading grading{config.thresholds.congestion_per_gb, config.thresholds.min_traffic_mb * megabyte,
                          verdict.adaptive_routing, config.ports, &config.thresholds.counters,
                          config.thresholds.lost_share};

    PortSet set(evidence.map);
    add_host_ports(evidence, grading, set);
    verdict.host_scope = is_host_scope(set);
    add_switch_ports(evidence, query, grading, set);
    add_lost_services(evidence, config.services, query, set);
    join_links(evidence, set);
    const bool any_switch = std::any_of(set.ports.begin(), set.ports.end(), [](const PortResult &port) {
        return port.node.empty() && !port.deltas.empty();
    });
    verdict.seconds = any_switch ? set.scout_seconds : 0;
    verdict.payload_ceilings = config.payload_ceilings;
    verdict.intervals = any_switch && evidence.samples ? evidence.samples->intervals.size() : 0;

    std::vector<Finding> findings;
    verdict.unread = set.unread;
    collect_findings(evidence, set, findings, verdict.unread);
    find_changes(set, findings);
    find_narrow_and_slow(evidence, set, findings);
    find_below_policy(set, config.policy, findings);
    find_slow_slots(set, config.policy, findings, set.notes);
    find_rails(evidence, set, config.ports, grading.min_bytes, findings);
    tell_pauses(set, findings, set.notes);
    annotate_reordering(verdict.adaptive_routing, findings);
    set_teardown_aside(evidence.job, findings);

    const RouteChanges changes = compare_tables(evidence, query);
    annotate_discards(changes, set.names, findings);
    verdict.routes_changed = changes.texts;
    verdict.changed_in_mid_job = !changes.texts.empty();
    const std::vector<std::string> since_map = changes_since_map(evidence, query);
    verdict.routes_changed.insert(verdict.routes_changed.end(), since_map.begin(), since_map.end());
    verdict.route = route_status(evidence, changes, !since_map.empty(), config.thresholds.imbalance);
    if (const fabric::Routes *routes = evidence.map != nullptr ? job_routes(evidence) : nullptr) {
        verdict.measures = measure_groups(*routes, set, config.thresholds.spread_min_gb * 1e9);
        LoadVerdict load = judge_load(evidence, query, verdict.measures, set, config, verdict.adaptive_routing,
                                      !changes.texts.empty());
        if (load.group >= 0) {
            verdict.measures[static_cast<std::size_t>(load.group)].hot_spread = load.spread;
        }
        verdict.worst_group = load.group >= 0 ? load.group : worst_group(*routes, verdict.measures);
        verdict.hot = std::move(load.hot);
        findings.insert(findings.end(), load.findings.begin(), load.findings.end());
        verdict.unread.insert(verdict.unread.end(), load.unread.begin(), load.unread.end());
        verdict.notes = std::move(load.notes);
    }
    for (std::string &note : alternate_lids(evidence, set)) {
        set.notes.push_back(std::move(note));
    }
    verdict.notes.insert(verdict.notes.end(), set.notes.begin(), set.notes.end());

    verdict.steps = judge_steps(evidence, set, grading, config.known);
    for (const NodeEvidence &node : evidence.nodes) {
        if (node.steps.more) {
            verdict.notes.push_back(fmt::format("{} ran more steps than are recorded of a job (step_records = {})", node.node,
                                                config.step_records));
            break;
        }
    }
    for (const PortResult &port : set.ports) {
        if (port.role == "host") {
            verdict.bytes_moved += port.xmit_bytes.value_or(0);
            verdict.bytes_received += port.rcv_bytes.value_or(0);
        }
    }
    std::stable_sort(verdict.unread.begin(), verdict.unread.end(), [](const UnreadCounter &a, const UnreadCounter &b) {
        return std::tuple(a.layer, !a.incomplete) < std::tuple(b.layer, !b.incomplete);
    });
    set_known_aside(config.known, evidence.job.end, findings, verdict.unread);
    const Ruling ruling = rule(findings, verdict.unread, without_traffic(set, grading.min_bytes));
    verdict.verdict = ruling.verdict;
    if (set.cover.ports_seen > 0) { // of nothing read there is no rest to judge
        verdict.rest = ruling.rest;
    }
    verdict.because = findings_of(ruling.layer, findings);
    if (!verdict.rest.empty()) {
        verdict.rest_because = findings_of(ruling.rest_layer, findings);
    }
    verdict.hw = judge_hw(set, findings, config.thresholds.bit_error_rate);
    verdict.told = told_findings(set);
    sort_findings(findings);
    verdict.live = std::move(findings);
    verdict.cover = std::move(set.cover);
    verdict.ports = std::move(set.ports);
    add_notes(evidence, changes, verdict);
    verdict.advice = advice_for(verdict);
    return verdict;
}

const char *to_string(HwStatus hw) noexcept {
    switch (hw) {
    case HwStatus::pass:
        return "pass";
    case HwStatus::fail:
        return "fail";
    case HwStatus::unknown:
        return "unknown";
    case HwStatus::none:
        break;
    }
    return "";
}

const char *to_string(RouteStatus route) noexcept {
    switch (route) {
    case RouteStatus::ok:
        return "ok";
    case RouteStatus::imbalanced:
        return "imbalanced";
    case RouteStatus::changed:
        return "changed";
    case RouteStatus::unknown:
        break;
    }
    return "unknown";
}

} // namespace fabric_check
