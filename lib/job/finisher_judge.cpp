// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.hpp"
#include "base/parallel.hpp"
#include "job/finisher.hpp"
#include "job/hosts.hpp"
#include "job/report_file.hpp"
#include "job/samples.hpp"
#include "report/line.hpp"
#include "report/report.hpp"

#include <nlohmann/json.hpp>

namespace fabric_check {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t controller_pause = 60 * second; ///< libslurm tries a slurmctld that is away for seconds

} // namespace

struct Finisher::Judged {
    std::string line;
    Status written;      ///< the report
    std::string failure; ///< why there is no line; empty: there is one
    KnownHosts hosts;    ///< the ports of its nodes
};

/// Judges the jobs that have no line yet, each on a thread, and writes their reports.
void Finisher::judge(const Batch &batch) {
    Batch open;
    for (auto *work : batch)
        if (!work->line)
            open.push_back(work);
    if (open.empty())
        return;
    load_map();
    const auto readers = report_readers();
    for (const auto *work : open) // no thread may make them
        records_[work->ticket->job_id], floods_[work->ticket->job_id];
    std::vector<Judged> judged(open.size());
    parallel_for(workers_, open.size(), [&](std::size_t i) { judged[i] = judge_one(*open[i], readers); });

    std::vector<KnownHosts> hosts;
    for (std::size_t i = 0; i < open.size(); ++i) {
        auto &work = *open[i];
        if (!judged[i].failure.empty()) {
            records_.erase(work.ticket->job_id); // emptied in part
            again(work, "not judged: " + judged[i].failure, backoff(*work.attempt));
            continue;
        }
        if (!judged[i].written)
            log(Log::Level::error, *work.ticket, "report: " + judged[i].written.error().message);
        work.line = std::move(judged[i].line);
        work.judged = true;
        hosts.push_back(std::move(judged[i].hosts));
    }
    learn(hosts);
}

/// Touches nothing of the finisher's but what is this job's.
Finisher::Judged Finisher::judge_one(const Work &work, ReportReaders readers) {
    Judged judged;
    try {
        const auto job = work.ticket->job_id;
        EvidenceSource source;
        source.job = work.instance.job;
        source.records = source.take = &records_.at(job);
        source.window = work.window;
        source.waited_s =
            static_cast<unsigned>(std::max<std::int64_t>((world_.now_ns() - work.ticket->time_ns) / second, 0));
        source.spool_problem = work.spool_problem;
        source.map = map_.get();
        source.map_problem = map_problem_;
        auto evidence = build_evidence(source, config_);
        add_samples(evidence, config_, *world_.signer, world_.slurm_uid);
        const auto &floods = floods_.at(job);
        evidence.problems.insert(evidence.problems.end(), floods.begin(), floods.end());
        evidence.shared_with = work.shared_with;
        if (!work.sharing_problem.empty())
            evidence.problems.push_back({"slurmdbd", "", "other jobs on its nodes: " + work.sharing_problem});
        const auto verdict = judge_job(evidence, config_);
        judged.line = format_line(line_fields(evidence, verdict));
        auto report =
            report_json(evidence, verdict).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
        report += '\n';
        judged.written = write_report(spool_, work.instance.job, report, readers);
        for (const auto &node : evidence.nodes)
            if (const auto &snapshot = node.end ? node.end : node.start)
                learn_host(judged.hosts, *snapshot);
    } catch (const std::exception &error) {
        judged.failure = error.what();
        judged.failure += judged.failure.empty() ? "no memory" : "";
    }
    return judged;
}

/// While slurmctld cannot be asked, nobody but the owner: what was shown cannot be hidden again.
ReportReaders Finisher::report_readers() {
    if (config_.finisher.private_reports != "auto")
        return config_.finisher.private_reports == "on" ? ReportReaders::owner : ReportReaders::everybody;
    if (!readers_ && world_.now_ns() >= readers_next_ns_) {
        if (const auto hidden = world_.accounting->jobs_are_private()) {
            readers_ = *hidden ? ReportReaders::owner : ReportReaders::everybody;
        } else {
            world_.log->warning("finisher: " + hidden.error().message + "; reports are for the jobs' owners meanwhile");
            readers_next_ns_ = world_.now_ns() + controller_pause;
        }
    }
    return readers_.value_or(ReportReaders::owner);
}

void Finisher::learn(const std::vector<KnownHosts> &found) {
    if (!hosts_) {
        auto hosts = load_hosts(spool_.hosts_file());
        if (!hosts)
            world_.log->warning("finisher: " + hosts.error().message + "; written anew");
        hosts_ = hosts ? std::move(*hosts) : KnownHosts{};
    }
    bool changed = false;
    for (const auto &hosts : found)
        for (const auto &[node, guids] : hosts) {
            auto &known = (*hosts_)[node];
            if (known == guids)
                continue;
            known = guids;
            changed = true;
        }
    if (!changed)
        return;
    const auto path = spool_.hosts_file();
    auto stored = make_spool_directory(spool_, path.substr(0, path.rfind('/')), 0755);
    if (stored)
        stored = write_file_atomic(path, encode_hosts(*hosts_), 0644);
    if (!stored) {
        world_.log->warning("finisher: " + stored.error().message);
        hosts_.reset();
    }
}

void Finisher::load_map() {
    const auto path = spool_.map_file();
    const auto stamp = file_stamp(path);
    if (stamp == map_stamp_)
        return;
    map_stamp_ = stamp;
    map_.reset();
    map_problem_.clear();
    auto map = fabric::load_map(path);
    if (map)
        map_ = std::make_unique<fabric::Map>(std::move(*map));
    else if (map.error().code != Errc::not_found)
        map_problem_ = map.error().message;
}

} // namespace fabric_check
