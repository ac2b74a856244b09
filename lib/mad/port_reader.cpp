// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/port_reader.hpp"

namespace fabric_check::mad {

namespace {

constexpr PmaCapabilities unknown_capabilities{1U << 12U | 1U << 15U, 0};

} // namespace

void PortReader::answered(const PendingPtr &pending) {
    if (--pending->open == 0 && pending->ready)
        pending->ready(std::move(pending->reading));
}

void PortReader::ask(std::uint16_t switch_lid, unsigned port, Ready ready) {
    auto pending = std::make_shared<Pending>();
    pending->port = port;
    pending->ready = std::move(ready);
    pending->open = 3; // PortInfo, extended speeds, capabilities (and the counters that follow from them)

    Switch &state = switches_[switch_lid];
    ask_switch(switch_lid, state);
    engine_->submit({.lid = switch_lid, .attribute = attribute::port_info, .modifier = port},
                    [pending](const Reply &reply) {
                        pending->reading.info_outcome = reply.outcome;
                        if (reply.outcome == Outcome::ok)
                            pending->reading.info = decode_port_info(reply.data);
                        answered(pending);
                    });
    if (state.extended_speeds) {
        pending->reading.extended_speeds = *state.extended_speeds;
        --pending->open;
    } else {
        state.wait_speeds.push_back(pending);
    }
    if (state.caps)
        ask_counters(switch_lid, *state.caps, pending);
    else
        state.wait_caps.push_back(pending);
}

void PortReader::ask_switch(std::uint16_t lid, Switch &state) {
    if (state.asked)
        return;
    state.asked = true;
    engine_->submit({.lid = lid, .attribute = attribute::port_info, .modifier = 0}, [this, lid](const Reply &reply) {
        Switch &of = switches_[lid];
        const auto info = reply.outcome == Outcome::ok ? decode_port_info(reply.data) : std::nullopt;
        of.extended_speeds = info && info->extended_speeds();
        for (const PendingPtr &pending : std::exchange(of.wait_speeds, {})) {
            pending->reading.extended_speeds = *of.extended_speeds;
            answered(pending);
        }
    });
    engine_->submit({.mad_class = MadClass::gmp, .lid = lid, .attribute = attribute::class_port_info},
                    [this, lid](const Reply &reply) {
                        Switch &of = switches_[lid];
                        const auto caps =
                            reply.outcome == Outcome::ok ? decode_class_port_info(reply.data) : std::nullopt;
                        // A PMA that lacks the attribute still gives the mandatory counters. One that is silent is
                        // given up, and then nothing it might have is called unsupported.
                        of.caps = caps.value_or(reply.outcome == Outcome::timed_out ? unknown_capabilities
                                                                                    : PmaCapabilities{});
                        for (const PendingPtr &pending : std::exchange(of.wait_caps, {}))
                            ask_counters(lid, *of.caps, pending);
                    });
}

void PortReader::ask_counters(std::uint16_t lid, const PmaCapabilities &caps, const PendingPtr &pending) {
    const auto port = static_cast<std::uint8_t>(pending->port);
    const auto ask_one = [&](std::uint16_t id, auto decode, auto missing) {
        ++pending->open;
        engine_->submit({.mad_class = MadClass::gmp, .lid = lid, .attribute = id, .port_select = port},
                        [pending, caps, decode, missing](const Reply &reply) {
                            Counters &counters = pending->reading.counters;
                            if (reply.outcome == Outcome::ok)
                                decode(caps, pending->port, reply.data, counters);
                            else
                                missing(caps, absence_of(reply.outcome), counters);
                            answered(pending);
                        });
    };
    if (caps.needs_classic())
        ask_one(attribute::port_counters, decode_port_counters, missing_port_counters);
    if (caps.extended())
        ask_one(attribute::port_counters_extended, decode_port_counters_extended, missing_port_counters_extended);
    answered(pending);
}

} // namespace fabric_check::mad
