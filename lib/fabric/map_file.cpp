// SPDX-License-Identifier: GPL-2.0-or-later
//
// The stored map, little endian:
//   header    magic (8), version (4), sections (4), then per section: length (8), crc32 (4)
//   topology  built_ns, adaptive routing, source, problems, table of link rates, nodes with fixed-size port records
//   tables    per switch that has one: node index, length, output ports by LID
// The identity of a map is the two checksums side by side.
#include "fabric/map.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <zlib.h>

namespace fabric_check::fabric {
namespace {

constexpr std::array<char, 8> magic = {'F', 'C', 'M', 'A', 'P', '\r', '\n', '\0'};
constexpr std::uint32_t version = 1;
constexpr std::uint32_t sections = 2;
constexpr std::size_t port_bytes = 4 + 1 + 2 + 8 + 2 + 1;
constexpr std::size_t max_ports = 256;
constexpr std::size_t max_lft = 0x10000;
constexpr std::size_t max_speed_name = 15; // copied to every port: must not multiply a hostile file
constexpr std::size_t file_limit = std::size_t(1) << 30;

class Writer {
public:
    template <class T> void number(T value) {
        auto bits = std::make_unsigned_t<T>(value);
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            bytes_.push_back(char(bits & 0xff));
            if constexpr (sizeof(T) > 1)
                bits = std::make_unsigned_t<T>(bits >> 8);
        }
    }
    void real(double value) { number(std::bit_cast<std::uint64_t>(value)); }
    void text(const std::string &value) {
        number(std::uint32_t(value.size()));
        bytes_ += value;
    }
    void raw(const void *data, std::size_t size) { bytes_.append(static_cast<const char *>(data), size); }
    std::string &bytes() { return bytes_; }

private:
    std::string bytes_;
};

/// Reads within its bounds only; after the first short read everything is zero and ok() is false.
class Reader {
public:
    explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    bool ok() const { return ok_; }
    std::size_t left() const { return bytes_.size() - at_; }
    std::span<const std::uint8_t> raw(std::size_t size) {
        if (!ok_ || size > left()) {
            ok_ = false;
            return {};
        }
        const auto out = bytes_.subspan(at_, size);
        at_ += size;
        return out;
    }
    template <class T> T number() {
        const auto data = raw(sizeof(T));
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < data.size(); ++i)
            value |= std::uint64_t(data[i]) << (8 * i);
        return T(value);
    }
    double real() { return std::bit_cast<double>(number<std::uint64_t>()); }
    std::string text() {
        const auto data = raw(number<std::uint32_t>());
        return {data.begin(), data.end()};
    }

private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

std::uint32_t checksum(const void *data, std::size_t size) {
    return std::uint32_t(crc32_z(0, static_cast<const Bytef *>(data), size));
}

using RateKey = std::tuple<unsigned, std::string, double, double>;
RateKey key_of(const LinkRate &rate) { return {rate.lanes, rate.speed, rate.data_gbps, rate.signalling_gbps}; }

std::string encode_topology(const Map &map, const std::string &name, Status &status) {
    Writer out;
    out.number(map.built_ns);
    out.number(std::uint8_t(map.adaptive_routing));
    out.text(map.source);
    out.number(std::uint32_t(map.problems.size()));
    for (const Problem &problem : map.problems) {
        out.text(problem.where);
        out.text(problem.counter);
        out.text(problem.reason);
    }
    std::map<RateKey, std::uint16_t> rates;
    std::vector<const LinkRate *> in_order;
    for (const MapNode &node : map.nodes)
        for (const MapPort &port : node.ports)
            if (rates.size() < 0xffff && rates.emplace(key_of(port.rate), std::uint16_t(rates.size())).second)
                in_order.push_back(&port.rate);
    if (rates.size() == 0xffff)
        status = Error{Errc::malformed, fmt::format("{}: more than {} different link rates", name, 0xfffe)};
    out.number(std::uint16_t(in_order.size()));
    for (const LinkRate *rate : in_order) {
        out.number(std::uint32_t(rate->lanes));
        out.text(rate->speed.substr(0, max_speed_name));
        out.real(rate->data_gbps);
        out.real(rate->signalling_gbps);
    }
    out.number(std::uint32_t(map.nodes.size()));
    for (const MapNode &node : map.nodes) {
        if (node.ports.size() > max_ports || node.lft.size() > max_lft)
            status = Error{Errc::malformed, fmt::format("{}: node 0x{:016x} has {} ports and {} table entries, more than "
                                                        "InfiniBand has",
                                                        name, node.guid, node.ports.size(), node.lft.size())};
        out.number(node.guid);
        out.number(std::uint8_t(node.kind));
        out.number(node.lid);
        out.text(node.description);
        out.number(std::uint16_t(node.ports.size()));
        for (const MapPort &port : node.ports) {
            const auto rate = rates.find(key_of(port.rate));
            out.number(port.peer);
            out.number(port.peer_port);
            out.number(rate == rates.end() ? std::uint16_t(0) : rate->second);
            out.number(port.guid);
            out.number(port.lid);
            out.number(port.lmc);
        }
    }
    return std::move(out.bytes());
}

std::string encode_tables(const Map &map) {
    Writer out;
    for (std::uint32_t n = 0; n < map.nodes.size(); ++n)
        if (const auto &lft = map.nodes[n].lft; map.nodes[n].kind == NodeKind::switch_node && !lft.empty()) {
            out.number(n);
            out.number(std::uint32_t(lft.size()));
            out.raw(lft.data(), lft.size());
        }
    return std::move(out.bytes());
}

/// Empty when all is well, else what is wrong.
std::string decode_topology(Reader in, Map &map) {
    map.built_ns = in.number<std::int64_t>();
    const auto adaptive = in.number<std::uint8_t>();
    if (adaptive > std::uint8_t(AdaptiveRouting::on))
        return fmt::format("adaptive routing is {}", adaptive);
    map.adaptive_routing = AdaptiveRouting(adaptive);
    map.source = in.text();
    for (auto n = in.number<std::uint32_t>(); n > 0 && in.ok(); --n) {
        Problem problem{in.text(), in.text(), in.text()};
        map.problems.push_back(std::move(problem));
    }
    std::vector<LinkRate> rates;
    for (auto n = in.number<std::uint16_t>(); n > 0 && in.ok(); --n) {
        LinkRate rate;
        rate.lanes = in.number<std::uint32_t>();
        rate.speed = in.text();
        if (rate.speed.size() > max_speed_name)
            return "a link speed's name is too long";
        rate.data_gbps = in.real();
        rate.signalling_gbps = in.real();
        if (!(rate.data_gbps >= 0 && rate.data_gbps < 1e9) || !(rate.signalling_gbps >= 0 && rate.signalling_gbps < 1e9))
            return "a link rate out of range";
        rates.push_back(std::move(rate));
    }
    const auto count = in.number<std::uint32_t>();
    for (std::uint32_t n = 0; n < count && in.ok(); ++n) {
        MapNode node;
        node.guid = in.number<std::uint64_t>();
        const auto kind = in.number<std::uint8_t>();
        if (kind > std::uint8_t(NodeKind::other))
            return fmt::format("node {} is of kind {}", n, kind);
        node.kind = NodeKind(kind);
        node.lid = in.number<std::uint16_t>();
        node.description = in.text();
        const auto ports = in.number<std::uint16_t>();
        if (ports > max_ports)
            return fmt::format("node {} has {} ports", n, ports);
        if (ports * port_bytes > in.left())
            break;
        node.ports.resize(ports);
        for (MapPort &port : node.ports) {
            port.peer = in.number<std::uint32_t>();
            port.peer_port = in.number<std::uint8_t>();
            const auto rate = in.number<std::uint16_t>();
            if (rate >= rates.size())
                return fmt::format("node {} names link rate {} of {}", n, rate, rates.size());
            port.rate = rates[rate];
            port.guid = in.number<std::uint64_t>();
            port.lid = in.number<std::uint16_t>();
            port.lmc = in.number<std::uint8_t>();
            if (port.peer != no_node && port.peer >= count)
                return fmt::format("node {} is linked to node {} of {}", n, port.peer, count);
        }
        map.nodes.push_back(std::move(node));
    }
    if (!in.ok() || map.nodes.size() != count)
        return "the topology ends early";
    if (in.left() != 0)
        return fmt::format("{} bytes too many in the topology", in.left());
    for (const MapNode &node : map.nodes)
        for (const MapPort &port : node.ports)
            if (port.peer != no_node && port.peer_port >= map.nodes[port.peer].ports.size())
                return fmt::format("a link ends at port {} of node {}, which has {}", port.peer_port, port.peer,
                                   map.nodes[port.peer].ports.size());
    return {};
}

std::string decode_tables(Reader in, Map &map) {
    while (in.ok() && in.left() > 0) {
        const auto node = in.number<std::uint32_t>();
        const auto size = in.number<std::uint32_t>();
        if (!in.ok())
            break;
        if (node >= map.nodes.size() || map.nodes[node].kind != NodeKind::switch_node || !map.nodes[node].lft.empty())
            return fmt::format("a forwarding table of node {}, which can have none", node);
        if (size > max_lft)
            return fmt::format("a forwarding table of {} entries", size);
        const auto bytes = in.raw(size);
        map.nodes[node].lft.assign(bytes.begin(), bytes.end());
    }
    return in.ok() ? std::string() : std::string("the forwarding tables end early");
}

} // namespace

Status save_map(Map &map, const std::string &path) {
    Status status;
    const std::string topology = encode_topology(map, path, status);
    if (!status)
        return status;
    const std::string tables = encode_tables(map);
    Writer out;
    out.raw(magic.data(), magic.size());
    out.number(version);
    out.number(sections);
    std::uint64_t id = 0;
    for (const std::string *section : {&topology, &tables}) {
        const std::uint32_t sum = checksum(section->data(), section->size());
        out.number(std::uint64_t(section->size()));
        out.number(sum);
        id = id << 32 | sum;
    }
    out.bytes().append(topology).append(tables);
    status = write_file_atomic(path, out.bytes());
    if (status)
        map.id = id;
    return status;
}

Result<Map> parse_map(std::span<const std::uint8_t> bytes, const std::string &name) {
    const auto bad = [&name](const std::string &what) {
        return Error{Errc::malformed, fmt::format("{}: {}; build the map again (fabric-check map build)", name, what)};
    };
    Reader head(bytes);
    const auto found = head.raw(magic.size());
    if (!head.ok() || !std::equal(found.begin(), found.end(), magic.begin(),
                                  [](std::uint8_t a, char b) { return a == std::uint8_t(b); }))
        return bad("not a fabric map");
    const auto written = head.number<std::uint32_t>();
    if (head.ok() && written != version)
        return bad(fmt::format("map of version {}, this program reads version {}", written, version));
    const auto count = head.number<std::uint32_t>();
    if (head.ok() && count != sections)
        return bad(fmt::format("{} sections where there are {}", count, sections));
    std::array<std::uint64_t, sections> lengths{};
    std::array<std::uint32_t, sections> sums{};
    for (std::size_t i = 0; i < sections; ++i) {
        lengths[i] = head.number<std::uint64_t>();
        sums[i] = head.number<std::uint32_t>();
    }
    if (!head.ok())
        return bad("ends inside its header");
    Map map;
    const char *const names[] = {"topology", "forwarding tables"};
    std::array<std::span<const std::uint8_t>, sections> data;
    for (std::size_t i = 0; i < sections; ++i) {
        data[i] = head.raw(std::size_t(lengths[i]));
        if (!head.ok())
            return bad(fmt::format("ends inside its {}", names[i]));
        if (checksum(data[i].data(), data[i].size()) != sums[i])
            return bad(fmt::format("checksum of its {} does not match", names[i]));
        map.id = map.id << 32 | sums[i];
    }
    if (head.left() != 0)
        return bad(fmt::format("{} bytes too many at its end", head.left()));
    std::string wrong = decode_topology(Reader(data[0]), map);
    if (wrong.empty())
        wrong = decode_tables(Reader(data[1]), map);
    if (!wrong.empty())
        return bad(wrong);
    map.index();
    return map;
}

Result<Map> load_map(const std::string &path) {
    const auto content = read_file(path, file_limit);
    if (!content)
        return content.error();
    return parse_map({reinterpret_cast<const std::uint8_t *>(content->data()), content->size()}, path);
}

} // namespace fabric_check::fabric
