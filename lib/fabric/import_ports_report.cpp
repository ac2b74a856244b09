// SPDX-License-Identifier: GPL-2.0-or-later
//
// Lines of `ibnetdiscover -p`:
//   SW     3  6 0x0000000000200001 4x SDR - SW     2  6 0x0000000000200000 ( 'SwitchB' - 'SwitchA' )
//   SW     3  7 0x0000000000200001 4x SDR                                    'SwitchB'
// The GUIDs are port GUIDs, which a switch shares with its node; the rate of a port without a neighbour means nothing.
#include "fabric/import_rate.hpp"
#include "fabric/import_topology.hpp"

namespace fabric_check::fabric {

std::optional<TopologyReader::ReportEnd> TopologyReader::take_report_end(Cursor &at) {
    ReportEnd out;
    at.skip_blanks();
    out.letter = at.take("SW") ? 'S' : at.take("CA") ? 'H' : at.take("RT") ? 'R' : '?';
    if (out.letter == '?' && !at.take("??")) {
        return std::nullopt;
    }
    at.skip("? \t");
    const auto lid = at.take_number();
    at.skip_blanks();
    const auto port = at.take_number();
    at.skip_blanks();
    const auto guid = at.take("0x") ? at.take_number(16) : std::nullopt;
    if (!lid || !port || !guid) {
        return std::nullopt;
    }
    out.lid = *lid;
    out.port = *port;
    out.guid = *guid;
    return out;
}

/// The node that has this port: a switch by its GUID, others by the port's, which stands for a card of its own unless a
/// listing told whose it is.
std::uint32_t TopologyReader::reported_node(const ReportEnd &end) {
    if (end.letter != 'S') {
        if (const auto known = port_guids_.find(end.guid); known != port_guids_.end()) {
            return known->second;
        }
    }
    const auto before = map_.nodes.size();
    const std::uint32_t node = node_named(end.letter == 'S' ? 'S' : 'P', end.guid);
    if (end.letter != 'S' && map_.nodes.size() > before) {
        map_.nodes[node].kind = end.letter == 'H' ? NodeKind::host : NodeKind::other;
        seen_[node].letter = end.letter;
        ++cards_without_guid_;
    }
    return node;
}

void TopologyReader::reported_lid(std::uint32_t node, const ReportEnd &end) {
    DraftPort *port = port_of(node, end.port);
    if (!port) {
        return;
    }
    if (seen_[node].letter == 'S') {
        set_lid(map_.nodes[node].lid, end.lid, node);
        return;
    }
    port->guid = end.guid;
    set_lid(port->lid, end.lid, node);
}

/// "( 'SwitchB' - 'SwitchA' )": a description may have quotes and dashes itself; what is known of either decides then.
void TopologyReader::split_names(std::string_view names, std::uint32_t near, std::uint32_t far) {
    const std::size_t first = names.find('\''), last = names.rfind('\'');
    if (first == std::string_view::npos || last <= first) {
        return;
    }
    names = names.substr(first + 1, last - first - 1);
    constexpr std::string_view between = "' - '";
    std::size_t split = names.find(between);
    for (std::size_t at = split; at != std::string_view::npos; at = names.find(between, at + 1)) {
        const std::string_view front = names.substr(0, at), back = names.substr(at + between.size());
        if (front == map_.nodes[near].description || back == map_.nodes[far].description) {
            split = at;
            break;
        }
    }
    if (split == std::string_view::npos) {
        return;
    }
    describe(near, names.substr(0, split));
    describe(far, names.substr(split + between.size()));
}

bool TopologyReader::report_line(std::string_view text) {
    Cursor at(text);
    const auto near = take_report_end(at);
    if (!near) {
        return false;
    }
    report_lines_ = true;
    at.skip_blanks();
    const std::string_view rate = at.rest();
    const std::size_t dash = rate.find(" - "), quote = rate.find('\'');
    const bool linked = dash < quote;
    std::optional<ReportEnd> far;
    if (linked) {
        at = Cursor(rate.substr(dash + 3));
        far = take_report_end(at);
    }
    if (near->port > max_port_number || (far && far->port > max_port_number)) {
        problems_->add(number_, fmt::format("port {} or {} is none", near->port, far ? far->port : 0));
        return true;
    }
    const std::uint32_t node = reported_node(*near);
    seen_[node].section = true;
    reported_lid(node, *near);
    if (!linked) {
        if (quote != std::string_view::npos && rate.rfind('\'') > quote) {
            describe(node, rate.substr(quote + 1, rate.rfind('\'') - quote - 1));
        }
        return true;
    }
    if (!far) {
        return false;
    }
    const std::uint32_t peer = reported_node(*far);
    reported_lid(peer, *far);
    split_names(at.rest(), node, peer);
    Cursor width(rate.substr(0, dash));
    const auto lanes = width.take_number();
    width.skip("xX");
    link(node, near->port, peer, far->port,
         lanes && *lanes <= max_lanes ? link_rate(unsigned(*lanes), std::string(trim(width.rest()))) : LinkRate{});
    return true;
}

} // namespace fabric_check::fabric
