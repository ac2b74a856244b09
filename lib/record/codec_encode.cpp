// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/codec.hpp"
#include "record/codec_parts.hpp"
#include "record/intervals_codec.hpp"

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

void encode(JsonWriter &json, const PcieLink &link) {
    json.key("pcie");
    json.begin_object();
    json.member("lanes", link.lanes);
    json.member("max_lanes", link.max_lanes);
    json.member("gts", link.gts);
    json.member("max_gts", link.max_gts);
    json.end_object();
}

void encode(JsonWriter &json, const HcaPort &port, const std::size_t *layout) {
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
    json.key("rate");
    encode(json, port.rate);
    json.member("netdev", port.netdev);
    json.member("pci", port.pci);
    json.member("model", port.model);
    encode(json, port.pcie);
    if (layout != nullptr) {
        json.member("layout", std::uint64_t{*layout});
        LayoutWriter::write_readings(json, port.counters);
    } else {
        encode(json, port.counters);
    }
    json.end_object();
}

enum class Form : std::uint8_t { plain, laid_out };

void encode_into(JsonWriter &json, const NodeSnapshot &snapshot, Form form) {
    json.member("node", snapshot.node);
    json.member("boot_id", snapshot.boot_id);
    json.member("time_ns", snapshot.time_ns);
    json.member("took_ns", snapshot.took_ns);
    LayoutWriter layouts;
    std::vector<std::size_t> numbers;
    if (form == Form::laid_out) {
        for (const auto &port : snapshot.ports)
            numbers.push_back(layouts.number_of(port.counters));
        layouts.write(json);
    }
    json.key("ports");
    json.begin_array();
    for (std::size_t i = 0; i < snapshot.ports.size(); ++i)
        encode(json, snapshot.ports[i], form == Form::laid_out ? &numbers[i] : nullptr);
    json.end_array();
    encode(json, snapshot.problems);
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
    if (const auto *node = std::get_if<NodeSnapshot>(&record.snapshot))
        encode_into(json, *node, Form::laid_out);
    else
        encode_into(json, std::get<ScoutSnapshot>(record.snapshot));
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
    encode_into(json, snapshot, Form::plain);
    json.end_object();
    return text;
}

} // namespace fabric_check
