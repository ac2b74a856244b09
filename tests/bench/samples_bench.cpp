// SPDX-License-Identifier: GPL-2.0-or-later
// The ring's size for a day of a fabric of 2,048 hosts, what an interval costs the sampler, and what reading costs a finisher.
#include "record/digest.hpp"
#include "sample/block.hpp"
#include "sample/differ.hpp"
#include "sample/pass.hpp"
#include "sample/ring.hpp"
#include "sample/series.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace fabric_check::sample {

namespace {

constexpr unsigned leaves = 64, spines = 32, hosts_per_leaf = 32;
constexpr std::int64_t second = 1'000'000'000, begin = 1'700'000'000 * second, interval = 30 * second;
constexpr std::size_t signed_size = 320; // of a munge credential over what is signed of a block

/// 64 leaves of 32 hosts below 32 spines: 96 switches, 6,144 ports, 4X HDR.
Layout two_levels() {
    Layout layout;
    for (unsigned leaf = 0; leaf < leaves; ++leaf)
        for (unsigned port = 1; port <= hosts_per_leaf + spines; ++port)
            layout.ports.push_back({{0x100 + leaf, static_cast<std::uint8_t>(port)}, 200000, no_peer});
    for (unsigned spine = 0; spine < spines; ++spine)
        for (unsigned port = 1; port <= leaves; ++port)
            layout.ports.push_back({{0x1000 + spine, static_cast<std::uint8_t>(port)}, 200000, no_peer});
    for (unsigned leaf = 0; leaf < leaves; ++leaf)
        for (unsigned spine = 0; spine < spines; ++spine) {
            const std::uint32_t up = leaf * 64 + hosts_per_leaf + spine, down = leaves * 64 + spine * leaves + leaf;
            layout.ports[up].peer = down;
            layout.ports[down].peer = up;
        }
    return layout;
}

/// Jobs of 1 to 512 hosts for minutes to hours, each with phases of computing and of communication at a rate of its own,
/// and hosts that differ from it by a tenth; three quarters of the hosts are busy. What leaves a leaf is spread over its
/// uplinks unevenly, as tables do, and by chance. The far end is read a moment later. A few links are marginal.
class Traffic {
public:
    explicit Traffic(const Layout &layout) : layout_(layout), host_(leaves * hosts_per_leaf) {
        for (double &weight : weight_)
            weight = std::exp(0.3 * normal_(random_));
    }

    Block next(std::int64_t from_ns) {
        start_jobs();
        Block block{from_ns, from_ns + interval, {}, {}, {}, {"SymbolErrorCounter", "PortRcvErrors"}, {}};
        for (auto *codes : {&block.xmit, &block.rcv, &block.wait})
            codes->assign(layout_.ports.size(), 0);
        std::vector<double> out(leaves), in(leaves);
        for (std::uint32_t h = 0; h < host_.size(); ++h) {
            const Host &host = host_[h];
            const double rate = rate_of_host(host);
            const std::uint32_t column = h / hosts_per_leaf * 64 + h % hosts_per_leaf;
            set(block.xmit[column], rate * (1 + 0.1 * normal_(random_)));
            set(block.rcv[column], rate * (1 + 0.1 * normal_(random_)));
            block.wait[column] = wait(block.xmit[column]);
            out[h / hosts_per_leaf] += 0.7 * rate;
            in[h / hosts_per_leaf] += 0.7 * rate;
        }
        for (unsigned leaf = 0; leaf < leaves; ++leaf)
            for (unsigned spine = 0; spine < spines; ++spine)
                link(block, leaf, spine, out[leaf] / spines, in[leaf] / spines);
        for (unsigned n = random_() % 4; n > 0; --n) {
            const auto port = static_cast<std::uint32_t>(random_() % 8 * 700);
            block.events.push_back({port, static_cast<std::uint32_t>(random_() % 2), EventKind::moved, Absence::absent,
                                    errors_, errors_ + 1 + random_() % 50});
            errors_ += 50;
        }
        std::sort(block.events.begin(), block.events.end(),
                  [](const Event &a, const Event &b) { return a.port < b.port; });
        return block;
    }

private:
    struct Host {
        unsigned left = 0; ///< intervals of its job
        double rate = 0;   ///< share of the line while it communicates
        unsigned period = 1, busy = 1, phase = 0;
    };

    void start_jobs() {
        for (std::uint32_t h = 0; h < host_.size(); ++h) {
            if (host_[h].left > 0) {
                --host_[h].left;
                ++host_[h].phase;
                continue;
            }
            Host job;
            job.left = 4 + static_cast<unsigned>(std::exp(5 * uniform_(random_)) * 4);
            job.rate = uniform_(random_) < 0.25 ? 0 : 0.9 * uniform_(random_) * uniform_(random_);
            job.period = 1 + random_() % 12;
            job.busy = 1 + random_() % job.period;
            const unsigned size = 1U << random_() % 10;
            for (unsigned i = 0; i < size && h + i < host_.size() && host_[h + i].left == 0; ++i)
                host_[h + i] = job;
        }
    }
    static double rate_of_host(const Host &host) {
        return host.phase % host.period < host.busy ? host.rate : host.rate / 100;
    }
    static void set(std::uint8_t &code, double share) {
        code = rate_code(static_cast<std::uint64_t>(std::max(0.0, share) * 25e9 * 30), 30, 25e9);
    }
    std::uint8_t wait(std::uint8_t code) {
        return code < 40 ? 0 : wait_code(static_cast<std::uint64_t>(std::exp(code / 20.0 + normal_(random_)) * 1000));
    }
    void link(Block &block, unsigned leaf, unsigned spine, double up_rate, double down_rate) {
        const std::uint32_t up = leaf * 64 + hosts_per_leaf + spine, down = leaves * 64 + spine * leaves + leaf;
        const double weight = weight_[(leaf * spines + spine) % std::size(weight_)];
        for (const auto &[from, to, rate] : {std::tuple(up, down, up_rate), std::tuple(down, up, down_rate)}) {
            const double sent = std::min(0.97, rate * weight * (1 + 0.1 * normal_(random_)));
            set(block.xmit[from], sent);
            set(block.rcv[to], sent * (1 + 0.003 * normal_(random_)));
            block.wait[from] = wait(block.xmit[from]);
        }
    }

    const Layout &layout_;
    std::vector<Host> host_;
    std::mt19937 random_{7};
    std::normal_distribution<double> normal_;
    std::uniform_real_distribution<double> uniform_;
    double weight_[leaves * spines];
    std::uint64_t errors_ = 0;
};

void BM_SamplesOfADay(benchmark::State &state) {
    const Layout layout = two_levels();
    std::size_t bytes = 0, blocks = 0;
    for (auto _ : state) {
        state.PauseTiming();
        Traffic traffic(layout);
        bytes = blocks = 0;
        for (std::int64_t at = begin; at < begin + 86400 * second; at += interval, ++blocks) {
            const Block block = traffic.next(at);
            state.ResumeTiming();
            bytes += ring_frame(block, encode_block(layout, block), std::string(signed_size, 'x')).size();
            state.PauseTiming();
        }
        state.ResumeTiming();
    }
    state.counters["MB_a_day"] = static_cast<double>(bytes + 24 * encode_layout(layout).size()) / 1e6;
    state.counters["bytes_an_interval"] = static_cast<double>(bytes) / static_cast<double>(blocks);
    state.counters["ms_an_interval"] = benchmark::Counter(static_cast<double>(blocks) / 1000,
                                                          benchmark::Counter::kIsIterationInvariantRate |
                                                              benchmark::Counter::kInvert);
}
BENCHMARK(BM_SamplesOfADay)->Unit(benchmark::kMillisecond)->Iterations(1);

void BM_SamplesOfAnHourForAJob(benchmark::State &state) {
    const Layout layout = two_levels();
    Traffic traffic(layout);
    std::string bytes = ring_header(encode_layout(layout));
    for (std::int64_t at = begin; at < begin + 3600 * second; at += interval) {
        const Block block = traffic.next(at);
        bytes += ring_frame(block, encode_block(layout, block), "");
    }
    std::set<PortId> ports;
    for (std::size_t i = 0; i < layout.ports.size(); i += 4)
        ports.insert(layout.ports[i].id);
    for (auto _ : state) {
        const auto file = parse_ring(bytes);
        SeriesBuilder builder(ports, begin, begin + 3600 * second);
        for (const RingFrame &frame : file->frames) {
            benchmark::DoNotOptimize(block_text(frame.from_ns, frame.to_ns, file->layout_hash, std::string(frame.payload)));
            builder.add(file->layout, *decode_block(file->layout, frame.payload));
        }
        std::vector<Problem> problems;
        benchmark::DoNotOptimize(builder.finish(problems));
    }
    state.counters["KB"] = static_cast<double>(bytes.size()) / 1e3;
}
BENCHMARK(BM_SamplesOfAnHourForAJob)->Unit(benchmark::kMillisecond);

Pass pass_of(const Layout &layout, std::int64_t time_ns, std::uint64_t quads) {
    Pass pass{time_ns, time_ns, 1, {}};
    for (const LayoutPort &port : layout.ports) {
        SwitchPort one;
        one.switch_guid = port.id.guid;
        one.switch_name = "leaf";
        one.port = port.id.port;
        one.time_ns = time_ns;
        one.state = "ACTIVE";
        one.rate = {4, "HDR", 200, 53.125};
        for (const char *name : {"SymbolErrorCounter", "LinkErrorRecoveryCounter", "PortRcvErrors", "PortXmitDiscards",
                                 "PortRcvRemotePhysicalErrors", "PortRcvSwitchRelayErrors", "VL15Dropped"})
            one.counters[name] = Reading::of(3, 16);
        for (const char *name : {"LinkDownedCounter", "PortXmitConstraintErrors", "PortRcvConstraintErrors"})
            one.counters[name] = Reading::of(3, 8);
        for (const char *name : {"LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors"})
            one.counters[name] = Reading::of(0, 4);
        one.counters["PortXmitWait"] = Reading::of(time_ns % 100000, 32);
        for (const char *name : {"PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts", "PortUnicastXmitPkts",
                                 "PortUnicastRcvPkts", "PortMulticastXmitPkts", "PortMulticastRcvPkts"})
            one.counters[name] = Reading::of(quads, 64);
        pass.ports.push_back(std::move(one));
    }
    return pass;
}

/// What the sampler does with a pass besides reading and signing: compare it, keep it, encode the last readings.
void BM_SamplerWorkAPass(benchmark::State &state) {
    const Layout layout = two_levels();
    Differ differ(layout);
    const Pass one = pass_of(layout, begin, 1000000), two = pass_of(layout, begin + interval, 90000000000);
    std::size_t size = 0;
    for (auto _ : state) {
        differ.forget();
        differ.accept(one);
        const auto block = differ.block(two);
        benchmark::DoNotOptimize(encode_block(layout, *block));
        const EncodedPass encoded = encode_pass(two);
        size = encoded.head.size() + encoded.body.size();
        benchmark::DoNotOptimize(sha256_hex(encoded.head));
    }
    state.counters["newest_KB"] = static_cast<double>(size) / 1e3;
}
BENCHMARK(BM_SamplerWorkAPass)->Unit(benchmark::kMillisecond);

/// What a scout does with the sampler's last readings: the head, and the ports of four switches.
void BM_ScoutTakesFourSwitches(benchmark::State &state) {
    const EncodedPass encoded = encode_pass(pass_of(two_levels(), begin, 90000000000));
    for (auto _ : state) {
        const auto head = decode_pass_head(encoded.head);
        benchmark::DoNotOptimize(sha256_hex(encoded.head));
        std::vector<SwitchPort> ports;
        for (std::size_t i = 0; i < 4; ++i) {
            const PassSwitch &one = head->switches[i * 20];
            const std::string_view bytes = std::string_view(encoded.body).substr(one.offset, one.size);
            benchmark::DoNotOptimize(sha256_hex(bytes));
            (void)decode_pass_ports(*head, one, bytes, ports).ok();
        }
        benchmark::DoNotOptimize(ports);
    }
}
BENCHMARK(BM_ScoutTakesFourSwitches)->Unit(benchmark::kMillisecond);

} // namespace

} // namespace fabric_check::sample
