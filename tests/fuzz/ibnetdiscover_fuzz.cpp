// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/import.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check::fabric;
    const auto map = import_topology({{"fuzz", std::string(reinterpret_cast<const char *>(data), size)}});
    if (!map)
        return 0;
    for (const DraftNode &node : map->nodes)
        for (const DraftPort &port : node.ports)
            if (port.peer != no_node &&
                (port.peer >= map->nodes.size() || port.peer_port >= map->nodes[port.peer].ports.size()))
                std::abort();
    return 0;
}
