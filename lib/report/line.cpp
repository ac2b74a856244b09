// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/line.hpp"

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "report/report_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fabric_check {

namespace {

/// Bytes the contract keeps out of the line, whoever made the value.
bool is_allowed(char c) noexcept { return c > ' ' && c < 0x7f && c != '|' && c != '"' && c != '\'' && c != ';'; }

std::string safe(const std::string &value) {
    if (std::all_of(value.begin(), value.end(), is_allowed)) {
        return value;
    }
    std::string out;
    for (const char c : value) {
        out += is_allowed(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

/// A node's name inside a hostlist: brackets and commas would read as the list's own.
std::string encode_name(const std::string &name) {
    std::string out;
    for (const char c : percent_encode(name)) {
        out += c == '[' || c == ']' || c == ',' ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
    }
    return out;
}

std::string more(std::size_t count) { return count > 1 ? fmt::format("(+{})", count - 1) : std::string(); }

std::string why_of(const Finding &finding) {
    if (finding.counter == "hot") {
        return fmt::format("hot+{}%", finding.delta);
    }
    const std::string counter = percent_encode(finding.counter);
    return finding.delta == 0 ? counter : fmt::format("{}+{}", counter, finding.delta);
}

std::string unread_of(const UnreadCounter &unread) {
    std::string reason = short_reason(unread.reason);
    std::erase(reason, '\'');
    std::replace(reason.begin(), reason.end(), ' ', '-');
    return percent_encode(unread.where + (unread.counter.empty() ? "" : "/" + unread.counter) + ":" + reason);
}

std::string percent(double share) { return fmt::format("{}%", std::lround(share * 100)); }

void add_routes(const JobEvidence &evidence, const JobVerdict &verdict, LineFields &fields) {
    fields.emplace_back("route", to_string(verdict.route));
    const fabric::Routes *routes = evidence.routes_end     ? &*evidence.routes_end
                                   : evidence.routes_start ? &*evidence.routes_start
                                                           : nullptr;
    if (routes == nullptr || evidence.map == nullptr) {
        return;
    }
    if (verdict.worst_group >= 0 && static_cast<std::size_t>(verdict.worst_group) < routes->groups.size()) {
        const fabric::Group &group = routes->groups[static_cast<std::size_t>(verdict.worst_group)];
        fields.emplace_back("isl", fmt::format("{}:{}/{}", percent_encode(fabric::group_name(*evidence.map, group)),
                                               group.used, group.available));
        fields.emplace_back("imbalance", fmt::format("{:.1f}", routes->imbalance));
        for (const GroupMeasure &measure : verdict.measures) {
            if (measure.group == verdict.worst_group && (measure.hot_spread || measure.spread)) {
                fields.emplace_back("spread", fmt::format("{:.1f}", measure.hot_spread ? measure.hot_spread->spread
                                                                                       : *measure.spread));
            }
        }
    }
    if (!verdict.hot.empty()) {
        const auto routing = std::find_if(verdict.hot.begin(), verdict.hot.end(),
                                          [](const HotPort &hot) { return hot.cause == "routing"; });
        // A full host's link says less about the fabric than a full link that a switch sends through.
        const auto sent_by_switch = std::find_if(verdict.hot.begin(), verdict.hot.end(),
                                                 [](const HotPort &hot) { return hot.cause != "sender"; });
        const HotPort &hot = routing != verdict.hot.end()          ? *routing
                             : sent_by_switch != verdict.hot.end() ? *sent_by_switch
                                                                   : verdict.hot.front();
        fields.emplace_back("hot", fmt::format("{}/{}", percent_encode(hot.sender), percent(hot.share)));
        fields.emplace_back("own", percent(hot.own));
    }
    if (verdict.adaptive_routing != AdaptiveRouting::off) {
        fields.emplace_back("ar", to_string(verdict.adaptive_routing));
    }
}

std::string join(const LineFields &fields) {
    std::string line;
    for (const auto &[key, value] : fields) {
        line += line.empty() ? "" : " ";
        line += key;
        line += '=';
        line += value;
    }
    return line;
}

/// As many of the folded names as fit, and how many do not: "node[0001-0100]...(+900)".
std::string shorten_nodes(const std::string &folded, std::size_t room) {
    const Result<std::vector<std::string>> names = expand_hostlist(folded, 1U << 20);
    if (!names) {
        return folded.substr(0, room > 3 ? room - 3 : 0) + "...";
    }
    const auto shown = [&names](std::size_t count) {
        const auto end = names->begin() + static_cast<std::ptrdiff_t>(count);
        return fmt::format("{}...(+{})", fold_hostlist({names->begin(), end}), names->size() - count);
    };
    // A longer prefix of a sorted list folds into a shorter text now and then; any fitting one will do.
    std::size_t fits = 0;
    std::size_t beyond = names->size();
    while (fits + 1 < beyond) {
        const std::size_t middle = fits + (beyond - fits) / 2;
        (shown(middle).size() <= room ? fits : beyond) = middle;
    }
    return shown(fits);
}

/// The first `size` bytes, without a part of an escape.
std::string head_of(const std::string &value, std::size_t size) {
    std::string cut = value.substr(0, size);
    const auto escape = cut.find_last_of('%');
    if (escape != std::string::npos && escape + 3 > cut.size()) {
        cut.resize(escape);
    }
    return cut;
}

std::string shorten(const std::string &value, std::size_t limit) {
    return value.size() <= limit ? value : head_of(value, limit - 3) + "...";
}

/// Of what was not read, the place at the front and the cause at the end stay.
std::string shorten_middle(const std::string &value, std::size_t limit) {
    if (value.size() <= limit) {
        return value;
    }
    const std::size_t tail = limit / 2;
    std::size_t from = value.size() - tail;
    for (std::size_t back = 1; back <= 2 && back <= from; ++back) {
        if (value[from - back] == '%') {
            from += 3 - back; // not in the middle of an escape
            break;
        }
    }
    return head_of(value, limit - 3 - tail) + "..." + value.substr(from);
}

} // namespace

LineFields line_fields(const JobEvidence &evidence, const JobVerdict &verdict) {
    LineFields fields;
    fields.emplace_back("fabric", percent_encode(verdict.verdict));
    const std::vector<Finding> &worst = verdict.because.empty() ? verdict.rest_because : verdict.because;
    if (!worst.empty()) {
        fields.emplace_back("at", percent_encode(worst.front().where));
        fields.emplace_back("why", why_of(worst.front()) + more(worst.size()));
    }
    if (verdict.hw != HwStatus::none) {
        fields.emplace_back("hw", to_string(verdict.hw));
    }
    if (!verdict.rest.empty()) {
        fields.emplace_back("rest", percent_encode(verdict.rest));
    }
    if (!verdict.unread.empty()) {
        fields.emplace_back("unread", unread_of(verdict.unread.front()) + more(verdict.unread.size()));
    }
    const Cover &cover = verdict.cover;
    fields.emplace_back("cover", fmt::format("{}/{}", cover.nodes_seen, cover.nodes_expected));
    fields.emplace_back("ports", fmt::format("{}/{}", cover.ports_seen, cover.ports_expected));
    fields.emplace_back("moved", human_bytes(verdict.bytes_moved));
    add_routes(evidence, verdict, fields);
    if (verdict.host_scope) {
        fields.emplace_back("scope", "host");
    }
    if (!evidence.shared_with.empty()) {
        fields.emplace_back("shared", std::to_string(evidence.shared_with.size()));
    }
    if (evidence.job.restart > 0) {
        fields.emplace_back("restart", std::to_string(evidence.job.restart));
    }
    std::vector<std::string> names;
    names.reserve(evidence.job.node_names.size());
    for (const std::string &name : evidence.job.node_names) {
        names.push_back(encode_name(name));
    }
    const std::string nodes = names.empty() ? percent_encode(evidence.job.nodes) : fold_hostlist(std::move(names));
    if (!nodes.empty()) {
        fields.emplace_back("nodes", nodes);
    }
    return fields;
}

std::string format_line(const LineFields &fields) {
    LineFields shown;
    shown.reserve(fields.size());
    for (const auto &[key, value] : fields) {
        shown.emplace_back(key, safe(value));
    }
    std::string line = join(shown);
    if (line.size() <= line_limit) {
        return line;
    }
    for (auto &[key, value] : shown) {
        if (key == "nodes") {
            const std::size_t others = line.size() - value.size();
            value = shorten_nodes(value, others < line_limit ? line_limit - others : 0);
        }
    }
    for (const std::size_t limit : {96U, 64U, 32U}) {
        for (const char *field : {"at", "why", "hot", "unread", "isl"}) {
            line = join(shown);
            if (line.size() <= line_limit) {
                return line;
            }
            for (auto &[key, value] : shown) {
                if (key == field) {
                    value = key == "unread" ? shorten_middle(value, limit) : shorten(value, limit);
                }
            }
        }
    }
    while ((line = join(shown)).size() > line_limit) {
        if (shown.size() == 1) {
            return line.substr(0, line_limit);
        }
        shown.pop_back();
    }
    return line;
}

} // namespace fabric_check
