// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/codec.hpp"
#include "record/codec_parts.hpp"
#include "record/intervals_codec.hpp"

namespace fabric_check {
namespace {

constexpr std::size_t max_hca_ports = 1024; // a node has a few cards of a few ports

Reading decode_reading(const JsonValue &value, const JsonPath &path) {
    if (const auto count = value.whole())
        return Reading::of(*count);
    if (!value.is_object())
        refuse(path, "not a count");
    const JsonReader reader(value, path);
    if (reader.has("missing"))
        return decode_missing(reader.text("missing", max_name), reader.path("missing"));
    const auto width = checked_width(reader.number("width", 64), reader.path("width"), false);
    return Reading::of(reader.number("value", max_of<std::uint64_t>), width);
}

Counters decode_counters(const JsonReader &reader) {
    const auto object = reader.at("counters");
    const auto path = reader.path("counters");
    if (!object.is_object())
        refuse(path, "not an object");
    if (object.size() > LayoutReader::most_counters)
        refuse(path, "more than " + std::to_string(LayoutReader::most_counters) + " counters");
    Counters counters;
    counters.reserve(object.size());
    for (const auto value : object) {
        const auto name = value.key();
        check_counter_name(name, path);
        counters[name] = decode_reading(value, {&path, name});
    }
    return counters;
}

PcieLink decode_pcie(const JsonReader &reader) {
    return {static_cast<unsigned>(reader.number("lanes", 64)), static_cast<unsigned>(reader.number("max_lanes", 64)),
            reader.real("gts", 1e4), reader.real("max_gts", 1e4)};
}

HcaPort decode_hca_port(const JsonReader &reader, LayoutReader &layouts) {
    HcaPort port;
    port.device = reader.text("device", max_name);
    port.driver = reader.text("driver", max_name);
    port.number = static_cast<unsigned>(reader.number("port", 255));
    port.guid = reader.guid("guid");
    port.lid = static_cast<std::uint16_t>(reader.number("lid", max_of<std::uint16_t>));
    port.lmc = static_cast<std::uint8_t>(reader.number("lmc", 7));
    port.link_layer = one_of(reader, "link_layer", {LinkLayer::unknown, LinkLayer::infiniband, LinkLayer::ethernet});
    port.state = reader.text("state", max_name);
    port.phys_state = reader.text("phys_state", max_name);
    port.rate = decode_rate(reader.object("rate"));
    // Records of older releases have none of these.
    if (reader.has("netdev"))
        port.netdev = reader.text("netdev", max_name);
    if (reader.has("pci"))
        port.pci = reader.text("pci", max_name);
    if (reader.has("model"))
        port.model = reader.text("model", max_name);
    if (reader.has("pcie"))
        port.pcie = decode_pcie(reader.object("pcie"));
    port.counters = reader.has("layout") ? layouts.readings(reader) : decode_counters(reader);
    return port;
}

NodeSnapshot decode_node_snapshot(const JsonReader &reader) {
    NodeSnapshot snapshot;
    snapshot.node = decode_node_name(reader, "node");
    snapshot.boot_id = reader.text("boot_id", max_name);
    snapshot.time_ns = reader.time("time_ns");
    snapshot.took_ns = reader.time("took_ns");
    LayoutReader layouts(reader);
    reader.array("ports", max_hca_ports, [&](const JsonValue &value, const JsonPath &path) {
        snapshot.ports.push_back(decode_hca_port(JsonReader(value, path), layouts));
    });
    snapshot.problems = decode_problems(reader);
    return snapshot;
}

Record decode(const JsonReader &reader) {
    Record record;
    record.job_id = static_cast<std::uint32_t>(reader.number("job", max_of<std::uint32_t>));
    record.node = decode_node_name(reader, "node");
    record.phase = one_of(reader, "phase", {Phase::start, Phase::mid, Phase::end});
    record.time_ns = reader.time("time_ns");
    if (reader.has("scout"))
        record.snapshot = decode_scout_snapshot(reader.object("scout"));
    else
        record.snapshot = decode_node_snapshot(reader.object("snapshot"));
    if (reader.has("intervals"))
        record.intervals = decode_intervals(reader, "intervals");
    if (reader.has("steps"))
        record.steps = {decode_steps(reader, "steps"), reader.boolean("more_steps")};
    std::visit(
        [&](const auto &snapshot) {
            if (snapshot.node != record.node)
                refuse("node", "\"" + record.node + "\", but the snapshot is of \"" + snapshot.node + "\"");
            if (snapshot.time_ns != record.time_ns)
                refuse("time_ns", "not the snapshot's");
        },
        record.snapshot);
    return record;
}

} // namespace

Result<Record> decode_record(const std::string &text) {
    return decode_json<Record>(text, "record", "fabric-check/record/1", decode);
}

Result<NodeSnapshot> decode_snapshot(const std::string &text) {
    return decode_json<NodeSnapshot>(text, "snapshot", "fabric-check/snapshot/1", decode_node_snapshot);
}

} // namespace fabric_check
