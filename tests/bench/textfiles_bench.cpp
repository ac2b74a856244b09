// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers.hpp"
#include "record/codec.hpp"
#include "textfiles/diff.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fabric_check::textfiles {
namespace {

constexpr std::size_t wanted = std::size_t{8} << 20;

/// Values of all lengths, the same in each run.
std::uint64_t value_of(std::size_t n) {
    return n * 2654435761U % 1'000'000'007U >> (n % 28);
}

std::string perfquery() {
    static constexpr const char *names[] = {
        "SymbolErrorCounter:..............", "LinkErrorRecoveryCounter:........", "LinkDownedCounter:...............",
        "PortRcvErrors:...................", "PortRcvRemotePhysicalErrors:.....", "PortRcvSwitchRelayErrors:........",
        "PortXmitDiscards:................", "PortXmitConstraintErrors:........", "PortRcvConstraintErrors:.........",
        "CounterSelect2:..................", "LocalLinkIntegrityErrors:........", "ExcessiveBufferOverrunErrors:....",
        "QP1Dropped:......................", "VL15Dropped:.....................", "PortXmitData:....................",
        "PortRcvData:.....................", "PortXmitPkts:....................", "PortRcvPkts:.....................",
        "PortXmitWait:...................."};
    std::string text;
    for (std::size_t lid = 1, n = 0; text.size() < wanted; ++lid) {
        text += fmt::format("# Port counters: Lid {} port {} (CapMask: 0x1300)\nPortSelect:......................{}\n"
                            "CounterSelect:...................0x0000\n",
                            lid / 40 + 1, lid % 40 + 1, lid % 40 + 1);
        for (std::size_t at = 0; at < std::size(names); ++at) { // the first fourteen are of 4 bits at least
            text += fmt::format("{}{}\n", names[at], at < 14 ? value_of(++n) % 15 : value_of(++n));
        }
    }
    return text;
}

std::string grep() {
    std::string text;
    for (std::size_t card = 0, n = 0; text.size() < wanted; ++card) {
        for (const CounterInfo &row : counter_table()) {
            if (row.source == CounterSource::hw_counters) {
                text += fmt::format("/sys/class/infiniband/mlx5_{}/ports/1/hw_counters/{}:{}\n", card, row.name,
                                    value_of(++n));
            }
        }
    }
    return text;
}

std::string ethtool() {
    std::string text;
    for (std::size_t device = 0, n = 0; text.size() < wanted; ++device) {
        text += fmt::format("eth{}:\nNIC statistics:\n", device);
        for (const CounterInfo &row : counter_table()) {
            for (unsigned priority = 0; row.source == CounterSource::ethtool && priority < 8; ++priority) {
                if (row.name.find("<l>") != std::string_view::npos) { // of lanes
                    break;
                }
                text += fmt::format("     {}: {}\n", row.of_priority(priority), value_of(++n));
                if (!row.is_family()) {
                    break;
                }
            }
        }
        for (unsigned queue = 0; queue < 300; ++queue) {
            text += fmt::format("     rx{}_packets: {}\n     ch{}_events: {}\n", queue, value_of(n + 1), queue, value_of(n + 2));
            n += 2;
        }
    }
    return text;
}

std::string rdma_json(std::size_t size = wanted) {
    std::string text = "[";
    for (std::size_t card = 0, n = 0; text.size() < size; ++card) {
        text += fmt::format("{}\n    {{\n        \"ifname\": \"mlx5_{}\",\n        \"port\": 1", card == 0 ? "" : ",", card);
        for (const CounterInfo &row : counter_table()) {
            if (row.source == CounterSource::hw_counters) {
                text += fmt::format(",\n        \"{}\": {}", row.name, value_of(++n));
            }
        }
        text += "\n    }";
    }
    return text + "\n]\n";
}

void parse(benchmark::State &state, const std::string &text) {
    std::size_t counters = 0;
    for (auto _ : state) {
        const Parsed parsed = parse_text(text, "bench");
        if (!parsed.problems.empty()) {
            state.SkipWithError(parsed.problems.front().text().c_str());
            return;
        }
        counters = 0;
        for (const PortCounters &port : parsed.ports) {
            counters += port.counters.size();
        }
        benchmark::DoNotOptimize(counters);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
    state.counters["counters"] = static_cast<double>(counters);
}

void Perfquery(benchmark::State &state) { parse(state, perfquery()); }
void Grep(benchmark::State &state) { parse(state, grep()); }
void Ethtool(benchmark::State &state) { parse(state, ethtool()); }
void RdmaJson(benchmark::State &state) { parse(state, rdma_json()); }
BENCHMARK(Perfquery)->Unit(benchmark::kMillisecond);
BENCHMARK(Grep)->Unit(benchmark::kMillisecond);
BENCHMARK(Ethtool)->Unit(benchmark::kMillisecond);
BENCHMARK(RdmaJson)->Unit(benchmark::kMillisecond);

std::string big_snapshot(std::size_t more) {
    NodeSnapshot snapshot;
    snapshot.node = "node01";
    for (std::size_t card = 0; card < 50; ++card) {
        HcaPort port;
        port.device = fmt::format("mlx5_{}", card);
        port.driver = "mlx5_core";
        for (std::size_t n = 0; n < 2000; ++n) {
            port.counters[fmt::format("rx{}_packets", n)] = Reading::of(value_of(n) + more * n);
        }
        snapshot.ports.push_back(std::move(port));
    }
    return encode_snapshot(snapshot);
}

/// Read, parse, judge and write, of two snapshots with 100,000 counters each.
void DiffOfSnapshots(benchmark::State &state) {
    const auto directory = std::filesystem::temp_directory_path() / fmt::format("fabric-check-bench-{}", ::getpid());
    std::filesystem::create_directories(directory);
    const std::string before = directory / "before", after = directory / "after";
    std::ofstream(before) << big_snapshot(0);
    std::ofstream(after) << big_snapshot(3);
    std::size_t written = 0;
    for (auto _ : state) {
        const auto first = load(before), second = load(after);
        const Diff result = diff(*first, *second, {});
        written = state.range(0) != 0 ? diff_json(result).size() : diff_text(result, false).size();
        benchmark::DoNotOptimize(written);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(
        state.iterations() * (std::filesystem::file_size(before) + std::filesystem::file_size(after))));
    std::filesystem::remove_all(directory);
}
BENCHMARK(DiffOfSnapshots)->ArgName("json")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

template <class Work> double seconds(const Work &work) {
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
        const auto start = std::chrono::steady_clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

void against(const char *subject, const std::string &file, const std::string &peer, const std::string &command) {
    bool ran = true;
    const double ours = seconds([&] { benchmark::DoNotOptimize(load(file).ok()); });
    const double theirs = seconds([&] { ran = ran && std::system(command.c_str()) == 0; });
    if (ran) {
        fmt::print("{:<12} load {:>7.1f} ms, {} {:>7.1f} ms: {:.2f} of its time\n", subject, ours * 1e3, peer, theirs * 1e3,
                   ours / theirs);
    } else {
        fmt::print("{:<12} load {:>7.1f} ms; {} is not here\n", subject, ours * 1e3, peer);
    }
}

} // namespace
} // namespace fabric_check::textfiles

void compare_with_peers() {
    using namespace fabric_check::textfiles;
    const auto directory = std::filesystem::temp_directory_path() / fmt::format("fabric-check-peers-{}", ::getpid());
    std::filesystem::create_directories(directory);
    const std::string text = directory / "perfquery.txt", json = directory / "rdma.json";
    std::string content;
    for (int copy = 0; copy < 4; ++copy) {
        content += perfquery();
    }
    std::ofstream(text) << content;
    std::ofstream(json) << rdma_json(4 * wanted);
    fmt::print("\nThe same files, 32 MiB, read and parsed; best of three:\n");
    against("perfquery", text, "grep -c of one counter's lines", "LC_ALL=C grep -c 'SymbolErrorCounter:\\.*[0-9]' " + text + " > /dev/null");
    against("perfquery", text, "awk, values by name", "LC_ALL=C awk -F: '{gsub(/\\./,\"\",$2); v[$1]+=$2}' " + text + " 2> /dev/null");
    against("rdma json", json, "python3 json.load", "python3 -c 'import json,sys; json.load(open(sys.argv[1]))' " + json);
    std::filesystem::remove_all(directory);
}
