// SPDX-License-Identifier: GPL-2.0-or-later
//
// The import of a large fabric's tables against `wc -l` of the same file.
#include "fabric/import.hpp"
#include "peers.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <memory>
#include <unistd.h>

namespace fabric_check::fabric {
namespace {

/// A fat tree of three levels out of switches with 36 ports: 32 pods of 18 leaves and 18 switches in the middle, 18 hosts a
/// leaf, 288 switches on top: 10,368 hosts and 1,440 switches. LIDs: hosts from 1, then leaves, middle, top.
constexpr unsigned half = 18, pods = 32, leaves = pods * half, middles = leaves, tops = 288, hosts = leaves * half;
constexpr unsigned switches = leaves + middles + tops, lids = hosts + switches;
constexpr unsigned first_leaf = hosts + 1, first_middle = first_leaf + leaves, first_top = first_middle + middles;
constexpr std::size_t wanted = std::size_t(400) << 20;

std::uint64_t guid_of(unsigned lid) { return 0x0c42a10000000000ULL + lid * 16ULL; }

std::string name_of(unsigned lid) {
    return lid < first_leaf     ? fmt::format("node{:05} mlx5_0", lid)
           : lid < first_middle ? fmt::format("MF0;leaf{:03}:MQM8700/U1", lid - first_leaf + 1)
           : lid < first_top    ? fmt::format("MF0;mid{:03}:MQM8700/U1", lid - first_middle + 1)
                                : fmt::format("MF0;top{:03}:MQM8700/U1", lid - first_top + 1);
}

/// The neighbour of a switch's port: leaves have hosts on 1-18; the others' ports 1-18 (top: all) lead down.
std::pair<unsigned, unsigned> neighbour(unsigned lid, unsigned port) {
    const unsigned p = port - 1;
    if (lid < first_middle) {
        const unsigned leaf = lid - first_leaf;
        return p < half ? std::pair(leaf * half + p + 1, 1U)
                        : std::pair(first_middle + leaf / half * half + p - half, leaf % half + 1);
    }
    if (lid < first_top) {
        const unsigned middle = lid - first_middle;
        return p < half ? std::pair(first_leaf + middle / half * half + p, middle % half + 1 + half)
                        : std::pair(first_top + middle % half * 16 + (p - half) % 16, middle / half + 1);
    }
    return {first_middle + p * half + (lid - first_top) / 16, 1 + half + (lid - first_top) % 16};
}

/// By the destination's number up, and the only way down.
unsigned route(unsigned at, unsigned to) {
    if (at == to) {
        return 0;
    }
    const unsigned leaf = to < first_leaf ? (to - 1) / half : to < first_middle ? to - first_leaf : to % leaves;
    if (at < first_middle) {
        return to < first_leaf && leaf == at - first_leaf ? (to - 1) % half + 1 : half + 1 + to % half;
    }
    if (at < first_top) {
        return leaf / half == (at - first_middle) / half ? leaf % half + 1 : half + 1 + to % 16;
    }
    return leaf / half + 1;
}

class File {
public:
    explicit File(const std::string &path) : file_(std::fopen(path.c_str(), "w"), &std::fclose) {}
    void write(const std::string &text) { std::fwrite(text.data(), 1, text.size(), file_.get()); }

private:
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> file_;
};

void write_topology(const std::string &path) {
    File out(path);
    for (unsigned lid = first_leaf; lid <= lids; ++lid) {
        std::string text = fmt::format("Switch\t36 \"S-{:016x}\"\t\t# \"{}\" enhanced port 0 lid {} lmc 0\n", guid_of(lid), name_of(lid), lid);
        for (unsigned port = 1; port <= (lid < first_middle ? 36U : lid < first_top ? half + 16 : pods); ++port) {
            const auto [peer, there] = neighbour(lid, port);
            const bool host = peer < first_leaf;
            text += fmt::format("[{}]\t\"{}-{:016x}\"[{}]{} \t\t# \"{}\" lid {} 4xHDR\n", port, host ? 'H' : 'S', guid_of(peer), there,
                                host ? fmt::format("({:x})", guid_of(peer) + 1) : "", name_of(peer), peer);
        }
        out.write(text + "\n");
    }
    for (unsigned lid = 1; lid <= hosts; ++lid) {
        const unsigned leaf = first_leaf + (lid - 1) / half;
        out.write(fmt::format("Ca\t1 \"H-{:016x}\"\t\t# \"{}\"\n[1]({:x}) \t\"S-{:016x}\"[{}]\t\t# lid {} lmc 0 \"{}\" lid {} 4xHDR\n\n",
                              guid_of(lid), name_of(lid), guid_of(lid) + 1, guid_of(leaf), (lid - 1) % half + 1, lid, name_of(leaf), leaf));
    }
}

/// Whole tables until the file is as large as wanted; every switch's would be 1.3 GB.
unsigned write_tables(const std::string &path) {
    std::vector<std::string> tails(lids + 1);
    for (unsigned lid = 1; lid <= lids; ++lid) {
        const bool host = lid < first_leaf;
        tails[lid] = fmt::format(" # {} portguid 0x{:016x}: '{}'\n", host ? "Channel Adapter" : "Switch", guid_of(lid) + (host ? 1 : 0), name_of(lid));
    }
    File out(path);
    std::size_t written = 0;
    unsigned tables = 0;
    for (unsigned at = first_leaf; at <= lids && written < wanted; ++at, ++tables) {
        std::string text = fmt::format("Unicast lids [0-{}] of switch Lid {} guid 0x{:016x} ('{}'):\n", lids, at, guid_of(at), name_of(at));
        for (unsigned to = 1; to <= lids; ++to) {
            fmt::format_to(std::back_inserter(text), "0x{:04x} {:03}", to, route(at, to));
            text += tails[to];
        }
        text += fmt::format("{} lids dumped\n", lids);
        out.write(text);
        written += text.size();
    }
    return tables;
}

double since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// MiB: what this process holds ("VmRSS:"), or the most it held since the last forget_peak() ("VmHWM:").
double held_mib(const std::string &which) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        double kib = 0;
        if (word == which && status >> kib) {
            return kib / 1024;
        }
    }
    return 0;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

} // namespace
} // namespace fabric_check::fabric

void compare_import_with_wc() {
    using namespace fabric_check::fabric;
    const auto directory = std::filesystem::temp_directory_path() / fmt::format("fabric-check-import-{}", ::getpid());
    std::filesystem::create_directories(directory);
    const std::string topology = directory / "ibnetdiscover", tables = directory / "opensm-lfts.dump";
    write_topology(topology);
    const unsigned count = write_tables(tables);
    const std::string command = "wc -l " + tables + " > /dev/null";
    double wc = 1e9, whole = 1e9, alone = 1e9;
    bool right = true;
    ::malloc_trim(0); // what others have left in the heap
    forget_peak();
    const double before = held_mib("VmRSS:");
    for (int round = 0; round < 5; ++round) {
        auto start = std::chrono::steady_clock::now();
        right = right && std::system(command.c_str()) == 0;
        wc = std::min(wc, since(start));
        start = std::chrono::steady_clock::now();
        const auto map = import_files({topology}, {tables});
        whole = std::min(whole, since(start));
        right = right && map && map->problems.size() == 1; // the switches without a table
        start = std::chrono::steady_clock::now();
        benchmark::DoNotOptimize(import_files({topology}, {}).ok());
        alone = std::min(alone, since(start));
    }
    const double mib = double(std::filesystem::file_size(tables)) / (1 << 20);
    fmt::print("\nImport of a fat tree of {} hosts and {} switches; opensm-lfts.dump of {:.0f} MiB ({} tables), every row verified; "
               "best of five{}:\n",
               hosts, switches, mib, count, right ? "" : "; NOT AS EXPECTED");
    fmt::print("wc -l          {:>7.1f} ms\n", wc * 1e3);
    fmt::print("tables         {:>7.1f} ms: {:.2f} of wc's time (bar 6.00), {:.1f} GiB/s\n", (whole - alone) * 1e3, (whole - alone) / wc,
               mib / 1024 / (whole - alone));
    fmt::print("with topology  {:>7.1f} ms: {:.2f} of wc's time\n", whole * 1e3, whole / wc);
    fmt::print("memory         {:>7.1f} MiB more at the most\n", held_mib("VmHWM:") - before);
    std::filesystem::remove_all(directory);
}
