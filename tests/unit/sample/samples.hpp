// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/fabrics.hpp"
#include "job/fakes.hpp"
#include "sample/block.hpp"
#include "sample/pass.hpp"
#include "sample/ring.hpp"

#include <gmock/gmock.h>

/// Small samples for tests.
namespace fabric_check::sample::testing {

inline constexpr std::int64_t second = 1'000'000'000;
inline constexpr std::int64_t epoch = 1'700'000'000 * second; ///< 2023-11-14T22:13:20Z
inline constexpr double hdr_bytes_s = 25e9;

/// SwitchA (GUID 0xb00) and SwitchB (0xb01) of fabrics.hpp.
inline fabric::Map two_switches() { return fabric::Map(fabric::testing::two_switches(fabric::testing::even())); }
inline constexpr std::uint64_t switch_a = 0xb00, switch_b = 0xb01;

inline SwitchPort reading(const PortId &id, std::int64_t time_ns, std::uint64_t xmit, std::uint64_t rcv) {
    SwitchPort port;
    port.switch_guid = id.guid;
    port.switch_name = id.guid == switch_a ? "SwitchA" : "SwitchB";
    port.switch_lid = id.guid == switch_a ? 41 : 42;
    port.port = id.port;
    port.time_ns = time_ns;
    port.state = "ACTIVE";
    port.rate = {4, "HDR", 200, 53.125};
    port.counters = {{"PortXmitData", Reading::of(xmit / 4, 64)},
                     {"PortRcvData", Reading::of(rcv / 4, 64)},
                     {"PortXmitWait", Reading::of(0, 32)},
                     {"SymbolErrorCounter", Reading::of(0, 16)}};
    return port;
}

/// Every port of the layout read at one moment, with these bytes each way.
inline Pass pass_at(const Layout &layout, std::int64_t time_ns, std::uint64_t bytes = 0) {
    Pass pass{time_ns, time_ns, 7, {}};
    for (const LayoutPort &port : layout.ports)
        pass.ports.push_back(reading(port.id, time_ns, bytes, bytes));
    return pass;
}

inline SwitchPort &port_of(Pass &pass, const PortId &id) {
    for (SwitchPort &port : pass.ports)
        if (port.switch_guid == id.guid && port.port == id.port)
            return port;
    throw std::out_of_range("no such port in the pass");
}

/// A block in which nothing happened.
inline Block quiet(const Layout &layout, std::int64_t from_ns, std::int64_t to_ns) {
    Block block{from_ns, to_ns, {}, {}, {}, {}, {}};
    for (auto *codes : {&block.xmit, &block.rcv, &block.wait})
        codes->assign(layout.ports.size(), 0);
    return block;
}

} // namespace fabric_check::sample::testing
