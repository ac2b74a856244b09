// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "fabric/import_text.hpp"
#include "fabric/map_draft.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fabric_check::fabric {

/// Builds the nodes and links of a map from ibnetdiscover output: listings of any vintage, and the ports reports of its
/// -p. Files in turn: begin, blocks of whole lines, end. Listings go before ports reports, which find the listings' nodes
/// by port GUID. What is kept is bounded, whatever the files hold.
class TopologyReader {
public:
    void begin(const std::string &file);
    void block(std::string_view lines);
    void end();
    /// An error once more is to be kept than any subnet has; the rest is not worth reading then.
    const Status &status() const { return status_; }
    bool empty() const { return map_.nodes.empty(); }
    /// Joins the links' ends and checks the whole; the reader is empty afterwards.
    MapDraft finish();

private:
    struct Seen {
        bool section = false; ///< has lines of its own, not only a neighbour's word
        char letter = '?';
    };
    struct Half {
        std::uint32_t node = no_node;
        std::uint32_t file = 0, line = 0; ///< index into files_
        std::uint8_t port = 0;
    };
    /// One side of a line of a ports report.
    struct ReportEnd {
        char letter = '?';
        std::uint64_t lid = 0, port = 0, guid = 0;
    };

    void line(std::string_view text);
    bool head(Cursor at);
    bool port_line(Cursor at);
    bool report_line(std::string_view text);
    static std::optional<ReportEnd> take_report_end(Cursor &at);
    void split_names(std::string_view names, std::uint32_t near, std::uint32_t far);
    std::uint32_t reported_node(const ReportEnd &end);
    void reported_lid(std::uint32_t node, const ReportEnd &end);
    std::uint32_t node_named(char letter, std::uint64_t guid);
    DraftPort *port_of(std::uint32_t node, std::uint64_t port);
    void set_lid(std::uint16_t &field, std::optional<std::uint64_t> lid, std::uint32_t node);
    void describe(std::uint32_t node, std::string_view description);
    void link(std::uint32_t node, std::uint64_t port, std::uint32_t peer, std::uint64_t peer_port, const LinkRate &rate);
    bool keep(std::size_t bytes);
    void join_halves();
    void name_silent_nodes();

    MapDraft map_;
    Status status_;
    std::vector<Seen> seen_;
    std::map<std::pair<char, std::uint64_t>, std::uint32_t> nodes_; ///< by letter and node GUID; 'P': by port GUID
    std::unordered_map<std::uint64_t, std::uint32_t> port_guids_;
    std::vector<Half> halves_;
    std::vector<std::string> files_;
    std::optional<ProblemList> problems_;
    bool in_tables_ = false; ///< forwarding tables follow in the same file
    std::size_t kept_ = 0, number_ = 0, cards_without_guid_ = 0;
    std::uint32_t current_ = no_node;
    bool cut_ = false, listing_lines_ = false, report_lines_ = false;
};

} // namespace fabric_check::fabric
