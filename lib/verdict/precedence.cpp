// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/precedence.hpp"

#include <algorithm>
#include <utility>

namespace fabric_check {

Ruling rule(const std::vector<Finding> &findings, const std::vector<UnreadCounter> &unread, bool no_traffic) {
    std::optional<Layer> live;
    for (const Finding &finding : findings) {
        const bool counts = finding.leads && finding.layer != Layer::ungraded &&
                            (!no_traffic || finding.layer == Layer::physical);
        if (counts && (!live || finding.layer < *live)) {
            live = finding.layer;
        }
    }
    std::optional<Layer> hidden;
    bool missing = false;
    for (const UnreadCounter &counter : unread) {
        if (counter.layer == Layer::ungraded) {
            continue;
        }
        if (!hidden || counter.layer < *hidden) {
            hidden = counter.layer;
            missing = counter.incomplete;
        } else if (counter.layer == *hidden) {
            missing = missing || counter.incomplete;
        }
    }
    Ruling ruling;
    ruling.verdict = live ? std::string(to_string(*live)) : no_traffic ? "no-traffic" : "clean";
    ruling.layer = live;
    if (hidden && (!live || *hidden < *live)) {
        ruling.rest = ruling.verdict;
        ruling.verdict = missing ? "incomplete" : "unusable";
        ruling.rest_layer = std::exchange(ruling.layer, std::nullopt);
    }
    return ruling;
}

std::vector<Finding> findings_of(std::optional<Layer> layer, const std::vector<Finding> &findings) {
    std::vector<Finding> found;
    if (layer) {
        std::copy_if(findings.begin(), findings.end(), std::back_inserter(found), [&](const Finding &finding) {
            return finding.leads && finding.layer == *layer;
        });
    }
    std::stable_sort(found.begin(), found.end(), [](const Finding &a, const Finding &b) {
        if ((a.delta == 0) != (b.delta == 0)) {
            return a.delta == 0;
        }
        return a.delta > b.delta;
    });
    return found;
}

} // namespace fabric_check
