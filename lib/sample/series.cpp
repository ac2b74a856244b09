// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/series.hpp"

#include "sample/ring.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check::sample {

namespace {

std::optional<double> rate_at(const std::vector<std::uint8_t> &codes, const PortSeries &series, std::uint32_t port) {
    const std::uint8_t code = port < codes.size() ? codes[port] : unknown_code;
    if (code == unknown_code)
        return std::nullopt;
    return rate_of(code, series.line_bytes_s);
}

/// How full the fullest of the ports was: what makes an interval worth keeping.
unsigned fullest(const SampledInterval &interval) {
    unsigned most = 0;
    for (const auto *codes : {&interval.xmit, &interval.rcv})
        for (const std::uint8_t code : *codes)
            most = code == unknown_code ? most : std::max<unsigned>(most, code);
    return most;
}

} // namespace

std::optional<std::uint32_t> Series::find(const PortId &id) const {
    const auto at = index.find(id);
    return at == index.end() ? std::nullopt : std::optional(at->second);
}

std::optional<double> Series::xmit(const SampledInterval &interval, std::uint32_t port) const {
    return rate_at(interval.xmit, ports[port], port);
}

std::optional<double> Series::rcv(const SampledInterval &interval, std::uint32_t port) const {
    return rate_at(interval.rcv, ports[port], port);
}

SeriesBuilder::SeriesBuilder(const std::set<PortId> &ports, std::int64_t from_ns, std::int64_t to_ns, std::size_t cells)
    : from_ns_(from_ns), to_ns_(to_ns),
      most_intervals_(std::max<std::size_t>(1, cells / std::max<std::size_t>(1, ports.size()))) {
    std::uint32_t next = 0;
    for (const PortId &id : ports)
        series_.index.emplace(id, next++);
    series_.ports.resize(ports.size());
    silent_since_.assign(ports.size(), 0);
}

void SeriesBuilder::add(const Layout &layout, const Block &block) {
    if (!(layout == layout_) || columns_.empty()) {
        layout_ = layout;
        columns_.assign(series_.ports.size(), no_peer);
        of_column_.assign(layout.ports.size(), no_peer);
        for (const auto &[id, port] : series_.index)
            if (const auto column = layout.find(id)) {
                columns_[port] = *column;
                of_column_[*column] = port;
                if (series_.ports[port].line_bytes_s == 0)
                    series_.ports[port].line_bytes_s = layout.ports[*column].line_bytes_s();
            }
    }
    ++series_.intervals_seen;
    add_events(block);
    add_codes(block);
}

void SeriesBuilder::add_events(const Block &block) {
    std::vector<bool> silent(series_.ports.size(), false);
    for (const Event &event : block.events) {
        const std::uint32_t port = of_column_[event.port];
        if (port == no_peer)
            continue;
        if (event.kind == EventKind::silent) {
            silent[port] = true;
            if (silent_since_[port] == 0)
                silent_since_[port] = block.from_ns;
        } else if (events_ < most_series_events) {
            ++events_;
            const std::int64_t since = silent_since_[port];
            series_.ports[port].events.push_back({since != 0 ? since : block.from_ns, block.to_ns, event.kind, event.why,
                                                  event.before, event.after, block.names[event.name]});
        }
    }
    for (std::uint32_t port = 0; port < silent.size(); ++port) {
        if (silent[port] || columns_[port] == no_peer)
            continue;
        // What moved while it was silent is known once it answers again.
        const std::int64_t from = silent_since_[port] != 0 ? silent_since_[port] : block.from_ns;
        silent_since_[port] = 0;
        std::vector<Span> &known = series_.ports[port].known;
        if (!known.empty() && from <= known.back().to_ns)
            known.back().to_ns = block.to_ns;
        else
            known.push_back({from, block.to_ns});
    }
}

void SeriesBuilder::add_codes(const Block &block) {
    const std::int64_t grace = (block.to_ns - block.from_ns) / 10;
    if (block.from_ns + grace < from_ns_ || block.to_ns - grace > to_ns_)
        return;
    SampledInterval interval{block.from_ns, block.to_ns, {}, {}, {}};
    const std::size_t count = series_.ports.size();
    for (auto *codes : {&interval.xmit, &interval.rcv, &interval.wait})
        codes->assign(count, unknown_code);
    for (std::uint32_t port = 0; port < count; ++port) {
        const std::uint32_t column = columns_[port];
        // Codes are shares of the line rate: those of a link that was another one before mean something else.
        if (column == no_peer || layout_.ports[column].line_bytes_s() != series_.ports[port].line_bytes_s)
            continue;
        interval.xmit[port] = block.xmit[column];
        interval.rcv[port] = block.rcv[column];
        interval.wait[port] = block.wait[column];
    }
    const unsigned score = fullest(interval);
    if (series_.intervals.size() >= most_intervals_) {
        const auto least = std::min_element(scores_.begin(), scores_.end());
        if (*least >= score)
            return;
        series_.intervals.erase(series_.intervals.begin() + (least - scores_.begin()));
        scores_.erase(least);
    }
    series_.intervals.push_back(std::move(interval));
    scores_.push_back(score);
}

Series SeriesBuilder::finish(std::vector<Problem> &problems) {
    if (events_ == most_series_events)
        problems.push_back({"samples", "", "more events of switch ports than can be looked at: the later ones are left out"});
    return std::move(series_);
}

Result<Series> read_series(const SpoolLayout &spool, const std::set<PortId> &ports, std::int64_t from_ns,
                           std::int64_t to_ns, Signer &signer, const Trust &trust, std::vector<Problem> &problems) {
    SeriesBuilder builder(ports, from_ns, to_ns);
    const auto visit = [&builder](const Layout &layout, const Block &block) { builder.add(layout, block); };
    if (auto read = read_ring(spool, from_ns, to_ns, signer, trust, visit, problems); !read)
        return read.error();
    return builder.finish(problems);
}

} // namespace fabric_check::sample
