// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/causes.hpp"

namespace fabric_check {

bool is_congestion(std::string_view counter, Against against) noexcept {
    const CounterInfo *row = find_counter(counter);
    return row != nullptr && row->layer == Layer::congestion && row->against == against;
}

bool is_receiver_not_ready(std::string_view counter) noexcept {
    constexpr auto npos = std::string_view::npos;
    return counter.find("rnr") != npos || counter.find("Rnr") != npos || counter.find("RNR") != npos;
}

std::vector<std::string> discard_reasons(const std::function<bool(std::string_view counter)> &moved) {
    std::vector<std::string> reasons;
    if (moved("PortSwHOQLifetimeLimitDiscards"))
        reasons.emplace_back("Packets waited at the head of a queue past the switch's HOQ lifetime: a slow or stuck "
                             "receiver behind this port; find it before raising the lifetime.");
    if (moved("PortSwLifetimeLimitDiscards"))
        reasons.emplace_back(
            "Packets grew older than the switch's lifetime limit: a slow receiver or a loop further on.");
    if (moved("PortInactiveDiscards"))
        reasons.emplace_back(
            "Packets were sent to a port that was not active: see why the link was down, or why routes "
            "still led there.");
    if (moved("PortNeighborMTUDiscards"))
        reasons.emplace_back("Packets were larger than the neighbour's MTU: compare the MTU of both ends.");
    return reasons;
}

} // namespace fabric_check
