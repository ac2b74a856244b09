// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "textfiles/load.hpp"
#include "verdict/port_verdict.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fabric_check::textfiles {

struct DiffOptions {
    Profile profile = Profile::ib;
    /// Every counter of the profile must be there (--profile was given). Otherwise a switch (several ports of one LID)
    /// or a card whose known driver has no retry counters need not show those.
    bool whole_profile = true;
    std::optional<std::uint64_t> bytes; ///< moved over each port; nullopt: what the data counters say
    double congestion_per_gb = 1000;
};

struct DiffPort {
    std::string port; ///< as the files name it; may be empty when there is one
    PortVerdict verdict;
    Deltas deltas;
    std::optional<std::uint64_t> bytes; ///< transmitted and received
};

struct Diff {
    Profile profile = Profile::ib;
    std::string verdict; ///< of the only port; of several: the lowest live layer, unless a lower one could not be read
    std::vector<DiffPort> ports;        ///< sorted by name
    std::optional<std::uint64_t> bytes; ///< as given, else of all ports together; nullopt when one is not known
    std::vector<std::string> problems;  ///< "FILE:LINE: what", as found while reading
};

/// Ports are paired by name; when each side holds exactly one they are a pair whatever their names.
Diff diff(const Loaded &before, const Loaded &after, const DiffOptions &options);

/// 0 clean, 1 a finding, 3 unusable, incomplete or no-traffic.
int exit_code(const Diff &diff) noexcept;

/// "fabric-check/diff/1". With several ports, counters are written "PORT COUNTER".
std::string diff_json(const Diff &diff);
/// For people: the verdict, then each counter that moved or could not be read, in plain words.
std::string diff_text(const Diff &diff, bool colour);

} // namespace fabric_check::textfiles
