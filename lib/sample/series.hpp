// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sample/block.hpp"
#include "sample/files.hpp"
#include "snapshot/model.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fabric_check::sample {

struct Span {
    std::int64_t from_ns = 0, to_ns = 0;
    bool operator==(const Span &) const = default;
};

/// An event of one port's counter, in the interval from from_ns to to_ns.
struct CounterEvent {
    std::int64_t from_ns = 0, to_ns = 0; ///< from_ns: earlier than the interval's where the port was silent before
    EventKind kind = EventKind::moved;
    Absence why = Absence::absent;
    std::uint64_t before = 0, after = 0;
    std::string counter;
};

/// What the ring has of one port.
struct PortSeries {
    double line_bytes_s = 0;
    std::vector<CounterEvent> events; ///< in order of time
    std::vector<Span> known;          ///< when it was watched: adjacent spans are one; in order
};

/// Codes of all ports of a series in one interval.
struct SampledInterval {
    std::int64_t from_ns = 0, to_ns = 0;
    std::vector<std::uint8_t> xmit, rcv, wait; ///< by PortSeries
    double seconds() const noexcept { return static_cast<double>(to_ns - from_ns) / 1e9; }
};

/// What the ring has of some ports between two moments. Intervals lie within them wholly (by a tenth of their length);
/// events also of intervals that only overlap.
struct Series {
    std::map<PortId, std::uint32_t> index;
    std::vector<PortSeries> ports;
    std::vector<SampledInterval> intervals; ///< in order; where there were more than can be kept, the fullest
    std::size_t intervals_seen = 0;

    std::optional<std::uint32_t> find(const PortId &id) const;
    /// Bytes per second; nothing where it is not known.
    std::optional<double> xmit(const SampledInterval &interval, std::uint32_t port) const;
    std::optional<double> rcv(const SampledInterval &interval, std::uint32_t port) const;
};

inline constexpr std::size_t most_cells = std::size_t{32} << 20;  ///< ports times intervals that a series keeps
inline constexpr std::size_t most_series_events = std::size_t{1} << 20;

/// Collects a series from blocks in order of time.
class SeriesBuilder {
public:
    SeriesBuilder(const std::set<PortId> &ports, std::int64_t from_ns, std::int64_t to_ns, std::size_t cells = most_cells);
    void add(const Layout &layout, const Block &block);
    /// `problems` gets what did not fit.
    Series finish(std::vector<Problem> &problems);

private:
    void add_events(const Block &block);
    void add_codes(const Block &block);

    std::int64_t from_ns_, to_ns_;
    std::size_t most_intervals_;
    Series series_;
    std::vector<unsigned> scores_; ///< of the intervals that are kept: how full the fullest port was
    Layout layout_;
    std::vector<std::uint32_t> columns_; ///< by port of the series; no_peer: not in the layout
    std::vector<std::uint32_t> of_column_; ///< by column; no_peer: not asked for
    std::vector<std::int64_t> silent_since_;
    std::size_t events_ = 0;
};

/// The ring's series of these ports. Errc::unavailable: munge is away. An empty one (no intervals_seen): no sampler ran.
Result<Series> read_series(const SpoolLayout &spool, const std::set<PortId> &ports, std::int64_t from_ns,
                           std::int64_t to_ns, Signer &signer, const Trust &trust, std::vector<Problem> &problems);

} // namespace fabric_check::sample
