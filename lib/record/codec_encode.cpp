// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/codec.hpp"
#include "record/intervals_codec.hpp"
#include "record/json_writer.hpp"

namespace fabric_check {
namespace {

void encode(JsonWriter &json, const Reading &reading) {
    if (reading.value && reading.width == 0) {
        json.value(*reading.value);
        return;
    }
    json.begin_object();
    if (reading.value) {
        json.member("value", *reading.value);
        json.member("width", unsigned{reading.width});
    } else {
        json.member("missing", to_string(reading.absence));
    }
    json.end_object();
}

void encode(JsonWriter &json, const Counters &counters) {
    json.key("counters");
    json.begin_object();
    for (const auto &[name, reading] : counters) {
        json.key(name);
        encode(json, reading);
    }
    json.end_object();
}

void encode(JsonWriter &json, const LinkRate &rate) {
    json.key("rate");
    json.begin_object();
    json.member("lanes", rate.lanes);
    json.member("speed", rate.speed);
    json.member("data_gbps", rate.data_gbps);
    json.member("signalling_gbps", rate.signalling_gbps);
    json.end_object();
}

void encode(JsonWriter &json, const PcieLink &link) {
    json.key("pcie");
    json.begin_object();
    json.member("lanes", link.lanes);
    json.member("max_lanes", link.max_lanes);
    json.member("gts", link.gts);
    json.member("max_gts", link.max_gts);
    json.end_object();
}

void encode(JsonWriter &json, const HcaPort &port) {
    json.begin_object();
    json.member("device", port.device);
    json.member("driver", port.driver);
    json.member("port", port.number);
    json.key("guid");
    json.guid(port.guid);
    json.member("lid", unsigned{port.lid});
    json.member("lmc", unsigned{port.lmc});
    json.member("link_layer", to_string(port.link_layer));
    json.member("state", port.state);
    json.member("phys_state", port.phys_state);
    encode(json, port.rate);
    json.member("netdev", port.netdev);
    json.member("pci", port.pci);
    json.member("model", port.model);
    encode(json, port.pcie);
    encode(json, port.counters);
    json.end_object();
}

void encode(JsonWriter &json, const SwitchPort &port) {
    json.begin_object();
    if (port.time_ns != 0)
        json.member("time_ns", port.time_ns);
    json.key("guid");
    json.guid(port.switch_guid);
    json.member("name", port.switch_name);
    json.member("lid", unsigned{port.switch_lid});
    json.member("port", port.port);
    json.member("state", port.state);
    encode(json, port.rate);
    encode(json, port.counters);
    json.end_object();
}

void encode(JsonWriter &json, const LftBlock &block) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string ports;
    for (const auto port : block.ports) {
        ports += digits[port >> 4];
        ports += digits[port & 15];
    }
    json.begin_object();
    json.key("guid");
    json.guid(block.switch_guid);
    json.member("block", unsigned{block.block});
    json.member("ports", ports);
    json.end_object();
}

void encode(JsonWriter &json, const HostMatch &host) {
    json.begin_object();
    json.member("node", host.node);
    json.key("guid");
    json.guid(host.port_guid);
    json.member("lid", unsigned{host.lid});
    json.member("service", host.service);
    json.member("by", to_string(host.by));
    json.end_object();
}

void encode(JsonWriter &json, const Problem &problem) {
    json.begin_object();
    json.member("where", problem.where);
    json.member("counter", problem.counter);
    json.member("reason", problem.reason);
    json.end_object();
}

template <class T> void list(JsonWriter &json, const char *name, const std::vector<T> &all) {
    json.key(name);
    json.begin_array();
    for (const auto &one : all)
        encode(json, one);
    json.end_array();
}

void encode_into(JsonWriter &json, const NodeSnapshot &snapshot) {
    json.member("node", snapshot.node);
    json.member("boot_id", snapshot.boot_id);
    json.member("time_ns", snapshot.time_ns);
    json.member("took_ns", snapshot.took_ns);
    list(json, "ports", snapshot.ports);
    list(json, "problems", snapshot.problems);
}

void encode_into(JsonWriter &json, const ScoutSnapshot &snapshot) {
    json.member("node", snapshot.node);
    json.member("time_ns", snapshot.time_ns);
    json.member("took_ns", snapshot.took_ns);
    json.key("map_id");
    json.guid(snapshot.map_id);
    json.member("adaptive_routing", to_string(snapshot.adaptive_routing));
    list(json, "hosts", snapshot.hosts);
    list(json, "ports", snapshot.ports);
    list(json, "lfts", snapshot.lfts);
    list(json, "problems", snapshot.problems);
}

/// What has a tree of its own already: there is little of it.
void tree(JsonWriter &json, const nlohmann::ordered_json &value) {
    json.raw(value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

} // namespace

std::string encode_record(const Record &record) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    json.member("schema", "fabric-check/record/1");
    json.member("job", std::uint64_t{record.job_id});
    json.member("node", record.node);
    json.member("phase", to_string(record.phase));
    json.member("time_ns", record.time_ns);
    json.key(record.is_scout() ? "scout" : "snapshot");
    json.begin_object();
    std::visit([&](const auto &value) { encode_into(json, value); }, record.snapshot);
    json.end_object();
    if (!record.intervals.empty()) {
        json.key("intervals");
        tree(json, intervals_json(record.intervals));
    }
    if (!record.steps.steps.empty() || record.steps.more) {
        json.key("steps");
        json.begin_array();
        for (const auto &step : record.steps.steps)
            tree(json, step_json(step));
        json.end_array();
        json.member("more_steps", record.steps.more);
    }
    json.end_object();
    return text;
}

std::string encode_snapshot(const NodeSnapshot &snapshot) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    json.member("schema", "fabric-check/snapshot/1");
    encode_into(json, snapshot);
    json.end_object();
    return text;
}

} // namespace fabric_check
