// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "fabric/map_draft.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace fabric_check::fabric {

/// A file's name, as messages quote it, and its content.
struct TextFile {
    std::string name;
    std::string text;
};

/// Whole content of a plain or gzip file (told by its first bytes), at most `limit` bytes once unpacked.
Result<std::string> read_text(const std::string &path, std::size_t limit = std::size_t(1) << 30);

/// `ibnetdiscover` output, plain or -f, of any vintage: without speeds, port GUIDs or tabs, grouped by chassis, with CRLF,
/// banners and warnings in between. Several files make one fabric. What is not understood or contradicts itself stands
/// in the map's problems as "FILE:LINE" and costs that line; a node known from its neighbours only is still a node; a
/// link known from one end is taken as one. Error (malformed, naming the file) when no node is in it. Indexed. Fuzzed.
Result<MapDraft> import_topology(const std::vector<TextFile> &files);

/// Forwarding tables for the map's switches: opensm-lfts.dump, dump_fts and ibroute (with and without -n; LID or directed
/// route headers), opensm.fdbs and ibdiagnet2.fdbs. Tables of switches that are not in the map, switches without a table
/// and entries that name another port than the map has at that LID stand in the map's problems. Error (malformed) when
/// not one entry could be used. Fuzzed.
Status import_tables(MapDraft &map, const std::vector<TextFile> &files);

/// Reads and imports; `source` and `built_ns` filled in. Without table files the map has none.
Result<MapDraft> import_files(const std::vector<std::string> &topology, const std::vector<std::string> &tables);

} // namespace fabric_check::fabric
