// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff_advice.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check::textfiles {

namespace {

constexpr std::size_t most_names = 6;

class Gaps {
public:
    explicit Gaps(const DiffPort &port) : port_(port), unread_(port.verdict.unread) {}

    Advice run() {
        if (port_.rebooted) {
            say("The host rebooted between the readings: find out why, then take both readings anew.");
        } else if (port_.other) {
            say("BEFORE and AFTER are of different ports: take both readings of the same one.");
        } else if (port_.verdict.outcome == Outcome::incomplete) {
            incomplete();
        } else {
            unusable();
        }
        return std::move(steps_);
    }

private:
    void say(std::string text) { steps_.push_back(std::move(text)); }

    template <class Is> std::vector<std::string> names(const Is &is) const {
        std::vector<std::string> found;
        for (const Unread &counter : unread_) {
            if (is(counter)) {
                found.push_back(counter.counter);
            }
        }
        return found;
    }

    std::vector<std::string> with_reason(NoDelta why) const {
        return names([why](const Unread &counter) { return counter.reason == to_string(why); });
    }
    bool any_reason(std::string_view reason) const {
        return std::any_of(unread_.begin(), unread_.end(), [&](const Unread &u) { return u.reason == reason; });
    }

    void unusable() {
        if (!with_reason(NoDelta::reset).empty()) {
            say(only_decreases()
                    ? "Every counter that changed went down: somebody reset counters between the readings, or "
                      "BEFORE and AFTER are swapped."
                    : "Somebody reset counters between the readings (a monitor, or the subnet manager's "
                      "performance manager): stop that, then take both readings again.");
        }
        saturated();
        if (any_reason("bytes not known")) {
            say("How bad it is depends on the traffic, which no counter tells: give it with --bytes.");
        }
        if (any_reason("time not known")) {
            say("A bar per hour needs the time between the readings, which these do not tell: `fabric-check snapshot` "
                "records it.");
        }
        if (!with_reason(NoDelta::frozen).empty() || !with_reason(NoDelta::implausible).empty()) {
            say("The data counters cannot be believed (the card's firmware, or a reading of something else): read the "
                "switch port at the other end, or tell what was moved with --bytes.");
        }
        if (!with_reason(NoDelta::width_changed).empty()) {
            say("Some counters were read from fields of different width: take both readings with the same tools.");
        }
        if (steps_.empty()) {
            say("These counters prove nothing either way: take both readings again.");
        }
    }

    bool only_decreases() const {
        std::size_t down = 0;
        for (const auto &[name, delta] : port_.deltas) {
            if (delta.value.value_or(0) > 0) {
                return false;
            }
            down += !delta.value && delta.why == NoDelta::reset ? 1 : 0;
        }
        return down > 1;
    }

    void saturated() {
        std::vector<std::string> data, errors;
        for (std::string &name : with_reason(NoDelta::saturated)) {
            const CounterInfo *row = find_counter(name);
            const bool moves = row != nullptr && row->unit != Unit::events;
            (moves && row->layer == Layer::ungraded ? data : errors).push_back(std::move(name));
        }
        if (!data.empty()) {
            say(fmt::format("{} is full: take the 64-bit copies where the port has them (`perfquery -x`), or give the "
                            "traffic with --bytes.",
                            join(data, most_names)));
        }
        if (!errors.empty()) {
            const char *how = is_of_fabric()
                                  ? "`fabric-check reset --pegged` lists such fields of switch ports, and with "
                                    "--apply --reason TEXT resets these alone"
                                  : "have that one field reset (`perfquery -R LID PORT MASK`; of a switch's "
                                    "port: `fabric-check reset --pegged`)";
            say(fmt::format("A counter at its cap counts no further ({}): {}. Then take both readings again.",
                            join(errors, most_names), how));
        }
    }

    /// Read by LID, and not told to be a host's.
    bool is_of_fabric() const { return port_.kind == PortKind::switch_port; }

    std::vector<std::string> lacking(CounterSource source) const {
        return names([source](const Unread &counter) {
            const CounterInfo *row = find_counter(counter.counter);
            return counter.missing && (counter.reason == "absent" || counter.reason == "unsupported") &&
                   row != nullptr && row->source == source;
        });
    }

    /// Is anything of it there, on either side? Names that several drivers have, network devices use as well.
    bool has(CounterSource source) const {
        return std::any_of(port_.deltas.begin(), port_.deltas.end(), [source](const auto &delta) {
            const CounterInfo *row = find_counter(delta.first);
            const bool of_any = source == CounterSource::hw_counters && row != nullptr && row->drivers == any_driver;
            return row != nullptr && row->source == source && !of_any;
        });
    }

    void incomplete() {
        const bool untold = !port_.profile_told && has(CounterSource::hw_counters);
        retries();
        pauses();
        if (untold) {
            either_way();
        } else {
            errors();
        }
        flow_control();
        one_sided();
        if (any_reason("denied")) {
            say("Some counters may be read by root only: take both readings as root.");
        }
        if (any_reason("none that this port is judged by")) {
            say("Nothing was read that tells of faults: add `ethtool -S` of the port's network device, or use "
                "`fabric-check snapshot`.");
        }
        if (steps_.empty()) {
            say("Some counters could not be read: see the reasons above, and take both readings again.");
        }
        other_profile();
    }

    void retries() {
        const auto missing = lacking(CounterSource::hw_counters);
        if (missing.empty()) {
            return;
        }
        if (is_of_fabric()) {
            say("A switch's port has no counters of retries and congestion control; --profile asks for them all the "
                "same: "
                "judge it without --profile.");
            return;
        }
        if (has(CounterSource::hw_counters)) {
            say(fmt::format(
                "hw_counters were read and do not show all (missing: {}): this driver or kernel has no such "
                "counters, or the output was cut.{}",
                join(missing, most_names), names_of_mlx5()));
            return;
        }
        if (port_.from == KeyKind::lid && unread_.size() == missing.size() && !port_.profile_given) {
            say("If this is the port of a switch, which has no counters of retries: --kind switch.");
        }
        const bool pma = has(CounterSource::pma), ethtool = has(CounterSource::ethtool);
        const char *shown = pma && ethtool ? ": perfquery and ethtool show none"
                            : pma          ? ": perfquery shows none"
                            : ethtool      ? ": ethtool shows none"
                                           : "";
        say(fmt::format(
            "There are no counters of retries and congestion control on either side{}. Add "
            "`grep -H . /sys/class/infiniband/*/ports/*/hw_counters/*` or `rdma statistic` of the host, or use "
            "`fabric-check snapshot`.{}",
            shown, names_of_mlx5()));
    }

    const char *names_of_mlx5() const {
        const Driver driver = driver_from(port_.driver);
        return port_.profile_given && driver != any_driver && driver != mlx5
                   ? " --profile asks for what mlx5 calls them: judge this card without --profile."
                   : "";
    }

    void pauses() {
        const auto missing = lacking(CounterSource::ethtool);
        const bool no_priority = any_reason("no priority has flow control");
        if (missing.empty() && !no_priority) {
            return;
        }
        if (!has(CounterSource::ethtool)) {
            say("There are no pause and discard counters on either side: add `ethtool -S` of the port's network "
                "device, or "
                "use `fabric-check snapshot`.");
        } else if (no_priority) {
            say(std::string("ethtool shows no rx_prio<n>_pause: no priority has PFC on. Turn it on") +
                (port_.profile_given
                     ? ", or judge the port without --profile where it uses 802.3x pauses."
                     : ", or 802.3x pauses (rx_global_pause): without either the port is not lossless."));
        } else {
            say(fmt::format("ethtool was read and does not show all (missing: {}): this driver or kernel has no such "
                            "counters, or the output was cut.{}",
                            join(missing, most_names), names_of_mlx5()));
        }
    }

    void errors() {
        const auto missing = lacking(CounterSource::pma);
        if (missing.empty()) {
            return;
        }
        const bool some = has(CounterSource::pma) || has(CounterSource::pma_extended);
        say(fmt::format(
            "{}: add plain `perfquery`{}, which shows {}{}.{}",
            some ? "There are not all InfiniBand error counters on either side"
                 : "There are no InfiniBand error counters on either side",
            port_.from == KeyKind::lid ? " LID PORT" : "", join(missing, most_names),
            is_of_fabric() ? "" : ", or use `fabric-check snapshot`",
            some ? " `perfquery -x` has the data counters' 64-bit copies, and ibqueryerrors shows only what is "
                   "above its thresholds: one that it does not show is not known to be zero."
                 : ""));
    }

    /// hw_counters alone are the same on both kinds of network.
    void either_way() {
        std::string sign;
        for (const auto &[name, delta] : port_.deltas) {
            const bool of_roce = name.starts_with("np_") || name.starts_with("rp_") || name.starts_with("roce_");
            if (of_roce && delta.value.value_or(0) > 0) {
                sign = fmt::format(" ({} moved, which is RoCE's)", name);
                break;
            }
        }
        say(fmt::format(
            "Nothing tells whether this is InfiniBand or RoCE{}. If this is a RoCE port: --profile roce and add "
            "`ethtool -S` of its network device. If it is InfiniBand: add plain `perfquery`.",
            sign));
    }

    bool is_one_sided(const Unread &counter) const {
        return counter.missing && (counter.reason == "absent at start" || counter.reason == "absent at end");
    }

    bool is_flow_control(const Unread &counter) const {
        return is_one_sided(counter) && counter.counter.starts_with("rx_prio") && counter.counter.ends_with("_pause");
    }

    /// A priority's pauses are counted only where it has flow control; ethtool itself was read on both sides.
    bool was_switched() const {
        return std::any_of(port_.deltas.begin(), port_.deltas.end(), [](const auto &delta) {
            const CounterInfo *row = find_counter(delta.first);
            return delta.second.value && row != nullptr && row->source == CounterSource::ethtool;
        });
    }

    void flow_control() {
        const auto off = names([this](const Unread &u) { return is_flow_control(u) && u.reason == "absent at end"; });
        const auto on = names([this](const Unread &u) { return is_flow_control(u) && u.reason == "absent at start"; });
        for (const auto &[which, how] : {std::pair{&off, "off"}, std::pair{&on, "on"}}) {
            if (!which->empty() && was_switched()) {
                say(fmt::format(
                    "PFC was switched {} between the readings ({} is there on one side only): find out who did "
                    "it, set it as it should be, and take both readings anew.",
                    how, join(*which, most_names)));
            }
        }
    }

    void one_sided() {
        const auto which = names([this](const Unread &counter) {
            return is_one_sided(counter) && !(is_flow_control(counter) && was_switched());
        });
        if (which.empty()) {
            return;
        }
        const bool whole = std::none_of(port_.deltas.begin(), port_.deltas.end(),
                                        [](const auto &delta) { return delta.second.value.has_value(); });
        if (whole) {
            say("The port is in one reading only: it was added or is gone, or the tools did not show it.");
        } else {
            say(fmt::format("Some counters are on one side only ({}): take both readings with the same tools.",
                            join(which, most_names)));
        }
    }

    /// Everything of the profile is missing: it may be the wrong one.
    void other_profile() {
        const bool ethtool = has(CounterSource::ethtool), pma = has(CounterSource::pma);
        if (port_.profile == Profile::ib && ethtool && !pma) {
            say("These are the counters of a RoCE port: judge it with --profile roce.");
        } else if (port_.profile == Profile::roce && port_.profile_given && pma && !ethtool) {
            say("If this is an InfiniBand port, judge it with --profile ib.");
        }
    }

    const DiffPort &port_;
    const std::vector<Unread> &unread_;
    Advice steps_;
};

} // namespace

Advice gaps(const DiffPort &port) {
    return Gaps(port).run();
}

} // namespace fabric_check::textfiles
