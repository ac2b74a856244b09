// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/map_image.hpp"
#include "fabric/map_stream.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace fabric_check::fabric::image {
namespace {

constexpr std::size_t max_ports = 256;
constexpr std::size_t max_lft = 0x10000;
constexpr std::size_t max_description = 0xffff;

template <class T> void append(std::string &out, const T &record) {
    out.append(reinterpret_cast<const char *>(&record), sizeof(T));
}

using RateKey = std::tuple<unsigned, std::string, double, double>;
RateKey key_of(const LinkRate &rate) { return {rate.lanes, rate.speed, rate.data_gbps, rate.signalling_gbps}; }

class Encoder {
public:
    Encoder(const MapDraft &draft, const std::string &name) : draft_(draft), name_(name) {}
    Result<std::string> run();

private:
    Status rates();
    Status topology();
    void lookups();
    void tables();
    void information();
    std::string assembled() const;

    const MapDraft &draft_;
    const std::string &name_;
    std::map<RateKey, std::uint16_t> rate_numbers_;
    std::vector<const LinkRate *> rates_;
    std::array<std::string, sections> out_;
};

Status Encoder::rates() {
    constexpr std::size_t most = 0xffff;
    for (const DraftNode &node : draft_.nodes)
        for (const DraftPort &port : node.ports) {
            if (rate_numbers_.size() >= most)
                return Error{Errc::malformed, fmt::format("{}: more than {} different link rates", name_, most - 1)};
            if (rate_numbers_.emplace(key_of(port.rate), std::uint16_t(rate_numbers_.size())).second)
                rates_.push_back(&port.rate);
        }
    return {};
}

Status Encoder::topology() {
    std::unordered_map<std::string, unsigned> called;
    for (const DraftNode &node : draft_.nodes)
        if (node.kind == NodeKind::switch_node)
            ++called[switch_name_of(node.description, node.guid)];
    std::uint32_t ports = 0, table = 0;
    for (const DraftNode &node : draft_.nodes) {
        if (node.ports.size() > max_ports || node.lft.size() > max_lft || node.description.size() > max_description)
            return Error{Errc::malformed, fmt::format("{}: node {} has {} ports, {} table entries and {} bytes of "
                                                      "description, more than InfiniBand has",
                                                      name_, guid_text(node.guid), node.ports.size(), node.lft.size(),
                                                      node.description.size())};
        const bool is_switch = node.kind == NodeKind::switch_node;
        NodeRecord record{};
        record.guid = node.guid;
        record.text = std::uint32_t(out_[text].size());
        record.text_size = std::uint16_t(node.description.size());
        record.first_port = ports;
        record.ports = std::uint16_t(node.ports.size());
        record.lft = is_switch && !node.lft.empty() ? table++ : none;
        record.lid = node.lid;
        record.kind = std::uint8_t(node.kind);
        record.shares_name = is_switch && called[switch_name_of(node.description, node.guid)] > 1 ? 1 : 0;
        append(out_[Section::nodes], record);
        out_[text] += node.description;
        for (const DraftPort &port : node.ports) {
            PortRecord one{};
            one.guid = port.guid;
            one.peer = port.peer;
            one.lid = port.lid;
            one.rate = rate_numbers_.at(key_of(port.rate));
            one.peer_port = port.peer_port;
            one.lmc = port.lmc;
            append(out_[Section::ports], one);
        }
        ports += record.ports;
    }
    return {};
}

void Encoder::lookups() {
    MapDraft indexed; // of the draft's own nodes, whatever state its index is in
    indexed.nodes = draft_.nodes;
    indexed.index();
    std::uint16_t last = 0;
    for (std::uint32_t lid = 1; lid < first_multicast_lid; ++lid)
        if (indexed.by_lid(std::uint16_t(lid)) != no_node)
            last = std::uint16_t(lid);
    for (std::uint32_t lid = 0; last != 0 && lid <= last; ++lid)
        append(out_[lids], LidRecord{indexed.by_lid(std::uint16_t(lid)), indexed.port_of_lid(std::uint16_t(lid))});

    std::vector<GuidRecord> by_guid, by_port_guid;
    std::vector<HostRecord> by_name;
    for (std::uint32_t n = 0; n < draft_.nodes.size(); ++n) {
        const DraftNode &node = draft_.nodes[n];
        if (node.guid != 0)
            by_guid.push_back({node.guid, n, 0});
        if (node.kind == NodeKind::switch_node)
            continue;
        const std::string_view host = node.kind == NodeKind::host ? host_name_of(node.description) : std::string_view();
        const std::size_t dot = host.find('.');
        for (std::uint32_t p = 0; p < node.ports.size(); ++p) {
            const DraftPort &port = node.ports[p];
            if (port.guid != 0)
                by_port_guid.push_back({port.guid, n, p});
            if (host.empty() || (port.guid == 0 && port.lid == 0 && port.peer == no_node))
                continue;
            by_name.push_back({host_hash(host), n, p});
            if (dot != std::string_view::npos && dot != 0)
                by_name.push_back({host_hash(host.substr(0, dot)), n, p});
        }
    }
    const auto order = [](const GuidRecord &a, const GuidRecord &b) {
        return std::tie(a.guid, a.node, a.port) < std::tie(b.guid, b.node, b.port);
    };
    std::sort(by_guid.begin(), by_guid.end(), order);
    std::sort(by_port_guid.begin(), by_port_guid.end(), order);
    std::sort(by_name.begin(), by_name.end(), [](const HostRecord &a, const HostRecord &b) {
        return std::tie(a.hash, a.node, a.port) < std::tie(b.hash, b.node, b.port);
    });
    for (const GuidRecord &record : by_guid)
        append(out_[guids], record);
    for (const GuidRecord &record : by_port_guid)
        append(out_[port_guids], record);
    for (const HostRecord &record : by_name)
        append(out_[hosts], record);
}

void Encoder::tables() {
    for (std::uint32_t n = 0; n < draft_.nodes.size(); ++n) {
        const DraftNode &node = draft_.nodes[n];
        if (node.kind != NodeKind::switch_node || node.lft.empty())
            continue;
        append(out_[lft_index], LftRecord{out_[lfts].size(), checksum(node.lft.data(), node.lft.size()),
                                          std::uint32_t(node.lft.size()), n});
        out_[lfts].append(reinterpret_cast<const char *>(node.lft.data()), node.lft.size());
        out_[lfts].resize((out_[lfts].size() + alignment - 1) / alignment * alignment, '\xff');
    }
}

void Encoder::information() {
    StreamWriter out;
    out.number(draft_.built_ns);
    out.number(std::uint8_t(draft_.adaptive_routing));
    out.text(draft_.source);
    out.number(std::uint8_t(draft_.subnet_manager ? 1 : 0));
    const SubnetManager sm = draft_.subnet_manager.value_or(SubnetManager{});
    out.number(sm.guid);
    out.number(sm.lid);
    out.number(sm.priority);
    out.number(sm.state);
    out.number(std::uint32_t(draft_.problems.size()));
    for (const Problem &problem : draft_.problems) {
        out.text(problem.where);
        out.text(problem.counter);
        out.text(problem.reason);
    }
    out.number(std::uint16_t(rates_.size()));
    for (const LinkRate *rate : rates_) {
        out.number(std::uint32_t(rate->lanes));
        out.text(rate->speed.substr(0, max_speed_name));
        out.real(rate->data_gbps);
        out.real(rate->signalling_gbps);
    }
    out_[info] = std::move(out.bytes());
}

std::string Encoder::assembled() const {
    Header header{};
    header.magic = magic;
    header.version = version;
    header.count = sections;
    std::uint64_t at = (sizeof(Header) + alignment - 1) / alignment * alignment;
    for (std::uint32_t i = 0; i < sections; ++i) {
        header.at[i] = {at, out_[i].size(), i == lfts ? 0 : checksum(out_[i].data(), out_[i].size())};
        at = (at + out_[i].size() + alignment - 1) / alignment * alignment;
    }
    header.size = at;
    header.sum = checksum(header.at.data(), sizeof(header.at));
    std::string bytes(at, '\0');
    std::memcpy(bytes.data(), &header, sizeof(header));
    for (std::uint32_t i = 0; i < sections; ++i)
        std::memcpy(bytes.data() + header.at[i].offset, out_[i].data(), out_[i].size());
    return bytes;
}

Result<std::string> Encoder::run() {
    if (const Status fits = rates(); !fits)
        return fits.error();
    if (const Status fits = topology(); !fits)
        return fits.error();
    lookups();
    tables();
    information();
    return assembled();
}

} // namespace

Result<std::string> encode(const MapDraft &draft, const std::string &name) { return Encoder(draft, name).run(); }

} // namespace fabric_check::fabric::image
