// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff_ruling.hpp"

#include "verdict/port_use.hpp"
#include "verdict/precedence.hpp"

#include <algorithm>
#include <map>

namespace fabric_check::textfiles {

namespace {

const HcaPort *card_of(const PortCounters *side) {
    return side == nullptr ? nullptr : side->hca.get();
}

/// What stands before the card's name: the node, and directories. Nodes of other directories are other nodes.
std::string place_of(const PortPair &pair) {
    const std::string &name = pair.known().port;
    const HcaPort *card = card_of(&pair.known());
    return name.substr(0, card == nullptr || !name.ends_with(card->name()) ? name.size()
                                                                           : name.size() - card->name().size());
}

void add_side(const PortCounters *side, std::optional<NodeSnapshot> &node) {
    if (card_of(side) == nullptr) {
        return;
    }
    HcaPort port = *side->hca;
    if (!is_infiniband(port)) { // of others the state says enough
        port.counters = side->counters.map();
    }
    if (!node) {
        node.emplace();
    }
    node->ports.push_back(std::move(port));
}

JobEvidence evidence_of(const std::vector<PortPair> &pairs) {
    JobEvidence evidence;
    std::map<std::string, std::size_t> index;
    for (const PortPair &pair : pairs) {
        if (card_of(pair.before) == nullptr && card_of(pair.after) == nullptr) {
            continue;
        }
        const std::string place = place_of(pair);
        const auto [at, is_new] = index.emplace(place, evidence.nodes.size());
        if (is_new) {
            evidence.nodes.emplace_back().node = place;
        }
        NodeEvidence &node = evidence.nodes[at->second];
        add_side(pair.before, node.start);
        add_side(pair.after, node.end);
    }
    return evidence;
}

bool has_state(const HcaPort *card) {
    return card != nullptr && !card->state.empty();
}

/// Of a port that does not count only a broken link is anybody's business, and nothing of it is a gap.
void only_faults(DiffPort &port) {
    PortVerdict &verdict = port.verdict;
    verdict.live.insert(verdict.live.end(), port.moved.begin(), port.moved.end());
    std::sort(verdict.live.begin(), verdict.live.end(),
              [](const LiveCounter &a, const LiveCounter &b) { return a.counter < b.counter; });
    port.moved.clear();
    std::erase_if(verdict.live, [](const LiveCounter &live) { return live.layer != Layer::physical; });
    verdict.unread.clear();
    verdict.outcome = verdict.live.empty() ? Outcome::no_traffic : Outcome::live;
    verdict.layer = verdict.live.empty() ? Layer::ungraded : Layer::physical;
}

} // namespace

void choose_ports(const std::vector<PortPair> &pairs, const DiffOptions &options, std::vector<DiffPort> &ports) {
    static const Config::Ports no_exclusions;
    const JobEvidence evidence = evidence_of(pairs);
    const PortChoices choices(evidence, options.site != nullptr ? options.site->ports : no_exclusions);
    for (std::size_t at = 0; at < pairs.size(); ++at) {
        const HcaPort *before = card_of(pairs[at].before), *after = card_of(pairs[at].after);
        const HcaPort *card = after != nullptr ? after : before;
        DiffPort &port = ports[at];
        if (card == nullptr || port.rebooted || port.other) {
            continue;
        }
        const PortChoice *choice = choices.of(place_of(pairs[at]), *card);
        if (const std::string *pattern =
                options.site == nullptr ? nullptr : excluded_by(*card, options.site->ports.exclude)) {
            port.use = "excluded as " + *pattern;
            port.counts = false;
            port.excluded = true;
        } else if (choice != nullptr) {
            port.use = choice->why;
            port.counts = choice->counts;
        } else if (has_state(before) || has_state(after)) {
            port.use = "not ACTIVE";
            port.counts = false;
        }
    }
    if (std::none_of(ports.begin(), ports.end(), [](const DiffPort &port) { return port.counts; })) {
        const bool all_excluded =
            std::all_of(ports.begin(), ports.end(), [](const DiffPort &port) { return port.excluded; });
        for (DiffPort &port : ports) {
            port.counts = all_excluded || !port.excluded;
        }
    }
    for (DiffPort &port : ports) {
        if (!port.counts && !port.excluded) {
            only_faults(port);
        }
    }
}

void rule_over_ports(Diff &diff) {
    std::vector<const DiffPort *> counting, faults;
    for (const DiffPort &port : diff.ports) {
        if (port.counts) {
            counting.push_back(&port);
        } else if (!port.excluded && port.verdict.outcome == Outcome::live) {
            faults.push_back(&port);
        }
    }
    std::vector<Finding> leading, all;
    std::vector<UnreadCounter> unread;
    const bool no_traffic = std::all_of(counting.begin(), counting.end(), [](const DiffPort *port) {
        return port->verdict.outcome == Outcome::no_traffic;
    });
    const auto add = [&](const DiffPort &port) {
        const Outcome outcome = port.verdict.outcome;
        for (const LiveCounter &live : port.verdict.live) {
            Finding finding{port.port, live.counter, live.delta, live.layer, true, "", ""};
            // What leads is what leads the port by itself: one reading has one verdict, whatever stands beside it.
            if (outcome == Outcome::live ||
                (outcome == Outcome::no_traffic && live.layer == Layer::physical && !no_traffic)) {
                leading.push_back(finding);
            }
            if (outcome != Outcome::no_traffic || live.layer == Layer::physical) {
                all.push_back(std::move(finding));
            }
        }
        for (const Unread &counter : port.verdict.unread) {
            unread.push_back({port.port, counter.counter, counter.reason, counter.layer, counter.missing});
        }
    };
    for (const auto *list : {&counting, &faults}) {
        for (const DiffPort *port : *list) {
            add(*port);
        }
    }
    diff.verdict = counting.size() == 1 && faults.empty() ? counting.front()->verdict.word()
                                                          : rule(leading, unread, no_traffic).verdict;
    if (diff.verdict == "unusable" || diff.verdict == "incomplete") {
        const Ruling rest = rule(all, {}, false);
        diff.rest = rest.layer ? rest.verdict : std::string();
    }
}

std::vector<std::string> blamed(const DiffPort &port, const std::string &verdict) {
    if (port.excluded && !port.counts) {
        return {};
    }
    if (port.counts && port.verdict.word() == verdict) {
        return port.verdict.detail();
    }
    std::vector<std::string> found;
    for (const LiveCounter &counter : port.verdict.live) {
        if (to_string(counter.layer) == verdict) {
            found.push_back(counter.counter);
        }
    }
    return found;
}

} // namespace fabric_check::textfiles
