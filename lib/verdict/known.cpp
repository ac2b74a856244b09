// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/known.hpp"

#include "verdict/findings.hpp"

#include <fmt/format.h>

#include <unordered_map>

namespace fabric_check {

namespace {

constexpr std::string_view link_mark = "<->";

/// Calls `each` with both ends of "SwitchA:13<->SwitchB:25", or with the one of "node07/mlx5_0:1".
template <class Each> void for_each_end(std::string_view place, const Each &each) {
    const auto mark = place.find(link_mark);
    each(place.substr(0, mark));
    if (mark != std::string_view::npos) {
        each(place.substr(mark + link_mark.size()));
    }
}

} // namespace

void set_known_aside(const Config::Known &known, std::int64_t at, std::vector<Finding> &findings,
                     std::vector<UnreadCounter> &unread) {
    std::unordered_map<std::string_view, const Config::KnownLink *> by_end;
    for (const auto &[place, link] : known) {
        for_each_end(place, [&, &link = link](std::string_view end) { by_end.emplace(end, &link); });
    }
    const auto find = [&by_end](const std::string &place) {
        const Config::KnownLink *found = nullptr;
        for_each_end(place, [&](std::string_view end) {
            const auto there = by_end.find(end);
            found = found == nullptr && there != by_end.end() ? there->second : found;
        });
        return found;
    };
    for (Finding &finding : findings) {
        const Config::KnownLink *link = finding.layer == Layer::physical ? find(finding.where) : nullptr;
        if (link == nullptr) {
            continue;
        }
        if (at < link->until) {
            finding.leads = false;
            annotate(finding, fmt::format("known: {}", link->ticket));
        } else {
            annotate(finding, fmt::format("known as {}, which has expired", link->ticket));
        }
    }
    for (UnreadCounter &counter : unread) {
        const Config::KnownLink *link =
            counter.layer == Layer::physical && !counter.counter.empty() ? find(counter.where) : nullptr;
        if (link != nullptr && at < link->until) {
            counter.layer = Layer::ungraded;
            counter.reason += fmt::format(" (known: {})", link->ticket);
        }
    }
}

} // namespace fabric_check
