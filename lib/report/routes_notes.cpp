// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/routes_notes.hpp"

#include "base/hostlist.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

namespace fabric_check {
namespace {

constexpr std::string_view nearest_mark = " (nearest: ";
constexpr std::size_t nearest_shown = 3;

struct Folded {
    std::string reason;
    std::vector<std::string> names, nearest;
};

} // namespace

std::vector<std::string> fold_reasons(const std::vector<std::string> &messages) {
    std::vector<Folded> all;
    std::unordered_map<std::string, std::size_t> places;
    for (const std::string &message : messages) {
        const std::size_t colon = std::min(message.find(": "), message.size());
        std::string reason = message.substr(std::min(colon + 2, message.size())), nearest;
        if (const std::size_t mark = reason.find(nearest_mark); mark != std::string::npos && reason.ends_with(')')) {
            nearest = reason.substr(mark + nearest_mark.size(), reason.size() - mark - nearest_mark.size() - 1);
            reason.resize(mark);
        }
        const auto [place, fresh] = places.emplace(reason, all.size());
        if (fresh)
            all.push_back({reason, {}, {}});
        Folded &one = all[place->second];
        one.names.push_back(message.substr(0, colon));
        for (const std::string_view name : split(nearest, ','))
            if (const std::string near(trim(name)); !near.empty() && one.nearest.size() < nearest_shown &&
                                                    std::find(one.nearest.begin(), one.nearest.end(), near) == one.nearest.end())
                one.nearest.push_back(near);
    }
    std::vector<std::string> out;
    for (const Folded &one : all) {
        std::string nearest;
        for (const std::string &name : one.nearest)
            nearest += (nearest.empty() ? std::string(nearest_mark) : ", ") + name;
        out.push_back(fmt::format("{}{}{}{}{}", fold_hostlist(one.names), one.reason.empty() ? "" : ": ", one.reason, nearest,
                                  nearest.empty() ? "" : ")"));
    }
    return out;
}

std::vector<std::string> fewer_cards(const fabric::Map &map, const std::vector<fabric::Endpoint> &endpoints) {
    std::map<std::string, std::set<std::uint32_t>> cards;
    for (const fabric::Endpoint &endpoint : endpoints)
        if (endpoint.node < map.nodes().size() && !map.nodes()[endpoint.node].host_name().empty())
            cards[endpoint.name].insert(endpoint.node);
    std::map<std::size_t, std::vector<std::string>> by_count;
    for (const auto &[name, nodes] : cards)
        by_count[nodes.size()].push_back(printable(name));
    std::vector<std::string> out;
    const auto most = std::find_if(by_count.begin(), by_count.end(),
                                   [&cards](const auto &one) { return 2 * one.second.size() > cards.size(); });
    for (auto few = by_count.begin(); most != by_count.end() && few != most; ++few)
        out.push_back(fmt::format("{}: {} card{} where most have {}", fold_hostlist(few->second), few->first,
                                  few->first == 1 ? "" : "s", most->first));
    return out;
}

bool without_tables(const fabric::Map &map) {
    bool switches = false;
    for (const fabric::MapNode node : map.nodes()) {
        if (node.kind != fabric::NodeKind::switch_node)
            continue;
        switches = true;
        if (node.lft_damaged() || !node.lft().empty())
            return false;
    }
    return switches;
}

} // namespace fabric_check
