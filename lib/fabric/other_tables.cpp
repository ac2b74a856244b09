// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/other_tables.hpp"

#include "base/clock.hpp"
#include "fabric/import.hpp"

#include <algorithm>

namespace fabric_check::fabric {

Result<Map> with_tables(const Map &map, const std::vector<std::string> &files) {
    MapDraft out = draft_of(map);
    if (const Status read = import_table_files(out, files); !read)
        return read.error().code == Errc::malformed ? read.error() : Error{Errc::usage, read.error().message};
    for (const std::string &file : files)
        out.source += (out.source.empty() ? "" : ", ") + file;
    out.built_ns = wall_ns();
    return open_draft(out, files.empty() ? map.source() : files[0]);
}

std::size_t differing_entries(const Map &one, const Map &other, std::span<const std::uint16_t> lids) {
    std::size_t count = 0;
    const auto entry = [](std::span<const std::uint8_t> table, std::uint16_t lid) {
        return lid < table.size() ? table[lid] : no_route;
    };
    for (std::size_t n = 0; n < std::min(one.nodes().size(), other.nodes().size()); ++n) {
        const auto here = one.nodes()[n].lft(), there = other.nodes()[n].lft();
        count += static_cast<std::size_t>(std::count_if(lids.begin(), lids.end(), [&](std::uint16_t lid) {
            return entry(here, lid) != entry(there, lid);
        }));
    }
    return count;
}

} // namespace fabric_check::fabric
