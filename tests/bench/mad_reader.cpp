// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a fabric once through the library, for comparison with other tools: what mad/compare.py runs.
//   fabric-check-mad-reader MAP ports           classic and extended counters of every linked switch port
//   fabric-check-mad-reader MAP ports hosts     and of every host's own port
//   fabric-check-mad-reader MAP job N           what a scout reads for a job on the first N hosts; then lists the ports
//   fabric-check-mad-reader MAP lfts            every switch's forwarding table
// Prints one line: seconds of the pass, and what was read.
#include "base/clock.hpp"
#include "fabric/discover.hpp"
#include "fabric/map.hpp"
#include "mad/port_reader.hpp"
#include "mad/session.hpp"
#include "sources/scout.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace fabric_check;

using Ports = std::vector<std::pair<unsigned, unsigned>>; ///< LID, port

struct Tally {
    unsigned long ports = 0;   ///< with every counter read
    unsigned long unread = 0;  ///< with at least one missing
    unsigned long symbols = 0; ///< sum of SymbolErrorCounter
    unsigned long entries = 0; ///< of forwarding tables
    unsigned long hash = 0;    ///< of them

    void add(const Counters &counters) {
        bool complete = true;
        for (const auto &[name, reading] : counters) {
            complete = complete && (reading.value || reading.absence == Absence::unsupported);
            if (name == "SymbolErrorCounter")
                symbols += reading.value.value_or(0);
        }
        ++(complete && counters.contains("PortXmitData") ? ports : unread);
    }
};

void read_ports(mad::Session &session, const fabric::Map &map, bool hosts, Tally &tally) {
    mad::PortReader reader(*session.engine, {.info = false, .details = false});
    const auto ready = [&tally](const mad::PortReading &reading) { tally.add(reading.counters); };
    for (std::uint32_t n = 0; n < map.nodes().size(); ++n) {
        const fabric::MapNode node = map.nodes()[n];
        const bool is_switch = node.kind == fabric::NodeKind::switch_node;
        if (!is_switch && !hosts)
            continue;
        for (std::size_t p = 1; p < node.ports.size(); ++p) {
            const fabric::MapPort port = node.ports[p];
            const std::uint16_t lid = is_switch ? node.lid : port.lid;
            if (port.peer != fabric::no_node && lid != 0)
                reader.ask(lid, static_cast<unsigned>(p), ready);
        }
    }
    session.engine->run();
}

bool read_job(mad::Session &session, const fabric::Map &map, const Config &config, unsigned count, Tally &tally,
              Ports &read) {
    ScoutRequest request;
    request.node = "bench";
    for (std::uint32_t n = 0; n < map.nodes().size() && request.job_nodes.size() < count; ++n)
        if (map.nodes()[n].kind == fabric::NodeKind::host)
            request.job_nodes.emplace_back(map.nodes()[n].host_name());
    const auto snapshot = scout(*session.engine, map, request, config);
    if (!snapshot) {
        fmt::print(stderr, "{}\n", snapshot.error().message);
        return false;
    }
    for (const SwitchPort &port : snapshot->ports) {
        tally.add(port.counters);
        read.emplace_back(port.switch_lid, port.port);
    }
    for (const Problem &problem : snapshot->problems)
        fmt::print(stderr, "{}: {}\n", problem.where, problem.reason);
    return true;
}

void read_lfts(mad::Session &session, fabric::MapDraft &draft, Tally &tally) {
    fabric::read_tables(*session.engine, draft, Deadline::never());
    for (const fabric::DraftNode &node : draft.nodes)
        for (std::size_t lid = 0; lid < node.lft.size(); ++lid)
            if (node.lft[lid] != fabric::no_route) {
                ++tally.entries;
                tally.hash += (node.guid * 31 + lid) * 257 + node.lft[lid];
            }
}

} // namespace

int main(int argc, char **argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() < 2)
        return 2;
    const auto map = fabric::load_map(arguments[0]);
    if (!map) {
        fmt::print(stderr, "{}\n", map.error().message);
        return 2;
    }
    const std::string &what = arguments[1];
    fabric::MapDraft draft;
    if (what == "lfts")
        draft = fabric::draft_of(*map);
    const Config config;
    auto session = mad::open_session(config);
    if (!session) {
        fmt::print(stderr, "{}\n", session.error().message);
        return 4;
    }
    Tally tally;
    Ports read;
    const auto began = std::chrono::steady_clock::now();
    if (what == "ports")
        read_ports(*session, *map, arguments.size() > 2 && arguments[2] == "hosts", tally);
    else if (what == "job" && arguments.size() > 2)
        read_job(*session, *map, config, static_cast<unsigned>(std::stoul(arguments[2])), tally, read);
    else if (what == "lfts")
        read_lfts(*session, draft, tally);
    else
        return 2;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const auto &stats = session->engine->stats();
    fmt::print("{:.6f} ports {} unread {} symbols {} entries {} hash {} sent {} timed_out {} slowed {}{}\n", took.count(),
               tally.ports, tally.unread, tally.symbols, tally.entries, tally.hash, stats.sent, stats.timed_out,
               stats.slowed, session->engine->sl_problem() ? " no-sl" : "");
    for (const auto &[lid, port] : read) // after the clock
        fmt::print(stderr, "port {} {}\n", lid, port);
    return 0;
}
