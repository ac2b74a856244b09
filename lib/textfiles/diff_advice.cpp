// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff.hpp"
#include "verdict/discards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fabric_check::textfiles {

namespace {

/// Over all ports.
class Steps {
public:
    explicit Steps(const Diff &diff) : diff_(diff) {
        for (const DiffPort &port : diff.ports) {
            for (const std::string &counter : blamed(port, diff.verdict)) {
                blamed_.insert(counter);
                roce_ = roce_ || port.profile == Profile::roce;
            }
            for (const LiveCounter &counter : port.verdict.live) {
                layers_.insert(counter.layer);
            }
        }
    }

    std::vector<std::string> run() {
        by_word();
        follow_ups();
        return std::move(steps_);
    }

private:
    void say(std::string text) { steps_.push_back(std::move(text)); }

    bool moved(std::string_view counter) const {
        return std::any_of(diff_.ports.begin(), diff_.ports.end(), [&](const DiffPort &port) {
            const auto at = port.deltas.find(std::string(counter));
            return at != port.deltas.end() && at->second.value.value_or(0) > 0;
        });
    }

    /// Is one of the counters that convict named like this?
    bool named(std::string_view start, std::string_view end = "") const {
        return std::any_of(blamed_.begin(), blamed_.end(), [&](const std::string &counter) {
            return counter.starts_with(start) && counter.ends_with(end);
        });
    }

    template <class Is> bool unread(const Is &is) const {
        return std::any_of(diff_.ports.begin(), diff_.ports.end(), [&](const DiffPort &port) {
            return std::any_of(port.verdict.unread.begin(), port.verdict.unread.end(), is);
        });
    }

    void by_word() {
        const std::string &word = diff_.verdict;
        if (word == "physical") {
            physical();
        } else if (word == "pause-storm") {
            say("Look at this host as the receiver: it stopped taking data and held its switch. A stuck application, "
                "driver or firmware, or a slow PCIe slot (lspci -vv, LnkSta).");
        } else if (word == "lossless-broken") {
            lossless();
        } else if (word == "transport-retry") {
            retries();
        } else if (word == "congestion") {
            congestion();
        } else if (word == "unusable") {
            unusable();
        } else if (word == "incomplete") {
            incomplete();
        } else if (word == "no-traffic") {
            say("No traffic, no evidence: move data over the port between the readings, or tell what was moved "
                "with --bytes.");
        }
    }

    void physical() {
        if (named("pcie")) {
            say("Reseat the card in its slot, and look whether the slot and the BIOS give it all lanes at full speed "
                "(lspci -vv, LnkCap and LnkSta).");
            if (blamed_.size() == 1) {
                return;
            }
        }
        say("Look at both ends of this link with mlxlink or mstlink (optics, signal, bit errors), swap the cable, and "
            "repeat: errors that go with the cable are the cable's, errors that stay are the port's.");
        if (named("LinkDowned")) {
            say("A link also goes down when either end reboots or is reset: rule that out first.");
        }
    }

    void lossless() {
        if (roce_) {
            say("Look at flow control and buffers: PFC on for the same priority on host and switch (dcb pfc show, or "
                "mlnx_qos), traffic really in that priority (DSCP and trust), headroom large enough for the cable.");
            return;
        }
        const auto reasons = discard_reasons([this](std::string_view counter) { return moved(counter); });
        steps_.insert(steps_.end(), reasons.begin(), reasons.end());
        if (reasons.empty()) {
            say("Tell the reasons for discards apart with `perfquery --xmtdisc LID PORT`, taken twice: an inactive port, "
                "the HOQ lifetime, or a slow receiver behind this port.");
        }
    }

    void retries() {
        if (named("rnr_nak")) {
            say("Receivers had no buffer posted: that is the application or its MPI settings, not a cable.");
        }
        if (!named("rnr_nak") || blamed_.size() > 1) {
            say("Packets were lost or late without an error at this port: read the switch port that faces it, and its "
                "peers, over the same time, and repeat on other nodes.");
        }
    }

    void congestion() {
        if (named("tx_", "pause")) {
            say("This host sent the pauses: it is the slow receiver. Look at its PCIe slot, NUMA placement and "
                "application.");
        }
        if (named("rx_", "pause")) {
            say("The switch paused this host: look for a slow receiver further on, or for too little capacity.");
        }
        if (named("rp_cnp") || named("np_")) {
            say("Congestion control slowed senders down: look at DCQCN and the switch's ECN thresholds, then at capacity "
                "and many-to-one traffic.");
        }
        if (steps_.empty()) {
            say("Look for a slow receiver, or for too little capacity.");
        }
    }

    void unusable() {
        if (unread([](const Unread &counter) { return counter.reason == "reset"; })) {
            say("Somebody reset counters between the readings (a monitor, or the subnet manager's performance manager): "
                "stop that, then take both readings again.");
        }
        if (unread([](const Unread &counter) { return counter.reason == "saturated"; })) {
            say("A counter at its cap counts no further: take 64-bit counters (perfquery -x), have that one field reset "
                "(fabric-check reset --pegged), "
                "or give the traffic with --bytes where only data counters are full.");
        }
        if (unread([](const Unread &counter) { return counter.reason == "bytes not known"; })) {
            say("How bad it is depends on the traffic, which no counter tells: give it with --bytes.");
        }
        if (steps_.empty()) {
            say("These counters prove nothing either way: take both readings again.");
        }
    }

    static bool on_neither_side(const Unread &counter) {
        return counter.missing && (counter.reason == "absent" || counter.reason == "unsupported");
    }

    bool lacks(CounterSource source) const {
        return unread([source](const Unread &counter) {
            const CounterInfo *row = find_counter(counter.counter);
            return on_neither_side(counter) && row != nullptr && row->source == source;
        });
    }

    void incomplete() {
        if (unread([](const Unread &counter) { return counter.reason == "rebooted"; })) {
            say("The host rebooted between the readings: find out why, then take both readings anew.");
        }
        if (lacks(CounterSource::hw_counters)) {
            say("There are no counters of retries and congestion control on either side: perfquery and ethtool show none. "
                "Add `grep -H . /sys/class/infiniband/*/ports/*/hw_counters/*`, or use `fabric-check snapshot`.");
        }
        pauses();
        if (lacks(CounterSource::pma)) {
            say("There are no InfiniBand error counters on either side: add `perfquery -x`, or use "
                "`fabric-check snapshot`.");
        }
        const bool one_sided = unread([](const Unread &counter) {
            return counter.missing && (counter.reason == "absent at start" || counter.reason == "absent at end");
        });
        if (one_sided) {
            say("Some counters are on one side only: take both readings with the same tools.");
        }
        if (unread([](const Unread &counter) { return counter.missing && counter.reason == "denied"; })) {
            say("Some counters may be read by root only: take both readings as root.");
        }
        if (steps_.empty()) {
            say("Some counters could not be read: see the reasons above, and take both readings again.");
        }
        other_profile();
    }

    void pauses() {
        const bool no_priority =
            unread([](const Unread &counter) { return counter.reason == "no priority has flow control"; });
        if (!lacks(CounterSource::ethtool) && !no_priority) {
            return;
        }
        const bool read = std::any_of(diff_.ports.begin(), diff_.ports.end(),
                                      [](const DiffPort &port) { return has(port, CounterSource::ethtool); });
        if (!read) {
            say("There are no pause and discard counters on either side: add `ethtool -S` of the port's network device, or "
                "use `fabric-check snapshot`.");
        } else if (no_priority) {
            say("ethtool shows no rx_prio<n>_pause: no priority has PFC on. Turn it on, or judge the port without "
                "--profile where it uses 802.3x pauses.");
        } else {
            say("ethtool was read and does not show all: this driver or kernel has no such counters, or the output was cut.");
        }
    }

    /// Everything of the profile is missing: it may be the wrong one.
    void other_profile() {
        for (const DiffPort &port : diff_.ports) {
            const bool has_ethtool = has(port, CounterSource::ethtool), has_pma = has(port, CounterSource::pma);
            if (port.profile == Profile::ib && has_ethtool && !has_pma) {
                say("These are the counters of a RoCE port: judge it with --profile roce.");
                return;
            }
            if (port.profile == Profile::roce && has_pma && !has_ethtool) {
                say("If this is an InfiniBand port, judge it with --profile ib.");
                return;
            }
        }
    }

    static bool has(const DiffPort &port, CounterSource source) {
        return std::any_of(port.deltas.begin(), port.deltas.end(), [source](const auto &delta) {
            const CounterInfo *row = find_counter(delta.first);
            return row != nullptr && row->source == source;
        });
    }

    void follow_ups() {
        const auto lead = std::find_if(layers_.begin(), layers_.end(),
                                       [&](Layer layer) { return to_string(layer) == diff_.verdict; });
        if (lead == layers_.end() || std::next(lead) == layers_.end()) {
            return;
        }
        std::string others;
        for (auto layer = std::next(lead); layer != layers_.end(); ++layer) {
            others += fmt::format("{}{}", others.empty() ? "" : ", ", to_string(*layer));
        }
        say(fmt::format("What is live above it ({}) most likely follows from it: put this right first, and repeat.",
                        others));
    }

    const Diff &diff_;
    std::set<std::string> blamed_;
    std::set<Layer> layers_;
    bool roce_ = false;
    std::vector<std::string> steps_;
};

} // namespace

std::vector<std::string> next_steps(const Diff &diff) {
    return Steps(diff).run();
}

} // namespace fabric_check::textfiles
