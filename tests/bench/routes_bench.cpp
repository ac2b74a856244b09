// SPDX-License-Identifier: GPL-2.0-or-later
//
// The analysis of a large fabric's tables against one pass over their bytes and against the walk of every pair, and one
// job's answer from a stored map.
#include "fabric/even_spread.hpp"
#include "fabric/flows.hpp"
#include "fabric/routes.hpp"
#include "fat_tree.hpp"
#include "peers.hpp"
#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <malloc.h>
#include <new>
#include <random>
#include <unistd.h>

namespace {

bool heap_counts = false;                  // NOLINT: counting takes time, so only where memory is measured
std::atomic<long> heap_now{0}, heap_most{0}; // NOLINT: bytes; what operator new counts

} // namespace

void *operator new(std::size_t size) { // NOLINT
    void *out = std::malloc(size);
    if (out == nullptr) {
        throw std::bad_alloc();
    }
    if (!heap_counts) {
        return out;
    }
    const long now = heap_now += static_cast<long>(malloc_usable_size(out));
    long most = heap_most;
    while (most < now && !heap_most.compare_exchange_weak(most, now)) {
    }
    return out;
}
[[gnu::noinline]] void operator delete(void *at) noexcept { // NOLINT: apart, or gcc takes free() for a mistake
    if (heap_counts) {
        heap_now -= static_cast<long>(malloc_usable_size(at));
    }
    std::free(at);
}
void operator delete(void *at, std::size_t) noexcept { operator delete(at); } // NOLINT

namespace fabric_check::fabric {
namespace {

double best_of(int rounds, const auto &work) {
    double best = 1e9;
    for (int round = 0; round < rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best * 1e3;
}

void keep(const auto &value) { asm volatile("" : : "r"(&value) : "memory"); }

/// One pass over all bytes of all tables.
double histogram_ms(const Map &map) {
    std::array<std::uint64_t, 256> counts{};
    return best_of(7, [&] {
        for (std::uint32_t n = 0; n < map.nodes().size(); ++n) {
            for (const std::uint8_t port : map.nodes()[n].lft()) {
                ++counts[port];
            }
        }
        keep(counts);
    });
}

/// Every pair by itself, of a sample of the sources, for all of them.
double pair_walk_ms(const Map &map, const std::vector<Endpoint> &hosts, std::size_t sample) {
    struct Switch {
        const std::uint8_t *lft;
        std::array<std::uint32_t, 64> next, load;
    };
    std::vector<Switch> switches(map.nodes().size());
    for (std::uint32_t n = 0; n < switches.size(); ++n) {
        const MapNode node = map.nodes()[n];
        switches[n].lft = node.lft().data();
        for (std::size_t p = 0; p < node.ports.size() && p < 64; ++p) {
            switches[n].next[p] = node.ports[p].peer;
        }
    }
    const double took = best_of(1, [&] {
        for (std::size_t i = 0; i < sample; ++i) {
            const Endpoint &from = hosts[i * hosts.size() / sample];
            for (const Endpoint &to : hosts) {
                std::uint32_t at = map.nodes()[from.node].ports[from.port].peer;
                while (from.lid != to.lid && at != to.node) {
                    Switch &here = switches[at];
                    const std::uint8_t out = here.lft[to.lid];
                    ++here.load[out];
                    at = here.next[out];
                }
            }
        }
        keep(switches);
    });
    return took * double(hosts.size()) / double(sample);
}

Query everybody(const Map &map) {
    Query query;
    query.job = all_host_endpoints(map);
    query.want_sources = query.want_lids = query.rails_apart = false;
    return query;
}

/// The links' loads and nothing else.
double loads_ms(const Map &map, const Query &query) {
    const LftView lfts(map);
    return best_of(5, [&] {
        const SwitchGraph graph(lfts);
        std::vector<FlowCounter::Destination> destinations;
        std::vector<SwitchGraph::Number> targets;
        for (const Endpoint &host : query.job) {
            const MapPort port = map.nodes()[host.node].ports[host.port];
            destinations.push_back({&host, graph.number(port.peer), port.peer_port, 0, 0});
            targets.push_back(graph.number(port.peer));
        }
        std::sort(targets.begin(), targets.end());
        std::vector<FlowCounter::Source> sources;
        for (const auto at : targets) {
            if (sources.empty() || sources.back().at != at) {
                sources.push_back({at, 0});
            }
            ++sources.back().flows;
        }
        targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
        std::sort(destinations.begin(), destinations.end(), [](const auto &a, const auto &b) {
            return a.endpoint->lid < b.endpoint->lid;
        });
        FlowCounter counter(graph, lfts, targets, false, 0);
        for (std::size_t next = 0; next < destinations.size(); next += Reach::width) {
            const std::size_t size = std::min(Reach::width, destinations.size() - next);
            counter.count(0, sources, std::span(destinations).subspan(next, size), 1, 0);
        }
        keep(counter);
    });
}

void all_hosts(const char *name, bench::Upwards upwards, bool scrambled) {
    const Map map(bench::fat_tree(31, 10000, upwards, scrambled));
    const Query query = everybody(map);
    (void)map.damaged_tables(); // warm
    const double pass = histogram_ms(map);
    const LftView lfts(map);
    double imbalance = 0;
    heap_counts = true;
    const long before = heap_now;
    heap_most = before;
    imbalance = analyse(lfts, query).imbalance;
    const long used = heap_most - before;
    heap_counts = false;
    const double all = best_of(5, [&] { keep(analyse(lfts, query)); });
    const double loads = loads_ms(map, query);
    const double pairs = pair_walk_ms(map, query.job, 100);
    fmt::print("{:<28} pass over {:.1f} MB of tables {:>6.1f} ms; loads {:>6.1f} ms: {:.1f} passes; loads, groups and "
               "imbalance ({:.2f}) {:>6.1f} ms: {:.1f} passes, {:.0f} MB; walk of every pair (from 100 of {} hosts) {:.0f} "
               "ms: {:.0f} times the loads, {:.0f} times all\n",
               name, double(map.image().lfts.size()) / 1e6, pass, loads, loads / pass, imbalance, all, all / pass,
               double(used) / 1e6, query.job.size(), pairs, pairs / loads, pairs / all);
}

/// Nodes of a job: so many over the first or over random leaves.
std::vector<std::string> nodes_of(unsigned count, unsigned leaves, bool random, unsigned hosts) {
    std::vector<unsigned> chosen(hosts / 18);
    for (unsigned i = 0; i < chosen.size(); ++i) {
        chosen[i] = i;
    }
    std::mt19937 generator(3);
    for (std::size_t i = chosen.size(); random && i > 1; --i) {
        std::swap(chosen[i - 1], chosen[generator() % i]);
    }
    std::vector<std::string> names;
    for (unsigned i = 0; i < count; ++i) {
        names.push_back(fmt::format("node{:05}", chosen[i % leaves] * 18 + i / leaves + 1));
    }
    return names;
}

void job(const char *name, const std::string &file, const std::vector<std::string> &nodes, double hash_of_all) {
    std::vector<std::string> missing;
    const auto ask = [&](bool shapes) {
        const Map map = *load_map(file);
        Query query;
        query.job = endpoints_by_name(map, nodes, missing);
        query.want_sources = query.want_lids = false; // as for `routes` without --json
        query.want_shapes = shapes;
        const Routes routes = analyse(LftView(map), query);
        keep(routes);
        return std::tuple(map, query, routes);
    };
    const double opened = best_of(20, [&] { keep(*load_map(file)); });
    const double answered = best_of(20, [&] { ask(false); });
    const double shaped = best_of(10, [&] { ask(true); });
    const double printed = best_of(5, [&] {
        const auto [map, query, routes] = ask(true);
        keep(routes_text(routes_json(map, routes, query, -1, groups_for_text), false));
    });
    fmt::print("{:<28} {} nodes: open {:.2f} ms; open, groups, imbalance {:.2f} ms; and link loads by shape, bisections {:.2f} "
               "ms; and text {:.2f} ms (checksum of the whole file: {:.2f} ms)\n",
               name, nodes.size(), opened, answered, shaped, printed, hash_of_all);
}

} // namespace
} // namespace fabric_check::fabric

void compare_routes() {
    using namespace fabric_check::fabric;
    all_hosts("routes, by destination", bench::Upwards::by_destination, false);
    all_hosts("routes, scattered", bench::Upwards::scattered, false);
    all_hosts("routes, scrambled LIDs", bench::Upwards::by_destination, true);
    all_hosts("routes, both", bench::Upwards::scattered, true);
    const auto directory = std::filesystem::temp_directory_path() / fmt::format("fabric-check-routes-{}", ::getpid());
    std::filesystem::create_directories(directory);
    for (const auto &[name, pods, hosts] : {std::tuple("large", 31U, 10000U), std::tuple("small", 4U, 1296U)}) {
        const std::string file = directory / name;
        const Map map(bench::fat_tree(pods, hosts, bench::Upwards::by_destination, false));
        (void)save_map(map, file);
        const auto bytes = map.image().bytes->view();
        const double whole = best_of(5, [&] { keep(image::checksum(bytes.data(), bytes.size())); });
        job(pods == 31 ? "job, compact, large fabric" : "job, compact, small fabric", file, nodes_of(512, 29, false, hosts),
            whole);
        if (pods == 31) {
            job("job, scattered, large fabric", file, nodes_of(512, 350, true, hosts), whole);
        }
    }
    std::filesystem::remove_all(directory);
}
