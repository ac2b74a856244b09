// SPDX-License-Identifier: GPL-2.0-or-later
#include "big_job.hpp"

#include "base/hostlist.hpp"
#include "base/parallel.hpp"
#include "record/codec.hpp"
#include "sources/scout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace fabric_check::bench {
namespace {

constexpr std::int64_t second = 1'000'000'000;

/// Everything mlx5 shows of an InfiniBand port (or a switch of itself), at values of that many digits.
Counters counters(bool host, Phase phase, std::uint64_t seed) {
    Counters all;
    for (const auto &info : counter_table()) {
        const bool there = host ? info.source != CounterSource::ethtool && info.source != CounterSource::pma_details &&
                                      (info.drivers == any_driver || (info.drivers & mlx5) != 0)
                                : info.source == CounterSource::pma || info.source == CounterSource::pma_extended ||
                                      info.source == CounterSource::pma_details;
        if (!there || info.is_family())
            continue;
        const bool end = phase == Phase::end;
        // Nothing saturates, and nothing is reset: 12 digits where there is room for them.
        const std::uint64_t value = info.unit == Unit::events ? seed % 3
                                    : info.width != 0 && info.width < 64
                                        ? seed * 7919 % (std::uint64_t{1} << (info.width - 2)) + (end ? 9 : 0)
                                        : 700'000'000'000 + seed * 7919 + (end ? 900'000'000 : 0);
        all[info.name] = Reading::of(value);
    }
    return all;
}

NodeSnapshot node_snapshot(const BigJob &job, const fabric::Map &map, unsigned index, Phase phase,
                           std::int64_t time_ns) {
    NodeSnapshot snapshot;
    snapshot.node = fmt::format("node{:05}", index + 1);
    snapshot.boot_id = "2f4b9c1e-0d8a-4f56-9b1c-2d3e4f5a6b7c";
    snapshot.time_ns = time_ns;
    snapshot.took_ns = 1'200'000;
    const auto on_map = map.by_name(snapshot.node);
    for (unsigned card = 0; card < job.cards; ++card) {
        HcaPort port;
        port.device = fmt::format("mlx5_{}", card);
        port.driver = "mlx5_core";
        port.link_layer = LinkLayer::infiniband;
        port.state = "ACTIVE";
        port.phys_state = "LinkUp";
        port.rate = {4, "HDR", 200, 53.125};
        port.netdev = fmt::format("ib{}", card);
        port.pci = fmt::format("0000:{:02x}:00.0", 0x3b + card);
        port.model = "MT4123";
        port.pcie = {16, 16, 16, 16};
        if (card == 0 && !on_map.empty()) {
            const auto at = map.nodes()[on_map[0].first].ports[on_map[0].second];
            port.guid = at.guid;
            port.lid = at.lid;
        } else {
            port.guid = 0x0c42a10500000000ULL + std::uint64_t{index} * 64 + card;
            port.lid = static_cast<std::uint16_t>(40'000 + card);
        }
        port.counters = counters(true, phase, index * 31 + card);
        snapshot.ports.push_back(std::move(port));
    }
    return snapshot;
}

/// What a scout that has all the time it needs reads.
ScoutSnapshot scout_snapshot(const BigJob &job, const fabric::Map &map, unsigned index, Phase phase,
                             std::int64_t time_ns) {
    ScoutSnapshot snapshot;
    const auto names = node_names(job);
    snapshot.node = names[index];
    snapshot.time_ns = time_ns;
    snapshot.took_ns = 900'000'000;
    snapshot.map_id = map.id();
    snapshot.adaptive_routing = AdaptiveRouting::off;
    ScoutRequest request;
    request.job_nodes = names;
    snapshot.hosts = match_hosts(map, request, snapshot.problems);
    std::vector<bool> used(map.nodes().size());
    std::vector<bool> blocks(0xc000 / 64);
    for (const auto &host : snapshot.hosts) {
        used[map.by_lid(host.lid)] = true;
        blocks[host.lid / 64] = true;
    }
    for (std::uint32_t n = 0; n < map.nodes().size(); ++n) {
        if (!map.is_switch(n))
            continue;
        const auto node = map.nodes()[n];
        for (unsigned p = 1; p < node.ports.size(); ++p) {
            const auto port = node.ports[p];
            if (port.peer == fabric::no_node || (!map.is_switch(port.peer) && !used[port.peer]))
                continue;
            SwitchPort reading;
            reading.switch_guid = node.guid;
            reading.switch_name = std::string(node.description);
            reading.switch_lid = node.lid;
            reading.port = p;
            reading.state = "ACTIVE";
            reading.rate = port.rate;
            reading.counters = counters(false, phase, n * 64 + p);
            snapshot.ports.push_back(std::move(reading));
        }
        const auto lft = node.lft();
        for (unsigned block = 0; block < blocks.size(); ++block) {
            if (!blocks[block])
                continue;
            LftBlock table{node.guid, static_cast<std::uint16_t>(block), {}};
            table.ports.fill(fabric::no_route);
            for (unsigned i = 0; i < 64 && block * 64 + i < lft.size(); ++i)
                table.ports[i] = lft[block * 64 + i];
            snapshot.lfts.push_back(table);
        }
    }
    return snapshot;
}

void write(const SpoolLayout &spool, const RecordName &name, const Record &record, Signer &signer) {
    std::string payload;
    const auto credential = sign_record(record, signer, 0, &payload);
    if (!credential)
        throw std::runtime_error(credential.error().message);
    const auto path = spool.records() + "/" + name.file_name();
    if (!payload.empty())
        std::ofstream(path + std::string(payload_suffix), std::ios::binary) << payload;
    std::ofstream(path, std::ios::binary) << *credential;
}

} // namespace

std::vector<std::string> node_names(const BigJob &job) {
    std::vector<std::string> names;
    for (unsigned i = 1; i <= job.nodes; ++i)
        names.push_back(fmt::format("node{:05}", i));
    return names;
}

JobInstance instance_of(const BigJob &job) {
    JobInstance instance;
    instance.job.id = job.id;
    instance.job.cluster = "bench";
    instance.job.user = "ada";
    instance.job.partition = "batch";
    instance.job.state = "COMPLETED";
    instance.job.node_names = node_names(job);
    instance.job.nodes = fold_hostlist(instance.job.node_names);
    instance.job.start = job.start;
    instance.job.end = job.end;
    instance.submit = job.start - 1;
    instance.ended = true;
    return instance;
}

Ticket ticket_of(const BigJob &job) {
    Ticket ticket;
    ticket.job_id = job.id;
    ticket.time_ns = job.end * second + 1;
    ticket.nodes = fold_hostlist(node_names(job));
    ticket.cluster = "bench";
    return ticket;
}

std::vector<RecordName> write_records(const BigJob &job, const fabric::Map &map, const SpoolLayout &spool,
                                      Signer &signer, unsigned workers) {
    const auto names = node_names(job);
    std::vector<RecordName> written(2 * names.size());
    parallel_for(workers, names.size(), [&](std::size_t i) {
        for (const auto phase : {Phase::start, Phase::end}) {
            const bool end = phase == Phase::end;
            const auto time_ns = (end ? job.end : job.start) * second + 1'000'000 + static_cast<std::int64_t>(i);
            auto &name = written[2 * i + (end ? 1 : 0)];
            name = {job.id, names[i], time_ns, end ? RecordKind::end : RecordKind::start};
            write(spool, name,
                  {job.id, names[i], phase, time_ns, node_snapshot(job, map, static_cast<unsigned>(i), phase, time_ns)},
                  signer);
            if (!job.scouts || i >= 2)
                continue;
            const auto scout_ns = time_ns + 1'000'000;
            write(spool, {job.id, names[i], scout_ns, end ? RecordKind::scout_end : RecordKind::scout_start},
                  {job.id, names[i], phase, scout_ns,
                   scout_snapshot(job, map, static_cast<unsigned>(i), phase, scout_ns)},
                  signer);
        }
    });
    return written;
}

} // namespace fabric_check::bench
