// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "fabric/map.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::fabric {

/// A routing engine that could not route this fabric.
struct EngineFailure {
    std::string engine; ///< "ftree"
    std::string reason; ///< the log's own words before it gave up; may be empty
    std::string when;   ///< the log's time, "Nov 29 19:50:26 094436"; may be empty
};

/// What a subnet manager's log says of the last time that it routed the fabric.
struct SmLog {
    std::string name;                  ///< of the file
    std::uint64_t port_guid = 0;       ///< of the port that it runs on; 0: not said
    std::string state;                 ///< last state entered, "MASTER"; empty: not said
    std::string used;                  ///< the engine whose tables were configured; empty: not said
    std::string when;                  ///< when that was; may be empty
    std::vector<EngineFailure> failed; ///< engines that were tried before it, in order
    bool updn_without_roots = false;   ///< up/down found no root node
    bool updn_roots_given = false;     ///< it read its root nodes from a file; told in debug logs only
    bool updn_roots_guessed = false;   ///< it guessed them, as it had no file or could not read it; told in verbose logs
    bool ftree_with_lmc = false;       ///< fat-tree does not take LMC > 0
    bool no_engine = false;            ///< not one engine could route the fabric
    /// Another engine than the one asked for made the tables, or is about to.
    bool fell_back() const { return !failed.empty(); }
};

/// The log names a port that this map has not, though the map has ports' GUIDs: it is of another fabric, or of a manager that
/// has left this one.
bool is_of_another_fabric(const SmLog &log, const Map &map);

/// Reads the log of opensm, or of a manager made from it. Lines that say nothing of routing are skipped, whatever they
/// are. Errc::malformed, naming the file: not one line is such a log's. Fuzzed.
Result<SmLog> parse_sm_log(std::string_view text, const std::string &name);

} // namespace fabric_check::fabric
