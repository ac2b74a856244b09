// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/log.hpp"
#include "config/config.hpp"
#include "job/accounting.hpp"
#include "job/evidence.hpp"
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

/// The outside world of the finisher.
struct FinisherWorld {
    Signer *signer = nullptr;
    Accounting *accounting = nullptr;
    Log *log = nullptr;
    std::uint32_t slurm_uid = 0;          ///< whose records are believed beside root's
    std::function<std::int64_t()> now_ns; ///< wall clock
    std::function<void(std::chrono::milliseconds)> sleep;
};

/// Turns tickets into reports and lines. One process at a time; whatever it was killed in the middle of, the next one
/// does again with the same result: report, line, ticket, records go in this order.
class Finisher {
public:
    Finisher(const Config &config, FinisherWorld world);
    ~Finisher();

    struct Pass {
        std::size_t left = 0;     ///< tickets still in the queue
        std::int64_t next_ns = 0; ///< when the first of them is due again
    };
    /// Looks once at every ticket that is due. Never blocks on END records. An error: the queue cannot be read.
    Result<Pass> pass();

    /// Works until the queue is empty. Done at once when another finisher runs.
    Status run();

private:
    struct Attempt {
        std::int64_t first_ns = 0, next_ns = 0;
        std::int64_t asked_ns = 0; ///< first answer of the database that did not hold our instance
        unsigned tries = 0;
        std::string last_reason; ///< logged once, not at every try
    };
    enum class Step : std::uint8_t { done, later };

    Status drain();
    Step work_on(const Ticket &ticket, Attempt &attempt);
    Step finish(const Ticket &ticket, Attempt &attempt, const std::vector<JobInstance> &instances,
                JobInstance instance);
    bool left_nothing(const JobInstance &instance, const PairingWindow &window);
    std::optional<std::string> line_for(const Ticket &ticket, Attempt &attempt, const JobInstance &instance,
                                        const PairingWindow &window, const std::string &spool_problem, bool *judged);
    ReportReaders report_readers();
    Status attach(const JobInstance &instance, const std::string &line);
    Status verify_new(const Ticket &ticket, std::size_t node_count);
    void consume(const Ticket &ticket, const JobInstance &instance, const PairingWindow &window);
    void learn(const JobEvidence &evidence);
    Step again(const Ticket &ticket, Attempt &attempt, const std::string &reason, std::int64_t pause_ns);
    std::int64_t backoff(const Attempt &attempt) const;
    void load_map();
    void expire();
    void log(Log::Level level, const Ticket &ticket, const std::string &message);

    const Config &config_;
    FinisherWorld world_;
    SpoolLayout spool_;
    StateLayout state_;
    TrustPolicy trust_;
    std::map<std::string, Attempt> attempts_;     ///< by ticket file
    std::map<std::uint32_t, JobRecords> records_; ///< verified so far, by job
    std::set<std::string> flooded_;               ///< job and owner, told once
    std::map<std::uint32_t, std::vector<Problem>> floods_;
    std::optional<SpoolIndex> index_; ///< of this pass
    std::string index_problem_;
    std::int64_t accounting_next_ns_ = 0; ///< slurmdbd is away: not asked before
    unsigned accounting_tries_ = 0;
    std::unique_ptr<fabric::Map> map_;
    std::string map_stamp_, map_problem_;
    std::optional<ReportReaders> readers_; ///< by slurmctld's word
    std::int64_t readers_next_ns_ = 0;     ///< slurmctld is away: not asked before
    std::int64_t expired_ns_ = 0;
};

/// A whole finisher, from the process's environment. The exit code: 0; 2 when the configuration is wrong, 4 when the
/// environment fails: the tickets stay.
int finisher_main() noexcept;

} // namespace fabric_check
