// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff_links.hpp"

#include "verdict/findings.hpp"
#include "verdict/links.hpp"
#include "verdict/port_use.hpp"

#include <fmt/format.h>

namespace fabric_check::textfiles {

namespace {

OtherPort other(const char *what, const std::string &before, const std::string &after) {
    return {what, fmt::format("BEFORE is of {}, AFTER of {}", before, after)};
}

/// The host's name without its domain.
std::string host_of(const std::string &node) {
    return node.substr(0, node.find('.'));
}

/// "node07/lid 4:25" -> "lid 4:25"; quotes and blanks may be in the names of switches.
std::string last_part(const std::string &name) {
    return name.substr(name.rfind('/') + 1);
}

bool is_by_lid(const std::string &name) {
    return name.starts_with("lid ");
}

} // namespace

OtherPort other_port(const PortCounters &before, const PortCounters &after) {
    if (before.hca != nullptr && after.hca != nullptr && before.hca->guid != 0 && after.hca->guid != 0) {
        return before.hca->guid == after.hca->guid
                   ? OtherPort{}
                   : other("guid", fmt::format("{:#018x}", before.hca->guid), fmt::format("{:#018x}", after.hca->guid));
    }
    if (!before.node.empty() && !after.node.empty() && host_of(before.node) != host_of(after.node)) {
        return other("node", before.node, after.node);
    }
    if (before.kind == KeyKind::lid && after.kind == KeyKind::lid) {
        const std::string a = last_part(before.port), b = last_part(after.port);
        const bool comparable = is_by_lid(a) == is_by_lid(b);
        if (comparable && a != b) {
            return other(is_by_lid(a) ? "lid" : "port", a, b);
        }
        // A switch by its name and by its LID still has the same ports.
        if (a.substr(a.rfind(':') + 1) != b.substr(b.rfind(':') + 1)) {
            return other("port", a, b);
        }
    }
    return {};
}

std::vector<Finding> link_findings(const PortCounters &before, const PortCounters &after,
                                   const Config::Policy *policy) {
    std::vector<Finding> findings;
    if (before.hca == nullptr || after.hca == nullptr) {
        return findings;
    }
    PortSet set(nullptr);
    PortResult port;
    port.node = after.node.empty() ? "host" : after.node; // without one it would be a switch's
    port.where = after.port;
    port.role = "host";
    port.profile = is_infiniband(*after.hca) ? Profile::ib : Profile::roce;
    port.host_start = before.hca.get();
    port.host_end = after.hca.get();
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
