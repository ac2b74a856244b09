// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/switch_port.hpp"

namespace fabric_check {

SwitchPort switch_port(const fabric::Map &map, std::uint32_t node, unsigned port) {
    const fabric::MapNode at = map.nodes()[node];
    SwitchPort result;
    result.switch_guid = at.guid;
    result.switch_name = at.description;
    result.switch_lid = at.lid;
    result.port = port;
    return result;
}

void take_reading(const fabric::Map &map, std::uint32_t node, mad::PortReading reading, SwitchPort &port) {
    if (reading.info) {
        port.state = reading.info->state_name();
        port.rate = reading.info->rate(reading.extended_speeds);
        // PortInfo shows FDR10 as QDR; the map knows better.
        const fabric::MapNode at = map.nodes()[node];
        if (port.port < at.ports.size() && port.rate.speed == "QDR" && at.ports[port.port].rate.speed == "FDR10" &&
            at.ports[port.port].rate.lanes == port.rate.lanes)
            port.rate = at.ports[port.port].rate;
    }
    port.time_ns = reading.time_ns != 0 ? reading.time_ns : wall_ns();
    port.counters = std::move(reading.counters);
}

} // namespace fabric_check
