// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/ports.hpp"

namespace fabric_check {

/// The link's data rate in Gb/s, the higher where it changed between the readings; 0: not known.
double link_gbps(const PortResult &port);

/// Takes the deltas of data counters that cannot be: more bytes than the link's rate times the time carries
/// (implausible), or none while the port's packet counter moved (frozen). `gbps`: the link's data rate, 0: not known;
/// `seconds` between the readings, 0: not known.
void distrust_data(Deltas &deltas, double gbps, double seconds);

/// Both ends of a link must tell the same bytes, within what the link carries in the time between their readings. An
/// end that stood still while the other counted is frozen and takes the other's word; ends that disagree otherwise are
/// an entry of `unread` that hides nothing. Call when links are joined.
void compare_ends(PortSet &set);

} // namespace fabric_check
