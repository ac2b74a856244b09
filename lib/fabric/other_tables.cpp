// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/other_tables.hpp"

#include "base/clock.hpp"
#include "fabric/import.hpp"

#include <algorithm>

namespace fabric_check::fabric {

Result<Map> with_tables(const Map &map, const std::vector<std::string> &files) {
    std::vector<TextFile> texts;
    std::string source = map.source;
    for (const std::string &file : files) {
        auto text = read_text(file);
        if (!text)
            return Error{Errc::usage, text.error().message};
        texts.push_back({file, std::move(text).value()});
        source += (source.empty() ? "" : ", ") + file;
    }
    Map out = map;
    out.problems.clear();
    out.id = 0;
    out.adaptive_routing = AdaptiveRouting::unknown; // files do not say
    for (MapNode &node : out.nodes)
        node.lft.clear();
    out.index();
    if (const Status status = import_tables(out, texts); !status)
        return status.error();
    out.source = source;
    out.built_ns = wall_ns();
    return out;
}

std::size_t differing_entries(const Map &one, const Map &other, std::span<const std::uint16_t> lids) {
    const auto entry = [](const auto &node, std::uint16_t lid) { return lid < node.lft.size() ? node.lft[lid] : no_route; };
    std::size_t count = 0;
    for (std::size_t n = 0; n < std::min(one.nodes.size(), other.nodes.size()); ++n)
        if (one.nodes[n].kind == NodeKind::switch_node)
            count += static_cast<std::size_t>(std::count_if(lids.begin(), lids.end(), [&](std::uint16_t lid) {
                return entry(one.nodes[n], lid) != entry(other.nodes[n], lid);
            }));
    return count;
}

} // namespace fabric_check::fabric
