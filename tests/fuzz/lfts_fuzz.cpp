// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/import.hpp"
#include "fabric/import_tables.hpp"
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
    const std::string text(reinterpret_cast<const char *>(data), size);
    MapDraft map = two_switches();
    const bool used = import_tables(map, {{"fuzz", text}}).ok();

    MapDraft again = two_switches(); // in blocks of one line, where no row repeats the one before it in the same block
    TableReader reader(again);
    reader.begin("fuzz");
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t end = rest.find('\n');
        const std::size_t length = end == std::string_view::npos ? rest.size() : end + 1;
        reader.block(rest.substr(0, length));
        rest.remove_prefix(length);
    }
    reader.end();
    if (used) {
        reader.finish();
    }
    if (again.problems != map.problems || used != (reader.entries() > 0)) {
        std::abort();
    }
    for (std::size_t n = 0; n < map.nodes.size(); ++n) {
        if (map.nodes[n].lft.size() > 0xc000 || map.nodes[n].lft != again.nodes[n].lft) {
            std::abort();
        }
    }
    if (!used) {
        return 0;
    }
    Query query;
    query.job = all_host_endpoints(map);
    (void)analyse(LftView(map), query);
    return 0;
}
