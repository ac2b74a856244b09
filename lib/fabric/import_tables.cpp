// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/import.hpp"
#include "fabric/import_text.hpp"

#include <set>

namespace fabric_check::fabric {
namespace {

constexpr std::uint64_t first_multicast_lid = 0xc000;

class TableReader {
public:
    explicit TableReader(MapDraft &map) : map_(map) {}
    void read(const TextFile &file);
    std::size_t entries() const { return entries_; }

private:
    void line(std::string_view text, std::size_t number, ProblemList &problems);
    bool row(std::string_view text, std::size_t number, ProblemList &problems);
    void unicast_head(std::string_view text, std::size_t number, ProblemList &problems);
    void fdbs_head(std::string_view text, std::size_t number, ProblemList &problems);
    void begin(std::uint32_t node, const std::string &what, std::size_t number, ProblemList &problems);
    void check_destination(std::uint16_t lid, std::string_view text, std::size_t number);
    /// Says `reason` once per table.
    void once(const char *key, std::size_t number, const std::string &reason, ProblemList &problems);

    MapDraft &map_;
    std::uint32_t current_ = no_node;
    bool skipping_ = false; ///< below a head whose rows cannot be used: said once
    std::size_t entries_ = 0, checked_ = 0, strangers_ = 0, first_stranger_ = 0;
    std::set<std::string> said_;
};

void TableReader::once(const char *key, std::size_t number, const std::string &reason, ProblemList &problems) {
    if (said_.insert(key).second)
        problems.add(number, reason);
}

void TableReader::begin(std::uint32_t node, const std::string &what, std::size_t number, ProblemList &problems) {
    said_.clear();
    skipping_ = node == no_node || map_.nodes[node].kind != NodeKind::switch_node;
    current_ = skipping_ ? no_node : node;
    if (skipping_)
        problems.add(number, fmt::format("the table of {}, which is no switch of the topology, is left out", what));
}

/// "Unicast lids [0-22] of switch Lid 4 guid 0x… ('desc'):", "… of switch DR path slid 0; dlid 0; 0,1,13 guid 0x… (desc):"
void TableReader::unicast_head(std::string_view text, std::size_t number, ProblemList &problems) {
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
            node = map_.by_lid(std::uint16_t(*lid));
            what += fmt::format(" (LID {})", *lid);
        }
    }
    begin(node, what, number, problems);
}

/// "dump_ucast_routes: Switch 0x…" of opensm.fdbs, "osm_ucast_mgr_dump_ucast_routes: Switch 0x…" of ibdiagnet2.fdbs
void TableReader::fdbs_head(std::string_view text, std::size_t number, ProblemList &problems) {
    const std::size_t at = text.find("Switch 0x");
    Cursor cursor(at == std::string_view::npos ? std::string_view() : text.substr(at + 9));
    const auto guid = cursor.take_number(16);
    begin(guid ? map_.by_guid(*guid) : no_node, guid ? fmt::format("0x{:016x}", *guid) : "a switch without GUID", number,
          problems);
}

/// The text behind an entry names its destination: another one than the topology has at that LID shows that table and
/// topology were taken at different times.
void TableReader::check_destination(std::uint16_t lid, std::string_view text, std::size_t number) {
    const std::size_t at = text.find("portguid 0x");
    const std::uint32_t holder = map_.by_lid(lid);
    if (at == std::string_view::npos || holder == no_node)
        return;
    Cursor cursor(text.substr(at + 11));
    const auto guid = cursor.take_number(16);
    if (!guid)
        return;
    ++checked_;
    const DraftNode &node = map_.nodes[holder];
    if (*guid == node.guid)
        return;
    std::uint8_t port = 0;
    if (map_.by_port_guid(*guid, &port) == holder && (node.kind == NodeKind::switch_node || port == map_.port_of_lid(lid)))
        return;
    const std::string_view description = trim(node.description);
    if (!description.empty() && cursor.rest().find(description) != std::string_view::npos)
        return;
    if (++strangers_ == 1)
        first_stranger_ = number;
}

/// "0x0003 025 # Channel Adapter …", "0x0003 025 : (…)", "0x0003 : 025  : 01   : yes", "0x0003 : UNREACHABLE"
bool TableReader::row(std::string_view text, std::size_t number, ProblemList &problems) {
    Cursor at(text);
    if (!at.take("0x"))
        return false;
    const auto lid = at.take_number(16);
    if (!lid)
        return false;
    at.skip(" \t:");
    std::uint64_t port = no_route;
    if (!at.take("UNREACHABLE")) {
        const auto number_there = at.take_number();
        if (!number_there || (!at.done() && at.rest().find_first_of(" \t:#") != 0))
            return false;
        port = *number_there;
    }
    if (skipping_)
        return true;
    if (current_ == no_node) {
        once("headless", number, "entries before any switch's head are left out", problems);
        return true;
    }
    if (*lid >= first_multicast_lid || port > 0xff) {
        once("range", number, fmt::format("LID 0x{:x} by port {} is left out: out of range", *lid, port), problems);
        return true;
    }
    DraftNode &node = map_.nodes[current_];
    if (port != no_route && port >= node.ports.size())
        once("port", number,
             fmt::format("port {} of {}, which has {}", port, map_.display_name(current_), node.ports.size() - 1), problems);
    if (node.lft.size() <= *lid)
        node.lft.resize(*lid + 1, no_route);
    std::uint8_t &entry = node.lft[*lid];
    if (entry != no_route && entry != port)
        once("twice", number,
             fmt::format("{} has LID 0x{:x} by port {} here and {} before; the last is kept", map_.display_name(current_),
                         *lid, port, entry),
             problems);
    entry = std::uint8_t(port);
    ++entries_;
    check_destination(std::uint16_t(*lid), at.rest(), number);
    return true;
}

void TableReader::line(std::string_view text, std::size_t number, ProblemList &problems) {
    text = trim(text);
    if (text.empty() || row(text, number, problems))
        return;
    if (text.find("Unicast lids") != std::string_view::npos) {
        unicast_head(text, number, problems);
    } else if (text.find("dump_ucast_routes: Switch") != std::string_view::npos) {
        fdbs_head(text, number, problems);
    } else if (text.find("Multicast mlids") != std::string_view::npos) {
        skipping_ = true;
    } else if (text.front() != '#' && text.find("lids dumped") == std::string_view::npos &&
               !text.starts_with("Lid ") && !text.starts_with("LID ") && !text.starts_with("Port ") &&
               !text.ends_with("MLids dumped") && !text.ends_with("mlids dumped") && !skipping_) {
        problems.add(number, "not understood: " + in_quotes(text));
    }
}

void TableReader::read(const TextFile &file) {
    ProblemList problems(file.name, map_.problems);
    current_ = no_node;
    skipping_ = false;
    said_.clear();
    checked_ = strangers_ = 0;
    each_line(file.text, [&](std::string_view text, std::size_t number) { line(text, number, problems); });
    if (strangers_ > 0)
        map_.problems.push_back({fmt::format("{}:{}", file.name, first_stranger_), "",
                                 fmt::format("{} of {} entries, from this line on, name another port than the topology has "
                                             "at that LID: were both taken at the same time?",
                                             strangers_, checked_)});
    problems.finish();
}

} // namespace

Status import_tables(MapDraft &map, const std::vector<TextFile> &files) {
    TableReader reader(map);
    for (const TextFile &file : files) {
        const std::size_t before = reader.entries();
        reader.read(file);
        if (reader.entries() == before && files.size() > 1)
            map.problems.push_back({file.name, "", "no forwarding table of this fabric in it"});
    }
    if (reader.entries() == 0)
        return Error{Errc::malformed,
                     fmt::format("{}: no forwarding table of this fabric in it{}", files.empty() ? "tables" : files[0].name,
                                 map.problems.empty() ? "" : "; " + map.problems.back().reason)};
    std::size_t without = 0;
    std::string example;
    for (std::uint32_t n = 0; n < map.nodes.size(); ++n)
        if (map.nodes[n].kind == NodeKind::switch_node && map.nodes[n].lft.empty()) {
            ++without;
            if (example.empty())
                example = map.display_name(n);
        }
    if (without > 0)
        map.problems.push_back({"tables", "",
                                without == 1 ? fmt::format("{} has no forwarding table: routes end there", example)
                                             : fmt::format("{} switches have no forwarding table, the first is {}: "
                                                           "routes end there",
                                                           without, example)});
    return {};
}

} // namespace fabric_check::fabric
