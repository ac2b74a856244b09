// SPDX-License-Identifier: GPL-2.0-or-later
//
// The stored map, as it is and under right checksums, and the analysis of whatever map comes out.
#include "fabric/routes.hpp"

#include <cstddef>
#include <cstdlib>
#include <string>
#include <zlib.h>

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
    for (const auto &[node, ports] : routes.ports_on_routes)
        for (const std::uint8_t port : ports)
            (void)link_name(*map, node, port);
}

void append(std::string &out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
        out.push_back(char(value >> (8 * i) & 0xff));
}

/// The input as the two sections of a file whose header and checksums are right: its first two bytes say where the
/// second begins.
std::string sealed(const std::uint8_t *data, std::size_t size) {
    const std::size_t split = size < 2 ? 0 : std::min<std::size_t>(data[0] | data[1] << 8, size - 2);
    const std::string body(reinterpret_cast<const char *>(data) + (size < 2 ? size : 2), size < 2 ? 0 : size - 2);
    std::string out("FCMAP\r\n\0\1\0\0\0\2\0\0\0", 16);
    for (const std::string &section : {body.substr(0, split), body.substr(split)}) {
        append(out, section.size(), 8);
        append(out, crc32_z(0, reinterpret_cast<const Bytef *>(section.data()), section.size()), 4);
    }
    return out + body;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    exercise({data, size});
    const std::string file = sealed(data, size);
    exercise({reinterpret_cast<const std::uint8_t *>(file.data()), file.size()});
    return 0;
}
