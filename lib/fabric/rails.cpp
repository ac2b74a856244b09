// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/routes.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace fabric_check::fabric {

namespace {

/// "mlx5_0:1"; empty where the description names no card.
std::string port_key(const Map &map, const Endpoint &endpoint) {
    if (endpoint.node >= map.nodes().size())
        return {};
    const std::string_view card = map.nodes()[endpoint.node].card_name();
    return card.empty() ? std::string() : fmt::format("{}:{}", card, endpoint.port);
}

/// Cards' names that hosts have in common, one set for each way of naming: hosts of different systems call the same
/// cards mlx5_0 and HCA-1, and no host has both.
class Namings {
public:
    /// The names of one host's ports.
    void add(const std::set<std::string> &names) {
        std::set<std::string> joined = names;
        std::erase_if(sets_, [&](const std::set<std::string> &known) {
            const bool common = std::any_of(known.begin(), known.end(), [&](const auto &name) { return names.contains(name); });
            if (common)
                joined.insert(known.begin(), known.end());
            return common;
        });
        sets_.push_back(std::move(joined));
    }
    /// The name's place among those of its way of naming; 0 for unknown ones.
    unsigned place(const std::string &name) const {
        for (const auto &names : sets_)
            if (const auto at = names.find(name); at != names.end())
                return unsigned(std::distance(names.begin(), at));
        return 0;
    }

private:
    std::vector<std::set<std::string>> sets_;
};

} // namespace

std::vector<unsigned> rails_of(const Map &map, const std::vector<Endpoint> &endpoints) {
    std::vector<unsigned> rails(endpoints.size(), 0);
    std::unordered_map<std::string, std::vector<std::size_t>> hosts;
    for (std::size_t i = 0; i < endpoints.size(); ++i)
        hosts[endpoints[i].name].push_back(i);
    if (hosts.size() == endpoints.size())
        return rails;
    // More cards than any host has are hosts that share a name.
    constexpr std::size_t most_ports = 16;
    std::set<std::set<std::string>> kinds; // of hosts, by the names of their ports
    bool named = true, ranked = true;
    for (const auto &[name, ports] : hosts) {
        if (ports.size() < 2)
            continue;
        // Ports of one key are ports of hosts that share a name, or LIDs of one port.
        std::set<std::string> own;
        for (const std::size_t i : ports)
            own.insert(port_key(map, endpoints[i]));
        named = named && !own.contains("");
        ranked = ranked && ports.size() <= most_ports;
        kinds.insert(std::move(own));
    }
    if (!named && !ranked)
        return rails;
    Namings namings;
    for (const std::set<std::string> &kind : kinds)
        namings.add(kind);
    std::unordered_map<std::string, unsigned> place_of;
    for (auto &[name, ports] : hosts) {
        std::sort(ports.begin(), ports.end(), [&endpoints](std::size_t a, std::size_t b) {
            return std::pair(endpoints[a].node, endpoints[a].port) < std::pair(endpoints[b].node, endpoints[b].port);
        });
        for (std::size_t rank = 0; rank < ports.size(); ++rank) {
            if (!named) {
                rails[ports[rank]] = unsigned(rank);
                continue;
            }
            const auto [at, fresh] = place_of.try_emplace(port_key(map, endpoints[ports[rank]]), 0);
            if (fresh)
                at->second = namings.place(at->first);
            rails[ports[rank]] = at->second;
        }
    }
    return rails;
}

std::vector<std::vector<std::string>> rail_names(const Map &map, const std::vector<Endpoint> &endpoints) {
    const std::vector<unsigned> rails = rails_of(map, endpoints);
    const unsigned count = rails.empty() ? 0 : *std::max_element(rails.begin(), rails.end()) + 1;
    if (count < 2)
        return {};
    std::vector<std::set<std::string>> names(count);
    bool several_ports = false;
    for (std::size_t i = 0; i < endpoints.size(); ++i)
        if (std::string key = port_key(map, endpoints[i]); !key.empty()) {
            several_ports = several_ports || endpoints[i].port != 1;
            names[rails[i]].insert(std::move(key));
        }
    std::vector<std::vector<std::string>> out;
    for (const std::set<std::string> &some : names) {
        auto &own = out.emplace_back();
        for (const std::string &key : some)
            own.push_back(several_ports ? key : key.substr(0, key.rfind(':')));
    }
    return out;
}

} // namespace fabric_check::fabric
