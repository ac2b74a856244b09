// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/import.hpp"
#include "fabric/import_kind.hpp"
#include "fabric/import_rate.hpp"
#include "fabric/import_topology.hpp"

#include <map>

namespace fabric_check::fabric {
namespace {

/// What stands behind the # of a line.
struct Comment {
    std::optional<std::uint64_t> own_lid, own_lmc; ///< before the description: of the section's own port
    std::optional<std::string> description;
    std::optional<std::uint64_t> lid, lmc; ///< behind it: of the node described
    LinkRate rate;
};

LinkRate rate_from(const std::string &token, std::uint64_t s, std::uint64_t w, std::uint64_t e) {
    Cursor at(token);
    auto lanes = at.take_number();
    if (lanes && !at.take("x") && !at.take("X"))
        lanes.reset();
    std::string speed(lanes ? at.rest() : std::string_view());
    static const std::map<std::uint64_t, unsigned> widths = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
    static const std::map<std::uint64_t, const char *> speeds = {{1, "SDR"}, {2, "DDR"}, {4, "QDR"}};
    static const std::map<std::uint64_t, const char *> extended = {
        {1, "FDR"}, {2, "EDR"}, {4, "HDR"}, {8, "NDR"}, {16, "XDR"}};
    // Old tools print "4x???" for a speed younger than they are; -f has the code behind it.
    if (speed.empty() || speed.front() == '?') {
        speed.clear();
        if (const auto found = extended.find(e); found != extended.end())
            speed = found->second;
        else if (const auto plain = speeds.find(s); plain != speeds.end())
            speed = plain->second;
    }
    if (!lanes)
        if (const auto found = widths.find(w); found != widths.end())
            lanes = found->second;
    return lanes && *lanes <= max_lanes ? link_rate(unsigned(*lanes), speed) : LinkRate{};
}

/// `cut`: the file ends here, so that the last word may be half a one, and is left out.
Comment read_comment(std::string_view text, bool cut) {
    if (cut && text.rfind('"') != text.size() - 1)
        text = text.substr(0, text.find_last_of(" \t") + 1);
    Comment out;
    std::string_view front = text, back = text;
    const std::size_t first = text.find('"'), last = text.rfind('"');
    if (first != std::string_view::npos) {
        front = text.substr(0, first);
        back = {};
        if (last > first) {
            out.description = std::string(text.substr(first + 1, last - first - 1));
            back = text.substr(last + 1);
        }
    } else {
        front = {};
    }
    std::string rate;
    std::uint64_t s = 0, w = 0, e = 0;
    for (const bool behind : {false, true}) {
        Cursor at(behind ? back : front);
        while (at.skip_blanks(), !at.done()) {
            std::optional<std::uint64_t> *into = nullptr;
            if (at.take("lid "))
                into = behind ? &out.lid : &out.own_lid;
            else if (at.take("lmc "))
                into = behind ? &out.lmc : &out.own_lmc;
            if (into) {
                at.skip_blanks();
                if (const auto value = at.take_number())
                    *into = value;
                continue;
            }
            const std::string_view rest = at.rest();
            const std::string word(rest.substr(0, rest.find_first_of(" \t")));
            at.take(word);
            if (word.starts_with("s="))
                s = parse_u64(std::string_view(word).substr(2)).value_or(0);
            else if (word.starts_with("w="))
                w = parse_u64(std::string_view(word).substr(2)).value_or(0);
            else if (word.starts_with("e="))
                e = parse_u64(std::string_view(word).substr(2)).value_or(0);
            else if (behind && rate.empty() && word.find_first_of("xX?") != std::string::npos)
                rate = word;
        }
    }
    out.rate = rate_from(rate, s, w, e);
    return out;
}

/// "S-0002c900010001b0" in its quotes; the opening one may be lost.
std::optional<std::pair<char, std::uint64_t>> take_name(Cursor &at) {
    at.skip_blanks();
    at.take("\"");
    if (at.rest().size() < 3 || at.rest()[1] != '-')
        return std::nullopt;
    const char letter = at.rest()[0];
    if (letter != 'S' && letter != 'H' && letter != 'R' && letter != '?')
        return std::nullopt;
    at.take(at.rest().substr(0, 2));
    const auto guid = at.take_number(16);
    if (!guid)
        return std::nullopt;
    at.take("\"");
    return std::pair(letter, *guid);
}

/// What is kept of one description at most; the fabric's own have 64 bytes, those of a node name map may have more.
constexpr std::size_t max_description = 256;
/// The largest subnet has 49,151 LIDs; this is room for several times that.
constexpr std::size_t max_kept = std::size_t(1) << 30;

} // namespace

bool TopologyReader::keep(std::size_t bytes) {
    kept_ += bytes;
    if (kept_ > max_kept && status_)
        status_ = Error{Errc::malformed, fmt::format("{}:{}: more nodes and ports than any InfiniBand subnet has",
                                                     problems_->file(), number_)};
    return status_.ok();
}

std::uint32_t TopologyReader::node_named(char letter, std::uint64_t guid) {
    const auto [found, fresh] = nodes_.try_emplace({letter, guid}, std::uint32_t(map_.nodes.size()));
    if (fresh) {
        DraftNode node;
        node.guid = guid;
        node.kind = letter == 'S' ? NodeKind::switch_node : letter == 'H' ? NodeKind::host : NodeKind::other;
        if (letter == 'S')
            node.ports.resize(1);
        map_.nodes.push_back(std::move(node));
        seen_.push_back({false, letter});
        keep(sizeof(DraftNode) + sizeof(Seen) + sizeof(DraftPort));
    }
    return found->second;
}

/// Null once too much is kept.
DraftPort *TopologyReader::port_of(std::uint32_t node, std::uint64_t port) {
    auto &ports = map_.nodes[node].ports;
    if (ports.size() <= port) {
        if (!keep((port + 1 - ports.size()) * sizeof(DraftPort)))
            return nullptr;
        ports.resize(port + 1);
    }
    return &ports[port];
}

void TopologyReader::describe(std::uint32_t node, std::string_view description) {
    description = description.substr(0, max_description);
    std::string &kept = map_.nodes[node].description;
    if (kept == description)
        return;
    kept = description;
    keep(kept.size());
}

void TopologyReader::set_lid(std::uint16_t &field, std::optional<std::uint64_t> lid, std::uint32_t node) {
    if (!lid)
        return;
    const auto whose = [&] { return in_quotes(map_.nodes[node].description); };
    if (*lid > 0xffff)
        problems_->add(number_, fmt::format("LID {} of {} is none", *lid, whose()));
    else if (field == 0 || field == 0xffff)
        field = std::uint16_t(*lid);
    else if (*lid != 0 && *lid != 0xffff && field != *lid)
        problems_->add(number_, fmt::format("{} has LID {} here and {} before; the first is kept", whose(), *lid, field));
}

void TopologyReader::link(std::uint32_t node, std::uint64_t port, std::uint32_t peer, std::uint64_t peer_port,
                          const LinkRate &rate) {
    DraftPort *far = port_of(peer, peer_port), *near = port_of(node, port);
    if (!near || !far)
        return;
    if (near->peer != no_node && (near->peer != peer || near->peer_port != peer_port)) {
        problems_->add(number_, "this port has another neighbour before; the first is kept");
        return;
    }
    if (near->peer == no_node) {
        near->peer = peer;
        near->peer_port = std::uint8_t(peer_port);
        if (keep(sizeof(Half)))
            halves_.push_back({node, std::uint32_t(files_.size() - 1), std::uint32_t(number_), std::uint8_t(port)});
    }
    if (rate != LinkRate{})
        near->rate = rate;
}

/// "Switch 36 "S-…" # "name" enhanced port 0 lid 3 lmc 0", "Ca 2 "H-…" # "name"", "Rt 2 "R-…" # …"
bool TopologyReader::head(Cursor at) {
    const bool is_switch = at.take("Switch");
    if (!is_switch && !at.take("Ca") && !at.take("Rt") && !at.take("???"))
        return false;
    at.skip_blanks();
    const auto ports = at.take_number();
    if (!ports)
        return false;
    const auto name = take_name(at);
    if (!name || (name->first == 'S') != is_switch)
        return false;
    listing_lines_ = true;
    current_ = node_named(name->first, name->second);
    const bool again = seen_[current_].section;
    seen_[current_].section = true;
    if (*ports > max_port_number)
        problems_->add(number_, fmt::format("a node of {} ports; InfiniBand has {}", *ports, max_port_number));
    else
        port_of(current_, *ports);
    at.skip_blanks();
    if (!at.take("#"))
        return true;
    const Comment comment = read_comment(at.rest(), cut_);
    if (comment.description) {
        const std::string_view before = map_.nodes[current_].description;
        const std::string_view here = std::string_view(*comment.description).substr(0, max_description);
        if (again && !before.empty() && before != here)
            problems_->add(number_, fmt::format("node GUID {} is {} here and {} before: two nodes of one GUID, or one that was "
                                                "renamed; taken for one",
                                                guid_text(name->second), in_quotes(here), in_quotes(before)));
        describe(current_, here);
    }
    if (is_switch) {
        set_lid(map_.nodes[current_].lid, comment.lid, current_);
        map_.nodes[current_].ports[0].lmc = std::uint8_t(std::min<std::uint64_t>(comment.lmc.value_or(0), 7));
    }
    return true;
}

/// "[3]	"H-…"[1](guid) 	# "name" lid 9 4xEDR" of a switch, "[1](guid) 	"S-…"[24]	# lid 28 lmc 0 "name" lid 13 4xEDR"
bool TopologyReader::port_line(Cursor at) {
    const auto skip_external = [&at] { // "[ext 4]" of chassis listings
        if (at.take("[ext ")) {
            at.take_number();
            at.take("]");
        }
    };
    const auto port = at.take_bracketed();
    if (!port)
        return false;
    skip_external();
    at.skip_blanks();
    const auto own_guid = at.take_guid_in_parentheses();
    const auto name = take_name(at);
    if (!name)
        return false;
    const auto peer_port = at.take_bracketed();
    if (!peer_port)
        return false;
    skip_external();
    at.skip_blanks();
    const auto peer_guid = at.take_guid_in_parentheses();
    at.skip_blanks();
    listing_lines_ = true;
    if (current_ == no_node) {
        problems_->add(number_, "a port before any node's head");
        return true;
    }
    if (*port > max_port_number || *peer_port > max_port_number) {
        problems_->add(number_, fmt::format("port {} or {} is none", *port, *peer_port));
        return true;
    }
    const Comment comment = at.take("#") ? read_comment(at.rest(), cut_) : Comment{};
    const std::uint32_t peer = node_named(name->first, name->second);
    if (!seen_[peer].section && comment.description)
        describe(peer, *comment.description);
    DraftPort *far = port_of(peer, *peer_port);
    if (!far)
        return true;
    if (peer_guid && far->guid == 0) {
        far->guid = *peer_guid;
        port_guids_.emplace(*peer_guid, peer);
    }
    set_lid(seen_[peer].letter == 'S' ? map_.nodes[peer].lid : far->lid, comment.lid, peer);

    DraftPort *near = port_of(current_, *port); // only now: `far` may be of the same node
    if (!near)
        return true;
    if (own_guid) {
        near->guid = *own_guid;
        port_guids_.emplace(*own_guid, current_);
    }
    if (seen_[current_].letter != 'S') {
        set_lid(near->lid, comment.own_lid, current_);
        near->lmc = std::uint8_t(std::min<std::uint64_t>(comment.own_lmc.value_or(near->lmc), 7));
    }
    link(current_, *port, peer, *peer_port, comment.rate);
    return true;
}

void TopologyReader::line(std::string_view text) {
    text = trim(text);
    if (text.empty() || text.front() == '#' || in_tables_)
        return;
    if (text.front() == '[') {
        if (!port_line(Cursor(text)))
            problems_->add(number_, "not understood: " + in_quotes(text));
        return;
    }
    for (const std::string_view known :
         {"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=", "Non-Chassis Nodes", "Chassis ", "Hostname:"})
        if (text.starts_with(known))
            return;
    if (head(Cursor(text)) || report_line(text))
        return;
    in_tables_ = recognise(text) == FileKind::tables;
    if (in_tables_)
        problems_->add(number_, "forwarding tables begin here and are not read: give them as a file of their own");
    else
        problems_->add(number_, "not understood: " + in_quotes(text));
}

void TopologyReader::begin(const std::string &file) {
    problems_.emplace(file, map_.problems);
    files_.push_back(file);
    current_ = no_node;
    in_tables_ = false;
    number_ = 0;
    listing_lines_ = report_lines_ = false;
}

void TopologyReader::block(std::string_view lines) {
    each_line(lines, [this, &lines](std::string_view text, std::size_t) {
        ++number_;
        cut_ = text.data() + text.size() == lines.data() + lines.size();
        if (status_)
            line(text);
        if (cut_ && !trim(text).empty())
            problems_->add(number_, "the file ends in the middle of a line: it may have been cut short");
        cut_ = false;
    });
}

void TopologyReader::end() {
    if (report_lines_ && !listing_lines_ && cards_without_guid_ > 0)
        map_.problems.push_back({problems_->file(), "",
                                 "a ports report (ibnetdiscover -p) names no cards and no LMC: ports of one card stand "
                                 "apart, and alternate LIDs are not known"});
    cards_without_guid_ = 0;
    problems_->finish();
}

} // namespace fabric_check::fabric
