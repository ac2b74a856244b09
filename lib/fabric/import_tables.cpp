// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/import_tables.hpp"

#include <cstring>

namespace fabric_check::fabric {
namespace {

constexpr std::size_t max_kept = std::size_t(1) << 30; ///< bytes of tables; a full one of a switch has 48 KiB

constexpr std::array<std::uint8_t, 256> make_hex_values() {
    std::array<std::uint8_t, 256> out{};
    for (std::uint8_t &value : out)
        value = 0xff;
    for (std::uint8_t i = 0; i < 10; ++i)
        out[std::size_t('0') + i] = i;
    for (std::uint8_t i = 0; i < 6; ++i)
        out[std::size_t('a') + i] = out[std::size_t('A') + i] = std::uint8_t(10 + i);
    return out;
}
constexpr std::array<std::uint8_t, 256> hex_values = make_hex_values();

unsigned hex(char c) { return hex_values[static_cast<unsigned char>(c)]; }

/// A row as the tools write it: "0x0003 025" or "0x0003 : 025", and something behind it that is no digit.
struct PlainRow {
    std::size_t lid = 0, length = 0; ///< length of the part above; 0: this is another line
    unsigned port = 0;
};
constexpr std::size_t longest_start = 12;

/// Reads no further than longest_start, which must be there.
inline PlainRow plain_row(const char *at) {
    PlainRow out;
    if (at[0] != '0' || at[1] != 'x' || at[6] != ' ')
        return out;
    const std::size_t digits = at[7] == ':' && at[8] == ' ' ? 9 : 7;
    const unsigned a = hex(at[2]), b = hex(at[3]), c = hex(at[4]), d = hex(at[5]);
    const unsigned x = unsigned(at[digits]) - '0', y = unsigned(at[digits + 1]) - '0', z = unsigned(at[digits + 2]) - '0';
    if ((a | b | c | d) > 0xf || x > 9 || y > 9 || z > 9 || unsigned(at[digits + 3]) - '0' <= 9)
        return out;
    out.lid = a << 12 | b << 8 | c << 4 | d;
    out.port = x * 100 + y * 10 + z;
    out.length = digits + 3;
    return out;
}

} // namespace

TableReader::TableReader(MapDraft &map)
    : map_(map), table_(first_multicast_lid, no_route), closed_(first_multicast_lid, false) {}

template <class Make> void TableReader::once(Said what, Make &&reason) {
    if ((said_ & what) == 0)
        problems_->add(number_, reason());
    said_ = std::uint8_t(said_ | what);
}

/// An earlier table of this switch has a route for this LID.
bool TableReader::routed_before(std::size_t lid) const {
    const auto &before = map_.nodes[current_].lft;
    return lid < before.size() && before[lid] != no_route;
}

/// Counts where the table at hand and the switch's earlier one differ.
void TableReader::compare_with_before() {
    const auto &before = map_.nodes[current_].lft;
    Disagreement &pair = disagreements_[file_of_[current_]];
    ++pair.switches;
    std::size_t differing = 0;
    for (std::size_t lid = 0; lid < before.size(); ++lid) {
        if (before[lid] == no_route)
            continue;
        if (table_[lid] == no_route && !closed_[lid]) {
            ++pair.only_before;
            continue;
        }
        ++pair.compared;
        if (table_[lid] == before[lid])
            continue;
        if (++differing == 1 && pair.differing == 0) {
            pair.line = head_line_;
            pair.first = fmt::format("{} has LID {} by {} here and by port {} there", what_, lid,
                                     table_[lid] == no_route ? std::string("no port") : fmt::format("port {}", table_[lid]),
                                     before[lid]);
        }
    }
    pair.differing += differing;
    pair.differing_switches += differing == 0 ? 0 : 1;
}

/// Once for each two files: entry by entry it would be thousands of lines that all mean the same.
void TableReader::say_disagreements() {
    const std::string &file = problems_->file();
    for (const auto &[other, pair] : disagreements_) {
        if (pair.differing == 0)
            continue;
        const bool within = other == files_.size();
        const std::string where = within       ? std::string("tables of one switch in this file disagree")
                                  : other == 0 ? std::string("disagrees with the tables before")
                                               : "disagrees with " + files_[other - 1];
        const std::string stay = pair.only_before == 0 ? std::string()
                                                       : fmt::format(", with {} entr{} that only the other has", pair.only_before,
                                                                     pair.only_before == 1 ? "y" : "ies");
        const std::string remedy =
            within || other == 0
                ? fmt::format("the last is kept{}. Import the tables of one engine and one time", stay)
                : fmt::format("what is here is kept{}. These are tables of two engines, or of two times: import one of them, and "
                              "compare with the other by routes --versus-lfts {}",
                              stay, files_[other - 1] == "standard input" ? "FILE" : files_[other - 1]);
        map_.problems.push_back({fmt::format("{}:{}", file, pair.line), "",
                                 fmt::format("{} in {} of {} entries, at {} of {} switches (first: {}); {}", where, pair.differing,
                                             pair.compared, pair.differing_switches, pair.switches, pair.first, remedy)});
    }
    disagreements_.clear();
}

void TableReader::begin_table(std::uint32_t node, std::string what, bool fdbs) {
    end_table();
    ++heads_;
    said_ = 0;
    rows_ = 0;
    last_lid_ = 0;
    fdbs_ = fdbs;
    head_line_ = number_;
    what_ = std::move(what);
    skipping_ = node == no_node || map_.nodes[node].kind != NodeKind::switch_node;
    current_ = skipping_ ? no_node : node;
    if (skipping_) {
        problems_->add(number_, fmt::format("the table of {}, which is no switch of the topology, is left out", what_));
        return;
    }
    top_ = 0;
}

/// Hands the table to the map and says what it lacks.
void TableReader::end_table() {
    if (current_ != no_node) {
        auto &kept = map_.nodes[current_].lft;
        const std::size_t had = kept.size(), more = top_ > had ? top_ - had : 0;
        if (kept_ + more > max_kept) {
            problems_->add(head_line_, fmt::format("the table of {} is left out: more tables than any subnet has", what_));
        } else if (top_ > 0) {
            file_of_.resize(map_.nodes.size(), 0);
            if (had != 0)
                compare_with_before();
            file_of_[current_] = std::uint32_t(files_.size());
            kept_ += more;
            kept.resize(had + more, no_route);
            for (std::size_t lid = 0; lid < top_; ++lid)
                if (table_[lid] != no_route || closed_[lid])
                    kept[lid] = table_[lid];
        }
        std::fill_n(table_.begin(), top_, no_route);
        if (any_closed_)
            std::fill(closed_.begin(), closed_.end(), false);
        any_closed_ = false;
    }
    if (head_line_ != 0 && needs_foot_)
        problems_->add(head_line_, fmt::format("the table of {} lacks its end ('lids dumped'): it was cut short", what_));
    if (head_line_ != 0 && fdbs_) {
        if (last_lid_ < fdbs_top_)
            problems_->add(head_line_, fmt::format("the table of {} ends at LID {}, others at {}: it was cut short", what_,
                                                   last_lid_, fdbs_top_));
        fdbs_top_ = std::max(fdbs_top_, last_lid_);
    }
    current_ = no_node;
    head_line_ = 0;
    top_ = 0;
    needs_foot_ = fdbs_ = false;
}

/// "Unicast lids [0-22] of switch Lid 4 guid 0x… ('desc'):", "… of switch DR path slid 0; dlid 0; 0,1,13 guid 0x… (desc):"
void TableReader::unicast_head(std::string_view text) {
    std::uint32_t node = no_node;
    std::string what = "a switch without GUID and LID";
    if (const std::size_t at = text.find(" guid 0x"); at != std::string_view::npos) {
        Cursor cursor(text.substr(at + 8));
        if (const auto guid = cursor.take_number(16)) {
            what = fmt::format("0x{:016x}", *guid);
            node = map_.by_guid(*guid);
        }
    }
    if (const std::size_t at = text.find(" Lid "); node == no_node && at != std::string_view::npos) {
        Cursor cursor(text.substr(at + 5));
        if (const auto lid = cursor.take_number(); lid && *lid <= 0xffff) {
            const bool named = what.starts_with("0x");
            const std::uint32_t there = map_.by_lid(std::uint16_t(*lid));
            const std::string_view description =
                there == no_node ? std::string_view() : trim(std::string_view(map_.nodes[there].description));
            // With a GUID that the topology lacks it is another switch, unless it is called the same too.
            if (!named || (!description.empty() && text.find(description) != std::string_view::npos))
                node = there;
            what = named ? fmt::format("{} (LID {})", what, *lid) : fmt::format("LID {}", *lid);
        }
    }
    begin_table(node, std::move(what), false);
    if (!skipping_)
        what_ = map_.display_name(current_);
    needs_foot_ = file_has_feet_;
    announced_ = 0;
    if (const std::size_t at = text.find("-0x"); at != std::string_view::npos) {
        Cursor cursor(text.substr(at + 3));
        announced_ = std::size_t(std::min<std::uint64_t>(cursor.take_number(16).value_or(0), first_multicast_lid));
    }
}

/// "dump_ucast_routes: Switch 0x…" of opensm.fdbs, "osm_ucast_mgr_dump_ucast_routes: Switch 0x…" of ibdiagnet2.fdbs
void TableReader::fdbs_head(std::string_view text) {
    const std::size_t at = text.find("Switch 0x");
    Cursor cursor(at == std::string_view::npos ? std::string_view() : text.substr(at + 9));
    const auto guid = cursor.take_number(16);
    begin_table(guid ? map_.by_guid(*guid) : no_node, guid ? fmt::format("0x{:016x}", *guid) : "a switch without GUID", true);
    if (!skipping_)
        what_ = map_.display_name(current_);
}

/// "695 lids dumped" of opensm, where the number is the highest LID; "15 valid lids dumped" of ibroute and dump_fts, where
/// it is the rows'.
void TableReader::foot(std::string_view text) {
    Cursor at(text);
    const auto count = at.take_number();
    at.skip_blanks();
    const bool rows = at.take("valid ");
    if (count && rows && head_line_ != 0 && *count != rows_)
        problems_->add(number_, fmt::format("the table of {} had {} rows, {} of them are here", what_, *count, rows_));
    file_has_feet_ = true;
    needs_foot_ = false;
    const std::size_t top = announced_;
    if (rows && current_ != no_node && !lost_said_ && top != 0 && top % 64 == 0 && top < first_multicast_lid &&
        table_[top] == no_route && !routed_before(top) && map_.by_lid(std::uint16_t(top)) != no_node) {
        lost_said_ = true;
        problems_->add(number_, fmt::format("LID {}, the highest, is missing from the table of {}: ibroute and dump_fts lose it where "
                                            "it is a multiple of 64; opensm-lfts.dump has it",
                                            top, what_));
    }
}

/// The text behind an entry names its destination: another one than the topology has at that LID shows that table and
/// topology were taken at different times.
void TableReader::check_destination(std::uint16_t lid, std::string_view text) {
    tails_[lid].checked = false;
    const std::size_t at = text.find("portguid 0x");
    const std::uint32_t holder = map_.by_lid(lid);
    if (at == std::string_view::npos || holder == no_node)
        return;
    Cursor cursor(text.substr(at + 11));
    const auto guid = cursor.take_number(16);
    if (!guid)
        return;
    ++checked_;
    tails_[lid].checked = true;
    const DraftNode &node = map_.nodes[holder];
    if (*guid == node.guid)
        return;
    std::uint8_t port = 0;
    if (map_.by_port_guid(*guid, &port) == holder && (node.kind == NodeKind::switch_node || port == map_.port_of_lid(lid)))
        return;
    const std::string_view description = trim(node.description);
    if (!description.empty() && cursor.rest().find(description) != std::string_view::npos)
        return;
    tails_[lid].size = 0; // looked at each time, to be counted
    if (++strangers_ == 1)
        first_stranger_ = number_;
}

inline void TableReader::store(std::size_t lid, std::uint8_t port) {
    table_[lid] = port;
    if (port == no_route || any_closed_) {
        closed_[lid] = port == no_route;
        any_closed_ = true;
    }
    top_ = std::max(top_, lid + 1);
    ++entries_;
}

/// "0x0003 025 # Channel Adapter …", "0x0003 025 : (…)", "0x0003 : 025  : 01   : yes", "0x0003 : UNREACHABLE"
bool TableReader::row(std::string_view text, std::string_view whole) {
    Cursor at(text);
    if (!at.take("0x"))
        return false;
    const auto lid = at.take_number(16);
    if (!lid)
        return false;
    at.skip(" \t:");
    std::uint64_t port = no_route;
    if (!at.take("UNREACHABLE")) {
        const std::size_t before = at.rest().size();
        const auto number_there = at.take_number();
        if (!number_there || (!at.done() && at.rest().find_first_of(" \t:#") != 0))
            return false;
        if (cut_ && at.done() && before < 3) // every tool writes three digits: this is "025" without its end
            return false;
        port = *number_there;
    }
    ++rows_;
    last_lid_ = std::size_t(std::min<std::uint64_t>(*lid, first_multicast_lid));
    if (skipping_)
        return true;
    if (current_ == no_node) {
        once(said_headless, [] { return "entries before any switch's head are left out"; });
        return true;
    }
    if (*lid >= first_multicast_lid || port > 0xff) {
        once(said_range, [&] { return fmt::format("LID 0x{:x} by port {} is left out: out of range", *lid, port); });
        return true;
    }
    const std::size_t ports = map_.nodes[current_].ports.size();
    if (port != no_route && port >= ports)
        once(said_port, [&] { return fmt::format("port {} of {}, which has {}", port, map_.display_name(current_), ports - 1); });
    const std::uint8_t before = table_[*lid];
    if (before != no_route && before != port)
        once(said_twice, [&] {
            return fmt::format("{} has LID 0x{:x} by port {} here and {} before; the last is kept", map_.display_name(current_), *lid,
                               port, before);
        });
    store(*lid, std::uint8_t(port));
    if (port == no_route)
        return true;
    if (tails_.size() <= *lid)
        tails_.resize(std::min<std::size_t>(std::max<std::size_t>(*lid + 1, 2 * tails_.size()), first_multicast_lid));
    Tail &tail = tails_[*lid];
    tail.size = 0;
    if (cut_)
        return true; // what it names may be cut too
    const PlainRow plain = whole.size() > longest_start ? plain_row(whole.data()) : PlainRow{};
    if (const std::size_t size = whole.size() - plain.length; plain.length != 0 && size <= tail.text.size()) {
        tail.size = std::uint8_t(size);
        std::memcpy(tail.text.data(), whole.data() + plain.length, size);
    }
    check_destination(std::uint16_t(*lid), at.rest());
    return true;
}

/// As many plain rows as end the way the last row of their LID did; returns where the first other line begins.
const char *TableReader::rows_at_once(const char *at, const char *end) {
    if (current_ == no_node)
        return at;
    const std::size_t ports = std::min<std::size_t>(map_.nodes[current_].ports.size(), no_route);
    const char *const begin = at;
    const std::size_t known = tails_.size();
    std::size_t rows = 0, checked = 0, top = top_, last = last_lid_;
    while (std::size_t(end - at) > longest_start) {
        const PlainRow row = plain_row(at);
        if (row.length == 0 || row.lid >= known || row.port >= ports)
            break;
        const Tail &tail = tails_[row.lid];
        std::uint8_t &entry = table_[row.lid];
        if (tail.size == 0 || std::size_t(end - at) - row.length < tail.size ||
            std::memcmp(at + row.length, tail.text.data(), tail.size) != 0 || (entry != no_route && entry != row.port))
            break;
        entry = std::uint8_t(row.port);
        top = std::max(top, row.lid + 1);
        last = row.lid;
        checked += tail.checked ? 1 : 0;
        ++rows;
        at += row.length + tail.size;
    }
    if (at != begin) {
        top_ = top;
        last_lid_ = last;
        number_ += rows;
        rows_ += rows;
        entries_ += rows;
        checked_ += checked;
    }
    return at;
}

void TableReader::line(std::string_view text, std::string_view whole) {
    text = trim(text);
    if (text.empty() || row(text, whole))
        return;
    if (text.find("Unicast lids") != std::string_view::npos) {
        unicast_head(text);
    } else if (text.find("dump_ucast_routes: Switch") != std::string_view::npos) {
        fdbs_head(text);
    } else if (text.find("Multicast mlids") != std::string_view::npos) {
        end_table();
        skipping_ = true;
    } else if (text.ends_with("lids dumped")) {
        foot(text);
    } else if (text.starts_with("Lid ") && head_line_ != 0) {
        needs_foot_ = true;
    } else if (text.front() != '#' && !text.starts_with("File version") && !text.starts_with("LID ") && !text.starts_with("Lid ") && !text.starts_with("Port ") &&
               !text.ends_with("MLids dumped") && !skipping_) {
        problems_->add(number_, "not understood: " + in_quotes(text));
    }
}

void TableReader::begin(const std::string &file) {
    problems_.emplace(file, map_.problems);
    files_.push_back(file);
    skipping_ = file_has_feet_ = lost_said_ = false;
    said_ = 0;
    number_ = checked_ = strangers_ = fdbs_top_ = 0;
    entries_before_ = entries_;
}

void TableReader::block(std::string_view lines) {
    const char *at = lines.data();
    const char *const end = at + lines.size();
    while (at != end) {
        at = rows_at_once(at, end);
        if (at == end)
            break;
        const char *const newline = static_cast<const char *>(std::memchr(at, '\n', std::size_t(end - at)));
        const char *const next = newline == nullptr ? end : newline + 1;
        ++number_;
        cut_ = newline == nullptr;
        const std::string_view whole(at, std::size_t(next - at));
        line(whole, whole);
        if (cut_ && !trim(whole).empty())
            problems_->add(number_, "the file ends in the middle of a line: it may have been cut short");
        cut_ = false;
        at = next;
    }
}

void TableReader::end() {
    end_table();
    if (strangers_ > 0)
        map_.problems.push_back({fmt::format("{}:{}", problems_->file(), first_stranger_), "",
                                 fmt::format("{} of {} entries, from this line on, name another port than the topology has "
                                             "at that LID: were both taken at the same time?",
                                             strangers_, checked_)});
    if (entries_ == entries_before_)
        map_.problems.push_back({problems_->file(), "", "no forwarding table of this fabric in it"});
    say_disagreements();
    problems_->finish();
}

void TableReader::finish() {
    constexpr std::size_t named = 10;
    std::size_t without = 0, switches = 0;
    std::string names;
    for (std::uint32_t n = 0; n < map_.nodes.size(); ++n) {
        if (map_.nodes[n].kind != NodeKind::switch_node)
            continue;
        ++switches;
        if (map_.nodes[n].lft.empty() && ++without <= named)
            names += (names.empty() ? "" : ", ") + map_.display_name(n);
    }
    if (without == 0 || without == switches)
        return;
    if (without > named)
        names += fmt::format(" and {} more", without - named);
    map_.problems.push_back({"tables", "",
                             without == 1 ? names + " has no forwarding table: routes end there"
                                          : names + fmt::format(": these {} switches have no forwarding table, and routes end there", without)});
}

} // namespace fabric_check::fabric
