// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/unite.hpp"

#include "base/text.hpp"
#include "counters/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>

namespace fabric_check::textfiles {

namespace {

constexpr std::uint64_t most_ports_of_a_card = 2;

std::optional<std::uint64_t> number_of(const PortCounters &port) {
    const auto colon = port.port.rfind(':');
    return colon == std::string::npos ? std::nullopt : parse_u64(std::string_view(port.port).substr(colon + 1));
}

/// By the link layer, else by driver or name: no LID leads to such a card.
bool is_ethernet(const PortCounters &port) {
    static constexpr std::array<std::string_view, 14> devices{"bnxt_re", "irdma", "i40iw", "efa_",  "roce",  "iwp", "rxe",
                                                              "siw",     "hns_",  "erdma", "qedr", "mana_", "ionic", "cxgb"};
    if (port.link_layer != LinkLayer::unknown) {
        return port.link_layer == LinkLayer::ethernet;
    }
    const std::string_view device = std::string_view(port.port).substr(port.port.rfind('/') + 1);
    return (driver_from(port.driver) & (bnxt | irdma | efa)) != 0 ||
           std::any_of(devices.begin(), devices.end(), [&](std::string_view name) { return device.starts_with(name); });
}

/// Tools read one after the other: what counts traffic has moved on meanwhile.
bool moves_all_the_time(const CounterInfo &row) {
    return row.unit != Unit::events;
}

bool differ(const CounterInfo &row, const Reading &a, const Reading &b) {
    const std::uint8_t width_a = a.width != 0 ? a.width : row.width, width_b = b.width != 0 ? b.width : row.width;
    if (width_a != width_b && width_a != 0 && width_b != 0) { // a narrow copy is full before the wide one
        const bool a_narrow = width_a < width_b;
        const std::uint64_t cap = saturation_cap(a_narrow ? width_a : width_b);
        if (*(a_narrow ? a : b).value == cap && *(a_narrow ? b : a).value >= cap) {
            return false;
        }
    }
    const std::uint64_t low = std::min(*a.value, *b.value), high = std::max(*a.value, *b.value);
    return moves_all_the_time(row) ? high - low > high / 100 : high != low;
}

/// The first counter of which they tell what cannot both be of one port; empty: none.
std::string_view contradiction(const CounterList &a, const CounterList &b) {
    for (const NamedReading &counter : b) {
        const Reading *other = a.find(counter.name);
        const CounterInfo *row = other == nullptr ? nullptr : find_counter(counter.name);
        if (row != nullptr && other->value && counter.reading.value && differ(*row, *other, counter.reading)) {
            return counter.name;
        }
    }
    return {};
}

/// Why they are not the same port; empty: they may be. `known` is the device where there is one.
std::string why_not(const PortCounters &known, const PortCounters &other) {
    for (const PortCounters *port : {&known, &other}) {
        if (port->kind == KeyKind::lid && number_of(*port).value_or(1) > most_ports_of_a_card) {
            return fmt::format("{} is a switch's port", port->port);
        }
    }
    if (known.kind == KeyKind::device && other.kind == KeyKind::lid) {
        if (is_ethernet(known)) {
            return fmt::format("{} is an Ethernet port, and has no LID", known.port);
        }
        if (number_of(known) != number_of(other)) {
            return "their numbers differ";
        }
    }
    const std::string_view counter = contradiction(known.counters, other.counters);
    return counter.empty() ? std::string() : fmt::format("they tell different values of {}", counter);
}

/// "eth0" of "ethtool_eth0.txt" would be a guess: the whole name without its ending.
std::string stem(const std::string &file) {
    const auto dot = file.rfind('.');
    return dot == std::string::npos || dot == 0 ? file : file.substr(0, dot);
}

/// The places in `files` of those that share a counter with another one.
std::set<std::size_t> overlapping(const Unnamed &files) {
    std::unordered_map<std::string_view, std::size_t> first;
    std::set<std::size_t> found;
    for (std::size_t at = 0; at < files.size(); ++at) {
        for (const NamedReading &counter : files[at].second.counters) {
            const auto [known, fresh] = first.try_emplace(counter.name, at);
            if (!fresh) {
                found.insert({known->second, at});
            }
        }
    }
    return found;
}

} // namespace

void unite(std::vector<PortCounters> &ports, std::vector<TextProblem> &problems, const std::string &where) {
    const auto count = [&](KeyKind kind) {
        return std::count_if(ports.begin(), ports.end(), [&](const PortCounters &p) { return p.kind == kind; });
    };
    if (ports.size() < 2 || count(KeyKind::device) > 1 || count(KeyKind::lid) > 1 || count(KeyKind::netdev) > 1 ||
        count(KeyKind::none) > 1 ||
        std::any_of(ports.begin(), ports.end(), [](const PortCounters &port) { return port.apart; })) {
        return;
    }
    std::stable_sort(ports.begin(), ports.end(), [](const PortCounters &a, const PortCounters &b) {
        const auto rank = [](KeyKind kind) {
            return kind == KeyKind::device ? 0 : kind == KeyKind::lid ? 1 : kind == KeyKind::netdev ? 2 : 3;
        };
        return rank(a.kind) < rank(b.kind);
    });
    std::vector<PortCounters> one{std::move(ports.front())}, others;
    for (auto other = ports.begin() + 1; other != ports.end(); ++other) {
        if (const std::string why = why_not(one.front(), *other); !why.empty()) {
            problems.push_back({where, 0, fmt::format("{} and {} are taken for two ports: {}", one.front().port,
                                                      other->port.empty() ? "what names no port" : other->port, why)});
            others.push_back(std::move(*other));
            continue;
        }
        other->kind = one.front().kind;
        other->port = one.front().port;
        merge(one, std::move(*other), OnDispute::keep_first);
    }
    std::move(others.begin(), others.end(), std::back_inserter(one));
    ports = std::move(one);
}

void settle_cards(std::vector<PortCounters> &ports, std::vector<TextProblem> &problems, const std::string &where) {
    std::vector<PortCounters> cards;
    for (auto at = ports.begin(); at != ports.end();) {
        if (at->card) {
            cards.push_back(std::move(*at));
            at = ports.erase(at);
        } else {
            ++at;
        }
    }
    for (PortCounters &card : cards) {
        std::set<std::string> of_card;
        for (const PortCounters &port : ports) {
            if (port.kind == KeyKind::device && port.port.starts_with(card.port + ":")) {
                of_card.insert(port.port);
            }
        }
        const std::string name = card.port;
        if (of_card.size() > 1 || (of_card.size() == 1 && *of_card.begin() != name + ":1")) {
            problems.push_back({card.file.empty() ? where : card.file, 0, fmt::format("{}: {}", name, counts_all_ports)});
            continue;
        }
        card.card = false;
        card.port += ":1";
        merge(ports, std::move(card), OnDispute::keep_first); // what the port has of its own says more
    }
}

std::vector<PortCounters> of_unnamed(Unnamed files, const std::vector<PortCounters> &beside,
                                     std::vector<TextProblem> &problems, const std::string &where) {
    const std::set<std::size_t> same = overlapping(files);
    if (!same.empty() && (!beside.empty() || same.size() < files.size())) {
        std::string names;
        std::size_t told = 0;
        for (const std::size_t at : same) {
            if (++told > 5) {
                names += ", ...";
                break;
            }
            names += (names.empty() ? "" : ", ") + printable(files[at].first);
        }
        problems.push_back({where, 0, fmt::format("{} have the same counters and do not say of which port: each is taken "
                                                  "for a port of its own; make one directory for each port",
                                                  names)});
    }
    std::set<std::string> taken;
    std::vector<PortCounters> ports;
    for (auto &[name, port] : files) {
        if (!same.empty() || port.apart) {
            port.kind = KeyKind::netdev;
            port.port = stem(name);
            if (!taken.insert(port.port).second) {
                port.port = name;
            }
            ports.push_back(std::move(port));
        } else {
            merge(ports, std::move(port));
        }
    }
    return ports;
}

} // namespace fabric_check::textfiles
