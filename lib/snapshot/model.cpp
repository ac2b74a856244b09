// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/model.hpp"

#include <algorithm>

namespace fabric_check {

bool was_read(const SwitchPort &port) noexcept {
    return std::any_of(port.counters.begin(), port.counters.end(),
                       [](const auto &entry) { return entry.second.value.has_value(); });
}

const char *to_string(LinkLayer layer) noexcept {
    switch (layer) {
    case LinkLayer::infiniband:
        return "InfiniBand";
    case LinkLayer::ethernet:
        return "Ethernet";
    case LinkLayer::unknown:
        break;
    }
    return "unknown";
}

const char *to_string(Phase phase) noexcept {
    switch (phase) {
    case Phase::start:
        return "start";
    case Phase::mid:
        return "mid";
    case Phase::end:
        break;
    }
    return "end";
}

const char *to_string(AdaptiveRouting ar) noexcept {
    switch (ar) {
    case AdaptiveRouting::off:
        return "off";
    case AdaptiveRouting::on:
        return "on";
    case AdaptiveRouting::unknown:
        break;
    }
    return "unknown";
}

const char *to_string(MatchedBy by) noexcept {
    return by == MatchedBy::guid ? "guid" : "description";
}

} // namespace fabric_check
