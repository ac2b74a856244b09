// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "textfiles/load.hpp"

#include <set>
#include <string>
#include <string_view>

namespace fabric_check::textfiles {

/// LIDs that show several ports, or one above 2: a card's port has a LID of its own, so these are switches'. As
/// owner().
std::set<std::string> switches(const Loaded &before, const Loaded &after);
/// "lid 4:25" -> "lid 4": what several ports of one switch have in common.
std::string owner(const std::string &port);

/// The driver of a card's port: as a reading says it, by the device's name, or by which driver's counters it has.
/// Empty: nothing tells.
std::string driver_of(const PortCounters &before, const PortCounters &after);

/// By what a port is judged, and what told so.
struct TakenProfile {
    Profile profile = Profile::ib;
    const char *from = "";
    bool told = true; ///< false: nothing did
};
TakenProfile profile_of(const PortCounters &before, const PortCounters &after, std::string_view driver);

} // namespace fabric_check::textfiles
