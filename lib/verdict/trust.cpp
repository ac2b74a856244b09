// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/trust.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fabric_check {

namespace {

constexpr double slack_seconds = 1;  ///< readings are not taken at one moment
constexpr double slack_share = 0.02; ///< counters of both ends are not read at one moment either
constexpr double slack_bytes = 1e6;  ///< management traffic
constexpr std::uint64_t packets_that_carry_data = 1000;

constexpr double bytes_per_gigabit = 1e9 / 8;

struct Direction {
    const char *data, *packets;
};
constexpr Direction directions[] = {{"PortXmitData", "PortXmitPkts"}, {"PortRcvData", "PortRcvPkts"}};

std::optional<std::uint64_t> value(const Deltas &deltas, const char *counter) {
    const auto at = deltas.find(counter);
    return at == deltas.end() ? std::nullopt : at->second.value;
}

/// Seconds by which the readings of two ports lie apart, at start and end together.
double skew(const PortResult &a, const PortResult &b) {
    const auto apart = [](std::int64_t x, std::int64_t y) {
        return std::abs(static_cast<double>(x) - static_cast<double>(y)) / 1e9;
    };
    return apart(a.times.from_ns, b.times.from_ns) + apart(a.times.to_ns, b.times.to_ns) + slack_seconds;
}

class Ends {
public:
    explicit Ends(PortSet &set) : set_(set) {}

    /// What `sender` sent, by itself and by what `receiver` received.
    void compare(PortResult &sender, PortResult &receiver) {
        if (!sender.xmit_bytes || !receiver.rcv_bytes) {
            return;
        }
        const auto sent = static_cast<double>(*sender.xmit_bytes), received = static_cast<double>(*receiver.rcv_bytes);
        const double rate = std::max(link_gbps(sender), link_gbps(receiver)) * bytes_per_gigabit;
        const double tolerance = slack_share * std::max(sent, received) + slack_bytes + rate * skew(sender, receiver);
        if (rate <= 0 || std::abs(sent - received) <= tolerance) {
            return;
        }
        if (sent == 0) {
            freeze(sender, "PortXmitData", sender.xmit_bytes, receiver.rcv_bytes);
        } else if (received == 0) {
            freeze(receiver, "PortRcvData", receiver.rcv_bytes, sender.xmit_bytes);
        } else {
            set_.unread.push_back({sender.where, "PortXmitData",
                                   fmt::format("the ends disagree: {} sent, {} received",
                                               human_bytes(*sender.xmit_bytes), human_bytes(*receiver.rcv_bytes)),
                                   Layer::ungraded, false});
        }
    }

private:
    void freeze(PortResult &port, const char *counter, std::optional<std::uint64_t> &own,
                const std::optional<std::uint64_t> &other) {
        port.deltas[counter] = {std::nullopt, NoDelta::frozen};
        own = other;
        set_.unread.push_back({port.where, counter, to_string(NoDelta::frozen), Layer::ungraded, false});
        if (port.verdict.outcome == Outcome::no_traffic) {
            port.verdict.outcome = port.verdict.live.empty() ? Outcome::clean : Outcome::live;
        }
    }

    PortSet &set_;
};

} // namespace

double link_gbps(const PortResult &port) {
    double gbps = 0;
    for (const HcaPort *side : {port.host_start, port.host_end}) {
        gbps = side != nullptr ? std::max(gbps, side->rate.data_gbps) : gbps;
    }
    for (const SwitchPort *side : {port.switch_start, port.switch_end}) {
        gbps = side != nullptr ? std::max(gbps, side->rate.data_gbps) : gbps;
    }
    return gbps;
}

void distrust_data(Deltas &deltas, double gbps, double seconds) {
    for (const Direction &direction : directions) {
        const auto moved = value(deltas, direction.data);
        if (!moved) {
            continue;
        }
        const double most = gbps * bytes_per_gigabit * (1 + slack_share) * (seconds + slack_seconds);
        if (gbps > 0 && seconds > 0 && static_cast<double>(*moved) * 4 > most) {
            deltas[direction.data] = {std::nullopt, NoDelta::implausible};
        } else if (*moved == 0 && value(deltas, direction.packets).value_or(0) >= packets_that_carry_data) {
            deltas[direction.data] = {std::nullopt, NoDelta::frozen};
        }
    }
}

void compare_ends(PortSet &set) {
    Ends ends(set);
    for (std::size_t i = 0; i < set.ports.size(); ++i) {
        const int peer = set.ports[i].peer;
        if (peer > static_cast<int>(i)) {
            PortResult &one = set.ports[i], &other = set.ports[static_cast<std::size_t>(peer)];
            ends.compare(one, other);
            ends.compare(other, one);
        }
    }
}

} // namespace fabric_check
