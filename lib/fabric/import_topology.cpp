// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/import.hpp"
#include "fabric/import_text.hpp"
#include "sources/sysfs.hpp"

#include <map>

namespace fabric_check::fabric {
namespace {

constexpr std::uint64_t max_port = 254; ///< 255 means no port

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
    return lanes && *lanes <= 12 ? link_rate(unsigned(*lanes), speed) : LinkRate{};
}

Comment read_comment(std::string_view text) {
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

class TopologyReader {
public:
    void read(const TextFile &file);
    MapDraft finish();
    bool empty() const { return map_.nodes.empty(); }

private:
    struct Seen {
        bool section = false; ///< has lines of its own, not only a neighbour's word
        char letter = '?';
    };
    struct Half {
        std::uint32_t node = no_node;
        std::uint8_t port = 0;
        std::string where;
    };

    void line(std::string_view text, std::size_t number, ProblemList &problems);
    bool head(Cursor at, std::size_t number, ProblemList &problems);
    bool port_line(Cursor at, std::size_t number, ProblemList &problems);
    std::uint32_t node_named(char letter, std::uint64_t guid);
    static std::optional<std::pair<char, std::uint64_t>> take_name(Cursor &at);
    void set_lid(std::uint16_t &field, std::optional<std::uint64_t> lid, const std::string &whose, std::size_t number,
                 ProblemList &problems);
    void join_halves();
    void check_lids();
    DraftPort &port_of(std::uint32_t node, std::uint64_t port);

    MapDraft map_;
    std::vector<Seen> seen_;
    std::map<std::pair<char, std::uint64_t>, std::uint32_t> nodes_;
    std::vector<Half> halves_;
    std::uint32_t current_ = no_node;
};

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
    }
    return found->second;
}

/// "S-0002c900010001b0" in its quotes; the opening one may be lost.
std::optional<std::pair<char, std::uint64_t>> TopologyReader::take_name(Cursor &at) {
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

DraftPort &TopologyReader::port_of(std::uint32_t node, std::uint64_t port) {
    auto &ports = map_.nodes[node].ports;
    if (ports.size() <= port)
        ports.resize(port + 1);
    return ports[port];
}

void TopologyReader::set_lid(std::uint16_t &field, std::optional<std::uint64_t> lid, const std::string &whose,
                             std::size_t number, ProblemList &problems) {
    if (!lid)
        return;
    if (*lid > 0xffff)
        problems.add(number, fmt::format("LID {} of {} is none", *lid, whose));
    else if (field == 0 || field == 0xffff)
        field = std::uint16_t(*lid);
    else if (*lid != 0 && *lid != 0xffff && field != *lid)
        problems.add(number, fmt::format("{} has LID {} here and {} before; the first is kept", whose, *lid, field));
}

/// "Switch 36 "S-…" # "name" enhanced port 0 lid 3 lmc 0", "Ca 2 "H-…" # "name"", "Rt 2 "R-…" # …"
bool TopologyReader::head(Cursor at, std::size_t number, ProblemList &problems) {
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
    current_ = node_named(name->first, name->second);
    DraftNode &node = map_.nodes[current_];
    seen_[current_].section = true;
    if (*ports > max_port)
        problems.add(number, fmt::format("a node of {} ports; InfiniBand has {}", *ports, max_port));
    else if (node.ports.size() <= *ports)
        node.ports.resize(*ports + 1);
    at.skip_blanks();
    if (!at.take("#"))
        return true;
    const Comment comment = read_comment(at.rest());
    if (comment.description)
        node.description = *comment.description;
    if (is_switch) {
        set_lid(node.lid, comment.lid, in_quotes(node.description), number, problems);
        node.ports[0].lmc = std::uint8_t(std::min<std::uint64_t>(comment.lmc.value_or(0), 7));
    }
    return true;
}

/// "[3]	"H-…"[1](guid) 	# "name" lid 9 4xEDR" of a switch, "[1](guid) 	"S-…"[24]	# lid 28 lmc 0 "name" lid 13 4xEDR"
bool TopologyReader::port_line(Cursor at, std::size_t number, ProblemList &problems) {
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
    if (current_ == no_node) {
        problems.add(number, "a port before any node's head");
        return true;
    }
    if (*port > max_port || *peer_port > max_port) {
        problems.add(number, fmt::format("port {} or {} is none", *port, *peer_port));
        return true;
    }
    const Comment comment = at.take("#") ? read_comment(at.rest()) : Comment{};
    const std::uint32_t peer = node_named(name->first, name->second);
    if (!seen_[peer].section && comment.description)
        map_.nodes[peer].description = *comment.description;
    DraftPort &far = port_of(peer, *peer_port);
    if (peer_guid && far.guid == 0)
        far.guid = *peer_guid;
    if (seen_[peer].letter == 'S')
        set_lid(map_.nodes[peer].lid, comment.lid, in_quotes(map_.nodes[peer].description), number, problems);
    else
        set_lid(far.lid, comment.lid, in_quotes(map_.nodes[peer].description), number, problems);

    DraftPort &near = port_of(current_, *port); // only now: `far` may be of the same node
    if (own_guid)
        near.guid = *own_guid;
    if (seen_[current_].letter != 'S') {
        set_lid(near.lid, comment.own_lid, in_quotes(map_.nodes[current_].description), number, problems);
        near.lmc = std::uint8_t(std::min<std::uint64_t>(comment.own_lmc.value_or(near.lmc), 7));
    }
    if (near.peer != no_node && (near.peer != peer || near.peer_port != *peer_port)) {
        problems.add(number, "this port has another neighbour before; the first is kept");
        return true;
    }
    near.peer = peer;
    near.peer_port = std::uint8_t(*peer_port);
    near.rate = comment.rate;
    halves_.push_back({current_, std::uint8_t(*port), fmt::format("{}:{}", problems.file(), number)});
    return true;
}

void TopologyReader::line(std::string_view text, std::size_t number, ProblemList &problems) {
    text = trim(text);
    if (text.empty() || text.front() == '#')
        return;
    if (text.front() == '[') {
        if (!port_line(Cursor(text), number, problems))
            problems.add(number, "not understood: " + in_quotes(text));
        return;
    }
    for (const std::string_view known :
         {"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=", "Non-Chassis Nodes", "Chassis ", "Hostname:"})
        if (text.starts_with(known))
            return;
    if (!head(Cursor(text), number, problems))
        problems.add(number, "not understood: " + in_quotes(text));
}

void TopologyReader::read(const TextFile &file) {
    ProblemList problems(file.name, map_.problems);
    current_ = no_node;
    each_line(file.text, [&](std::string_view text, std::size_t number) { line(text, number, problems); });
    problems.finish();
}

/// Both ends of a link must agree; where only one end speaks, its word is taken.
void TopologyReader::join_halves() {
    const auto far_end = [this](const Half &half) -> DraftPort & {
        const DraftPort &near = map_.nodes[half.node].ports[half.port];
        return map_.nodes[near.peer].ports[near.peer_port];
    };
    std::vector<const Half *> broken;
    for (const Half &half : halves_) {
        const DraftPort &back = far_end(half);
        if (back.peer != no_node && (back.peer != half.node || back.peer_port != half.port))
            broken.push_back(&half);
    }
    for (const Half &half : halves_) {
        DraftPort &near = map_.nodes[half.node].ports[half.port], &back = far_end(half);
        if (back.peer != no_node)
            continue;
        back.peer = half.node;
        back.peer_port = half.port;
        back.rate = near.rate;
    }
    for (const Half *half : broken) {
        map_.nodes[half->node].ports[half->port].peer = no_node;
        map_.problems.push_back({half->where, "", "the other end names another neighbour; the link is left out"});
    }
}

void TopologyReader::check_lids() {
    std::map<std::uint16_t, std::uint32_t> owners;
    const auto claim = [&](std::uint16_t lid, std::uint32_t node) {
        if (lid == 0 || lid >= 0xc000)
            return;
        const auto [found, fresh] = owners.try_emplace(lid, node);
        if (!fresh && found->second != node)
            map_.problems.push_back({fmt::format("LID {}", lid), "",
                                     fmt::format("claimed by {} and {}; the first keeps it",
                                                 map_.display_name(found->second), map_.display_name(node))});
    };
    for (std::uint32_t n = 0; n < map_.nodes.size(); ++n) {
        if (map_.nodes[n].kind == NodeKind::switch_node)
            claim(map_.nodes[n].lid, n);
        else
            for (const DraftPort &port : map_.nodes[n].ports)
                claim(port.lid, n);
    }
}

MapDraft TopologyReader::finish() {
    join_halves();
    std::size_t silent = 0;
    std::string example;
    for (std::uint32_t n = 0; n < map_.nodes.size(); ++n) {
        DraftNode &node = map_.nodes[n];
        if (seen_[n].letter == 'H')
            node.kind = classify_adapter(node.description);
        if (!seen_[n].section) {
            ++silent;
            if (example.empty())
                example = in_quotes(node.description);
        }
    }
    if (silent > 0)
        map_.problems.push_back({"topology", "",
                                 fmt::format("{} nodes are known from their neighbours only, the first {}: the file was "
                                             "cut short or edited",
                                             silent, example)});
    map_.index();
    check_lids();
    return std::move(map_);
}

} // namespace

Result<MapDraft> import_topology(const std::vector<TextFile> &files) {
    TopologyReader reader;
    for (const TextFile &file : files) {
        reader.read(file);
        if (reader.empty())
            return Error{Errc::malformed,
                         fmt::format("{}: no ibnetdiscover output in it{}", file.name,
                                     file.text.find("Unicast lids") == std::string::npos
                                         ? ""
                                         : "; these are forwarding tables")};
    }
    if (files.empty())
        return Error{Errc::usage, "no topology file given"};
    return reader.finish();
}

} // namespace fabric_check::fabric
