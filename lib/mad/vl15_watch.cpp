// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/vl15_watch.hpp"

#include "mad/attributes.hpp"

#include <algorithm>
#include <utility>

namespace fabric_check::mad {

void watch_vl15(Engine &engine, std::uint16_t switch_lid, std::uint8_t port, Vl15Memory memory) {
    constexpr std::uint64_t cap = 0xffff;
    const auto before = memory ? std::move(memory) : std::make_shared<std::optional<std::uint64_t>>();
    // Under a low ceiling the watch is not to take it all: a twentieth.
    const unsigned ceiling = engine.options().max_per_second;
    const auto every = std::max(vl15_interval, std::chrono::milliseconds(ceiling == 0 ? 0 : 20'000 / ceiling));
    engine.watch(
        {.mad_class = MadClass::gmp, .lid = switch_lid, .attribute = attribute::port_counters, .port_select = port},
        every, [&engine, port, before](const Reply &reply) {
            if (reply.outcome != Outcome::ok)
                return;
            Counters counters;
            decode_port_counters({}, port, reply.data, counters);
            const auto dropped = counters["VL15Dropped"].value;
            if (dropped && *before && *dropped > **before && **before < cap)
                engine.slow_down();
            if (dropped)
                *before = dropped;
        });
}

} // namespace fabric_check::mad
