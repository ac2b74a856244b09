// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/ports.hpp"

#include <vector>

namespace fabric_check {

/// What the ports on the routes say: counters that moved, ports that went down, and the gaps. Physical events at a host
/// that rebooted or lost its slurmd, and at the switch port facing it, become gaps ("rebooted"), not findings.
void collect_findings(const JobEvidence &evidence, const PortSet &set, std::vector<Finding> &findings,
                      std::vector<UnreadCounter> &unread);

/// Ports narrower or slower than their peers: the facing ports of the job's hosts (rail by rail), those of the services,
/// and the members of each group. Judged with three peers or more of which two thirds agree.
void find_narrow_and_slow(const JobEvidence &evidence, const PortSet &set, std::vector<Finding> &findings);

/// A job that did not complete makes retries when its processes die: without evidence of a lower layer they do not lead.
void set_teardown_aside(const JobInfo &job, std::vector<Finding> &findings);

/// Packets out of order are normal under adaptive routing: says so where nobody could detect whether it is on.
void annotate_reordering(AdaptiveRouting adaptive_routing, std::vector<Finding> &findings);

/// The links with physical findings by bit-error rate; none without physical findings. Links that went down, retrained,
/// or are narrow or slow fail whatever their rate.
/// What moved and is not judged: counters of which only that is worth telling, those of the other profile's layers, and
/// errors below the site's bars. At most max_told, the lowest layer and the largest first.
inline constexpr std::size_t max_told = 500;
std::vector<Finding> told_findings(const PortSet &set);

HwStatus judge_hw(const PortSet &set, const std::vector<Finding> &findings, double bit_error_rate);

/// Adds to a finding's note.
void annotate(Finding &finding, const std::string &note);

} // namespace fabric_check
