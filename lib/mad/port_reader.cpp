// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/port_reader.hpp"

#include "base/clock.hpp"

namespace fabric_check::mad {

namespace {

constexpr PmaCapabilities unknown_capabilities{1U << 12U | 1U << 15U, 0};

constexpr std::uint16_t optional_attributes[] = {
    attribute::port_rcv_error_details, attribute::port_xmit_discard_details, attribute::port_extended_speeds_counters};
constexpr std::size_t receive_errors = 0, discards = 1, extended_speeds = 2;

} // namespace

void PortReader::answered(const PendingPtr &pending) {
    if (--pending->open == 0 && pending->ready)
        pending->ready(std::move(pending->reading));
}

void PortReader::ask(std::uint16_t switch_lid, unsigned port, Ready ready) {
    auto pending = std::make_shared<Pending>();
    pending->port = port;
    pending->ready = std::move(ready);
    pending->open = 1; // capabilities, and the counters that follow from them

    Switch &state = switches_[switch_lid];
    ask_switch(switch_lid, state);
    if (options_.info)
        ask_info(switch_lid, state, pending);
    if (state.caps)
        ask_counters(switch_lid, *state.caps, pending);
    else
        state.wait_caps.push_back(pending);
}

void PortReader::ask_info(std::uint16_t lid, Switch &state, const PendingPtr &pending) {
    ++pending->open;
    engine_->submit({.lid = lid, .attribute = attribute::port_info, .modifier = pending->port},
                    [pending](const Reply &reply) {
                        pending->reading.info_outcome = reply.outcome;
                        if (reply.outcome == Outcome::ok)
                            pending->reading.info = decode_port_info(reply.data);
                        answered(pending);
                    });
    if (state.extended_speeds) {
        pending->reading.extended_speeds = *state.extended_speeds;
        return;
    }
    ++pending->open;
    state.wait_speeds.push_back(pending);
}

void PortReader::ask_switch(std::uint16_t lid, Switch &state) {
    if (state.asked)
        return;
    state.asked = true;
    if (options_.info)
        ask_extended_speeds(lid);
    ask_capabilities(lid);
}

void PortReader::ask_extended_speeds(std::uint16_t lid) {
    engine_->submit({.lid = lid, .attribute = attribute::port_info, .modifier = 0}, [this, lid](const Reply &reply) {
        Switch &of = switches_[lid];
        const auto info = reply.outcome == Outcome::ok ? decode_port_info(reply.data) : std::nullopt;
        of.extended_speeds = info && info->extended_speeds();
        for (const PendingPtr &pending : std::exchange(of.wait_speeds, {})) {
            pending->reading.extended_speeds = *of.extended_speeds;
            answered(pending);
        }
    });
}

void PortReader::ask_capabilities(std::uint16_t lid) {
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
                            if (reply.outcome == Outcome::ok) {
                                decode(caps, pending->port, reply.data, counters);
                                pending->reading.time_ns = wall_ns();
                            } else {
                                missing(caps, absence_of(reply.outcome), counters);
                            }
                            answered(pending);
                        });
    };
    if (caps.needs_classic())
        ask_one(attribute::port_counters, decode_port_counters, missing_port_counters);
    if (caps.extended())
        ask_one(attribute::port_counters_extended, decode_port_counters_extended, missing_port_counters_extended);
    if (options_.details)
        ask_details(lid, caps, pending);
    answered(pending);
}

void PortReader::ask_details(std::uint16_t lid, const PmaCapabilities &caps, const PendingPtr &pending) {
    pending->open += 3;
    ask_optional(lid, receive_errors, false, pending);
    ask_optional(lid, discards, false, pending);
    if (!caps.rs_fec_counters()) {
        ask_optional(lid, extended_speeds, false, pending);
        return;
    }
    // Which of its two layouts the attribute has, PortInfoExtended tells; without its answer it is not read.
    engine_->submit({.lid = lid, .attribute = attribute::port_info_extended, .modifier = pending->port, .probe = true},
                    [this, lid, pending](const Reply &reply) {
                        const auto rs_fec =
                            reply.outcome == Outcome::ok ? decode_rs_fec(reply.data) : std::optional<bool>();
                        if (rs_fec)
                            ask_optional(lid, extended_speeds, *rs_fec, pending);
                        else
                            answered(pending);
                    });
}

void PortReader::ask_optional(std::uint16_t lid, std::size_t which, bool rs_fec, const PendingPtr &pending) {
    using Known = Optional::Known;
    Optional &state = switches_[lid].optional[which];
    if (state.known == Known::absent) {
        answered(pending);
        return;
    }
    if (state.known == Known::asked) { // the first port's answer tells whether there is any use in asking
        state.wait.push_back({pending, rs_fec});
        return;
    }
    if (state.known == Known::no)
        state.known = Known::asked;
    engine_->submit({.mad_class = MadClass::gmp,
                     .lid = lid,
                     .attribute = optional_attributes[which],
                     .port_select = static_cast<std::uint8_t>(pending->port),
                     .probe = true},
                    [this, lid, which, rs_fec, pending](const Reply &reply) {
                        if (reply.outcome == Outcome::ok) {
                            Counters &counters = pending->reading.counters;
                            if (which == receive_errors)
                                decode_receive_error_details(pending->port, reply.data, counters);
                            else if (which == discards)
                                decode_discard_details(pending->port, reply.data, counters);
                            else
                                decode_extended_speeds(rs_fec, pending->port, reply.data, counters);
                        }
                        Optional &of = switches_[lid].optional[which];
                        if (of.known == Known::asked) {
                            of.known = reply.outcome == Outcome::ok ? Known::yes : Known::absent;
                            for (const Waiting &next : std::exchange(of.wait, {}))
                                ask_optional(lid, which, next.rs_fec, next.pending);
                        }
                        answered(pending);
                    });
}

} // namespace fabric_check::mad
