// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report.hpp"

#include "report/line.hpp"
#include "report/steps_report.hpp"
#include "sources/scout.hpp"
#include "verdict/links.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace fabric_check {

namespace {

using nlohmann::ordered_json;

double rounded(double value) { return std::round(value * 10000) / 10000; }

template <class T> ordered_json or_null(const std::optional<T> &value) {
    return value ? ordered_json(*value) : ordered_json();
}

ordered_json job_json(const JobInfo &job) {
    ordered_json out;
    out["id"] = job.id;
    out["array_job_id"] = job.array_job_id != 0 ? ordered_json(job.array_job_id) : ordered_json();
    out["array_task_id"] = or_null(job.array_task_id);
    out["het_job_id"] = job.het_job_id != 0 ? ordered_json(job.het_job_id) : ordered_json();
    out["het_job_offset"] = job.het_job_id != 0 ? ordered_json(job.het_job_offset) : ordered_json();
    out["restart"] = job.restart;
    out["cluster"] = job.cluster;
    out["user"] = job.user;
    out["uid"] = job.uid;
    out["partition"] = job.partition;
    out["name"] = job.name;
    out["start"] = job.start;
    out["end"] = job.end;
    out["state"] = job.state;
    out["nodes"] = job.nodes;
    out["node_count"] = job.node_names.size();
    return out;
}

} // namespace

ordered_json findings_json(const std::vector<Finding> &findings) {
    ordered_json out = ordered_json::array();
    for (const Finding &finding : findings) {
        ordered_json one{{"where", finding.where},
                         {"counter", finding.counter},
                         {"delta", finding.delta},
                         {"layer", to_string(finding.layer)},
                         {"leads", finding.leads}};
        if (!finding.note.empty()) {
            one["note"] = finding.note;
        }
        if (!finding.read_at.empty()) {
            one["read_at"] = finding.read_at;
        }
        if (!finding.intervals.empty()) {
            ordered_json &intervals = one["intervals"] = ordered_json::array();
            for (const Movement &move : finding.intervals) {
                intervals.push_back({{"from_ns", move.from_ns}, {"to_ns", move.to_ns}, {"delta", move.delta}});
            }
        }
        out.push_back(std::move(one));
    }
    return out;
}

ordered_json unread_json(const std::vector<UnreadCounter> &unread) {
    ordered_json out = ordered_json::array();
    for (const UnreadCounter &counter : unread) {
        ordered_json one{{"where", counter.where},
                         {"counter", counter.counter},
                         {"reason", counter.reason},
                         {"hides", to_string(counter.layer)},
                         {"missing", counter.incomplete}};
        if (!counter.read_at.empty()) {
            one["read_at"] = counter.read_at;
        }
        out.push_back(std::move(one));
    }
    return out;
}

namespace {

void add_shapes(const fabric::LftView &lfts, const fabric::Query &query, ordered_json &routes) {
    if (query.job.size() <= fabric::shape_limit) {
        fabric::Query inside;
        inside.job = query.job;
        inside.want_sources = inside.want_lids = false;
        inside.want_shapes = true;
        const fabric::Routes loads = fabric::analyse(lfts, inside);
        routes["shapes"] = shapes_json(lfts.map(), loads.shapes.value_or(fabric::Shapes{}));
        routes["effective_bisection"] = bisection_json(loads);
    }
}

/// The map, with what the verdict went by of adaptive routing: every result is labelled by it.
fabric::Map map_of(const JobEvidence &evidence, const JobVerdict &verdict) {
    fabric::Map map = *evidence.map;
    map.assume_adaptive_routing(verdict.adaptive_routing);
    return map;
}

/// The distribution by the map's own tables.
ordered_json routes_by_map(const JobEvidence &evidence, const JobVerdict &verdict) {
    const auto &scout = evidence.scout.end ? evidence.scout.end : evidence.scout.start;
    if (evidence.map == nullptr || !scout) {
        return nullptr;
    }
    const fabric::Map map = map_of(evidence, verdict);
    fabric::Query query = query_from(map, scout->hosts, Config{});
    query.ceilings = verdict.payload_ceilings;
    query.want_sources = false;
    return routes_json(map, fabric::analyse(fabric::LftView(map), query), query);
}

ordered_json routes_of(const JobEvidence &evidence, const JobVerdict &verdict, bool at_end) {
    const std::optional<fabric::Routes> &routes = at_end ? evidence.routes_end : evidence.routes_start;
    const std::optional<ScoutSnapshot> &scout = at_end ? evidence.scout.end : evidence.scout.start;
    if (evidence.map == nullptr || !routes) {
        return nullptr;
    }
    const fabric::Map map = map_of(evidence, verdict);
    fabric::Query query = scout ? query_from(map, scout->hosts, Config{}) : fabric::Query{};
    query.ceilings = verdict.payload_ceilings;
    // The verdict's group is one of the routes it went by.
    const bool judged = at_end == evidence.routes_end.has_value();
    ordered_json out = routes_json(map, *routes, query, judged ? verdict.worst_group : -1);
    if (scout) {
        add_shapes(fabric::LftView(map, scout->lfts, scout->ports), query, out);
    }
    return out;
}

/// Measured deltas beside the ports of the groups they were measured for.
void add_measures(const JobVerdict &verdict, ordered_json &routes) {
    if (!routes.is_object() || !routes.contains("groups")) {
        return;
    }
    ordered_json &groups = routes["groups"];
    for (const GroupMeasure &measure : verdict.measures) {
        if (measure.group < 0 || static_cast<std::size_t>(measure.group) >= groups.size()) {
            continue;
        }
        ordered_json &group = groups[static_cast<std::size_t>(measure.group)];
        group["spread"] = measure.spread ? ordered_json(rounded(*measure.spread)) : ordered_json();
        if (measure.hot_spread) {
            group["hot_spread"] = rounded(measure.hot_spread->spread);
            group["hot_interval"] = measure.hot_spread->interval;
        }
        ordered_json &ports = group["ports"];
        for (std::size_t i = 0; i < ports.size() && i < measure.xmit_bytes.size(); ++i) {
            ports[i]["xmit_bytes"] = or_null(measure.xmit_bytes[i]);
            ports[i]["rcv_bytes"] = or_null(measure.rcv_bytes[i]);
            ports[i]["xmit_wait"] = or_null(measure.xmit_wait[i]);
        }
    }
}

ordered_json hot_json(const std::vector<HotPort> &hot) {
    ordered_json out = ordered_json::array();
    for (const HotPort &port : hot) {
        out.push_back({{"where", port.where},
                       {"sender", port.sender},
                       {"share", rounded(port.share)},
                       {"own", rounded(port.own)},
                       {"interval", port.interval},
                       {"from_ns", port.from_ns == 0 ? ordered_json() : ordered_json(port.from_ns)},
                       {"to_ns", port.to_ns == 0 ? ordered_json() : ordered_json(port.to_ns)},
                       {"hot_seconds", port.hot_seconds > 0 ? ordered_json(rounded(port.hot_seconds)) : ordered_json()},
                       {"cause", port.cause},
                       {"direction", port.direction.empty() ? ordered_json() : ordered_json(port.direction)},
                       {"by_wait", port.by_wait}});
    }
    return out;
}

/// Values where there are any; the reasons of the others beside them.
void add_deltas(const Deltas &deltas, ordered_json &port) {
    ordered_json values = ordered_json::object();
    ordered_json reasons = ordered_json::object();
    for (const auto &[name, delta] : deltas) {
        values[name] = or_null(delta.value);
        if (!delta.value) {
            reasons[name] = to_string(delta.why);
        }
    }
    port["deltas"] = std::move(values);
    if (!reasons.empty()) {
        port["no_delta"] = std::move(reasons);
    }
}

void add_rate(const LinkRate *rate, ordered_json &port) {
    const bool known = rate != nullptr && rate->lanes != 0;
    port["width"] = known ? ordered_json(fmt::format("{}X", rate->lanes)) : ordered_json();
    port["speed"] = known && !rate->speed.empty() ? ordered_json(rate->speed) : ordered_json();
}

/// null: not known.
template <class T> ordered_json or_unknown(const T &value) { return value == T{} ? ordered_json() : ordered_json(value); }

void add_card(const HcaPort *card, ordered_json &port) {
    const HcaPort none;
    const HcaPort &known = card != nullptr ? *card : none;
    port["link_layer"] = or_unknown(std::string(known.link_layer != LinkLayer::unknown ? to_string(known.link_layer) : ""));
    port["netdev"] = or_unknown(known.netdev);
    port["pci"] = or_unknown(known.pci);
    port["model"] = or_unknown(known.model);
    port["pcie"] = {{"width", or_unknown(known.pcie.lanes)},
                    {"max_width", or_unknown(known.pcie.max_lanes)},
                    {"speed_gts", or_unknown(known.pcie.gts)},
                    {"max_speed_gts", or_unknown(known.pcie.max_gts)}};
}

/// sent: this host made its switch wait; else the switch held the host back.
void add_pauses(const PortResult &result, ordered_json &port) {
    const std::vector<PauseShare> shares = pause_shares(result);
    if (shares.empty()) {
        return;
    }
    port["paused"] = ordered_json::array();
    for (const PauseShare &pause : shares) {
        port["paused"].push_back(
            {{"counter", pause.counter}, {"by", pause.sent ? "host" : "switch"}, {"percent", rounded(pause.share * 100)}});
    }
}

ordered_json host_port_json(const JobEvidence &evidence, const JobVerdict &verdict, const PortResult &result) {
    const HcaPort *card = result.host_end != nullptr ? result.host_end : result.host_start;
    ordered_json port;
    port["device"] = card != nullptr ? ordered_json(card->device) : ordered_json();
    port["port"] = card != nullptr ? card->number : result.map_port;
    port["lid"] = card != nullptr ? ordered_json(card->lid) : ordered_json();
    port["guid"] = card != nullptr ? ordered_json(fmt::format("0x{:016x}", card->guid)) : ordered_json();
    add_rate(card != nullptr ? &card->rate : nullptr, port);
    port["state"] = card != nullptr ? ordered_json(card->state) : ordered_json();
    add_card(card, port);
    port["profile"] = to_string(result.profile);
    port["counts_because"] = result.use;
    add_pauses(result, port);
    port["switch"] = nullptr;
    port["switch_port"] = nullptr;
    if (result.peer >= 0 && evidence.map != nullptr) {
        const PortResult &facing = verdict.ports[static_cast<std::size_t>(result.peer)];
        port["switch"] = evidence.map->display_name(facing.map_node);
        port["switch_port"] = facing.map_port;
    }
    port["role"] = result.role;
    port["verdict"] = result.verdict.word();
    port["rebooted"] = result.rebooted;
    add_deltas(result.deltas, port);
    return port;
}

ordered_json nodes_json(const JobEvidence &evidence, const JobVerdict &verdict) {
    std::unordered_map<std::string, std::size_t> places;
    ordered_json out = ordered_json::array();
    const auto place = [&](const std::string &name) -> ordered_json & {
        const auto [at, fresh] = places.emplace(name, out.size());
        if (fresh) {
            out.push_back({{"name", name}, {"ports", ordered_json::array()}});
        }
        return out[at->second];
    };
    for (const NodeEvidence &node : evidence.nodes) {
        ordered_json &entry = place(node.node);
        entry["start"] = node.start.has_value();
        entry["end"] = node.end.has_value();
    }
    for (const PortResult &result : verdict.ports) {
        if (!result.node.empty()) {
            place(result.node)["ports"].push_back(host_port_json(evidence, verdict, result));
        }
    }
    return out;
}

/// Of very many only those that something is to be said of; the others are counted.
constexpr std::size_t most_quiet_switch_ports = 4096;

bool is_quiet(const PortResult &result) {
    return result.verdict.outcome == Outcome::clean || result.verdict.outcome == Outcome::no_traffic;
}

void add_switch_port_list(const JobEvidence &evidence, const JobVerdict &verdict, ordered_json &report) {
    ordered_json out = ordered_json::array();
    const auto is_switch_port = [&](const PortResult &result) { return result.node.empty() && evidence.map != nullptr; };
    const auto quiet = static_cast<std::size_t>(
        std::count_if(verdict.ports.begin(), verdict.ports.end(),
                      [&](const PortResult &result) { return is_switch_port(result) && is_quiet(result); }));
    const bool leave_out = quiet > most_quiet_switch_ports;
    for (const PortResult &result : verdict.ports) {
        if (!is_switch_port(result) || (leave_out && is_quiet(result))) {
            continue;
        }
        const SwitchPort *read = result.switch_end != nullptr ? result.switch_end : result.switch_start;
        ordered_json port;
        port["where"] = result.where;
        port["switch"] = evidence.map->display_name(result.map_node);
        port["port"] = result.map_port;
        port["role"] = result.role;
        port["on_route"] = result.on_route;
        port["verdict"] = result.verdict.word();
        port["state"] = read != nullptr ? ordered_json(read->state) : ordered_json();
        add_rate(read != nullptr ? &read->rate : nullptr, port);
        add_deltas(result.deltas, port);
        out.push_back(std::move(port));
    }
    report["switch_ports"] = std::move(out);
    report["switch_ports_left_out"] = leave_out ? quiet : std::size_t{0};
}

} // namespace

ordered_json report_json(const JobEvidence &evidence, const JobVerdict &verdict) {
    const LineFields fields = line_fields(evidence, verdict);
    ordered_json out;
    out["schema"] = "fabric-check/report/1";
    out["job"] = job_json(evidence.job);
    out["verdict"] = verdict.verdict;
    out["rest"] = verdict.rest.empty() ? ordered_json() : ordered_json(verdict.rest);
    out["because"] = findings_json(verdict.because);
    out["live"] = findings_json(verdict.live);
    out["not_judged"] = findings_json(verdict.told);
    out["unread"] = unread_json(verdict.unread);
    out["scope"] = verdict.host_scope ? "host" : "fabric";
    out["hw"] = verdict.hw == HwStatus::none ? ordered_json() : ordered_json(to_string(verdict.hw));
    out["line"] = format_line(fields);
    out["cover"] = {{"nodes_seen", verdict.cover.nodes_seen},
                    {"nodes_expected", verdict.cover.nodes_expected},
                    {"ports_seen", verdict.cover.ports_seen},
                    {"ports_expected", verdict.cover.ports_expected},
                    {"missing", verdict.cover.missing}};
    out["bytes_moved"] = verdict.bytes_moved;
    out["bytes_received"] = verdict.bytes_received;
    out["seconds"] = rounded(verdict.seconds);
    out["shared_with"] = evidence.shared_with;
    out["route"] = to_string(verdict.route);
    const bool end = evidence.routes_end.has_value();
    ordered_json routes = routes_of(evidence, verdict, end);
    add_measures(verdict, routes);
    out["routes"] = std::move(routes);
    out["routes_changed"] = verdict.routes_changed;
    if (verdict.changed_in_mid_job && end) {
        out["routes_start"] = routes_of(evidence, verdict, false);
    }
    if (!verdict.routes_changed.empty() && !verdict.changed_in_mid_job) {
        out["routes_map"] = routes_by_map(evidence, verdict);
    }
    out["fields"] = ordered_json::object();
    for (const auto &[key, value] : fields) {
        out["fields"][key] = value;
    }
    out["hot"] = hot_json(verdict.hot);
    out["steps"] = steps_json(verdict.steps);
    out["advice"] = verdict.advice;
    out["notes"] = verdict.notes;
    out["nodes"] = nodes_json(evidence, verdict);
    add_switch_port_list(evidence, verdict, out);
    return out;
}

} // namespace fabric_check
