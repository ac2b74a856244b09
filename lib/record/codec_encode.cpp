// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/codec.hpp"
#include "record/intervals_codec.hpp"
#include "record/json_reader.hpp"

namespace fabric_check {
namespace {

using nlohmann::ordered_json;

ordered_json encode(const Reading &reading) {
    if (!reading.value)
        return {{"missing", to_string(reading.absence)}};
    if (reading.width == 0)
        return *reading.value;
    return {{"value", *reading.value}, {"width", reading.width}};
}

ordered_json encode(const Counters &counters) {
    auto json = ordered_json::object();
    for (const auto &[name, reading] : counters)
        json[name] = encode(reading);
    return json;
}

ordered_json encode(const LinkRate &rate) {
    return {{"lanes", rate.lanes},
            {"speed", rate.speed},
            {"data_gbps", rate.data_gbps},
            {"signalling_gbps", rate.signalling_gbps}};
}

ordered_json encode(const std::vector<Problem> &problems) {
    auto json = ordered_json::array();
    for (const auto &problem : problems)
        json.push_back({{"where", problem.where}, {"counter", problem.counter}, {"reason", problem.reason}});
    return json;
}

ordered_json encode(const PcieLink &link) {
    return {{"lanes", link.lanes}, {"max_lanes", link.max_lanes}, {"gts", link.gts}, {"max_gts", link.max_gts}};
}

ordered_json encode(const HcaPort &port) {
    return {{"device", port.device},
            {"driver", port.driver},
            {"port", port.number},
            {"guid", guid_text(port.guid)},
            {"lid", port.lid},
            {"lmc", port.lmc},
            {"link_layer", to_string(port.link_layer)},
            {"state", port.state},
            {"phys_state", port.phys_state},
            {"rate", encode(port.rate)},
            {"netdev", port.netdev},
            {"pci", port.pci},
            {"model", port.model},
            {"pcie", encode(port.pcie)},
            {"counters", encode(port.counters)}};
}

void encode_into(ordered_json &json, const NodeSnapshot &snapshot) {
    json["node"] = snapshot.node;
    json["boot_id"] = snapshot.boot_id;
    json["time_ns"] = snapshot.time_ns;
    json["took_ns"] = snapshot.took_ns;
    auto &ports = json["ports"] = ordered_json::array();
    for (const auto &port : snapshot.ports)
        ports.push_back(encode(port));
    json["problems"] = encode(snapshot.problems);
}

ordered_json encode(const SwitchPort &port) {
    ordered_json json{{"guid", guid_text(port.switch_guid)},
                      {"name", port.switch_name},
                      {"lid", port.switch_lid},
                      {"port", port.port},
                      {"state", port.state},
                      {"rate", encode(port.rate)},
                      {"counters", encode(port.counters)}};
    if (port.time_ns != 0)
        json["time_ns"] = port.time_ns;
    return json;
}

ordered_json encode(const LftBlock &block) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string ports;
    for (const auto port : block.ports) {
        ports += digits[port >> 4];
        ports += digits[port & 15];
    }
    return {{"guid", guid_text(block.switch_guid)}, {"block", block.block}, {"ports", ports}};
}

void encode_into(ordered_json &json, const ScoutSnapshot &snapshot) {
    json["node"] = snapshot.node;
    json["time_ns"] = snapshot.time_ns;
    json["took_ns"] = snapshot.took_ns;
    json["map_id"] = guid_text(snapshot.map_id);
    json["adaptive_routing"] = to_string(snapshot.adaptive_routing);
    auto &hosts = json["hosts"] = ordered_json::array();
    for (const auto &host : snapshot.hosts)
        hosts.push_back({{"node", host.node},
                         {"guid", guid_text(host.port_guid)},
                         {"lid", host.lid},
                         {"service", host.service},
                         {"by", to_string(host.by)}});
    auto &ports = json["ports"] = ordered_json::array();
    for (const auto &port : snapshot.ports)
        ports.push_back(encode(port));
    auto &lfts = json["lfts"] = ordered_json::array();
    for (const auto &block : snapshot.lfts)
        lfts.push_back(encode(block));
    json["problems"] = encode(snapshot.problems);
}

/// Node descriptions and driver names need not be UTF-8: what is not becomes U+FFFD.
std::string dump(const ordered_json &json) {
    return json.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

} // namespace

std::string encode_record(const Record &record) {
    ordered_json json;
    json["schema"] = "fabric-check/record/1";
    json["job"] = record.job_id;
    json["node"] = record.node;
    json["phase"] = to_string(record.phase);
    json["time_ns"] = record.time_ns;
    auto &snapshot = json[record.is_scout() ? "scout" : "snapshot"] = ordered_json::object();
    std::visit([&](const auto &value) { encode_into(snapshot, value); }, record.snapshot);
    if (!record.intervals.empty())
        json["intervals"] = intervals_json(record.intervals);
    if (!record.steps.steps.empty() || record.steps.more) {
        auto &steps = json["steps"] = ordered_json::array();
        for (const auto &step : record.steps.steps)
            steps.push_back(step_json(step));
        json["more_steps"] = record.steps.more;
    }
    return dump(json);
}

std::string encode_snapshot(const NodeSnapshot &snapshot) {
    ordered_json json;
    json["schema"] = "fabric-check/snapshot/1";
    encode_into(json, snapshot);
    return dump(json);
}

} // namespace fabric_check
