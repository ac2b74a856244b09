// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "record/intervals.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fabric_check {

/// What records in mid-job add to a port: when its counters moved, and when they were lost.
struct PortTimes {
    std::map<std::string, CounterTotal> totals; ///< counters that moved or were lost; empty: no records in mid-job
    std::int64_t from_ns = 0, to_ns = 0;        ///< of the two readings; 0: not known
    bool until_mid = false;                     ///< there is no END: to_ns is that of the last record in mid-job
};

/// The deltas of the whole job, each counter of `times` by the sum of what is known of it. A counter that moved is known
/// at least that far, whatever was lost of it. One that did not, and the data counters, are judged by the rest where at most
/// `lost_share` of the time is lost, and have no delta beyond.
Deltas with_intervals(Deltas deltas, const PortTimes &times, double lost_share);

/// "between 10:02:00 and 10:07:00 UTC (+90)"; more than three of them shortened. Empty: not known.
std::string when_moved(const PortTimes &times, const std::string &counter);

/// "reset between 10:02:00 and 10:07:00 UTC; +0 in the rest". Empty: nothing was lost.
std::string when_lost(const PortTimes &times, const std::string &counter);

/// A moment as it stands there: with the date where the readings are of different days.
std::string moment(const PortTimes &times, std::int64_t time_ns);

} // namespace fabric_check
