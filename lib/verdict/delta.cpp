// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict/delta.hpp"

#include <algorithm>

namespace fabric_check {

namespace {

NoDelta from_absence(Absence absence) noexcept {
    switch (absence) {
    case Absence::unsupported:
        return NoDelta::unsupported;
    case Absence::denied:
        return NoDelta::denied;
    case Absence::unparsable:
        return NoDelta::unparsable;
    case Absence::timed_out:
        return NoDelta::timed_out;
    case Absence::absent:
        break;
    }
    return NoDelta::absent;
}

NoDelta reason(const Reading *reading) noexcept {
    return reading == nullptr ? NoDelta::absent : from_absence(reading->absence);
}

/// Without a value on one side at least: what kept it from being read says more than that it was not there.
NoDelta missing(const Reading *before, const Reading *after) noexcept {
    if (after != nullptr && after->value) {
        const NoDelta why = reason(before);
        return is_nowhere(why) ? NoDelta::absent_before : why;
    }
    const NoDelta why = reason(after);
    if (before != nullptr && before->value) {
        return is_nowhere(why) ? NoDelta::absent_after : why;
    }
    return why != NoDelta::absent ? why : reason(before);
}

} // namespace

const char *to_string(NoDelta why) noexcept {
    switch (why) {
    case NoDelta::absent_before:
        return "absent at start";
    case NoDelta::absent_after:
        return "absent at end";
    case NoDelta::absent:
        return "absent";
    case NoDelta::unsupported:
        return "unsupported";
    case NoDelta::unparsable:
        return "unparsable";
    case NoDelta::denied:
        return "denied";
    case NoDelta::timed_out:
        return "timed out";
    case NoDelta::reset:
        return "reset";
    case NoDelta::saturated:
        return "saturated";
    case NoDelta::frozen:
        return "frozen while the port moved data";
    case NoDelta::implausible:
        return "implausible: more than the link carries in the time";
    case NoDelta::width_changed:
        break;
    }
    return "width changed";
}

Delta delta_of(const Reading *before, const Reading *after, std::uint8_t width) noexcept {
    if (before == nullptr || after == nullptr || !before->value || !after->value) {
        return {std::nullopt, missing(before, after)};
    }
    const std::uint8_t width_before = before->width != 0 ? before->width : width;
    const std::uint8_t width_after = after->width != 0 ? after->width : width;
    if (width_before != width_after) {
        return {std::nullopt, NoDelta::width_changed};
    }
    if (*after->value < *before->value) {
        return {std::nullopt, NoDelta::reset};
    }
    const std::uint64_t cap = saturation_cap(width_after);
    if (cap != 0 && *after->value == cap) {
        return {std::nullopt, NoDelta::saturated};
    }
    return {*after->value - *before->value, NoDelta::absent};
}

Deltas deltas_of(const Counters &before, const Counters &after) {
    Deltas deltas;
    deltas.reserve(std::max(before.size(), after.size()));
    auto b = before.begin();
    auto a = after.begin();
    while (b != before.end() || a != after.end()) {
        const bool only_before = a == after.end() || (b != before.end() && b->first < a->first);
        const bool only_after = b == before.end() || (a != after.end() && a->first < b->first);
        const std::string_view name = only_after ? a->first : b->first;
        const bool known = !only_after && !only_before && b->second.width != 0 && a->second.width != 0;
        const CounterInfo *info = known ? nullptr : find_counter(name); // for its width
        const Delta delta = delta_of(only_after ? nullptr : &b->second, only_before ? nullptr : &a->second,
                                     info != nullptr ? info->width : std::uint8_t{0});
        deltas.append(only_after ? after : before, name, delta);
        if (!only_after) {
            ++b;
        }
        if (!only_before) {
            ++a;
        }
    }
    return deltas;
}

} // namespace fabric_check
