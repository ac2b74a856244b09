// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff_advice.hpp"
#include "base/text.hpp"
#include "verdict/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fabric_check::textfiles {

namespace {

/// What a finding of one port leads to.
class Remedies {
public:
    Remedies(const DiffPort &port, const std::string &verdict) : port_(port), verdict_(verdict) {
        for (const std::string &counter : blamed(port, verdict)) {
            blamed_.insert(counter);
        }
    }

    Advice run() {
        if (verdict_ == "physical") {
            physical();
        } else if (verdict_ == "pause-storm") {
            say("Look at this host as the receiver: it stopped taking data and held its switch. A stuck application, "
                "driver or firmware, or a slow PCIe slot (lspci -vv, LnkSta).");
        } else if (verdict_ == "lossless-broken") {
            lossless();
        } else if (verdict_ == "transport-retry") {
            retries();
        } else if (verdict_ == "congestion") {
            congestion();
        }
        follow_ups();
        return std::move(steps_);
    }

private:
    void say(std::string text) { steps_.push_back(std::move(text)); }

    bool moved(std::string_view counter) const {
        const auto at = port_.deltas.find(std::string(counter));
        return at != port_.deltas.end() && at->second.value.value_or(0) > 0;
    }

    /// Is one of the counters that convict named like this?
    bool named(std::string_view start) const {
        return std::any_of(blamed_.begin(), blamed_.end(),
                           [&](const std::string &counter) { return counter.starts_with(start); });
    }

    void physical() {
        if (named("pcie")) {
            say("Reseat the card in its slot, and look whether the slot and the BIOS give it all lanes at full speed "
                "(lspci -vv, LnkCap and LnkSta).");
            if (blamed_.size() == 1) {
                return;
            }
        }
        if (named("state")) {
            say("Find out why the link is down: cable, optic, or whoever is at its other end.");
        }
        say("Look at both ends of this link with mlxlink or mstlink (optics, signal, bit errors), swap the cable, and "
            "repeat: errors that go with the cable are the cable's, errors that stay are the port's.");
        if (named("LinkDowned") || named("link_down")) {
            say("A link also goes down when either end reboots or is reset: rule that out first.");
        }
    }

    void lossless() {
        if (port_.profile == Profile::roce) {
            say("Look at flow control and buffers: PFC on for the same priority on host and switch (dcb pfc show, or "
                "mlnx_qos), traffic really in that priority (DSCP and trust), headroom large enough for the cable.");
            return;
        }
        const auto reasons = discard_reasons([this](std::string_view counter) { return moved(counter); });
        steps_.insert(steps_.end(), reasons.begin(), reasons.end());
        if (reasons.empty()) {
            say("Tell the reasons for discards apart with `perfquery --xmtdisc LID PORT`, taken twice: an inactive "
                "port, "
                "the HOQ lifetime, or a slow receiver behind this port.");
        }
    }

    void retries() {
        const auto of_late = std::count_if(blamed_.begin(), blamed_.end(), is_receiver_not_ready);
        if (of_late > 0) {
            say("Receivers had no buffer posted: that is the application or its MPI settings, not a cable.");
        }
        if (static_cast<std::size_t>(of_late) < blamed_.size()) {
            say("Packets were lost or late without an error at this port: read the switch port that faces it, and its "
                "peers, over the same time, and repeat on other nodes.");
        }
    }

    bool congested(Against against) const {
        return std::any_of(blamed_.begin(), blamed_.end(),
                           [against](const std::string &counter) { return is_congestion(counter, against); });
    }

    void congestion() {
        if (congested(Against::received)) {
            say("This host sent the pauses: it is the slow receiver. Look at its PCIe slot, NUMA placement and "
                "application.");
        }
        if (congested(Against::sent)) {
            say("The switch paused this host: look for a slow receiver further on, or for too little capacity.");
        }
        if (congested(Against::both)) {
            say("Congestion control slowed senders down: look at DCQCN and the switch's ECN thresholds, then at "
                "capacity "
                "and many-to-one traffic.");
        }
        if (steps_.empty()) {
            say("Look for a slow receiver, or for too little capacity.");
        }
    }

    /// Of this port alone: another one's have their own cause.
    void follow_ups() {
        std::set<Layer> above;
        Layer lead = Layer::ungraded;
        for (const LiveCounter &live : port_.verdict.live) {
            lead = to_string(live.layer) == verdict_ ? live.layer : lead;
        }
        for (const LiveCounter &live : port_.verdict.live) {
            if (live.layer > lead) {
                above.insert(live.layer);
            }
        }
        std::string others;
        for (const Layer layer : above) {
            others += fmt::format("{}{}", others.empty() ? "" : ", ", to_string(layer));
        }
        if (!others.empty()) {
            say(fmt::format("What is live above it ({}) most likely follows from it: put this right first, and repeat.",
                            others));
        }
    }

    const DiffPort &port_;
    const std::string &verdict_;
    std::set<std::string> blamed_;
    Advice steps_;
};

/// Over all ports: who each step is about.
class Steps {
public:
    explicit Steps(const Diff &diff) : diff_(diff) {}

    std::vector<std::string> run() {
        if (diff_.verdict == "no-traffic") {
            no_traffic();
        } else if (diff_.verdict == "unusable" || diff_.verdict == "incomplete") {
            for (const DiffPort &port : diff_.ports) {
                const Outcome outcome = port.verdict.outcome;
                if (port.counts && (outcome == Outcome::unusable || outcome == Outcome::incomplete)) {
                    add(port, gaps(port));
                }
            }
            remedies(diff_.rest);
        } else {
            remedies(diff_.verdict);
        }
        std::vector<std::string> texts;
        for (const auto &[text, ports] : steps_) {
            texts.push_back(diff_.ports.size() > 1 && !ports.empty() ? join(ports, 3) + ": " + text : text);
        }
        return texts;
    }

private:
    void remedies(const std::string &verdict) {
        for (const DiffPort &port : diff_.ports) {
            if (!verdict.empty() && !blamed(port, verdict).empty()) {
                add(port, Remedies(port, verdict).run());
            }
        }
    }

    void no_traffic() {
        bool broken = false;
        for (const DiffPort &port : diff_.ports) {
            const bool physical = std::any_of(port.verdict.live.begin(), port.verdict.live.end(),
                                              [](const LiveCounter &live) { return live.layer == Layer::physical; });
            if (physical && !port.excluded) {
                broken = true;
                add(port,
                    {"Nothing was moved, and the link's errors moved all the same: they need no traffic. Look at its "
                     "cable and optics, and repeat with traffic."});
            }
        }
        if (!broken) {
            steps_.emplace_back(
                "No traffic, no evidence: move data over the port between the readings, or tell what was "
                "moved with --bytes.",
                std::vector<std::string>());
        }
    }

    void add(const DiffPort &port, const Advice &advice) {
        for (const std::string &text : advice) {
            const auto at =
                std::find_if(steps_.begin(), steps_.end(), [&](const auto &step) { return step.first == text; });
            (at != steps_.end() ? *at : steps_.emplace_back(text, std::vector<std::string>()))
                .second.push_back(port.port.empty() ? "port" : printable(port.port));
        }
    }

    const Diff &diff_;
    std::vector<std::pair<std::string, std::vector<std::string>>> steps_;
};

} // namespace

std::string join(const std::vector<std::string> &names, std::size_t most) {
    std::string text;
    for (std::size_t at = 0; at < names.size() && at < most; ++at) {
        text += (at > 0 ? ", " : "") + names[at];
    }
    return names.size() > most ? text + fmt::format(" and {} more", names.size() - most) : text;
}

std::vector<std::string> next_steps(const Diff &diff) {
    return Steps(diff).run();
}

} // namespace fabric_check::textfiles
