// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/routes.hpp"

#include <string>
#include <vector>

/// What `routes` has to say about the question before it answers it.
namespace fabric_check {

/// "io[3-8]: not in the map (nearest: io1, io2)": of messages "NAME: REASON" those of one reason folded, in the order of
/// their first; the nearest names of all of them, a few.
std::vector<std::string> fold_reasons(const std::vector<std::string> &messages);

/// "a05-n[1,3]: 3 cards where most have 4": hosts that call themselves by a name and have fewer cards than more than half
/// of these hosts have.
std::vector<std::string> fewer_cards(const fabric::Map &map, const std::vector<fabric::Endpoint> &endpoints);

/// Switches are in it, and none has a forwarding table: a map of a topology alone. Damaged tables are tables.
bool without_tables(const fabric::Map &map);

} // namespace fabric_check
