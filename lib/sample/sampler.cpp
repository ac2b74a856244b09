// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/sampler.hpp"

#include "base/file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check::sample {

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t longest_bridge = 3600 * second; ///< an older pass is no measure: a gap

RingLimits limits_of(const Config &config) {
    return {static_cast<std::int64_t>(config.sample.keep_h) * 3600 * second,
            static_cast<std::uint64_t>(config.sample.max_mb) << 20U};
}

Trust trust_of(std::uint32_t slurm_uid) {
    Trust trust;
    if (slurm_uid != 0)
        trust.signers.push_back(slurm_uid);
    return trust;
}

} // namespace

Sampler::Sampler(const Config &config, SamplerWorld world)
    : config_(config), world_(std::move(world)), spool_{config.spool}, trust_(trust_of(world_.slurm_uid)),
      lease_(spool_, trust_, world_.lease), ring_(spool_, *world_.signer, limits_of(config), trust_) {}

Sampler::~Sampler() = default;

/// A problem that stays is said once, and that it is over, too.
void Sampler::say(const std::string &problem) {
    if (problem == said_)
        return;
    if (!problem.empty())
        world_.log->warning("sample: " + problem);
    else
        world_.log->info("sample: all is read again");
    said_ = problem;
}

std::chrono::seconds Sampler::lease_length() const { return std::chrono::seconds(3 * config_.sample.interval_s + 10); }

Status Sampler::begin() {
    if (auto prepared = prepare_samples(spool_, world_.slurm_uid); !prepared)
        return prepared;
    return lease_.take(lease_length());
}

Status Sampler::load_map() {
    const std::string stamp = file_stamp(spool_.map_file());
    if (map_ && stamp == map_stamp_)
        return {};
    auto map = fabric::load_map(spool_.map_file());
    if (!map)
        return map_ ? Status() : Status(map.error()); // one that is being replaced by a bad one goes on serving
    map_stamp_ = stamp;
    map_.emplace(std::move(*map));
    Layout layout = layout_of(*map_);
    if (differ_ && differ_->layout() == layout)
        return {};
    differ_.emplace(std::move(layout));
    take_up();
    return {};
}

/// Goes on from the last pass in the spool, by an earlier map or by an earlier process.
void Sampler::take_up() {
    const std::int64_t oldest = world_.now_ns() - longest_bridge;
    const auto newest = read_pass(samples_directory(spool_) + "/" + std::string(newest_name), {}, oldest, *world_.signer,
                                  trust_);
    if (newest && newest->from_ns <= world_.now_ns() && newest->from_ns >= oldest)
        differ_->accept(*newest);
}

PassReport Sampler::pass() {
    PassReport report;
    report.time_ns = world_.now_ns();
    if (auto loaded = load_map(); !loaded) {
        report.problem = loaded.error().code == Errc::not_found
                             ? "no map yet: fabric-check map build, or map import"
                             : loaded.error().message;
        return report;
    }
    report.ports = differ_->layout().ports.size();
    // The next pass begins on time, whatever does not answer.
    const auto time = std::chrono::milliseconds(std::max(900U, config_.sample.interval_s * 900U));
    const auto read = world_.read(*map_, differ_->layout(), Deadline::after(time));
    report.took_ns = world_.now_ns() - report.time_ns;
    if (!read) {
        report.silent = report.ports;
        report.problem = read.error().message;
        return report;
    }
    const auto answered = std::count_if(read->ports.begin(), read->ports.end(), was_read);
    report.silent = report.ports - std::min(report.ports, static_cast<std::size_t>(answered));
    if (report.silent != 0)
        report.problem = fmt::format("{} of {} switch ports {}", report.silent, report.ports,
                                     read->problem.empty() ? "did not answer" : "not read: " + read->problem);

    if (differ_->based() && read->from_ns - differ_->base_ns() > longest_bridge)
        differ_->forget();
    if (const auto block = differ_->block(*read)) {
        if (auto kept = ring_.append(differ_->layout(), *block); !kept) {
            // The interval is not lost: the next one begins where this one did.
            report.problem = "samples are not kept: " + kept.error().message;
            return report;
        }
        report.interval_ns = block->to_ns - block->from_ns;
        report.events = block->events.size();
    }
    differ_->accept(*read);
    ring_.expire(report.time_ns);
    if (auto written = write_pass(newest_file(spool_), *read, *world_.signer); !written)
        report.problem = "the last readings are not shared: " + written.error().message;
    return report;
}

Result<PassReport> Sampler::once() {
    if (auto begun = begin(); !begun) {
        if (begun.error().code != Errc::unavailable)
            return begun.error();
        PassReport report; // it does what we were to do
        report.other = begun.error().message;
        return report;
    }
    const PassReport report = pass();
    say(report.problem);
    return report;
}

Status Sampler::run() {
    if (auto begun = begin(); !begun)
        return begun;
    const std::int64_t interval = static_cast<std::int64_t>(config_.sample.interval_s) * second;
    world_.log->info(fmt::format("sample: reading the fabric every {} s", config_.sample.interval_s));
    bool go_on = true;
    while (go_on) {
        const PassReport report = pass();
        const std::int64_t now = world_.now_ns();
        const std::int64_t next = (now / interval + 1) * interval;
        go_on = world_.sleep(std::chrono::milliseconds(0)); // a pass that was cut short is no problem
        if (!go_on)
            break;
        say(report.problem);
        if (world_.told)
            world_.told(report);
        if (auto renewed = lease_.renew(lease_length()); !renewed && renewed.error().code == Errc::unavailable)
            return renewed;
        go_on = world_.sleep(std::chrono::milliseconds((next - now) / 1'000'000 + 1));
    }
    world_.log->info("sample: told to end");
    return {};
}

} // namespace fabric_check::sample
