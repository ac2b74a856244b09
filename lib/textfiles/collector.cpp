// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/collector.hpp"

#include "base/text.hpp"
#include "sources/sysfs_text.hpp"
#include "textfiles/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check::textfiles {

namespace {

constexpr std::size_t most_problems = 20; ///< per file; the rest is counted
constexpr std::size_t most_names = 200000; ///< per file

} // namespace

Collector::Port Collector::port(KeyKind kind, std::string_view name, Tool tool) {
    std::string key(1, static_cast<char>('0' + static_cast<int>(kind)));
    key += name;
    const auto [at, fresh] = by_name_.try_emplace(std::move(key), static_cast<Port>(ports_.size()));
    if (fresh) {
        ports_.push_back({kind, std::string(name), LinkLayer::unknown, {}, 0, false, 0});
        ports_.back().raw.reserve(24); // what perfquery shows of a port
    }
    ports_[at->second].tools |= 1U << static_cast<unsigned>(tool);
    return at->second;
}

void Collector::problem(std::size_t line, std::string what) {
    if (++problem_count_ <= most_problems) {
        problems_.push_back({file_, line, std::move(what)});
    }
}

Names::Id Collector::name(Port port, std::string_view written, std::size_t line) {
    Names::Id id = names_->find(written);
    if (id == Names::none && names_->size() >= most_names && find_counter(written) == nullptr) {
        too_many(line);
        return Names::none;
    }
    id = id == Names::none ? names_->add(written) : id;
    if (!names_->operator[](id).known && ++ports_[port].unknown > most_counters) {
        too_many(line);
        return Names::none;
    }
    return id;
}

void Collector::too_many(std::size_t line) {
    if (!too_many_) {
        too_many_ = true;
        problem(line, fmt::format("more than {} counters of one port, or {} names: the others are not used", most_counters,
                                  most_names));
    }
}

bool Collector::keep(Port port, Names::Id id, std::string_view name, std::string_view value, unsigned width,
                     std::size_t line) {
    if (id == Names::none) {
        return false;
    }
    Reading reading;
    bool count = true;
    if (const auto parsed = decimal(value)) {
        reading = Reading::of(*parsed, static_cast<std::uint8_t>(width));
    } else if (const auto other = number(value)) {
        reading = Reading::of(*other, static_cast<std::uint8_t>(width));
    } else {
        count = false;
        reading = sysfs::counter_from(0, value);
        if (reading.absence == Absence::unparsable && !names()[id].setting) {
            problem(line, fmt::format("{}: not a number: \"{}\"", printable(name), printable(value.substr(0, 40))));
        }
    }
    add(port, id, reading, line);
    return count;
}

/// Sorts by numbers, not by names.
CounterList Collector::sorted(std::vector<Raw> raw, const Names::Order &order) {
    for (Raw &one : raw) {
        one.name = order.rank_of[one.name];
    }
    std::sort(raw.begin(), raw.end(),
              [](const Raw &a, const Raw &b) { return a.name != b.name ? a.name < b.name : a.line < b.line; });
    std::vector<NamedReading> list;
    list.reserve(raw.size());
    Names::Id last = Names::none;
    std::uint32_t first = 0; // line
    for (const Raw &one : raw) {
        const std::string_view name = (*names_)[order.by_rank[one.name]].canonical;
        if (one.name != last) {
            list.push_back({name, one.reading, false});
            last = one.name;
            first = one.line;
            continue;
        }
        if (combine(list.back(), {name, one.reading, false})) {
            problem(one.line, given_twice(name, one.line != first ? fmt::format("line {}", first) : std::string()));
        }
    }
    return CounterList(std::move(list), names_);
}

Parsed Collector::finish() {
    Parsed parsed;
    const auto take = [&](PortCounters port) {
        const std::string who = port.port;
        for (const std::string &twice : merge(parsed.ports, std::move(port))) {
            problem(0, given_twice(who.empty() ? twice : fmt::format("{} of {}", twice, who)));
        }
    };
    for (PortCounters &port : whole_) {
        port.file = file_;
        take(std::move(port));
    }
    unsigned named = 0; // tools
    for (const Gathered &gathered : ports_) {
        named |= gathered.kind == KeyKind::none || gathered.raw.empty() ? 0 : gathered.tools;
    }
    const Names::Order order = names_->order();
    for (Gathered &gathered : ports_) {
        if (gathered.raw.empty()) {
            continue;
        }
        PortCounters port;
        port.file = file_;
        port.kind = gathered.kind;
        port.port = std::move(gathered.name);
        port.link_layer = gathered.link_layer;
        port.card = gathered.card;
        if (gathered.kind == KeyKind::none && (gathered.tools & named) != 0) {
            port.apart = true;
            problem(0, "some counters name no port, others of the same tool do: they are taken for another port's");
        }
        port.counters = sorted(std::move(gathered.raw), order);
        port.counters.mark_widths();
        if (whole_.empty()) {
            parsed.ports.push_back(std::move(port));
        } else {
            take(std::move(port));
        }
    }
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const TextProblem &a, const TextProblem &b) { return a.line < b.line; });
    if (problem_count_ > most_problems) {
        problems_.push_back({file_, 0, fmt::format("and {} more problems", problem_count_ - most_problems)});
    }
    parsed.problems = std::move(problems_);
    return parsed;
}

std::string TextProblem::text() const {
    return line == 0 ? fmt::format("{}: {}", file, what) : fmt::format("{}:{}: {}", file, line, what);
}

std::string given_twice(std::string_view what, std::string_view first) {
    return fmt::format("{} is given twice with different values{}{}: none is used", what, first.empty() ? "" : ", first in ",
                       first);
}

std::vector<std::string> merge(std::vector<PortCounters> &ports, PortCounters more, OnDispute dispute) {
    // Lines of one port follow each other: look from the back.
    const auto same = std::find_if(ports.rbegin(), ports.rend(), [&](const PortCounters &known) {
        return known.kind == more.kind && known.port == more.port;
    });
    if (same == ports.rend()) {
        ports.push_back(std::move(more));
        return {};
    }
    same->driver = same->driver.empty() ? more.driver : same->driver;
    same->boot_id = same->boot_id.empty() ? more.boot_id : same->boot_id;
    same->time_ns = same->time_ns == 0 ? more.time_ns : same->time_ns;
    same->link_layer = same->link_layer == LinkLayer::unknown ? more.link_layer : same->link_layer;
    same->node = same->node.empty() ? more.node : same->node;
    same->hca = same->hca == nullptr ? more.hca : same->hca;
    same->apart = same->apart || more.apart;
    return same->counters.merge(more.counters, dispute);
}

} // namespace fabric_check::textfiles
