// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/table.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// What a counter that decided says of the cause, for the advice of reports and of diff alike.
namespace fabric_check {

/// A sign of congestion of this direction, by the table: of pauses received (Against::sent) this host was held back, of
/// pauses sent (Against::received) it is the slow receiver; both: a congestion notification or mark.
bool is_congestion(std::string_view counter, Against against) noexcept;

/// The receiver had no buffer posted: rnr_nak_retry_err, rnr_naks_rcvd, sq_num_rnr, RnrNak, "RNR received".
bool is_receiver_not_ready(std::string_view counter) noexcept;


/// What PortXmitDiscardDetails says of an InfiniBand port's discards and what to do about each, in plain words.
/// `moved`: did this counter move? Empty when none of them did, or the port does not tell.
std::vector<std::string> discard_reasons(const std::function<bool(std::string_view counter)> &moved);

} // namespace fabric_check
