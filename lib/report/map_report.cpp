// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/map_report.hpp"

#include "base/text.hpp"
#include "report/odd_json.hpp"
#include "report/remedies_report.hpp"
#include "report/report_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <unordered_set>

namespace fabric_check {
namespace {

using fabric::NodeKind;
using nlohmann::ordered_json;
using odd_json::at;
using odd_json::list;
using odd_json::number;
using odd_json::text;

constexpr std::int64_t ns_per_s = 1000000000;
const std::string indent(18, ' '); ///< of what follows a word in front

/// "4xHDR", as the fabric's own tools write it; empty where the rate is not known.
std::string rate_name(const LinkRate &rate) {
    return rate.lanes == 0 || rate.speed.empty() ? std::string() : fmt::format("{}x{}", rate.lanes, printable(rate.speed));
}

/// Links of one kind, and how many there are of each rate, the fastest first.
class Links {
public:
    void add(const LinkRate &rate) {
        ++count_;
        ++rates_[{-rate.data_gbps, rate_name(rate)}];
    }
    std::size_t count() const { return count_; }
    ordered_json rates() const {
        ordered_json out = ordered_json::object();
        for (const auto &[rate, count] : rates_)
            out[rate.second.empty() ? "unknown" : rate.second] = count;
        return out;
    }

private:
    std::size_t count_ = 0;
    std::map<std::pair<double, std::string>, std::size_t> rates_;
};

struct Counts {
    std::size_t switches = 0, cards = 0, others = 0, leaves = 0;
    std::unordered_set<std::string_view> host_names; ///< they refer to the map
    std::vector<std::uint64_t> nameless;             ///< cards whose description names no host, by GUID
    std::map<std::string_view, std::size_t> other_kinds;
    Links host_links, other_links, switch_links;
};

/// What a node is that is no host and no switch, by the words of its description.
std::string_view other_kind(std::string_view description) {
    const auto says = [description](std::string_view word) { return description.find(word) != std::string_view::npos; };
    return says("Aggregation Node")                 ? "SHARP aggregation nodes"
           : says("Gateway") || says("gateway")     ? "gateways"
           : says("Router") || says("router")       ? "routers"
                                                    : "others";
}

Counts count(const fabric::Map &map) {
    Counts counts;
    for (std::uint32_t n = 0; n < map.nodes().size(); ++n) {
        const fabric::MapNode node = map.nodes()[n];
        ++(node.kind == NodeKind::host    ? counts.cards
           : node.kind == NodeKind::other ? counts.others
                                          : counts.switches);
        if (node.kind == NodeKind::other)
            ++counts.other_kinds[other_kind(node.description)];
        if (node.kind == NodeKind::host && !node.host_name().empty())
            counts.host_names.insert(node.host_name());
        else if (node.kind == NodeKind::host)
            counts.nameless.push_back(node.guid);
        if (node.kind != NodeKind::switch_node)
            continue;
        bool leaf = false;
        for (std::size_t p = 0; p < node.ports.size(); ++p) {
            const fabric::MapPort port = node.ports[p];
            if (port.peer == fabric::no_node)
                continue;
            const NodeKind peer = map.nodes()[port.peer].kind;
            leaf = leaf || peer == NodeKind::host;
            if (peer == NodeKind::switch_node) {
                if (std::pair(n, p) <= std::pair(port.peer, std::size_t(port.peer_port))) // seen from both ends
                    counts.switch_links.add(port.rate);
            } else {
                (peer == NodeKind::host ? counts.host_links : counts.other_links).add(port.rate);
            }
        }
        counts.leaves += leaf ? 1 : 0;
    }
    return counts;
}

std::string age_words(double seconds) {
    if (seconds < 0)
        return "from the future";
    if (seconds < 120)
        return fmt::format("{:.0f} s old", seconds);
    if (seconds < 7200)
        return fmt::format("{:.0f} min old", seconds / 60);
    if (seconds < 172800)
        return fmt::format("{:.0f} h old", seconds / 3600);
    return fmt::format("{:.0f} days old", seconds / 86400);
}

/// A reason without what differs from case to case: numbers and what stands in quotes.
std::string kind_of(std::string_view reason) {
    std::string out;
    bool quoted = false;
    for (const char c : reason) {
        quoted = c == '\'' ? !quoted : quoted;
        if (!quoted && std::isxdigit(static_cast<unsigned char>(c)) == 0)
            out += c;
    }
    return out;
}

/// Of each kind the first few; --json has them all.
std::string problems_text(const ordered_json &problems, std::size_t columns) {
    constexpr std::size_t shown = 5;
    std::string out;
    std::map<std::string, std::size_t> seen;
    for (const ordered_json &problem : problems) {
        const std::string reason = text(problem, "reason");
        if (++seen[kind_of(reason)] <= shown)
            out += wrapped(text(problem, "where") + ": " + reason, columns, "problem:          ", indent);
    }
    std::size_t more = 0;
    for (const auto &[kind, count] : seen)
        more += count > shown ? count - shown : 0;
    return more == 0 ? out : out + fmt::format("problem:          {} more like these; --json shows all\n", more);
}

/// "191 (542 cards)"
std::string hosts_words(const ordered_json &map) {
    const double cards = number(map, "hosts");
    return at(map, "host_count").is_number()
               ? fmt::format("{:.0f} ({:.0f} card{})", number(map, "host_count"), cards, cards == 1 ? "" : "s")
               : fmt::format("{:.0f} (cards)", cards);
}

/// "40 SHARP aggregation nodes, 2 gateways"
std::string others_words(const ordered_json &map) {
    const ordered_json &kinds = at(map, "other_kinds");
    std::string out;
    for (const auto &[kind, count] : kinds.items())
        if (count.is_number() && kinds.is_object()) {
            const bool one = count.get<double>() == 1 && kind.ends_with('s');
            out += fmt::format("{}{:.0f} {}", out.empty() ? "" : ", ", count.get<double>(),
                               printable(one ? kind.substr(0, kind.size() - 1) : kind));
        }
    return out.empty() ? fmt::format("{:.0f}", number(map, "others")) : out;
}

/// ", all 4xNDR"; ": 540 at 4xNDR, 2 at unknown rate"
std::string rates_words(const ordered_json &rates) {
    std::string out;
    for (const auto &[name, count] : rates.items())
        if (count.is_number()) {
            const std::string rate = name == "unknown" ? "unknown rate" : printable(name);
            out += rates.size() == 1 ? fmt::format(", all {}{}", name == "unknown" ? "at " : "", rate)
                                     : fmt::format("{} {:.0f} at {}", out.empty() ? ":" : ",", count.get<double>(), rate);
        }
    return out;
}

/// Numbers within names by their value: node2 before node10.
bool before_by_number(std::string_view a, std::string_view b) {
    const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    const auto run = [&](std::string_view text) {
        std::string_view digits = text.substr(0, std::size_t(std::find_if_not(text.begin(), text.end(), digit) - text.begin()));
        digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
        return digits;
    };
    const std::string_view whole_a = a, whole_b = b;
    while (!a.empty() && !b.empty()) {
        if (digit(a[0]) && digit(b[0])) {
            const std::string_view x = run(a), y = run(b);
            if (x.size() != y.size())
                return x.size() < y.size();
            if (x != y)
                return x < y;
            a.remove_prefix(std::size_t(std::find_if_not(a.begin(), a.end(), digit) - a.begin()));
            b.remove_prefix(std::size_t(std::find_if_not(b.begin(), b.end(), digit) - b.begin()));
            continue;
        }
        if (a[0] != b[0])
            return a[0] < b[0];
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    return a.empty() != b.empty() ? a.empty() : whole_a < whole_b;
}

} // namespace

ordered_json map_json(const fabric::Map &map, const std::string &file, std::int64_t now_ns, const std::vector<Problem> &problems) {
    const Counts counts = count(map);
    ordered_json out;
    out["schema"] = "fabric-check/map/1";
    out["file"] = file;
    out["id"] = fmt::format("{:016x}", map.id());
    out["source"] = map.source();
    out["built"] = map.built_ns() / ns_per_s;
    out["age_s"] = now_ns / ns_per_s - map.built_ns() / ns_per_s;
    out["switches"] = counts.switches;
    out["leaves"] = counts.leaves;
    out["hosts"] = counts.cards; // one each, before hosts were told by their names
    out["cards"] = counts.cards;
    out["host_count"] = counts.host_names.size() + counts.nameless.size();
    out["nameless_cards"] = counts.nameless.size();
    out["others"] = counts.others;
    out["other_kinds"] = ordered_json::object();
    for (const auto &[kind, number] : counts.other_kinds)
        out["other_kinds"][std::string(kind)] = number;
    out["links"] = {{"hosts", counts.host_links.count()},
                    {"others", counts.other_links.count()},
                    {"switches", counts.switch_links.count()}};
    out["rates"] = {{"hosts", counts.host_links.rates()},
                    {"others", counts.other_links.rates()},
                    {"switches", counts.switch_links.rates()}};
    out["adaptive_routing"] = to_string(map.adaptive_routing());
    out["subnet_manager"] = subnet_manager_json(map);
    out["problems"] = ordered_json::array();
    for (const Problem &problem : problems)
        out["problems"].push_back({{"where", problem.where}, {"reason", problem.reason}});
    if (const std::size_t cards = counts.nameless.size(); cards > 0)
        out["problems"].push_back(
            {{"where", "hosts"},
             {"reason", fmt::format("{} no host name in {} (first: {}): --nodes cannot find {}, --lids can",
                                    cards == 1 ? "1 card has" : fmt::format("{} cards have", cards),
                                    cards == 1 ? "its description" : "their description", fabric::guid_text(counts.nameless[0]),
                                    cards == 1 ? "it" : "them")}});
    return out;
}

ordered_json host_ports_json(const fabric::Map &map) {
    struct Place {
        std::string name, card;
        std::uint32_t node;
        std::size_t port;
    };
    std::vector<Place> places;
    for (std::uint32_t n = 0; n < map.nodes().size(); ++n) {
        const fabric::MapNode node = map.nodes()[n];
        if (node.kind == NodeKind::host)
            for (std::size_t p = 1; p < node.ports.size(); ++p)
                places.push_back({map.display_name(n), printable(node.card_name()), n, p});
    }
    std::sort(places.begin(), places.end(), [](const Place &a, const Place &b) {
        if (a.name != b.name)
            return before_by_number(a.name, b.name);
        if (a.card != b.card)
            return before_by_number(a.card, b.card);
        return std::pair(a.node, a.port) < std::pair(b.node, b.port);
    });
    ordered_json out = ordered_json::array();
    for (const Place &place : places) {
        const fabric::MapPort port = map.nodes()[place.node].ports[place.port];
        const bool linked = port.peer != fabric::no_node, rated = !rate_name(port.rate).empty();
        out.push_back({{"name", place.name},
                       {"card", place.card.empty() ? ordered_json() : ordered_json(place.card)},
                       {"port", place.port},
                       {"guid", port.guid == 0 ? ordered_json() : ordered_json(fabric::guid_text(port.guid))},
                       {"lid", port.lid == 0 ? ordered_json() : ordered_json(port.lid)},
                       {"lmc", port.lmc},
                       {"switch", linked ? ordered_json(map.display_name(port.peer)) : ordered_json()},
                       {"switch_port", linked ? ordered_json(port.peer_port) : ordered_json()},
                       {"rate", rated ? ordered_json(rate_name(port.rate)) : ordered_json()},
                       {"rate_gbps", port.rate.data_gbps > 0 ? ordered_json(port.rate.data_gbps) : ordered_json()}});
    }
    return out;
}

std::string map_text(const ordered_json &map, std::size_t columns) {
    std::string out;
    const std::int64_t built = std::int64_t(std::clamp(number(map, "built"), -1e11, 1e11));
    out += fmt::format("map:              {}\n", text(map, "file"));
    out += wrapped(fmt::format("{}, {}, from {}", format_time(built), age_words(number(map, "age_s")), text(map, "source")), columns,
                   "built:            ", indent);
    out += fmt::format("switches:         {:.0f}, {:.0f} with hosts\n", number(map, "switches"), number(map, "leaves"));
    out += fmt::format("hosts:            {}\n", hosts_words(map));
    if (number(map, "others") > 0)
        out += wrapped(others_words(map), columns, "other nodes:      ", indent);
    const ordered_json &links = at(map, "links"), &rates = at(map, "rates");
    const auto add_links = [&](const char *head, const char *key) {
        out += wrapped(fmt::format("{:.0f}{}", number(links, key), rates_words(at(rates, key))), columns, head, indent);
    };
    add_links("links to hosts:   ", "hosts");
    if (number(links, "others") > 0)
        add_links("links to others:  ", "others");
    add_links("between switches: ", "switches");
    out += fmt::format("adaptive routing: {}\n", text(map, "adaptive_routing"));
    if (at(map, "subnet_manager").is_object())
        out += wrapped(subnet_manager_words(at(map, "subnet_manager")), columns, "subnet manager:   ", indent);
    return out + problems_text(list(map, "problems"), columns);
}

std::string host_ports_text(const ordered_json &ports) {
    std::vector<std::array<std::string, 5>> rows;
    std::array<std::size_t, 5> width{};
    for (const ordered_json &port : ports) {
        const std::string card = text(port, "card"), peer = text(port, "switch"), rate = text(port, "rate");
        const double lid = number(port, "lid"), lmc = number(port, "lmc");
        rows.push_back({text(port, "name"), fmt::format("{}:{:.0f}", card.empty() ? "port" : card, number(port, "port")),
                        lid == 0   ? std::string("no LID")
                        : lmc == 0 ? fmt::format("LID {:.0f}", lid)
                                   : fmt::format("LID {:.0f}-{:.0f}", lid, lid + double((1U << std::min<std::uint64_t>(odd_json::whole(lmc), 7)) - 1)),
                        peer.empty() ? std::string("no link") : fmt::format("{}:{:.0f}", peer, number(port, "switch_port")),
                        peer.empty()   ? std::string()
                        : rate.empty() ? std::string("rate ?")
                                       : rate});
        for (std::size_t c = 0; c < width.size(); ++c)
            width[c] = std::max(width[c], rows.back()[c].size());
    }
    std::string out;
    for (const auto &row : rows) {
        std::string line = row[0];
        for (std::size_t c = 1; c < row.size(); ++c) {
            line.append(width[c - 1] - row[c - 1].size() + 2, ' ');
            line += row[c];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

} // namespace fabric_check
