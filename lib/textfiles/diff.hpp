// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "textfiles/load.hpp"
#include "verdict/job_verdict.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fabric_check::textfiles {

struct DiffOptions {
    /// Given: every port is judged by it, and every counter of it must be there. nullopt: each port by what its
    /// counters are of, and asked for what a port of its kind and driver has.
    std::optional<Profile> profile;
    /// nullopt: a switch is what shows several ports of one LID, or a port above 2.
    std::optional<PortKind> kind;
    std::optional<std::uint64_t> bytes; ///< moved over each port; nullopt: what the data counters say
    double congestion_per_gb = 1000;
    const Bars *bars = nullptr;   ///< of single counters; come first
    const Config *site = nullptr; ///< its policy for links, ports and known links; nullptr: none
    std::int64_t now = 0;         ///< seconds since the epoch: of readings that do not say when they were taken
};

/// Something physical at a link that the site's [known] names.
struct KnownFault {
    std::string counter;
    std::optional<std::uint64_t> delta; ///< nullopt: could not be read
    std::string note;                   ///< "known: TICKET"
};

struct DiffPort {
    std::string port; ///< as the files name it; may be empty when there is one
    Profile profile = Profile::ib;
    const char *profile_from = "";                   ///< why that one: "given", "the port's link layer", ...
    bool profile_given = false, profile_told = true; ///< by --profile; by anything at all
    PortKind kind = PortKind::hca;
    std::string driver; ///< as read, or by device name or counters; empty: not known
    PortVerdict verdict;
    Deltas deltas;
    std::optional<std::uint64_t> bytes;          ///< transmitted and received
    std::optional<std::uint64_t> sent, received; ///< nullopt where not known, or where --bytes was given
    const char *no_bytes = "";                   ///< why bytes are not known: "reset", "saturated"
    bool rebooted = false;                       ///< between the readings
    bool other = false;                          ///< the readings are of two ports
    KeyKind from = KeyKind::none;                ///< what kind of input named it
    /// What there is to say of a live counter: "4X at start, 1X at end" of "width". Widths, speeds, states and slots of
    /// two snapshots are in the verdict's `live` with delta 0.
    std::map<std::string, std::string> notes;
    std::vector<LiveCounter> moved; ///< would be live, if nothing were missing
    std::vector<KnownFault> known;  ///< by the site: shown, decides nothing
    bool counts = true;             ///< false: its gaps and what is not physical say nothing
    bool excluded = false;          ///< by the site; says nothing at all unless all ports are
    std::string use;                ///< why it counts or does not, in plain words; empty: not asked
};

struct Diff {
    std::optional<Profile> profile; ///< of all ports that count; nullopt: they differ
    /// Of the only port that counts; of several: the lowest layer that leads one of them, unless a lower one could not
    /// be read.
    std::string verdict;
    std::string rest;            ///< only with unusable and incomplete: the lowest layer live all the same; empty: none
    std::vector<DiffPort> ports; ///< sorted by name
    std::optional<std::uint64_t> bytes; ///< as given, else of all ports that count; nullopt when one is not known
    std::vector<std::string> problems;  ///< "FILE:LINE: what", as found while reading
};

/// An error when both name one thing that can be read once only: standard input, a pipe.
Status check_inputs(const std::string &before, const std::string &after);
/// An error when the snapshots' own times say that `after` was taken first.
Status check_order(const Loaded &before, const Loaded &after);

/// Ports are paired by name; when each side holds exactly one they are a pair whatever their names, and when no name is
/// on both sides, a first directory that all ports of a side share is left out.
Diff diff(const Loaded &before, const Loaded &after, const DiffOptions &options);

/// 0 clean, 1 a finding, 3 unusable, incomplete or no-traffic.
int exit_code(const Diff &diff) noexcept;

/// Counters of one port that the overall verdict rests on.
std::vector<std::string> blamed(const DiffPort &port, const std::string &verdict);
/// What to do next, most useful first, in plain words; empty when clean.
std::vector<std::string> next_steps(const Diff &diff);

/// "fabric-check/diff/1". With several ports, counters are written "PORT COUNTER".
std::string diff_json(const Diff &diff);
/// For people, in lines of at most `columns` where their words allow: the verdict, then each counter that moved or
/// could not be read, in plain words, then what to do next.
std::string diff_text(const Diff &diff, bool colour, std::size_t columns = SIZE_MAX);

} // namespace fabric_check::textfiles
