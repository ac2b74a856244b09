// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/differ.hpp"

#include "counters/table.hpp"
#include "verdict/delta.hpp"

#include <algorithm>

namespace fabric_check::sample {

namespace {

Absence why_silent(const SwitchPort *port) {
    return port == nullptr || port->counters.empty() ? Absence::timed_out : port->counters.begin()->second.absence;
}

std::uint8_t width_of(std::string_view name) {
    const CounterInfo *info = find_counter(name);
    return info != nullptr ? info->width : std::uint8_t{0};
}

std::optional<std::uint64_t> moved(const Counters &before, const Counters &after, std::string_view name) {
    return delta_of(before.get(name), after.get(name), width_of(name)).value;
}

} // namespace

bool keeps_movement(std::string_view counter) noexcept {
    const CounterInfo *info = find_counter(counter);
    return info != nullptr && info->unit == Unit::events && (info->graded(Profile::ib) || info->has(told));
}

Differ::Differ(Layout layout) : layout_(std::move(layout)) { forget(); }

void Differ::forget() {
    from_ns_ = 0;
    bases_.assign(layout_.ports.size(), {});
}

std::vector<const SwitchPort *> Differ::by_column(const Pass &pass) const {
    std::vector<const SwitchPort *> columns(layout_.ports.size(), nullptr);
    for (const SwitchPort &port : pass.ports)
        if (port.port <= UINT8_MAX)
            if (const auto column = layout_.find({port.switch_guid, static_cast<std::uint8_t>(port.port)}))
                columns[*column] = &port;
    return columns;
}

std::optional<Block> Differ::block(const Pass &pass) const {
    if (!based() || pass.from_ns <= from_ns_)
        return std::nullopt;
    Block block;
    block.from_ns = from_ns_;
    block.to_ns = pass.from_ns;
    for (auto *codes : {&block.xmit, &block.rcv, &block.wait})
        codes->assign(layout_.ports.size(), unknown_code);
    const std::vector<const SwitchPort *> columns = by_column(pass);
    std::map<std::string, std::uint32_t, std::less<>> names;
    for (std::uint32_t column = 0; column < columns.size(); ++column) {
        const SwitchPort *now = columns[column];
        const Base &base = bases_[column];
        if (now == nullptr || !was_read(*now))
            block.events.push_back({column, 0, EventKind::silent, why_silent(now), 0, 0});
        else if (base.known)
            compare(column, base, *now, block, names);
    }
    block.names.resize(names.size());
    for (const auto &[name, number] : names)
        block.names[number] = name;
    return block;
}

void Differ::compare(std::uint32_t column, const Base &base, const SwitchPort &now, Block &block,
                     std::map<std::string, std::uint32_t, std::less<>> &names) const {
    const double seconds = static_cast<double>(now.time_ns - base.time_ns) / 1e9;
    if (!base.silent && seconds > 0) {
        const double line = layout_.ports[column].line_bytes_s();
        const auto code = [&](const char *counter) {
            const auto quads = moved(base.values, now.counters, counter);
            return quads ? rate_code(*quads > UINT64_MAX / 4 ? UINT64_MAX : *quads * 4, seconds, line) : unknown_code;
        };
        block.xmit[column] = code("PortXmitData");
        block.rcv[column] = code("PortRcvData");
        if (const auto ticks = moved(base.values, now.counters, "PortXmitWait"))
            block.wait[column] = wait_code(*ticks);
    }
    const auto add = [&](std::string_view name, EventKind kind, Absence why, std::uint64_t before, std::uint64_t after) {
        const auto [at, fresh] = names.emplace(std::string(name), static_cast<std::uint32_t>(names.size()));
        block.events.push_back({column, at->second, kind, why, before, after});
    };
    for (const auto &[name, last] : base.values) {
        if (find_counter(name) == nullptr) // a name that nobody knows has no meaning to a reader either
            continue;
        const Reading *reading = now.counters.get(name);
        if (reading == nullptr || !reading->value) {
            if (!std::binary_search(base.unread.begin(), base.unread.end(), name))
                add(name, EventKind::unread, reading == nullptr ? Absence::absent : reading->absence, *last.value, 0);
            continue;
        }
        const Delta delta = delta_of(&last, reading, width_of(name));
        if (delta.value) {
            if (*delta.value != 0 && keeps_movement(name))
                add(name, EventKind::moved, Absence::absent, *last.value, *reading->value);
        } else if (delta.why == NoDelta::reset) {
            add(name, EventKind::reset, Absence::absent, *last.value, *reading->value);
        } else if (delta.why == NoDelta::saturated) {
            if (*reading->value != *last.value) // it reaches its cap once
                add(name, EventKind::saturated, Absence::absent, *last.value, *reading->value);
        } else { // another field than before: what it was before says nothing about it
            add(name, EventKind::unread, Absence::unsupported, *last.value, 0);
        }
    }
}

void Differ::accept(const Pass &pass) {
    const std::vector<const SwitchPort *> columns = by_column(pass);
    from_ns_ = pass.from_ns;
    for (std::size_t column = 0; column < columns.size(); ++column) {
        const SwitchPort *now = columns[column];
        Base &base = bases_[column];
        base.silent = now == nullptr || !was_read(*now);
        if (base.silent)
            continue;
        base.known = true;
        base.time_ns = now->time_ns;
        base.unread.clear();
        for (const auto &[name, reading] : now->counters)
            if (reading.value)
                base.values[name] = reading;
        for (const auto &[name, last] : base.values) {
            const Reading *reading = now->counters.get(name);
            if (reading == nullptr || !reading->value)
                base.unread.emplace_back(name);
        }
    }
}

} // namespace fabric_check::sample
