// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "record/codec.hpp"
#include "record/intervals_codec.hpp"
#include "record/json_reader.hpp"
#include "record/record_name.hpp"

#include <algorithm>
#include <limits>

namespace fabric_check {
namespace {

// A node has a few cards of a few ports; a scout of the largest fabrics reads tens of thousands of switch ports.
constexpr std::size_t max_hca_ports = 1024;
constexpr std::size_t max_counters = 1 << 15; // a network device has up to 16384 statistics
constexpr std::size_t max_switch_ports = 1 << 18;
constexpr std::size_t max_hosts = 1 << 18;
constexpr std::size_t max_lft_blocks = 1 << 20;
constexpr std::size_t max_problems = 1 << 16;
constexpr std::size_t max_name = 256;

template <class T> constexpr std::uint64_t max_of = std::numeric_limits<T>::max();

/// The enumerator whose to_string is `text`.
template <class Enum, std::size_t N> Enum one_of(const JsonReader &reader, const char *key, const Enum (&values)[N]) {
    const auto text = reader.text(key, max_name);
    for (const auto value : values)
        if (text == to_string(value))
            return value;
    refuse(reader.path(key), "unknown value \"" + text + "\"");
}

Reading decode_reading(const JsonValue &value, const JsonPath &path) {
    if (const auto count = value.whole())
        return Reading::of(*count);
    if (!value.is_object())
        refuse(path, "not a count");
    const JsonReader reader(value, path);
    if (reader.has("missing")) {
        const auto why = absence_from(reader.text("missing", max_name).c_str());
        if (!why)
            refuse(reader.path("missing"), "unknown reason");
        return Reading::missing(*why);
    }
    const auto width = reader.number("width", 64);
    if (width != 4 && width != 8 && width != 16 && width != 32 && width != 64)
        refuse(reader.path("width"), "not 4, 8, 16, 32 or 64");
    return Reading::of(reader.number("value", max_of<std::uint64_t>), static_cast<std::uint8_t>(width));
}

Counters decode_counters(const JsonReader &reader) {
    const auto object = reader.at("counters");
    const auto path = reader.path("counters");
    if (!object.is_object())
        refuse(path, "not an object");
    if (object.size() > max_counters)
        refuse(path, "more than " + std::to_string(max_counters) + " counters");
    Counters counters;
    for (const auto value : object) {
        auto name = value.key();
        if (name.empty() || name.size() > max_name || name.find('\0') != std::string::npos)
            refuse(path, "bad counter name");
        const auto reading = decode_reading(value, {&path, name});
        counters.insert_or_assign(counters.end(), std::move(name), reading); // in order, as they are written
    }
    return counters;
}

LinkRate decode_rate(const JsonReader &reader) {
    const auto rate = reader.object("rate");
    return {static_cast<unsigned>(rate.number("lanes", 64)), rate.text("speed", max_name), rate.real("data_gbps", 1e6),
            rate.real("signalling_gbps", 1e6)};
}

std::vector<Problem> decode_problems(const JsonReader &reader) {
    std::vector<Problem> problems;
    reader.array("problems", max_problems, [&](const JsonValue &value, const JsonPath &path) {
        const JsonReader problem(value, path);
        problems.push_back({problem.text("where"), problem.text("counter", max_name), problem.text("reason")});
    });
    return problems;
}

PcieLink decode_pcie(const JsonReader &reader) {
    return {static_cast<unsigned>(reader.number("lanes", 64)), static_cast<unsigned>(reader.number("max_lanes", 64)),
            reader.real("gts", 1e4), reader.real("max_gts", 1e4)};
}

HcaPort decode_hca_port(const JsonReader &reader) {
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
    port.rate = decode_rate(reader);
    // Records of older releases have none of these.
    if (reader.has("netdev"))
        port.netdev = reader.text("netdev", max_name);
    if (reader.has("pci"))
        port.pci = reader.text("pci", max_name);
    if (reader.has("model"))
        port.model = reader.text("model", max_name);
    if (reader.has("pcie"))
        port.pcie = decode_pcie(reader.object("pcie"));
    port.counters = decode_counters(reader);
    return port;
}

std::string decode_node_name(const JsonReader &reader, const char *key) {
    auto node = reader.text(key, max_name);
    if (!valid_node_name(node))
        refuse(reader.path(key), "not a node name");
    return node;
}

NodeSnapshot decode_node_snapshot(const JsonReader &reader) {
    NodeSnapshot snapshot;
    snapshot.node = decode_node_name(reader, "node");
    snapshot.boot_id = reader.text("boot_id", max_name);
    snapshot.time_ns = reader.time("time_ns");
    snapshot.took_ns = reader.time("took_ns");
    reader.array("ports", max_hca_ports, [&](const JsonValue &value, const JsonPath &path) {
        snapshot.ports.push_back(decode_hca_port(JsonReader(value, path)));
    });
    snapshot.problems = decode_problems(reader);
    return snapshot;
}

SwitchPort decode_switch_port(const JsonReader &reader) {
    SwitchPort port;
    if (reader.has("time_ns"))
        port.time_ns = reader.time("time_ns");
    port.switch_guid = reader.guid("guid");
    port.switch_name = reader.text("name", max_name);
    port.switch_lid = static_cast<std::uint16_t>(reader.number("lid", max_of<std::uint16_t>));
    port.port = static_cast<unsigned>(reader.number("port", 255));
    port.state = reader.text("state", max_name);
    port.rate = decode_rate(reader);
    port.counters = decode_counters(reader);
    return port;
}

LftBlock decode_lft_block(const JsonReader &reader) {
    LftBlock block;
    block.switch_guid = reader.guid("guid");
    block.block = static_cast<std::uint16_t>(reader.number("block", 0xbfff / 64)); // unicast LIDs end at 0xbfff
    const auto ports = reader.text("ports", 128);
    for (std::size_t i = 0; i < block.ports.size(); ++i) {
        const auto digits = std::string_view(ports).substr(std::min(ports.size(), 2 * i), 2);
        const bool hexadecimal = digits.size() == 2 && digits.find_first_not_of("0123456789abcdef") == digits.npos;
        const auto port = hexadecimal ? parse_u64(digits, 16) : std::nullopt;
        if (!port)
            refuse(reader.path("ports"), "not 128 hexadecimal digits");
        block.ports[i] = static_cast<std::uint8_t>(*port);
    }
    return block;
}

HostMatch decode_host(const JsonReader &reader) {
    HostMatch host;
    host.node = decode_node_name(reader, "node");
    host.port_guid = reader.guid("guid");
    host.lid = static_cast<std::uint16_t>(reader.number("lid", max_of<std::uint16_t>));
    host.service = reader.boolean("service");
    host.by = one_of(reader, "by", {MatchedBy::guid, MatchedBy::description});
    return host;
}

ScoutSnapshot decode_scout_snapshot(const JsonReader &reader) {
    ScoutSnapshot snapshot;
    snapshot.node = decode_node_name(reader, "node");
    snapshot.time_ns = reader.time("time_ns");
    snapshot.took_ns = reader.time("took_ns");
    snapshot.map_id = reader.guid("map_id");
    snapshot.adaptive_routing =
        one_of(reader, "adaptive_routing", {AdaptiveRouting::unknown, AdaptiveRouting::off, AdaptiveRouting::on});
    reader.array("hosts", max_hosts, [&](const JsonValue &value, const JsonPath &path) {
        snapshot.hosts.push_back(decode_host(JsonReader(value, path)));
    });
    reader.array("ports", max_switch_ports, [&](const JsonValue &value, const JsonPath &path) {
        snapshot.ports.push_back(decode_switch_port(JsonReader(value, path)));
    });
    reader.array("lfts", max_lft_blocks, [&](const JsonValue &value, const JsonPath &path) {
        snapshot.lfts.push_back(decode_lft_block(JsonReader(value, path)));
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
