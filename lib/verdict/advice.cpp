// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/advice.hpp"
#include "verdict/causes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check {

namespace {

class Advice {
public:
    explicit Advice(const JobVerdict &verdict) : verdict_(verdict) {}

    std::vector<std::string> run() {
        by_word(verdict_.verdict);
        if (!verdict_.rest.empty() && verdict_.rest != "clean" && verdict_.rest != "no-traffic") {
            say(fmt::format("What could be read says {}{}; treat that as open until the gap is closed.", verdict_.rest,
                            verdict_.rest_because.empty() ? "" : " at " + verdict_.rest_because.front().where));
        }
        uneven_rails();
        if (verdict_.route == RouteStatus::imbalanced && verdict_.verdict != "routing-imbalance") {
            say("The tables spread this job's nodes badly over the links between the switches, whatever the verdict: "
                "see the routes below; another set of nodes may do better.");
        }
        return std::move(advice_);
    }

private:
    void say(std::string text) { advice_.push_back(std::move(text)); }

    std::string first_where() const { return verdict_.because.empty() ? std::string() : verdict_.because.front().where; }

    std::string first_of(const char *counter) const {
        const auto at = std::find_if(verdict_.because.begin(), verdict_.because.end(),
                                     [counter](const Finding &finding) { return finding.counter == counter; });
        return at == verdict_.because.end() ? std::string() : at->where;
    }

    bool because(const char *counter) const {
        return std::any_of(verdict_.because.begin(), verdict_.because.end(),
                           [counter](const Finding &finding) { return finding.counter == counter; });
    }

    bool hot_by(const char *cause) const {
        return std::any_of(verdict_.hot.begin(), verdict_.hot.end(),
                           [cause](const HotPort &hot) { return hot.cause == cause; });
    }

    /// They never lead, and may be the whole answer all the same.
    void uneven_rails() {
        const auto is_uneven = [](const Finding &finding) { return finding.counter == "rail" && !finding.leads; };
        const auto first = std::find_if(verdict_.live.begin(), verdict_.live.end(), is_uneven);
        if (first != verdict_.live.end()) {
            say(fmt::format("The rails of a node did not share its traffic ({}): see which cards the application or its "
                            "MPI takes (UCX_NET_DEVICES, NCCL_IB_HCA) and to which processes each is near.",
                            first->where));
        }
    }

    /// Does the verdict rest on congestion of this direction?
    bool congested(Against against) const {
        return std::any_of(verdict_.because.begin(), verdict_.because.end(),
                           [against](const Finding &finding) { return is_congestion(finding.counter, against); });
    }

    bool because_of(std::string_view head) const {
        return std::any_of(verdict_.because.begin(), verdict_.because.end(),
                           [&](const Finding &finding) { return finding.counter.starts_with(head); });
    }

    void by_word(const std::string &word) {
        if (word == "clean") {
            say("Nothing to do in the fabric: look at the application, its input and output, and the nodes.");
        } else if (word == "physical") {
            physical();
        } else if (word == "pause-storm") {
            say(fmt::format("Look at the receiver at {}: it stopped taking data.", first_where()));
        } else if (word == "lossless-broken" && because_of("rx_")) {
            say(fmt::format("Packets were dropped at {} for want of buffers: see that flow control (PFC) is on for the "
                            "priority of RDMA at both ends of the link, and how the card's buffers are sized "
                            "(mlnx_qos).", first_where()));
        } else if (word == "lossless-broken") {
            discards();
        } else if (word == "transport-retry") {
            retries();
        } else if (word == "routing-imbalance") {
            routing();
        } else if (word == "congestion") {
            congestion();
        } else if (word == "unusable") {
            unusable();
        } else if (word == "incomplete") {
            incomplete();
        } else if (word == "no-traffic") {
            say("Too little went over the fabric to judge it by: this job's time went elsewhere. If it should have used the "
                "fabric, see whether its MPI or NCCL took these cards, or fell back to TCP or shared memory.");
        }
    }

    /// As the discard details of the port tell, where its switch has them.
    void discards() {
        const std::string where = first_where();
        const auto reasons = discard_reasons([&](std::string_view counter) {
            return std::any_of(verdict_.ports.begin(), verdict_.ports.end(), [&](const PortResult &port) {
                const auto at = port.deltas.find(std::string(counter));
                return port.where == where && at != port.deltas.end() && at->second.value.value_or(0) > 0;
            });
        });
        if (reasons.empty()) {
            say(fmt::format("Packets were dropped at {}: see whether the port was down, or whether the receiver behind "
                            "it stalled longer than the switch's head-of-queue lifetime.", where));
            return;
        }
        say(fmt::format("Packets were dropped at {}.", where));
        for (const std::string &reason : reasons) {
            say(reason);
        }
    }

    void physical() {
        const std::string where = first_where();
        if (because("width") || because("speed")) {
            say(fmt::format("Reseat or replace the cable of {}: the link came up narrower or slower than its peers.", where));
        }
        if (because("pcie")) {
            say(fmt::format("Reseat the card of {} and look at its slot, riser and BIOS settings (lspci -vv: LnkSta "
                            "beside LnkCap): it has less of the PCI Express bus than it could.", first_of("pcie")));
        }
        if (because("rail")) {
            say(fmt::format("Find out why {} is not in use: driver, card, cable or the switch port; the node has less "
                            "network than the others.", first_of("rail")));
        }
        if (std::any_of(verdict_.because.begin(), verdict_.because.end(), [](const Finding &finding) {
                return finding.note.find("at start, ") != std::string::npos && finding.counter != "state";
            })) {
            say("It changed during the job, so the link trained anew: look at the node's kernel log for when.");
        }
        if (because("state")) {
            say(fmt::format("Find out why {} is down: cable, optic, or the host itself.", where));
        }
        if (std::any_of(verdict_.because.begin(), verdict_.because.end(), [](const Finding &finding) {
                return finding.counter != "pcie" && finding.counter != "rail";
            })) {
            say(fmt::format("Look at the optics of both ends of {} (mlxlink or mstlink), reseat or swap the cable, and "
                            "repeat the job.", where));
        }
        if (verdict_.hw == HwStatus::pass) {
            say("The bit-error rate is within its limit: not urgent, but watch whether it grows.");
        }
        const bool retries = std::any_of(verdict_.live.begin(), verdict_.live.end(), [](const Finding &finding) {
            return finding.layer == Layer::transport_retry;
        });
        if (retries) {
            say("The retries listed as live most likely follow from it; do not chase them first.");
        }
    }

    void retries() {
        const auto known = std::find_if(verdict_.live.begin(), verdict_.live.end(), [](const Finding &finding) {
            return finding.layer == Layer::physical && !finding.leads && finding.note.find("known: ") != std::string::npos;
        });
        if (known != verdict_.live.end()) {
            say(fmt::format("They may well follow from the fault of {} that the site knows of ({}).", known->where,
                            known->note));
        }
        const auto late = std::find_if(verdict_.because.begin(), verdict_.because.end(),
                                       [](const Finding &finding) { return is_receiver_not_ready(finding.counter); });
        if (late != verdict_.because.end()) {
            say(fmt::format("Receivers had no buffer posted ({}): that is the application or its MPI settings, not a "
                            "cable.", late->counter));
        }
        const bool others = std::any_of(verdict_.because.begin(), verdict_.because.end(), [](const Finding &finding) {
            return !is_receiver_not_ready(finding.counter);
        });
        if (others && known == verdict_.live.end()) {
            say(fmt::format("Packets were lost without a link reporting errors: compare {} with its peers, and repeat "
                            "the job on other nodes.", first_where()));
        }
        if (advice_.empty()) {
            say(fmt::format("Repeat the job without {} and compare.", first_where()));
        }
    }

    void routing() {
        say("Ask for another set of nodes: the tables lead too many of this job's nodes over the same cable.");
        say("Tell the owner of the subnet manager: the routes below show which links stay idle.");
    }

    /// A cause on a link between switches, inside the job or (false) to or from the services.
    bool hot_by(const char *cause, bool inside) const {
        return std::any_of(verdict_.hot.begin(), verdict_.hot.end(), [cause, inside](const HotPort &hot) {
            return hot.cause == cause && (hot.direction != "from" && hot.direction != "to") == inside;
        });
    }

    void congestion() {
        if (congested(Against::received)) {
            say(fmt::format("{} is a slow receiver and made its switch wait: look at that host's processor, memory and "
                            "PCI Express before the network.", first_where()));
        }
        if (congested(Against::sent)) {
            say("The switch held hosts back (rx pause): look for the slow receiver behind it, which shows tx pause, or "
                "for too little capacity towards it.");
        }
        if (congested(Against::both)) { // not a pause, then: a congestion notification or mark
            say("Congestion control slowed the senders (ECN, DCQCN): look at its settings and thresholds, and at how "
                "many send to one.");
        }
        if (hot_by("capacity", true)) {
            say("Every link between these switches was full: use fewer switches (sbatch --switches=1), or more links.");
        }
        if (hot_by("capacity", false)) {
            say("Every link between the job's switches and the services was full, which no other node behind the same "
                "links can change: it takes more links towards the services, services behind other links, or reading "
                "and writing spread over a longer time.");
        }
        if (hot_by("receiver") || hot_by("incast")) {
            say("A host's own port was full: many send to one; spread the load over more receivers.");
        }
        if (hot_by("sender")) {
            say("A host sent as fast as its link can: spread what it serves over more hosts, or give it more links.");
        }
        if (hot_by("others")) {
            say("Most of it was other jobs' traffic: nothing is wrong with this job; run it at another time or place.");
        }
        if (hot_by("load", true)) {
            say("One cable carried more than it can: fewer nodes on the other side of it, or the same switch for all.");
        }
        if (hot_by("load", false)) {
            say("One cable between the job and the services carried more than it can: use more services, so that more "
                "cables share the load, or spread reading and writing over a longer time.");
        }
        if (advice_.empty()) {
            say("Look for a slow receiver, or for too little capacity.");
        }
    }

    void unusable() {
        const auto has = [this](const char *reason) {
            return std::any_of(verdict_.unread.begin(), verdict_.unread.end(),
                               [reason](const UnreadCounter &counter) { return counter.reason == reason; });
        };
        if (has("saturated")) {
            say("A counter stands at its limit and counts no further; nothing resets it by itself. Have the administrator "
                "reset it (fabric-check reset --pegged, which logs the old value) and repeat the job, or judge that link "
                "by a monitor that kept its history. That command is for switch ports; a host's own counters begin anew "
                "when its driver is loaded again.");
        }
        if (has("reset")) {
            say("Somebody reset counters during the job (a subnet manager's or a monitor's clearing): stop that, then "
                "repeat the job. With records in mid-job (fabric-check mid, from a timer) a reset costs one interval and not "
                "the job.");
        }
        if (advice_.empty()) {
            say("Repeat the job: the counters of this run prove nothing either way.");
        }
    }

    void incomplete() {
        const UnreadCounter *first = nullptr;
        for (const UnreadCounter &counter : verdict_.unread) {
            if (counter.incomplete) {
                first = &counter;
                break;
            }
        }
        if (first == nullptr) {
            return;
        }
        if (first->reason.starts_with("rebooted")) {
            say(fmt::format("Find out why {} rebooted during the job: link errors there may be the reboot's own.",
                            first->where));
        } else if (first->where == "switches" || first->where == "routes") {
            say(fmt::format("Have the administrator see why the {} could not be read (below).", first->where));
        } else if (first->counter.empty()) {
            say(fmt::format("See why {} could not be read (below).", first->where));
        } else {
            say(fmt::format("See why {} of {} could not be read (below).", first->counter, first->where));
        }
    }

    const JobVerdict &verdict_;
    std::vector<std::string> advice_;
};

} // namespace

std::vector<std::string> advice_for(const JobVerdict &verdict) { return Advice(verdict).run(); }

} // namespace fabric_check
