// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/mid.hpp"

#include "base/text.hpp"
#include "job/node_state.hpp"
#include "job/programs.hpp"
#include "job/step.hpp"
#include "record/record_name.hpp"
#include "record/spool.hpp"

#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace fabric_check {
namespace {

/// An Epilog that never ran leaves its job's state. No job runs for longer than this.
constexpr std::int64_t oldest_job = 400L * 86400 * 1'000'000'000;

class Mid {
public:
    Mid(const Config &config, const std::string &node, MidWorld &world, const Deadline &deadline)
        : world_(world), deadline_(deadline), spool_{config.spool}, step_records_(config.step_records), store_(config.expand(config.node_state, node)) {
        if (const auto reader = slurm_uid(config))
            reader_uid_ = *reader;
        else
            problem(reader.error());
    }

    MidResult run() {
        struct stat status {};
        if (result_.problem || lstat(store_.root().c_str(), &status) != 0) // no Prolog ran here yet
            return std::move(result_);
        if (auto prepared = store_.prepare(); !prepared)
            return problem(prepared.error()), std::move(result_);
        const auto lock = FileLock::try_lock(store_.mid_lock());
        if (!lock) {
            result_.busy = lock.error().code == Errc::unavailable;
            if (!result_.busy)
                problem(lock.error());
            return std::move(result_);
        }
        const auto jobs = store_.list();
        if (!jobs)
            return problem(jobs.error()), std::move(result_);
        if (!jobs->empty())
            if (auto prepared = prepare_records(spool_, reader_uid_); !prepared)
                problem(prepared.error());
        std::map<std::string, NodeSnapshot> snapshots;
        for (const auto &job : *jobs) {
            if (deadline_.passed()) {
                problem({Errc::timed_out, "no time left for job " + std::to_string(job.job_id) + " and those behind it"});
                break;
            }
            auto [found, fresh] = snapshots.try_emplace(job.node);
            if (fresh) {
                found->second = world_.read(job.node);
                found->second.node = job.node;
            }
            one(job, found->second);
        }
        return std::move(result_);
    }

private:
    void problem(Error error) {
        if (!result_.problem)
            result_.problem = std::move(error);
    }

    void one(const NodeJob &job, const NodeSnapshot &snapshot) {
        MidJob done{job.job_id, job.node, 0, snapshot.time_ns, 0, {}};
        std::int64_t before = 0;
        const auto state = advance(job, snapshot, done, before);
        if (state) {
            Record record{job.job_id, job.node, Phase::mid, snapshot.time_ns, snapshot, state->intervals};
            record.steps = recorded_steps(store_, job, step_records_);
            if (const auto written = write_record(spool_, record, *world_.signer, reader_uid_); !written)
                problem(written.error());
            else
                replaced(job, before, snapshot.time_ns);
        }
        if (state || !done.skipped.empty())
            result_.jobs.push_back(std::move(done));
    }

    /// The new record stands in the spool: from now on it is the one to replace.
    void replaced(const NodeJob &job, std::int64_t before, std::int64_t now) {
        if (before != 0 && before != now)
            (void)remove_record(spool_, {job.job_id, job.node, before, RecordKind::mid}).ok(); // the finisher's else
        const auto lock = store_.lock(deadline_);
        auto state = lock ? store_.load(job) : Result<NodeState>(lock.error());
        if (!state) // ended meanwhile
            return;
        state->mid_ns = now;
        if (auto saved = store_.save(*state, false); !saved)
            problem(saved.error());
    }

    /// The finisher takes a job's records away when its line is written: then it has ended, whether its Epilog ran or not.
    bool consumed(const NodeJob &job, std::int64_t mid_ns) const {
        struct stat status {};
        const auto path = spool_.records() + "/" + RecordName{job.job_id, job.node, mid_ns, RecordKind::mid}.file_name();
        return mid_ns != 0 && lstat(path.c_str(), &status) != 0 && errno == ENOENT &&
               stat(spool_.records().c_str(), &status) == 0;
    }

    /// Moves the job's state on to this reading. Nothing: no record is to be written.
    std::optional<NodeState> advance(const NodeJob &job, const NodeSnapshot &snapshot, MidJob &done,
                                     std::int64_t &before) {
        const auto lock = store_.lock(deadline_);
        if (!lock)
            return problem(lock.error()), std::nullopt;
        auto state = store_.load(job);
        if (!state) {
            if (state.error().code == Errc::not_found) { // its Epilog came first, or its Prolog was cut short
                done.skipped = "it has ended";
                return std::nullopt;
            }
            problem(state.error());
            if (state.error().code == Errc::malformed)
                (void)store_.remove(job).ok();
            return std::nullopt;
        }
        done.start_ns = state->start_ns;
        const bool rebooted = !state->boot_id.empty() && !snapshot.boot_id.empty() && state->boot_id != snapshot.boot_id;
        const bool finished = !rebooted && consumed(job, state->mid_ns);
        if (rebooted || finished || snapshot.time_ns - state->start_ns > oldest_job) {
            done.skipped = rebooted   ? "the node has rebooted since it started"
                           : finished ? "its line is written, though no Epilog ran here"
                                      : "it started more than 400 days ago";
            if (auto removed = store_.remove(job); !removed)
                problem(removed.error());
            return std::nullopt;
        }
        before = state->mid_ns;
        if (!fold(state->intervals, state->bases, state->last_ns, snapshot, false)) {
            done.skipped = "it has a later reading";
            return std::nullopt;
        }
        state->last_ns = snapshot.time_ns;
        done.intervals = state->intervals.size();
        if (auto saved = store_.save(*state, false); !saved)
            return problem(saved.error()), std::nullopt;
        return std::move(*state);
    }

    MidWorld &world_;
    const Deadline &deadline_;
    SpoolLayout spool_;
    unsigned step_records_;
    NodeStateStore store_;
    std::uint32_t reader_uid_ = 0;
    MidResult result_;
};

} // namespace

MidResult run_mid(const Config &config, const std::string &node, MidWorld &world, const Deadline &deadline) {
    return Mid(config, node, world, deadline).run();
}

std::string mid_json(const MidResult &result) {
    nlohmann::ordered_json json;
    json["schema"] = "fabric-check/mid/1";
    json["busy"] = result.busy;
    auto &jobs = json["jobs"] = nlohmann::ordered_json::array();
    for (const auto &job : result.jobs) {
        jobs.push_back({{"job", job.job_id},
                        {"node", job.node},
                        {"start_ns", job.start_ns},
                        {"time_ns", job.time_ns},
                        {"intervals", job.intervals},
                        {"skipped", job.skipped.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(job.skipped)}});
    }
    json["problem"] = result.problem ? nlohmann::ordered_json(result.problem->message) : nlohmann::ordered_json();
    return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace fabric_check
