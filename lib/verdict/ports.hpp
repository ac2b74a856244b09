// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/job_verdict.hpp"
#include "verdict/names.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace fabric_check {

/// Every port a job's verdict rests on, each judged for itself; and what could not be read as a whole.
struct PortSet {
    explicit PortSet(const fabric::Map *map) : names(map) {}

    std::vector<PortResult> ports; ///< hosts in the job's order, then switch ports
    std::vector<UnreadCounter> unread;
    Cover cover;
    std::vector<std::string> notes;
    Names names;
    std::map<MapPortId, int> index; ///< of those ports that are in the map
    std::set<MapPortId> outputs;    ///< switch ports the job's routes leave through
    double scout_seconds = 0;       ///< between the scout's readings; 0: not known

    const PortResult *find(MapPortId port) const {
        const auto at = index.find(port);
        return at == index.end() ? nullptr : &ports[static_cast<std::size_t>(at->second)];
    }
};

/// Is this counter graded in this job? (Packets out of order are normal under adaptive routing.)
struct Grading {
    double congestion_per_gb = 1000;
    std::uint64_t min_bytes = 0;
    AdaptiveRouting adaptive_routing = AdaptiveRouting::unknown;
    Config::Ports ports = {};
    const Bars *bars = nullptr; ///< must outlive it
    double lost_share = 0.1; ///< of a job's time, with records in mid-job
};

/// The rules for a host's port; what it moved and how long it took still to be set. `port` and `grading` must outlive them.
PortRules host_rules(const HcaPort &port, Profile profile, const Grading &grading);

/// The ports of the job's nodes that count (PortChoices), each judged by its own profile: InfiniBand or RoCE.
void add_host_ports(const JobEvidence &evidence, const Grading &grading, PortSet &set);
/// The switch ports facing them and the services, and both ends of the inter-switch links on the routes; idle members of
/// those links' groups for the spread only. Call after add_host_ports.
void add_switch_ports(const JobEvidence &evidence, const fabric::Query &query, const Grading &grading, PortSet &set);
/// A gap for each configured service (a hostlist) outside the job that has no known link to a switch: its port was not
/// read. Nothing where no scout matched any host: that gap is the switches'.
void add_lost_services(const JobEvidence &evidence, const std::string &services, const fabric::Query &query, PortSet &set);
/// Joins the two ends of each link; a port without data counters takes its peer's, reversed.
void join_links(const JobEvidence &evidence, PortSet &set);

/// Are all of the job's host ports Ethernet? Then no switch was to be read.
bool is_host_scope(const PortSet &set) noexcept;

/// The query that job_routes() were analysed for: GroupPort::sources point into it. Empty without map or scout.
fabric::Query job_query(const JobEvidence &evidence, const Config &config);
/// Routes at the end of the job, else at its start, else nullptr.
const fabric::Routes *job_routes(const JobEvidence &evidence) noexcept;
/// Seconds from a to b; 0 unless b is later.
double seconds_between(std::int64_t a_ns, std::int64_t b_ns) noexcept;

} // namespace fabric_check
