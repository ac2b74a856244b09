// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/finisher.hpp"

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "sample/files.hpp"

#include <algorithm>
#include <sys/stat.h>

namespace fabric_check {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t poll = second / 2; ///< while END records are awaited
constexpr std::int64_t away_pause_max = 10 * second;
constexpr std::int64_t expire_every = 6L * 3600 * second;

} // namespace

/// By the names alone.
const std::vector<RecordName> &Finisher::files_of(std::uint32_t job_id) {
    static const std::vector<RecordName> none;
    if (!index_) {
        auto index = index_spool(spool_);
        index_problem_ = index ? std::string() : index.error().message;
        index_ = index ? std::move(*index) : SpoolIndex{};
    }
    const auto found = index_->find(job_id);
    return found == index_->end() ? none : found->second;
}

/// Unless a file in the name of each node's END is there, or the wait is over for those without, nothing needs to be
/// verified yet: large jobs wait without their records in memory. Whether the files are what their names say is found
/// out afterwards.
bool Finisher::names_suffice(Work &work) {
    const auto now = world_.now_ns();
    const auto most = std::min(config_.finisher.end_wait_s, config_.finisher.end_wait_max_s);
    const auto until = work.ticket->time_ns + static_cast<std::int64_t>(most) * second;
    const auto &files = files_of(work.ticket->job_id);
    if (now >= until)
        return true;
    JobRecords named;
    for (const auto &name : files)
        if (name.kind == RecordKind::start || name.kind == RecordKind::end)
            named.emplace(name.file_name(), VerifiedRecord{name, {}, {}, {}, {}});
    const auto paired = pair_nodes(work.nodes, named, work.window);
    if (std::all_of(paired.begin(), paired.end(), [](const NodeRecords &node) { return node.end != nullptr; }))
        return true;
    later(work, std::min(until, now + poll));
    return false;
}

/// Verifies the files of these jobs that were not seen before; munged away: nothing is known.
void Finisher::verify(const Batch &batch) {
    struct File {
        Work *work;
        const RecordName *name;
        std::optional<Result<VerifiedRecord>> verified;
    };
    std::vector<File> files;
    for (auto *work : batch) {
        const auto job = work->ticket->job_id;
        const auto &known = records_[job];
        const auto &names = files_of(job);
        // A job has six files for each node and run. Where somebody has put many more, those of ordinary users are left
        // alone: verifying each would hold up everybody's verdicts.
        const bool flood = names.size() > 1000 + 16 * work->nodes.size();
        for (const auto &name : names) {
            if (known.contains(name.file_name()))
                continue;
            if (flood) {
                const auto owner = record_owner(spool_, name);
                if (owner && *owner != 0 && *owner != world_.slurm_uid && *owner != squashed_root) {
                    if (flooded_.insert(std::to_string(job) + "." + std::to_string(*owner)).second)
                        floods_[job].push_back({"spool", "",
                                                "uid " + std::to_string(*owner) +
                                                    " owns many files that claim to be this job's records; all ignored"});
                    continue;
                }
            }
            if (files.size() == world_.limits.slice) {
                sliced_ = true;
                later(*work, world_.now_ns());
                break;
            }
            files.push_back({work, &name, {}});
        }
    }
    parallel_for(workers_, files.size(), [&](std::size_t i) {
        files[i].verified = verify_record(spool_, *files[i].name, *world_.signer, trust_);
    });
    for (auto &[work, name, verified] : files) {
        if (!*verified) {
            // Others are the file system's doing: perhaps at the next look.
            if (const auto &error = verified->error(); error.code == Errc::unavailable && !work->over)
                again(*work, error.message, std::min(backoff(*work->attempt), away_pause_max));
            continue;
        }
        auto &record = **verified;
        if (!record.refused.empty())
            log(Log::Level::warning, *work->ticket, record.refused);
        records_[name->job_id].emplace(name->file_name(), std::move(record));
    }
}

/// Where no scout read the switches at the job's end and a sampler runs, its next pass tells: until then.
std::int64_t Finisher::sampled_at(const Work &work, const std::vector<NodeRecords> &paired) const {
    const auto read = [](const NodeRecords &node) {
        const auto *scout =
            node.scout_end != nullptr ? std::get_if<ScoutSnapshot>(&node.scout_end->record->snapshot) : nullptr;
        return scout != nullptr && !scout->ports.empty();
    };
    if (std::any_of(paired.begin(), paired.end(), read))
        return 0;
    const auto &records = records_.at(work.ticket->job_id);
    const auto outside = pair_nodes(scout_hosts(work.nodes, records, config_), records, work.window);
    if (std::any_of(outside.begin(), outside.end(), read))
        return 0;
    struct stat newest {};
    const std::int64_t interval = static_cast<std::int64_t>(config_.sample.interval_s) * second;
    if (::lstat(sample::newest_file(spool_).c_str(), &newest) != 0)
        return 0;
    const std::int64_t pass = newest.st_mtim.tv_sec * second;
    const bool runs = pass > work.ticket->time_ns - 2 * interval - 10 * second;
    return !runs || pass > work.ticket->time_ns ? 0 : work.ticket->time_ns + interval + 5 * second;
}

/// Wait for END records: a while after the last that came, never longer than the maximum. A scout's comes a moment
/// after its node's: once all nodes are there, no longer than a hook may take.
bool Finisher::waited_enough(Work &work) {
    const auto now = world_.now_ns();
    const auto filed = work.ticket->time_ns;
    std::int64_t last_ns = filed;
    bool nodes_there = true;
    const auto &records = records_[work.ticket->job_id];
    const auto paired = pair_nodes(work.nodes, records, work.window);
    const bool scouts_there = scouts_ended(paired, work.nodes, records, work.window, config_);
    for (const auto &node : paired) {
        // A note says why there is none, but anybody can write one: it ends no wait.
        nodes_there = nodes_there && node.end != nullptr;
        if (node.end != nullptr)
            last_ns = std::max(last_ns, std::min(node.end->name.time_ns, now));
    }
    const std::int64_t scout_wait = static_cast<std::int64_t>(config_.hooks.budget_ms) * 1'000'000 + second;
    const std::int64_t end_wait = static_cast<std::int64_t>(config_.finisher.end_wait_s) * second;
    const auto until = std::min(last_ns + (nodes_there ? std::min(scout_wait, end_wait) : end_wait),
                                filed + static_cast<std::int64_t>(config_.finisher.end_wait_max_s) * second);
    work.attempt->until_ns = until;
    const bool settled = (nodes_there && scouts_there) || now >= until;
    const auto next = settled ? sampled_at(work, paired) : until;
    if (settled && now >= next)
        return true;
    later(work, std::min(next, now + poll));
    return false;
}

bool Finisher::left_nothing(const Work &work) {
    const auto paired = pair_nodes(work.nodes, records_[work.ticket->job_id], work.window);
    return std::none_of(paired.begin(), paired.end(), [](const NodeRecords &node) { return node.any(); });
}

void Finisher::consume(const Work &work) {
    const auto job = work.ticket->job_id;
    const auto &listed = files_of(job);
    if (listed.empty())
        return;
    auto &known = records_[job];
    const auto consumed = consumed_by(pair_nodes(work.nodes, known, work.window), listed, work.window);
    std::string problem;
    std::set<std::string> gone;
    for (const auto &name : consumed) {
        if (auto removed = remove_record(spool_, name); !removed && problem.empty())
            problem = removed.error().message;
        const auto file = name.file_name();
        known.erase(file);
        gone.insert(file);
    }
    // Another run of the job may have its ticket in the same pass.
    std::erase_if((*index_)[job], [&](const RecordName &name) { return gone.contains(name.file_name()); });
    if (known.empty())
        records_.erase(job);
    if (!problem.empty())
        log(Log::Level::warning, *work.ticket,
            "records not removed: " + problem + "; SlurmUser should own " + spool_.records());
}

namespace {

/// Ports in a record, which is what its memory goes by.
std::size_t weight(const VerifiedRecord &verified) {
    if (!verified.record)
        return 1;
    const auto *scout = std::get_if<ScoutSnapshot>(&verified.record->snapshot);
    constexpr std::size_t blocks_a_port = 16; // 128 bytes each
    return 1 + (scout != nullptr ? scout->ports.size() + scout->lfts.size() / blocks_a_port
                                 : std::get<NodeSnapshot>(verified.record->snapshot).ports.size());
}

std::size_t weight(const JobRecords &records) {
    std::size_t all = 0;
    for (const auto &[file, record] : records)
        all += weight(record);
    return all;
}

} // namespace

/// Memory is bounded: of the jobs that wait, the largest are read again when their wait is over.
void Finisher::hold_less(const std::vector<Work> &works) {
    std::size_t held = 0;
    for (const auto &[job, records] : records_)
        held += weight(records);
    for (auto work = works.rbegin(); work != works.rend() && held > world_.limits.most_held; ++work) {
        const auto found = records_.find(work->ticket->job_id);
        if (work->done || found == records_.end() || (sliced_ && work->attempt->next_ns <= world_.now_ns()))
            continue;
        held -= weight(found->second);
        records_.erase(found);
        work->attempt->next_ns = std::max(work->attempt->next_ns, work->attempt->until_ns);
    }
}

void Finisher::expire() {
    const auto now = world_.now_ns();
    if (expired_ns_ != 0 && now - expired_ns_ < expire_every)
        return;
    expired_ns_ = now;
    // A job may run for longer than that, and needs its START to the end. When slurmdbd cannot tell, it is kept.
    const auto runs = [&](std::uint32_t job_id) {
        Ticket any;
        any.job_id = job_id;
        const auto answers = world_.accounting->instances({&any});
        return !answers || std::any_of(answers->front().begin(), answers->front().end(),
                                       [](const JobInstance &instance) { return !instance.ended; });
    };
    if (auto removed = expire_spool(spool_, config_.finisher.keep_days, now / second, runs); !removed)
        world_.log->warning("finisher: " + removed.error().message);
    else if (*removed > 0)
        world_.log->info("finisher: " + std::to_string(*removed) + " files older than " +
                         std::to_string(config_.finisher.keep_days) + " days removed");
}

} // namespace fabric_check
