// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "verdict/links.hpp"
#include "verdict/port_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace fabric_check {

namespace {

constexpr std::size_t least_votes = 2;

/// One node that was read on both sides and did not reboot.
struct Node {
    const NodeEvidence *evidence = nullptr;
    std::vector<const PortResult *> rails;  ///< that count
    std::set<std::string> in_use;           ///< of those the ones ACTIVE at the end
    std::map<std::string, const HcaPort *> present; ///< every port that is not excluded, whatever its state
    std::string kind;
};

std::string name_of(const PortResult &port) {
    return port.host_end != nullptr ? port.host_end->name() : port.host_start->name();
}

class Rails {
public:
    Rails(const JobEvidence &evidence, const PortSet &set, const Config::Ports &ports, std::uint64_t min_bytes,
          std::vector<Finding> &findings)
        : ports_(ports), min_bytes_(min_bytes), findings_(findings) {
        std::map<std::string, std::size_t> places;
        for (const NodeEvidence &node : evidence.nodes) {
            if (node.start && node.end && !node.slurmd_died && node.start->boot_id == node.end->boot_id &&
                places.emplace(node.node, nodes_.size()).second) {
                nodes_.push_back(describe(node));
            }
        }
        for (const PortResult &port : set.ports) {
            const auto at = places.find(port.node);
            if (port.role != "host" || at == places.end() || (port.host_start == nullptr && port.host_end == nullptr)) {
                continue;
            }
            Node &node = nodes_[at->second];
            node.rails.push_back(&port);
            if (is_active(port.host_end)) {
                node.in_use.insert(name_of(port));
            }
        }
    }

    void run() {
        missing_by_peers();
        missing_by_configuration();
        for (const Node &node : nodes_) {
            uneven(node);
        }
    }

private:
    Node describe(const NodeEvidence &evidence) const {
        Node node;
        node.evidence = &evidence;
        std::set<std::string> models;
        for (const auto *side : {&evidence.end, &evidence.start}) {
            for (const HcaPort &port : (*side)->ports) {
                if (excluded_by(port, ports_.exclude) == nullptr) {
                    node.present.emplace(port.name(), find_port(evidence.end, port));
                    models.insert(port.model.empty() ? port.driver : port.model);
                }
            }
        }
        // How many cards it has is what may differ.
        for (const std::string &model : models) {
            node.kind += model + " ";
        }
        return node;
    }

    void missing_by_peers() {
        std::map<std::string, std::vector<const Node *>> kinds;
        for (const Node &node : nodes_) {
            kinds[node.kind].push_back(&node);
        }
        for (const auto &[kind, nodes] : kinds) {
            std::map<std::string, std::size_t> votes;
            for (const Node *node : nodes) {
                for (const std::string &port : node->in_use) {
                    ++votes[port];
                }
            }
            for (const auto &[port, count] : votes) {
                if (count < least_votes || 3 * count < 2 * nodes.size()) {
                    continue;
                }
                for (const Node *node : nodes) {
                    if (!node->in_use.contains(port)) {
                        missing(*node, port, fmt::format("in use on {} of {} nodes of this kind", count, nodes.size()));
                    }
                }
            }
        }
    }

    void missing_by_configuration() {
        for (const Node &node : nodes_) {
            const std::size_t told = missing_[node.evidence->node];
            if (node.in_use.size() + told >= ports_.rails) {
                continue;
            }
            const auto down = std::find_if(node.present.begin(), node.present.end(),
                                           [&](const auto &port) { return !node.in_use.contains(port.first); });
            const std::string why = fmt::format("{} of {} rails in use", node.in_use.size(), ports_.rails);
            if (down != node.present.end()) {
                missing(node, down->first, why);
            } else {
                add(node.evidence->node, why);
            }
        }
    }

    void missing(const Node &node, const std::string &port, const std::string &why) {
        const std::string where = node.evidence->node + "/" + port;
        ++missing_[node.evidence->node];
        const bool said = std::any_of(findings_.begin(), findings_.end(), [&](const Finding &finding) {
            return finding.counter == "state" && (finding.read_at == where || finding.where == where ||
                                                  finding.where.ends_with("<->" + where));
        });
        if (said) {
            return;
        }
        const auto at = node.present.find(port);
        const HcaPort *card = at != node.present.end() ? at->second : nullptr;
        const std::string state = card == nullptr                ? "no such port"
                                  : card->state == "ACTIVE"      ? "not in use"
                                  : card->state.empty()          ? "its state is not known"
                                                                 : card->state;
        add(where, fmt::format("{}; {}", state, why));
    }

    void add(const std::string &where, const std::string &note) {
        findings_.push_back({where, "rail", 0, Layer::physical, true, note, where});
    }

    /// Rails of one link layer share a node's traffic; those of another are another network.
    void uneven(const Node &node) {
        for (const Profile profile : {Profile::ib, Profile::roce}) {
            const PortResult *most = nullptr;
            std::vector<std::pair<const PortResult *, std::uint64_t>> known;
            std::uint64_t busiest = 0;
            for (const PortResult *port : node.rails) {
                if (port->profile != profile || !port->xmit_bytes || !port->rcv_bytes || !is_active(port->host_end)) {
                    continue;
                }
                const std::uint64_t bytes = *port->xmit_bytes + *port->rcv_bytes;
                known.emplace_back(port, bytes);
                if (most == nullptr || bytes > busiest) {
                    most = port;
                    busiest = bytes;
                }
            }
            if (most == nullptr || busiest < min_bytes_ || busiest == 0) {
                continue;
            }
            for (const auto &[port, bytes] : known) {
                if (bytes < busiest - bytes) { // less than half
                    findings_.push_back({port->where, "rail", 0, Layer::congestion, false,
                                         fmt::format("moved {}, {} of the same node {}", human_bytes(bytes),
                                                     name_of(*most), human_bytes(busiest)),
                                         port->where});
                }
            }
        }
    }

    const Config::Ports &ports_;
    std::uint64_t min_bytes_;
    std::vector<Finding> &findings_;
    std::vector<Node> nodes_;
    std::map<std::string, std::size_t> missing_; ///< rails by node
};

} // namespace

void find_rails(const JobEvidence &evidence, const PortSet &set, const Config::Ports &ports, std::uint64_t min_bytes,
                std::vector<Finding> &findings) {
    Rails(evidence, set, ports, min_bytes, findings).run();
}

} // namespace fabric_check
