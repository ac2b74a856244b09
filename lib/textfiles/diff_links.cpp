// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff_links.hpp"

#include "verdict/findings.hpp"
#include "verdict/links.hpp"
#include "verdict/port_use.hpp"

namespace fabric_check::textfiles {

std::vector<Finding> link_findings(const PortCounters &before, const PortCounters &after, const Config::Policy *policy) {
    std::vector<Finding> findings;
    if (before.card == nullptr || after.card == nullptr) {
        return findings;
    }
    PortSet set(nullptr);
    PortResult port;
    port.node = after.node.empty() ? "host" : after.node; // without one it would be a switch's
    port.where = after.port;
    port.role = "host";
    port.profile = is_infiniband(*after.card) ? Profile::ib : Profile::roce;
    port.host_start = before.card.get();
    port.host_end = after.card.get();
    set.ports.push_back(std::move(port));
    std::vector<UnreadCounter> unread;
    collect_findings({}, set, findings, unread);
    find_changes(set, findings);
    if (policy != nullptr) {
        std::vector<std::string> notes; // about peers, of which a port alone has none
        find_below_policy(set, *policy, findings);
        find_slow_slots(set, *policy, findings, notes);
    }
    return findings;
}

} // namespace fabric_check::textfiles
