// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/import_text.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::fabric {

enum class FileKind : std::uint8_t {
    unknown,
    topology,     ///< ibnetdiscover
    ports_report, ///< ibnetdiscover -p
    tables,       ///< opensm-lfts.dump, dump_fts, ibroute, .fdbs
    adaptive,     ///< ibdiagnet2.far: forwarding tables of adaptive routing
    sm_log,       ///< opensm.log
};

/// What a file is, by its first lines that belong to one kind only; warnings and banners before them do not matter.
FileKind recognise(std::string_view first_block);
/// What an unknown file may be instead, for the message: "a list of nodes (ibnetdiscover -l); ", or empty.
std::string_view likeness(std::string_view first_block);

/// Looks for adaptive routing in .far files and subnet managers' logs: begin, blocks of whole lines, end.
class AdaptiveEvidence {
public:
    explicit AdaptiveEvidence(std::vector<Problem> &problems) : problems_(problems) {}
    void begin(const std::string &file, FileKind kind);
    void block(std::string_view lines);
    void end();
    bool shown() const { return shown_; } ///< some file showed that packets may take other ports than the tables say

private:
    void line(std::string_view text);

    std::vector<Problem> &problems_;
    std::string file_;
    FileKind kind_ = FileKind::unknown;
    std::size_t number_ = 0;
    std::size_t rows_ = 0, free_rows_ = 0; ///< of a .far file: LIDs, and those that are not bound to one port
    std::string engine_;                   ///< of a log: the last one that routed
    bool shown_ = false;
};

} // namespace fabric_check::fabric
