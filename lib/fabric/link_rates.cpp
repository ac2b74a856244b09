// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/link_rates.hpp"

#include "fabric/import_text.hpp"

namespace fabric_check::fabric {
namespace {

std::string words(const LinkRate &rate) { return fmt::format("{}x{}", rate.lanes, printable(rate.speed)); }

bool is_fdr10_half_asked(const LinkRate &a, const LinkRate &b) {
    return a.lanes == b.lanes && a.speed == "FDR10" && b.speed == "QDR";
}

} // namespace

void agree_on_rates(MapDraft &map) {
    Few problems(map.problems, "topology", "links have two rates");
    for (std::uint32_t n = 0; n < map.nodes.size(); ++n)
        for (std::size_t p = 0; p < map.nodes[n].ports.size() && p < 256; ++p) {
            DraftPort &near = map.nodes[n].ports[p];
            if (near.peer >= map.nodes.size() || near.peer_port >= map.nodes[near.peer].ports.size() ||
                std::pair(n, unsigned(p)) > std::pair(near.peer, unsigned(near.peer_port)))
                continue;
            DraftPort &far = map.nodes[near.peer].ports[near.peer_port];
            if (far.peer != n || far.peer_port != p || far.rate == near.rate)
                continue;
            const bool both = near.rate.data_gbps > 0 && far.rate.data_gbps > 0;
            if (is_fdr10_half_asked(far.rate, near.rate) || is_fdr10_half_asked(near.rate, far.rate)) {
                (near.rate.speed == "FDR10" ? far.rate : near.rate) = near.rate.speed == "FDR10" ? near.rate : far.rate;
                continue;
            }
            if (both)
                problems.add([&] {
                    return Problem{fmt::format("{}:{}<->{}:{}", map.display_name(n), p, map.display_name(near.peer), near.peer_port), "",
                                   fmt::format("{} by the one end and {} by the other; the slower is taken", words(near.rate),
                                               words(far.rate))};
                });
            const bool take_near = both ? near.rate.data_gbps < far.rate.data_gbps : near.rate.data_gbps > 0;
            (take_near ? far.rate : near.rate) = take_near ? near.rate : far.rate;
        }
}

} // namespace fabric_check::fabric
