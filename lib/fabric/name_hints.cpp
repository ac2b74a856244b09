// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/name_hints.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace fabric_check::fabric {
namespace {

constexpr std::size_t shown = 3;            ///< names offered for one that is absent
constexpr std::size_t longest = 64;         ///< a NodeDescription's length: what is longer is no host's name
constexpr std::size_t all_comparisons = 200000; ///< names compared letter by letter, for all questions together
constexpr std::size_t nearest = 2;          ///< edits between names that are near

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// What names have in common that differ in case, domain, zeros before a number, or dashes: "Node-007.site" -> "node7".
std::string plain_form(std::string_view name) {
    name = name.substr(0, std::min(name.find('.'), longest));
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool leading_zero = name[i] == '0' && (out.empty() || !digit(out.back())) && i + 1 < name.size() && digit(name[i + 1]);
        if (!leading_zero && name[i] != '-' && name[i] != '_')
            out += char(std::tolower(static_cast<unsigned char>(name[i])));
    }
    return out;
}

/// Letters put in, left out, exchanged or swapped with their neighbour; more than `nearest` are not counted further.
std::size_t edits(std::string_view a, std::string_view b) {
    if (a.size() > longest || b.size() > longest || std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > nearest)
        return nearest + 1;
    std::array<std::array<std::size_t, longest + 2>, 3> rows{};
    for (auto &row : rows)
        row.fill(nearest + 1); // outside the band beside the diagonal
    for (std::size_t j = 0; j <= std::min(nearest, b.size()); ++j)
        rows[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto &now = rows[i % 3];
        const auto &last = rows[(i + 2) % 3], &before = rows[(i + 1) % 3];
        const std::size_t first = i > nearest ? i - nearest : 1, end = std::min(b.size(), i + nearest);
        now[first - 1] = first == 1 ? i : nearest + 1;
        now[end + 1] = nearest + 1;
        std::size_t least = now[first - 1];
        for (std::size_t j = first; j <= end; ++j) {
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = std::min(now[j], before[j - 2] + 1);
            least = std::min(least, now[j]);
        }
        if (least > nearest)
            return nearest + 1;
    }
    return rows[a.size() % 3][b.size()];
}

std::size_t common_start(std::string_view a, std::string_view b) {
    return std::size_t(std::mismatch(a.begin(), a.begin() + std::ptrdiff_t(std::min(a.size(), b.size())), b.begin()).first - a.begin());
}

/// Of a card that is named by its GUID.
std::string card_words(const Map &map, std::uint32_t node) {
    const std::string_view host = map.nodes()[node].host_name();
    if (!host.empty())
        return "is a card of " + printable(host) + ": name the host";
    std::string lids;
    for (const MapPort port : map.nodes()[node].ports)
        if (is_unicast(port.lid))
            lids += (lids.empty() ? " (" : ",") + std::to_string(port.lid);
    return "is a card whose host's name the map does not know: give its LIDs with --lids" + (lids.empty() ? lids : lids + ")");
}

} // namespace

NameHints::NameHints(const Map &map) : map_(map), comparisons_left_(all_comparisons) {
    for (std::uint32_t n = 0; n < map.nodes().size(); ++n) {
        const MapNode node = map.nodes()[n];
        if (node.kind == NodeKind::switch_node) {
            for (const std::string &name : {map.display_name(n), switch_name_of(node.description, node.guid),
                                            std::string(trim(node.description)), guid_text(node.guid)})
                switches_.insert(name);
        } else if (node.kind == NodeKind::host && !node.host_name().empty()) {
            hosts_.push_back(node.host_name());
        } else if (node.kind == NodeKind::other && !node.host_name().empty()) {
            others_.emplace(node.host_name());
        }
    }
    std::sort(hosts_.begin(), hosts_.end());
    hosts_.erase(std::unique(hosts_.begin(), hosts_.end()), hosts_.end());
    for (const std::string_view host : hosts_)
        if (auto &same = same_[plain_form(host)]; same.size() < shown)
            same.push_back(host);
}

std::vector<std::string_view> NameHints::near(std::string_view name) {
    if (const auto same = same_.find(plain_form(name)); same != same_.end())
        return same->second;
    std::vector<std::string_view> out;
    if (comparisons_left_ >= hosts_.size()) {
        comparisons_left_ -= hosts_.size();
        std::size_t least = nearest;
        for (const std::string_view host : hosts_) {
            const std::size_t distance = edits(name, host);
            if (distance < least) {
                least = distance;
                out.clear();
            }
            if (distance == least && out.size() < shown)
                out.push_back(host);
        }
    }
    if (!out.empty())
        return out;
    // Else its neighbours in the alphabet, where they begin alike: node600 among node001 to node512.
    const auto at = std::lower_bound(hosts_.begin(), hosts_.end(), name);
    for (auto neighbour = at - std::min<std::ptrdiff_t>(1, at - hosts_.begin()); neighbour != hosts_.end() && out.size() < 2; ++neighbour)
        if (common_start(name, *neighbour) >= std::max<std::size_t>(2, name.size() / 2))
            out.push_back(*neighbour);
    return out;
}

std::string NameHints::why_absent(std::string_view name) {
    name = trim(name);
    if (switches_.contains(std::string(name)))
        return "is a switch, not a host";
    if (others_.contains(std::string(name)))
        return "is a router, gateway or aggregation node, not a host";
    if (const auto guid = name.starts_with("0x") ? parse_u64(name, 16) : std::nullopt)
        if (const std::uint32_t node = map_.by_guid(*guid); node != no_node && map_.nodes()[node].kind == NodeKind::host)
            return card_words(map_, node);
    std::string names;
    for (const std::string_view host : near(name))
        names += (names.empty() ? "" : ", ") + printable(host);
    return names.empty() ? "not in the map" : "not in the map (nearest: " + names + ")";
}

} // namespace fabric_check::fabric
