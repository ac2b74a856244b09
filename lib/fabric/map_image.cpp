// SPDX-License-Identifier: GPL-2.0-or-later
#define XXH_INLINE_ALL
#include "fabric/map_image.hpp"
#include "fabric/map_stream.hpp"

#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <xxhash.h>

namespace fabric_check::fabric::image {
namespace {

constexpr std::size_t max_ports = 256;
constexpr std::size_t max_lft = 0x10000;
constexpr const char *names[] = {"information",      "nodes", "ports", "descriptions", "LIDs", "GUIDs", "port GUIDs", "host names",
                                 "index of tables", "forwarding tables"};
static_assert(std::size(names) == sections);

/// The whole section as records; empty, with `good` false, when it does not divide.
template <class T> std::span<const T> records(std::string_view bytes, bool &good) {
    good = good && bytes.size() % sizeof(T) == 0;
    return good ? std::span(reinterpret_cast<const T *>(bytes.data()), bytes.size() / sizeof(T)) : std::span<const T>();
}

/// Empty when all is well, else what is wrong.
std::string read_information(std::string_view bytes, Image &image) {
    StreamReader in({reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()});
    image.built_ns = in.number<std::int64_t>();
    if (image.built_ns < 0)
        return "built before 1970";
    const auto adaptive = in.number<std::uint8_t>();
    if (adaptive > std::uint8_t(AdaptiveRouting::on))
        return fmt::format("adaptive routing is {}", adaptive);
    image.adaptive_routing = AdaptiveRouting(adaptive);
    image.source = in.text();
    const bool has_sm = in.number<std::uint8_t>() != 0;
    SubnetManager sm;
    sm.guid = in.number<std::uint64_t>();
    sm.lid = in.number<std::uint16_t>();
    sm.priority = in.number<std::uint8_t>();
    sm.state = in.number<std::uint8_t>();
    if (has_sm)
        image.subnet_manager = sm;
    for (auto n = in.number<std::uint32_t>(); n > 0 && in.ok(); --n) {
        Problem problem{in.text(), in.text(), in.text()};
        image.problems.push_back(std::move(problem));
    }
    for (auto n = in.number<std::uint16_t>(); n > 0 && in.ok(); --n) {
        LinkRate rate;
        rate.lanes = in.number<std::uint32_t>();
        rate.speed = in.text();
        if (rate.speed.size() > max_speed_name)
            return "a link speed's name is too long";
        rate.data_gbps = in.real();
        rate.signalling_gbps = in.real();
        constexpr double slowest = 1e-3; // anything above it can be divided by
        if (!(rate.data_gbps == 0 || rate.data_gbps >= slowest))
            return "a link rate out of range";
        if (!(rate.data_gbps >= 0 && rate.data_gbps < 1e9) || !(rate.signalling_gbps >= 0 && rate.signalling_gbps < 1e9))
            return "a link rate out of range";
        image.rates.push_back(std::move(rate));
    }
    return !in.ok() ? "the information ends early" : in.left() != 0 ? "the information is too long" : std::string();
}

std::string check_nodes(const Image &image) {
    for (std::size_t n = 0; n < image.nodes.size(); ++n) {
        const NodeRecord &node = image.nodes[n];
        if (node.kind > std::uint8_t(NodeKind::other))
            return fmt::format("node {} is of kind {}", n, node.kind);
        if (node.ports > max_ports || node.first_port > image.ports.size() ||
            node.ports > image.ports.size() - node.first_port)
            return fmt::format("node {} has {} ports where there are none", n, node.ports);
        if (node.text > image.text.size() || node.text_size > image.text.size() - node.text)
            return fmt::format("node {} has its description beyond the descriptions", n);
        const bool is_switch = node.kind == std::uint8_t(NodeKind::switch_node);
        if (node.lft != none && (!is_switch || node.lft >= image.lft_index.size() || image.lft_index[node.lft].node != n))
            return fmt::format("a forwarding table of node {}, which can have none", n);
    }
    for (const PortRecord &port : image.ports) {
        if (port.rate >= image.rates.size())
            return fmt::format("a port names link rate {} of {}", port.rate, image.rates.size());
        if (port.peer == no_node)
            continue;
        if (port.peer >= image.nodes.size())
            return fmt::format("a port is linked to node {} of {}", port.peer, image.nodes.size());
        if (port.peer_port >= image.nodes[port.peer].ports)
            return fmt::format("a link ends at port {} of node {}, which has {}", port.peer_port, port.peer,
                               image.nodes[port.peer].ports);
    }
    return {};
}

std::string check_lookups(const Image &image) {
    const auto is_port = [&image](std::uint32_t node, std::uint32_t port) {
        return node < image.nodes.size() && port < image.nodes[node].ports;
    };
    // A switch has its LID whatever ports it has.
    const auto has_lid = [&](std::uint32_t node, std::uint32_t port) {
        return is_port(node, port) || (port == 0 && node < image.nodes.size() &&
                                       image.nodes[node].kind == std::uint8_t(NodeKind::switch_node));
    };
    for (const LidRecord &lid : image.lids)
        if (lid.node != no_node && !has_lid(lid.node, lid.port))
            return "a LID of a port that is not there";
    for (const GuidRecord &guid : image.guids)
        if (guid.node >= image.nodes.size())
            return "a GUID of a node that is not there";
    for (const GuidRecord &guid : image.port_guids)
        if (!is_port(guid.node, guid.port))
            return "a GUID of a port that is not there";
    for (const HostRecord &host : image.hosts)
        if (!is_port(host.node, host.port))
            return "a host's name at a port that is not there";
    for (const LftRecord &table : image.lft_index)
        if (table.size > max_lft || table.offset > image.lfts.size() || table.size > image.lfts.size() - table.offset ||
            table.node >= image.nodes.size())
            return "a forwarding table beyond the tables";
    return {};
}

} // namespace

Bytes::~Bytes() {
    if (mapped_ != nullptr)
        ::munmap(const_cast<void *>(mapped_), view_.size());
}

std::uint64_t checksum(const void *data, std::size_t size) noexcept { return XXH3_64bits(data, size); }
std::uint64_t host_hash(std::string_view name) noexcept { return XXH3_64bits(name.data(), name.size()); }

bool Image::damaged(const NodeRecord &node) const noexcept {
    (void)lft(node);
    return node.lft != none && tables_seen[node.lft].load(std::memory_order_relaxed) == 2;
}

std::span<const std::uint8_t> Image::lft(const NodeRecord &node) const noexcept {
    if (node.lft == none)
        return {};
    const LftRecord &record = lft_index[node.lft];
    const auto table = lfts.subspan(record.offset, record.size);
    auto &seen = tables_seen[node.lft];
    std::uint8_t state = seen.load(std::memory_order_relaxed);
    if (state == 0) {
        state = checksum(table.data(), table.size()) == record.sum ? 1 : 2;
        seen.store(state, std::memory_order_relaxed);
    }
    return state == 1 ? table : std::span<const std::uint8_t>();
}

Result<std::shared_ptr<const Image>> open(std::unique_ptr<Bytes> bytes, const std::string &name) {
    const auto bad = [&name](const std::string &what) {
        return Error{Errc::malformed,
                     fmt::format("{}: {}; build the map again (fabric-check map build or map import)", name, what)};
    };
    const std::string_view all = bytes->view();
    Header header{};
    constexpr std::size_t fixed = offsetof(Header, size); // what every version begins with
    std::memcpy(&header, all.data(), std::min(all.size(), sizeof(header)));
    if (all.size() < magic.size() || header.magic != magic)
        return bad("not a fabric map");
    if (all.size() >= fixed && header.version != version)
        return bad(fmt::format("map of version {}, this program reads version {}", header.version, version));
    if (all.size() >= fixed && header.count != sections)
        return bad(fmt::format("{} sections where there are {}", header.count, std::uint32_t(sections)));
    if (all.size() < sizeof(header))
        return bad("ends inside its header");
    if (checksum(header.at.data(), sizeof(header.at)) != header.sum)
        return bad("checksum of its header does not match");
    if (header.size > all.size())
        return bad(fmt::format("ends early: {} bytes of {}", all.size(), header.size));
    if (header.size < all.size())
        return bad(fmt::format("{} bytes too many at its end", all.size() - header.size));
    std::array<std::string_view, sections> at;
    for (std::uint32_t i = 0; i < sections; ++i) {
        const SectionRecord &section = header.at[i];
        if (section.offset > all.size() || section.size > all.size() - section.offset || section.offset % alignment != 0)
            return bad(fmt::format("the {} are not within the file", names[i]));
        at[i] = all.substr(section.offset, section.size);
        if (i != lfts && checksum(at[i].data(), at[i].size()) != section.sum)
            return bad(fmt::format("checksum of its {} does not match", names[i]));
    }
    auto image = std::make_shared<Image>();
    bool whole = true;
    image->nodes = records<NodeRecord>(at[nodes], whole);
    image->ports = records<PortRecord>(at[ports], whole);
    image->text = at[text];
    image->lids = records<LidRecord>(at[lids], whole);
    image->guids = records<GuidRecord>(at[guids], whole);
    image->port_guids = records<GuidRecord>(at[port_guids], whole);
    image->hosts = records<HostRecord>(at[hosts], whole);
    image->lft_index = records<LftRecord>(at[lft_index], whole);
    image->lfts = records<std::uint8_t>(at[lfts], whole);
    if (!whole)
        return bad("a section ends inside a record");
    std::string wrong = read_information(at[info], *image);
    if (wrong.empty())
        wrong = check_nodes(*image);
    if (wrong.empty())
        wrong = check_lookups(*image);
    if (!wrong.empty())
        return bad(wrong);
    // Of what the map says, not of when and from what it was made.
    std::array<std::uint64_t, sections> sums{};
    for (std::uint32_t i = 0; i < sections; ++i)
        sums[i] = i == info ? 0 : header.at[i].sum;
    image->id = checksum(sums.data(), sizeof(sums));
    image->tables_seen = std::make_unique<std::atomic<std::uint8_t>[]>(image->lft_index.size());
    image->bytes = std::move(bytes);
    return std::shared_ptr<const Image>(std::move(image));
}

} // namespace fabric_check::fabric::image
