// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "record/codec_parts.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace fabric_check {
namespace {

// A scout of the largest fabrics reads tens of thousands of switch ports.
constexpr std::size_t max_switches = 1 << 16;
constexpr std::size_t max_switch_ports = 1 << 18;
constexpr std::size_t max_hosts = 1 << 18;
constexpr std::size_t max_lft_runs = 1 << 20;
constexpr std::size_t lft_blocks = 0xc000 / 64; // unicast LIDs end at 0xbfff
constexpr std::size_t digits_a_block = 128;

struct Switch {
    std::uint64_t guid = 0;
    std::string name;
    std::uint16_t lid = 0;
    bool operator==(const Switch &) const = default;
};

/// Different ones in the order of their coming, each with its number.
template <class T> class Table {
public:
    std::size_t number_of(T one) {
        // Port after port is of the same switch, and of the same kind.
        if (last_ < all_.size() && all_[last_] == one)
            return last_;
        const auto [at, fresh] = numbers_.try_emplace(one, all_.size());
        if (fresh)
            all_.push_back(std::move(one));
        return last_ = at->second;
    }
    const std::vector<T> &all() const { return all_; }

private:
    struct Before {
        bool operator()(const T &a, const T &b) const { return key(a) < key(b); }
        static auto key(const Switch &one) { return std::tie(one.guid, one.name, one.lid); }
        static auto key(const LinkRate &one) {
            return std::tie(one.lanes, one.speed, one.data_gbps, one.signalling_gbps);
        }
    };
    std::map<T, std::size_t, Before> numbers_;
    std::vector<T> all_;
    std::size_t last_ = 0;
};

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

void encode(JsonWriter &json, const Switch &one) {
    json.begin_object();
    json.key("guid");
    json.guid(one.guid);
    json.member("name", one.name);
    json.member("lid", unsigned{one.lid});
    json.end_object();
}

template <class List> void encode_list(JsonWriter &json, const char *name, const List &all) {
    json.key(name);
    json.begin_array();
    for (const auto &one : all)
        encode(json, one);
    json.end_array();
}

class Encoder {
public:
    Encoder(JsonWriter &json, const ScoutSnapshot &snapshot) : json_(json), snapshot_(snapshot) {}

    void ports_and_tables() {
        for (const auto &port : snapshot_.ports)
            rows_.push_back({switches_.number_of({port.switch_guid, port.switch_name, port.switch_lid}),
                             rates_.number_of(port.rate), layouts_.number_of(port.counters)});
        runs();
        encode_list(json_, "switches", switches_.all());
        encode_list(json_, "rates", rates_.all());
        layouts_.write(json_);
        json_.key("ports");
        json_.begin_array();
        for (std::size_t i = 0; i < rows_.size(); ++i)
            port(snapshot_.ports[i], rows_[i]);
        json_.end_array();
        lfts();
    }

private:
    struct Row {
        std::size_t of, rate, layout;
    };
    /// Blocks of one switch that stand one behind the other.
    struct Run {
        std::size_t of, first, end;
    };

    void runs() {
        std::map<std::uint64_t, std::size_t> known;
        for (std::size_t i = 0; i < switches_.all().size(); ++i)
            known.try_emplace(switches_.all()[i].guid, i);
        const auto &blocks = snapshot_.lfts;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (!runs_.empty() && blocks[i].switch_guid == blocks[i - 1].switch_guid &&
                runs_.back().end - runs_.back().first < lft_blocks) {
                ++runs_.back().end;
                continue;
            }
            const auto [at, fresh] = known.try_emplace(blocks[i].switch_guid, 0);
            if (fresh)
                at->second = switches_.number_of({blocks[i].switch_guid, "", 0});
            runs_.push_back({at->second, i, i + 1});
        }
    }

    void port(const SwitchPort &port, const Row &row) {
        json_.begin_object();
        json_.member("switch", std::uint64_t{row.of});
        json_.member("port", port.port);
        if (port.time_ns != 0)
            json_.member("time_ns", port.time_ns);
        json_.member("state", port.state);
        json_.member("rate", std::uint64_t{row.rate});
        json_.member("layout", std::uint64_t{row.layout});
        LayoutWriter::write_readings(json_, port.counters);
        json_.end_object();
    }

    void lfts() {
        static constexpr char digits[] = "0123456789abcdef";
        json_.key("lfts");
        json_.begin_array();
        std::string ports;
        for (const auto &run : runs_) {
            json_.begin_object();
            json_.member("switch", std::uint64_t{run.of});
            json_.key("blocks");
            json_.begin_array();
            ports.clear();
            for (std::size_t i = run.first; i < run.end; ++i) {
                json_.value(unsigned{snapshot_.lfts[i].block});
                for (const auto port : snapshot_.lfts[i].ports) {
                    ports += digits[port >> 4];
                    ports += digits[port & 15];
                }
            }
            json_.end_array();
            json_.member("ports", ports);
            json_.end_object();
        }
        json_.end_array();
    }

    JsonWriter &json_;
    const ScoutSnapshot &snapshot_;
    Table<Switch> switches_;
    Table<LinkRate> rates_;
    LayoutWriter layouts_;
    std::vector<Row> rows_;
    std::vector<Run> runs_;
};

class Decoder {
public:
    explicit Decoder(const JsonReader &reader) : reader_(reader), layouts_(reader) {}

    void read(ScoutSnapshot &into) {
        reader_.array("switches", max_switches, [&](const JsonValue &value, const JsonPath &path) {
            const JsonReader one(value, path);
            switches_.push_back({one.guid("guid"), one.text("name", max_name),
                                 static_cast<std::uint16_t>(one.number("lid", max_of<std::uint16_t>))});
        });
        reader_.array("rates", max_switch_ports, [&](const JsonValue &value, const JsonPath &path) {
            rates_.push_back(decode_rate(JsonReader(value, path)));
        });
        reader_.array("ports", max_switch_ports, [&](const JsonValue &value, const JsonPath &path) {
            into.ports.push_back(port(JsonReader(value, path)));
        });
        reader_.array("lfts", max_lft_runs, [&](const JsonValue &value, const JsonPath &path) {
            lft(JsonReader(value, path), into.lfts);
        });
    }

private:
    template <class T> static const T &of(const std::vector<T> &table, const JsonReader &row, const char *key) {
        const auto number = row.number(key, max_of<std::uint32_t>);
        if (number >= table.size())
            refuse(row.path(key), "there are only " + std::to_string(table.size()) + " of them");
        return table[static_cast<std::size_t>(number)];
    }

    SwitchPort port(const JsonReader &row) {
        SwitchPort port;
        if (row.has("time_ns"))
            port.time_ns = row.time("time_ns");
        const auto &at = of(switches_, row, "switch");
        port.switch_guid = at.guid;
        port.switch_name = at.name;
        port.switch_lid = at.lid;
        port.port = static_cast<unsigned>(row.number("port", 255));
        port.state = row.text("state", max_name);
        port.rate = of(rates_, row, "rate");
        port.counters = layouts_.readings(row);
        return port;
    }

    void lft(const JsonReader &run, std::vector<LftBlock> &into) const {
        const auto guid = of(switches_, run, "switch").guid;
        const auto ports = run.text("ports", lft_blocks * digits_a_block);
        std::size_t at = 0;
        run.array("blocks", lft_blocks, [&](const JsonValue &value, const JsonPath &path) {
            LftBlock block;
            block.switch_guid = guid;
            const auto number = value.whole();
            if (!number || *number >= lft_blocks)
                refuse(path, "not a number below " + std::to_string(lft_blocks));
            block.block = static_cast<std::uint16_t>(*number);
            for (auto &port : block.ports) {
                const auto digits = std::string_view(ports).substr(std::min(ports.size(), at), 2);
                const bool hexadecimal = digits.size() == 2 && digits.find_first_not_of("0123456789abcdef") == digits.npos;
                const auto number_of = hexadecimal ? parse_u64(digits, 16) : std::nullopt;
                if (!number_of)
                    refuse(run.path("ports"), "not 128 hexadecimal digits a block");
                port = static_cast<std::uint8_t>(*number_of);
                at += 2;
            }
            into.push_back(block);
        });
        if (at != ports.size())
            refuse(run.path("ports"), "not 128 hexadecimal digits a block");
    }

    const JsonReader &reader_;
    std::vector<Switch> switches_;
    std::vector<LinkRate> rates_;
    LayoutReader layouts_;
};

HostMatch decode_host(const JsonReader &reader) {
    HostMatch host;
    host.node = decode_node_name(reader, "node");
    host.port_guid = reader.guid("guid");
    host.lid = static_cast<std::uint16_t>(reader.number("lid", max_of<std::uint16_t>));
    host.service = reader.boolean("service");
    host.by = one_of(reader, "by", {MatchedBy::guid, MatchedBy::description});
    return host;
}

} // namespace

void encode_into(JsonWriter &json, const ScoutSnapshot &snapshot) {
    json.member("node", snapshot.node);
    json.member("time_ns", snapshot.time_ns);
    json.member("took_ns", snapshot.took_ns);
    json.key("map_id");
    json.guid(snapshot.map_id);
    json.member("adaptive_routing", to_string(snapshot.adaptive_routing));
    encode_list(json, "hosts", snapshot.hosts);
    Encoder(json, snapshot).ports_and_tables();
    encode(json, snapshot.problems);
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
    Decoder(reader).read(snapshot);
    snapshot.problems = decode_problems(reader);
    return snapshot;
}

} // namespace fabric_check
