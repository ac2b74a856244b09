// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check {

/// What PortXmitDiscardDetails says of an InfiniBand port's discards and what to do about each, in plain words.
/// `moved`: did this counter move? Empty when none of them did, or the port does not tell.
std::vector<std::string> discard_reasons(const std::function<bool(std::string_view counter)> &moved);

} // namespace fabric_check
