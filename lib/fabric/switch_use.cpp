// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/switch_use.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace fabric_check::fabric {

std::vector<SwitchUse> switch_uses(const Routes &routes) {
    std::map<std::uint32_t, std::map<std::uint8_t, unsigned>> links; // by switch and port: destinations
    for (const Group &group : routes.groups)
        for (const GroupPort &port : group.ports)
            links[group.node][port.port] += port.lid_count;
    std::vector<SwitchUse> out;
    for (const auto &[node, ports] : links) {
        SwitchUse use;
        use.node = node;
        for (const auto &[port, lids] : ports) {
            ++use.available;
            if (lids == 0)
                continue;
            use.least = use.used == 0 ? lids : std::min(use.least, lids);
            use.most = std::max(use.most, lids);
            ++use.used;
        }
        out.push_back(use);
    }
    std::sort(out.begin(), out.end(), [](const SwitchUse &a, const SwitchUse &b) {
        return std::tuple((b.available - b.used) * a.available, b.most, a.node) <
               std::tuple((a.available - a.used) * b.available, a.most, b.node);
    });
    return out;
}

} // namespace fabric_check::fabric
