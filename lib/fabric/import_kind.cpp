// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/import_kind.hpp"

namespace fabric_check::fabric {
namespace {

constexpr std::string_view engine_mark = " tables configured on all switches";

/// "Switch	8 "S-…"", "Ca 2 "H-…"", "Rt 2 "R-…"": behind the number stands a name of that form.
bool topology_head(std::string_view text) {
    Cursor at(text);
    if (!at.take("Switch") && !at.take("Ca") && !at.take("Rt"))
        return false;
    at.skip_blanks();
    if (!at.take_number())
        return false;
    at.skip_blanks();
    at.take("\"");
    return at.rest().size() > 2 && at.rest()[1] == '-';
}

/// "SW     3  6 0x0000000000200001 4x SDR - …"
bool report_row(std::string_view text) {
    Cursor at(text);
    if (!at.take("SW ") && !at.take("CA ") && !at.take("RT "))
        return false;
    at.skip_blanks();
    if (!at.take_number())
        return false;
    at.skip_blanks();
    if (!at.take_number())
        return false;
    at.skip_blanks();
    return at.take("0x");
}

/// "0x0003 025 …", "0x0003 : 025 …", "0x0003 : UNREACHABLE"; in a .far file the port is followed by a word.
bool table_row(std::string_view text) {
    Cursor at(text);
    if (!at.take("0x") || !at.take_number(16))
        return false;
    at.skip(" \t:");
    return at.take("UNREACHABLE") || (at.take_number() && (at.done() || at.rest().find_first_of(" \t:#") == 0));
}

/// "Nov 29 19:50:25 862479 [2D4FC740] 0x43 -> "
bool log_line(std::string_view text) {
    const std::size_t bracket = text.find(" ["), level = text.find("] 0x");
    return bracket != std::string_view::npos && level != std::string_view::npos && bracket < level &&
           text.find(" -> ", level) != std::string_view::npos;
}

FileKind kind_of(std::string_view text) {
    if (topology_head(text) || text.starts_with("switchguid=") || text.starts_with("caguid=") ||
        text.starts_with("# Topology file"))
        return FileKind::topology;
    if (report_row(text))
        return FileKind::ports_report;
    if (text.starts_with("Groups Definition:") || text.starts_with("LFT Definition:"))
        return FileKind::adaptive;
    if (log_line(text) || text.find(engine_mark) != std::string_view::npos)
        return FileKind::sm_log;
    if (text.find("Unicast lids") != std::string_view::npos || text.find("Multicast mlids") != std::string_view::npos ||
        text.find("dump_ucast_routes: Switch") != std::string_view::npos || table_row(text))
        return FileKind::tables;
    return FileKind::unknown;
}

} // namespace

FileKind recognise(std::string_view first_block) {
    FileKind out = FileKind::unknown;
    each_line(first_block, [&out](std::string_view text, std::size_t) {
        if (out == FileKind::unknown)
            out = kind_of(trim(text));
    });
    return out;
}

std::string_view likeness(std::string_view first_block) {
    if (first_block.starts_with("FCMAP\r\n"))
        return "a map already: name it with --map; ";
    if (trim(first_block).empty())
        return "it is empty; ";
    const std::size_t list = first_block.find(": 0x");
    if (list != std::string_view::npos && first_block.find(" ports ", list) != std::string_view::npos)
        return "a list of nodes (ibnetdiscover -l, ibnodes) has no links; ";
    return "";
}

void AdaptiveEvidence::begin(const std::string &file, FileKind kind) {
    file_ = file;
    kind_ = kind;
    number_ = rows_ = free_rows_ = 0;
    engine_.clear();
}

/// "0x0003 25 Free 7" of a .far file: LID, its port under static routing, how it is routed, group of ports. Static is
/// bound to that port; Free and Bounded choose by load, HBF by a hash over the packet.
void AdaptiveEvidence::line(std::string_view text) {
    if (kind_ == FileKind::sm_log) {
        const std::size_t mark = text.find(engine_mark);
        if (mark == std::string_view::npos)
            return;
        const std::string_view front = text.substr(0, mark);
        engine_ = printable(front.substr(front.find_last_of(" \t") + 1));
        return;
    }
    Cursor at(text);
    if (!at.take("0x") || !at.take_number(16))
        return;
    at.skip_blanks();
    if (!at.take_number())
        return;
    at.skip_blanks();
    ++rows_;
    for (const std::string_view state : {"Free", "Bounded", "HBF"})
        if (at.take(state) && (at.done() || at.rest().find_first_of(" \t") == 0)) {
            ++free_rows_;
            return;
        }
}

void AdaptiveEvidence::block(std::string_view lines) {
    each_line(lines, [this](std::string_view text, std::size_t) {
        ++number_;
        line(trim(text));
    });
}

void AdaptiveEvidence::end() {
    if (kind_ == FileKind::sm_log) {
        const bool adaptive = engine_.starts_with("ar_") || engine_.starts_with("AR_");
        shown_ = shown_ || adaptive;
        if (engine_.empty())
            problems_.push_back({file_, "", "this log names no routing engine (log level 0x02 shows it)"});
        else if (adaptive)
            problems_.push_back({file_, "", fmt::format("adaptive routing is on: the subnet manager routed by {}", engine_)});
        return;
    }
    if (rows_ == 0)
        problems_.push_back({file_, "", "no LID in these tables of adaptive routing: it may have been cut short"});
    if (free_rows_ == 0)
        return;
    shown_ = true;
    problems_.push_back({file_, "", fmt::format("adaptive routing is on: {} of {} entries let the switch choose the port",
                                                free_rows_, rows_)});
}

} // namespace fabric_check::fabric
