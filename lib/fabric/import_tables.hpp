// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "fabric/import_text.hpp"
#include "fabric/map_draft.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::fabric {

/// Puts forwarding tables into a map, which must outlive it: opensm-lfts.dump, dump_fts, ibroute, opensm.fdbs,
/// ibdiagnet2.fdbs. Files in turn: begin, blocks of whole lines, end; then finish. Every row's text is compared with what
/// the map has at that LID. Several tables of one switch make one, the last entry for a LID being kept; where they
/// disagree, one problem for each two files tells in how many entries. What is kept is bounded by the map's switches.
class TableReader {
public:
    explicit TableReader(MapDraft &map);
    void begin(const std::string &file);
    void block(std::string_view lines);
    void end();
    /// Names the switches without a table; with none at all, nothing.
    void finish();
    std::size_t entries() const { return entries_; } ///< rows used
    std::size_t heads() const { return heads_; }     ///< tables seen, of whatever switch

private:
    /// What stood behind the port in the last row of a LID, its line's end included: most rows of a file repeat it, and
    /// need no second look.
    struct Tail {
        std::uint8_t size = 0; ///< 0: none
        bool checked = false;  ///< it names a port that the map has at that LID
        std::array<char, 126> text;
    };
    /// Kinds of problems said once per table.
    enum Said : std::uint8_t { said_headless = 1, said_range = 2, said_port = 4, said_twice = 8 };

    const char *rows_at_once(const char *at, const char *end);
    void line(std::string_view text, std::string_view whole);
    bool row(std::string_view text, std::string_view whole);
    void store(std::size_t lid, std::uint8_t port);
    void unicast_head(std::string_view text);
    void fdbs_head(std::string_view text);
    void foot(std::string_view text);
    void begin_table(std::uint32_t node, std::string what, bool fdbs);
    void end_table();
    void check_destination(std::uint16_t lid, std::string_view text);
    template <class Make> void once(Said what, Make &&reason);
    bool routed_before(std::size_t lid) const;
    void compare_with_before();
    void say_disagreements();

    /// What this file's tables say otherwise than another file's of the same switches.
    struct Disagreement {
        std::size_t switches = 0, compared = 0;   ///< tables, and entries, that both files have
        std::size_t differing_switches = 0, differing = 0;
        std::size_t only_before = 0; ///< entries of these switches that this file does not have
        std::size_t line = 0; ///< the head of the first table that differs
        std::string first;
    };

    MapDraft &map_;
    std::vector<std::string> files_;
    std::vector<std::uint32_t> file_of_; ///< by node: the last file that had its table, an index into files_ plus 1
    std::map<std::uint32_t, Disagreement> disagreements_; ///< of the file in work; by the other file, as in file_of_
    std::vector<Tail> tails_;         ///< by LID, as far as there were any
    std::vector<std::uint8_t> table_; ///< of current_, by LID, as this file has it
    std::vector<bool> closed_;        ///< LIDs that it says have no route
    bool any_closed_ = false;
    std::optional<ProblemList> problems_;
    std::uint32_t current_ = no_node;
    std::string what_;           ///< the current table's switch
    std::size_t top_ = 0;        ///< of table_: one more than the highest LID with a row
    std::size_t number_ = 0;     ///< of the line in work
    std::size_t head_line_ = 0;  ///< of the current table; 0: none
    std::size_t rows_ = 0;       ///< of the current table
    std::size_t announced_ = 0;  ///< the highest LID by the head of ibroute's tables; 0: not known
    std::size_t fdbs_top_ = 0, last_lid_ = 0;
    std::size_t heads_ = 0, entries_ = 0, entries_before_ = 0;
    std::size_t checked_ = 0, strangers_ = 0, first_stranger_ = 0; ///< of the file
    std::size_t kept_ = 0;      ///< bytes of tables in the map
    std::uint8_t said_ = 0;
    bool skipping_ = false;     ///< below a head whose rows cannot be used: said once
    bool fdbs_ = false;         ///< the current table is of a .fdbs file
    bool needs_foot_ = false;   ///< ... and has to end with "lids dumped"
    bool file_has_feet_ = false;
    bool lost_said_ = false;    ///< that the file's tables lack their highest LID
    bool cut_ = false;          ///< the line in work lacks its end
};

} // namespace fabric_check::fabric
