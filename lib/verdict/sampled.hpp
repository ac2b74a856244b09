// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "record/intervals.hpp"
#include "sample/series.hpp"
#include "verdict/ports.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace fabric_check {

/// What a switch port's counters did between two readings, by the sampler: when they moved, and what is lost of them. A
/// reset, and a field that was full, cost their intervals only. Of counters that moved, were lost, or are less at the end
/// than at the start. Where the sampler did not watch, a reset is lost in that time.
std::map<std::string, CounterTotal> sampled_totals(const sample::PortSeries &series, const SwitchPort &start,
                                                   const SwitchPort &end, std::int64_t from_ns, std::int64_t to_ns);

/// What ports moved in a stretch of time, in bytes; nothing where it is not known.
class Volume {
public:
    virtual ~Volume() = default;
    virtual std::optional<double> sent(MapPortId port) const = 0;
    virtual std::optional<double> received(MapPortId port) const = 0;
};

/// In the whole job.
class JobVolume final : public Volume {
public:
    explicit JobVolume(const PortSet &set) : set_(&set) {}
    std::optional<double> sent(MapPortId port) const override;
    std::optional<double> received(MapPortId port) const override;

private:
    const PortSet *set_;
};

/// In one of the sampler's intervals. A host's port by what its switch port did, reversed.
class IntervalVolume final : public Volume {
public:
    IntervalVolume(const fabric::Map &map, const sample::Series &series, const sample::SampledInterval &interval)
        : map_(&map), series_(&series), interval_(&interval) {}
    std::optional<double> sent(MapPortId port) const override { return bytes(port, true); }
    std::optional<double> received(MapPortId port) const override { return bytes(port, false); }

private:
    std::optional<double> bytes(MapPortId port, bool sent) const;

    const fabric::Map *map_;
    const sample::Series *series_;
    const sample::SampledInterval *interval_;
};

/// A port's column in the series, or nothing.
std::optional<std::uint32_t> column_of(const fabric::Map &map, const sample::Series &series, MapPortId port);

} // namespace fabric_check
