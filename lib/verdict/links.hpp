// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/ports.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fabric_check {

/// What a physical finding names: the link, also when the host's end counted.
std::string link_of(const PortSet &set, const PortResult &port);
/// The end of the link that this port is: "SwitchA:13", "node07/mlx5_0:1".
std::string end_of(const PortSet &set, const PortResult &port);
/// A physical finding about a port's link that no counter shows. A link is as narrow at one end as at the other: one
/// finding, which then gets the further note.
void add_link_finding(const PortSet &set, const PortResult &port, const char *counter, const std::string &note,
                      std::vector<Finding> &findings);

/// Links whose width or speed, and cards whose PCI Express link, differ between start and end. Links that counted a loss
/// and are ACTIVE on both sides "went down and came back", which their finding then says. Nothing of hosts that rebooted.
void find_changes(const PortSet &set, std::vector<Finding> &findings);

/// InfiniBand links narrower or slower than the site's policy, even where all agree.
void find_below_policy(const PortSet &set, const Config::Policy &policy, std::vector<Finding> &findings);

/// Cards that use fewer or slower PCI Express lanes than they could, where two thirds of their peers run faster: those of
/// the same kind and name on the other nodes, else all others of that kind. Where the peers are as slow it may be the
/// slots' own limit: said in a note, no finding. Cards below the site's policy are findings whatever the peers do.
void find_slow_slots(const PortSet &set, const Config::Policy &policy, std::vector<Finding> &findings,
                     std::vector<std::string> &notes);

/// Rails: ports of one node that share its traffic. One that is missing or down where two thirds of the nodes of the same
/// kind (at least two) use it, or where the configuration wants more, is a physical finding. A rail with less than half
/// the bytes of another of its node, which moved `min_bytes` at least, is a finding that is shown and never leads: how an
/// application shares out its traffic is not the fabric's doing.
void find_rails(const JobEvidence &evidence, const PortSet &set, const Config::Ports &ports, std::uint64_t min_bytes,
                std::vector<Finding> &findings);

/// The part of the job's time in which a port was paused, by a pause_duration counter; counts of pauses tell no time.
struct PauseShare {
    std::string counter; ///< "tx_prio3_pause_duration"
    bool sent = false;   ///< true: this host is the slow receiver; false: its switch held it back
    double share = 0;    ///< of the time between the readings, 0..1
};
std::vector<PauseShare> pause_shares(const PortResult &port);
/// "paused 12.3 % of the time" on the findings of pauses, and a note for every port that was paused for a thousandth of
/// the time or more.
void tell_pauses(const PortSet &set, std::vector<Finding> &findings, std::vector<std::string> &notes);

/// With LMC each port has several LIDs. The base LIDs are what is judged; this tells how the map's tables spread the
/// others. Empty without LMC.
std::vector<std::string> alternate_lids(const JobEvidence &evidence, const PortSet &set);

} // namespace fabric_check
