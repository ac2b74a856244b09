// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/log.hpp"
#include "config/config.hpp"
#include "job/accounting.hpp"
#include "job/evidence.hpp"
#include "job/hosts.hpp"
#include "job/report_file.hpp"
#include "job/ticket.hpp"
#include "record/credential.hpp"
#include "record/spool.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace fabric_check {

/// How much a finisher takes on at once; the defaults serve every site.
struct FinisherLimits {
    std::size_t slice = 8192; ///< files verified before the other jobs have their turn
    /// Ports in the records held in memory while their jobs wait for something, about 2 KB each, a node's and a
    /// switch's alike; above that the largest jobs' are read again later.
    std::size_t most_held = 200'000;
};

/// The outside world of the finisher.
struct FinisherWorld {
    Signer *signer = nullptr; ///< asked by several threads at a time
    Accounting *accounting = nullptr;
    Log *log = nullptr;
    std::uint32_t slurm_uid = 0;          ///< whose records are believed beside root's
    std::function<std::int64_t()> now_ns; ///< wall clock
    std::function<void(std::chrono::milliseconds)> sleep;
    std::function<bool()> superseded; ///< the configuration has changed; may be empty
    FinisherLimits limits = {};
};

/// Turns tickets into reports and lines. One process at a time; whatever it was killed in the middle of, the next one
/// does again with the same result: report, line, ticket, records go in this order.
///
/// Jobs are taken on in batches, the small ones first: their records are verified on several threads, the database is
/// asked about all of them at once, they are judged on several threads, and their lines become permanent together. The
/// records of a very large job are verified in slices, with the other jobs' turns in between. Threads change no result.
class Finisher {
public:
    Finisher(const Config &config, FinisherWorld world);
    ~Finisher();

    struct Pass {
        std::size_t left = 0;     ///< tickets still in the queue
        std::int64_t next_ns = 0; ///< when the first of them is due again
        bool more = false;        ///< there is work left to do at once
    };
    /// Looks once at every ticket that is due. Never blocks on END records. An error: the queue cannot be read.
    Result<Pass> pass();

    /// Works until the queue is empty, or superseded. Done at once when another finisher runs.
    Status run();

private:
    struct Attempt {
        std::int64_t first_ns = 0, next_ns = 0;
        std::int64_t asked_ns = 0; ///< first answer of the database that did not hold our instance
        std::int64_t until_ns = 0; ///< when the wait for END records ends, as it is known so far
        unsigned tries = 0;
        std::string last_reason; ///< logged once, not at every try
    };
    /// A ticket that is due, and what is known of it so far.
    struct Work {
        const Ticket *ticket = nullptr;
        Attempt *attempt = nullptr;
        std::vector<std::string> nodes;
        std::vector<JobInstance> instances;
        JobInstance instance;
        PairingWindow window;
        std::string spool_problem;
        std::vector<std::uint32_t> shared_with;
        std::string sharing_problem;
        std::optional<std::string> line;
        bool judged = false; ///< now, not by an earlier report
        bool over = false;   ///< nothing more to do in this pass
        bool done = false;   ///< the ticket is gone
    };
    using Batch = std::vector<Work *>;

    Status drain();
    bool superseded() const { return world_.superseded && world_.superseded(); }
    // finisher.cpp
    std::vector<Work> due_works(const std::vector<Ticket> &tickets);
    void work_through(std::vector<Work> &works);
    void take_on(Batch batch);
    bool due(Work &work);
    void ask_for_instances(const Batch &batch);
    void prepare(Work &work);
    void ask_for_neighbours(const Batch &batch);
    void attach(const Batch &batch);
    void settle(Work &work);
    void again(Work &work, const std::string &reason, std::int64_t pause_ns);
    void later(Work &work, std::int64_t at_ns);
    void drop(Work &work);
    std::int64_t backoff(const Attempt &attempt) const;
    std::int64_t pause_after(const Error &error, const Attempt &attempt) const;
    // finisher_records.cpp
    const std::vector<RecordName> &files_of(std::uint32_t job_id);
    bool names_suffice(Work &work);
    void verify(const Batch &batch);
    bool waited_enough(Work &work);
    std::int64_t sampled_at(const Work &work, const std::vector<NodeRecords> &paired) const;
    bool left_nothing(const Work &work);
    void consume(const Work &work);
    void hold_less(const std::vector<Work> &works);
    void expire();
    // finisher_judge.cpp
    struct Judged;
    void judge(const Batch &batch);
    Judged judge_one(const Work &work, ReportReaders readers);
    ReportReaders report_readers();
    void learn(const std::vector<KnownHosts> &found);
    void load_map();
    void log(Log::Level level, const Ticket &ticket, const std::string &message);

    const Config &config_;
    FinisherWorld world_;
    SpoolLayout spool_;
    StateLayout state_;
    TrustPolicy trust_;
    unsigned workers_;
    std::map<std::string, Attempt> attempts_;     ///< by ticket file
    std::map<std::uint32_t, JobRecords> records_; ///< verified so far, by job
    std::set<std::string> flooded_;               ///< job and owner, told once
    std::map<std::uint32_t, std::vector<Problem>> floods_;
    std::optional<SpoolIndex> index_; ///< of this pass
    std::string index_problem_;
    bool sliced_ = false;                  ///< a job's records were verified in part: the rest in the next pass
    std::int64_t accounting_next_ns_ = 0; ///< slurmdbd is away: not asked before
    unsigned accounting_tries_ = 0;
    std::unique_ptr<fabric::Map> map_;
    std::string map_stamp_, map_problem_;
    std::optional<KnownHosts> hosts_; ///< as they stand in the spool
    std::optional<ReportReaders> readers_; ///< by slurmctld's word
    std::int64_t readers_next_ns_ = 0;     ///< slurmctld is away: not asked before
    std::int64_t expired_ns_ = 0;
};

/// A whole finisher, from the process's environment. The exit code: 0; 2 when the configuration is wrong, 4 when the
/// environment fails: the tickets stay.
int finisher_main() noexcept;

} // namespace fabric_check
