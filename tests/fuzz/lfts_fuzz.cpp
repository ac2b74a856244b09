// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/import.hpp"
#include "fabric/routes.hpp"

#include <cstdlib>

namespace {

const fabric_check::fabric::MapDraft &two_switches() {
    using namespace fabric_check::fabric;
    static const MapDraft map = import_topology({{"topology", "Switch 4 \"S-b1\" # \"SwitchA\" base port 0 lid 9 lmc 0\n"
                                                         "[1] \"H-a1\"[1](a1) # \"node01 mlx5_0\" lid 1 4xHDR\n"
                                                         "[3] \"S-b2\"[3] # \"SwitchB\" lid 10 4xHDR\n"
                                                         "[4] \"S-b2\"[4] # \"SwitchB\" lid 10 4xHDR\n"
                                                         "Switch 4 \"S-b2\" # \"SwitchB\" base port 0 lid 10 lmc 0\n"
                                                         "[1] \"H-a2\"[1](a2) # \"node02 mlx5_0\" lid 2 4xHDR\n"}})
                               .value();
    return map;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check::fabric;
    MapDraft map = two_switches();
    if (!import_tables(map, {{"fuzz", std::string(reinterpret_cast<const char *>(data), size)}}))
        return 0;
    for (const DraftNode &node : map.nodes)
        if (node.lft.size() > 0xc000)
            std::abort();
    Query query;
    query.job = all_host_endpoints(map);
    (void)analyse(LftView(map), query);
    return 0;
}
