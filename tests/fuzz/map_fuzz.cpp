// SPDX-License-Identifier: GPL-2.0-or-later
//
// The stored map, as it is and under right checksums, and the analysis of whatever map comes out.
#include "fabric/routes.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using namespace fabric_check;
using namespace fabric_check::fabric;

void exercise(std::span<const std::uint8_t> bytes) {
    const auto map = parse_map(bytes, "fuzz");
    if (!map)
        return;
    constexpr std::size_t most = 64;
    Query query;
    query.job = all_host_endpoints(*map);
    if (query.job.size() > most)
        query.job.resize(most);
    const LftView lfts(*map);
    const Routes routes = analyse(lfts, query);
    for (const Group &group : routes.groups)
        if (group.imbalance < 1 || group_name(*map, group).empty())
            std::abort();
    if (routes.imbalance < 1)
        std::abort();
    (void)shape_loads(lfts, query);
    std::vector<SwitchPort> down(1);
    down[0].switch_guid = 1;
    down[0].port = 1;
    down[0].state = "DOWN";
    (void)analyse(LftView(*map, {}, down), query);
    (void)map->by_name("host");
    (void)map->damaged_tables();
    for (const auto &[node, ports] : routes.ports_on_routes)
        for (const std::uint8_t port : ports)
            (void)link_name(*map, node, port);
}

/// Two switches with two links and three hosts, in the stored form.
std::string small_map() {
    MapDraft draft;
    draft.nodes.resize(5);
    for (std::uint32_t n = 0; n < 5; ++n) {
        DraftNode &node = draft.nodes[n];
        node.guid = n + 1;
        node.description = n < 2 ? "switch" : "host mlx5_0";
        node.kind = n < 2 ? NodeKind::switch_node : NodeKind::host;
        node.ports.resize(n < 2 ? 6 : 2);
        (n < 2 ? node.lid : node.ports[1].lid) = std::uint16_t(n + 1);
        if (n < 2)
            node.lft = {0xff, 1, 2, 3, 4, 5};
    }
    const auto link = [&draft](std::uint32_t a, std::uint8_t p, std::uint32_t b, std::uint8_t q) {
        draft.nodes[a].ports[p].peer = b;
        draft.nodes[a].ports[p].peer_port = q;
        draft.nodes[b].ports[q].peer = a;
        draft.nodes[b].ports[q].peer_port = p;
    };
    link(0, 1, 1, 1);
    link(0, 2, 1, 2);
    link(0, 3, 2, 1);
    link(0, 4, 3, 1);
    link(1, 5, 4, 1);
    return image::encode(draft, "fuzz").value();
}

/// The small map with bytes changed by the input, three bytes an edit, under checksums that are right again.
std::string edited(const std::uint8_t *data, std::size_t size) {
    static const std::string original = small_map();
    std::string out = original;
    image::Header header{};
    for (std::size_t i = 0; i + 3 <= size; i += 3)
        out[sizeof(header) + (data[i] | data[i + 1] << 8) % (out.size() - sizeof(header))] = char(data[i + 2]);
    std::memcpy(&header, out.data(), sizeof(header));
    const image::SectionRecord &index = header.at[image::lft_index], &tables = header.at[image::lfts];
    for (std::size_t at = 0; at + sizeof(image::LftRecord) <= index.size; at += sizeof(image::LftRecord)) {
        image::LftRecord record{};
        std::memcpy(&record, out.data() + index.offset + at, sizeof(record));
        if (record.offset <= tables.size && record.size <= tables.size - record.offset) {
            record.sum = image::checksum(out.data() + tables.offset + record.offset, record.size);
            std::memcpy(out.data() + index.offset + at, &record, sizeof(record));
        }
    }
    for (std::uint32_t i = 0; i < image::sections; ++i)
        header.at[i].sum = i == image::lfts ? 0 : image::checksum(out.data() + header.at[i].offset, header.at[i].size);
    header.sum = image::checksum(header.at.data(), sizeof(header.at));
    std::memcpy(out.data(), &header, sizeof(header));
    return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    exercise({data, size});
    const std::string file = edited(data, size);
    exercise({reinterpret_cast<const std::uint8_t *>(file.data()), file.size()});
    return 0;
}
