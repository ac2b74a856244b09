// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "fabric/map_draft.hpp"

#include <string>
#include <vector>

namespace fabric_check::fabric {

/// Makes a map of what other tools wrote: topologies (ibnetdiscover, also -f and -p), forwarding tables (opensm-lfts.dump,
/// dump_fts, ibroute, opensm.fdbs, ibdiagnet2.fdbs) and what tells of adaptive routing (ibdiagnet2.far, opensm's log), told
/// by their content, plain or gzip, of any size, in any order; "-" is standard input. Files are read in blocks: only the
/// map is held. A part that is missing or cannot be used stands in the map's problems, as "FILE:LINE" where a line is
/// meant, and the rest is used. `source` and `built_ns` are filled in, the map is indexed; adaptive routing is on where a
/// file shows it, else unknown.
/// Errors name the file: not_found, denied, io; malformed when it is none of these, is damaged, no topology is among
/// them, or tables are and not one entry of them is the topology's; usage when standard input is named twice.
Result<MapDraft> import_fabric(const std::vector<std::string> &files);

/// The same, for those who need routes: no usable table in the files of `tables` is an error (malformed) too. Without
/// table files the map has none, and says nothing of it.
Result<MapDraft> import_files(const std::vector<std::string> &topology, const std::vector<std::string> &tables);

/// import_tables() of files, read in blocks. Errors also as import_fabric()'s; what is no forwarding table is malformed.
Status import_table_files(MapDraft &map, const std::vector<std::string> &files);

/// A file's name, as messages quote it, and its content.
struct TextFile {
    std::string name;
    std::string text;
};

/// The topology among these texts: `ibnetdiscover` output of any vintage: without speeds, port GUIDs or tabs, grouped by
/// chassis, with CRLF, banners and warnings in between; or the ports report of -p. Several texts make one fabric. What is
/// not understood or contradicts itself costs its line; a node known from its neighbours only is still a node; a link
/// known from one end is taken as one. Error (malformed, naming the file) when no node is in it. Indexed. Fuzzed.
Result<MapDraft> import_topology(const std::vector<TextFile> &files);

/// Forwarding tables for the map's switches. Tables of switches that are not in the map, switches without a table, tables
/// cut short and entries that name another port than the map has at that LID stand in the map's problems. Error
/// (malformed) when not one entry could be used. Fuzzed.
Status import_tables(MapDraft &map, const std::vector<TextFile> &files);

} // namespace fabric_check::fabric
