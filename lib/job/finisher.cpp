// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/finisher.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "job/hosts.hpp"
#include "job/report_file.hpp"
#include "job/samples.hpp"
#include "report/line.hpp"
#include "report/report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace fabric_check {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t poll = second / 2;       ///< while END records are awaited
constexpr std::int64_t queue_poll = second / 2; ///< for tickets that came meanwhile
constexpr std::int64_t patience = 600 * second; ///< until an instance that ended long before its ticket is accepted
/// slurmdbd's users shall have their lines within a minute of its return, and a refused connection costs it nothing.
constexpr std::int64_t away_pause_max = 10 * second;
constexpr std::int64_t controller_pause = 60 * second; ///< libslurm tries a slurmctld that is away for seconds
constexpr std::int64_t expire_every = 6L * 3600 * second;
constexpr std::uint32_t nobody = 65534;

/// Before its job began: a gate's requeue, nodes that did not boot. Then nothing was measured, and there is nothing to
/// say. A job that did run and left nothing is another matter.
bool was_taken_back(const std::string &state) {
    return state == "REQUEUED" || state == "CANCELLED" || state == "BOOT_FAIL" || state == "DEADLINE";
}

} // namespace

Finisher::Finisher(const Config &config, FinisherWorld world)
    : config_(config), world_(std::move(world)), spool_{config.spool}, state_{config.state} {
    trust_.signers = {0};
    if (world_.slurm_uid != 0)
        trust_.signers.push_back(world_.slurm_uid);
    trust_.enforce_addresses = config.munge.address_policy == "enforce";
    trust_.addresses = config.munge.addresses;
}

Finisher::~Finisher() = default;

void Finisher::log(Log::Level level, const Ticket &ticket, const std::string &message) {
    world_.log->write(level, "finisher: job " + std::to_string(ticket.job_id) + ": " + message);
}

Result<Finisher::Pass> Finisher::pass() {
    std::vector<std::string> problems;
    const auto tickets = list_tickets(state_, &problems);
    for (const auto &problem : problems)
        world_.log->error("finisher: " + problem);
    if (!tickets)
        return tickets.error();

    std::set<std::string> present;
    for (const auto &ticket : *tickets)
        present.insert(ticket.file_name());
    std::erase_if(attempts_, [&](const auto &entry) { return !present.contains(entry.first); });

    index_.reset();
    Pass result;
    for (const auto &ticket : *tickets) {
        auto &attempt = attempts_[ticket.file_name()];
        if (attempt.first_ns == 0)
            attempt.first_ns = world_.now_ns();
        Step step = Step::later;
        if (attempt.next_ns <= world_.now_ns())
            step = work_on(ticket, attempt);
        if (step == Step::done) {
            attempts_.erase(ticket.file_name());
            continue;
        }
        ++result.left;
        if (result.next_ns == 0 || attempt.next_ns < result.next_ns)
            result.next_ns = attempt.next_ns;
    }
    if (result.left == 0)
        records_.clear();
    return result;
}

Finisher::Step Finisher::again(const Ticket &ticket, Attempt &attempt, const std::string &reason,
                               std::int64_t pause_ns) {
    if (reason != attempt.last_reason && !reason.empty())
        log(Log::Level::warning, ticket, reason + "; the ticket stays");
    attempt.last_reason = reason;
    ++attempt.tries;
    attempt.next_ns = world_.now_ns() + pause_ns;
    return Step::later;
}

std::int64_t Finisher::backoff(const Attempt &attempt) const {
    const auto most = std::max<std::int64_t>(config_.finisher.retry_max_s, 1) * second;
    return std::min(most, second << std::min(attempt.tries, 10U));
}

/// One ticket, as far as it goes without waiting.
Finisher::Step Finisher::work_on(const Ticket &ticket, Attempt &attempt) {
    const auto now = world_.now_ns();
    const auto age = now - ticket.time_ns;
    if (age > static_cast<std::int64_t>(config_.finisher.give_up_h) * 3600 * second) {
        log(Log::Level::error, ticket,
            "given up after " + std::to_string(config_.finisher.give_up_h) + " h: " + attempt.last_reason);
        (void)remove_ticket(state_, ticket).ok();
        return Step::done;
    }

    auto nodes = expand_hostlist(ticket.nodes);
    if (!nodes) {
        log(Log::Level::error, ticket, "ticket dropped: " + nodes.error().message);
        (void)remove_ticket(state_, ticket).ok();
        return Step::done;
    }
    if (auto verified = verify_new(ticket, nodes->size()); !verified)
        return again(ticket, attempt, verified.error().message, std::min(backoff(attempt), away_pause_max));

    // Wait for END records: a while after the last that came, never longer than the maximum. A scout's comes a moment
    // after its node's: once all nodes are there, no longer than a hook may take.
    std::int64_t last_ns = ticket.time_ns;
    bool nodes_there = true;
    const auto paired = pair_nodes(*nodes, records_[ticket.job_id], {.ticket_ns = ticket.time_ns});
    const bool scouts_there =
        scouts_ended(paired, *nodes, records_[ticket.job_id], {.ticket_ns = ticket.time_ns}, config_);
    for (const auto &node : paired) {
        // A note says why there is none, but anybody can write one: it ends no wait.
        nodes_there = nodes_there && node.end != nullptr;
        if (node.end != nullptr)
            last_ns = std::max(last_ns, std::min(node.end->name.time_ns, now));
    }
    const std::int64_t scout_wait = static_cast<std::int64_t>(config_.hooks.budget_ms) * 1'000'000 + second;
    const std::int64_t end_wait = static_cast<std::int64_t>(config_.finisher.end_wait_s) * second;
    const auto until = std::min(last_ns + (nodes_there ? std::min(scout_wait, end_wait) : end_wait),
                                ticket.time_ns + static_cast<std::int64_t>(config_.finisher.end_wait_max_s) * second);
    if (!(nodes_there && scouts_there) && now < until) {
        attempt.next_ns = std::min(until, now + poll);
        return Step::later;
    }

    if (now < accounting_next_ns_) {
        attempt.next_ns = accounting_next_ns_;
        return Step::later;
    }
    const auto instances = world_.accounting->instances(ticket);
    if (!instances) {
        if (instances.error().code == Errc::unavailable) {
            const auto pause = std::min({away_pause_max, config_.finisher.retry_max_s * second,
                                         (config_.finisher.retry_s * second) << std::min(accounting_tries_++, 10U)});
            accounting_next_ns_ = now + pause;
            return again(ticket, attempt, instances.error().message, pause);
        }
        return again(ticket, attempt, instances.error().message, backoff(attempt));
    }
    accounting_tries_ = 0;
    const bool patient = attempt.asked_ns != 0 && now - attempt.asked_ns > patience;
    const auto *instance = choose_instance(*instances, ticket, patient);
    if (instance == nullptr) {
        if (attempt.asked_ns == 0)
            attempt.asked_ns = now;
        return again(ticket, attempt, "its end is not in the accounting database yet", backoff(attempt));
    }
    return finish(ticket, attempt, *instances, *instance);
}

Finisher::Step Finisher::finish(const Ticket &ticket, Attempt &attempt, const std::vector<JobInstance> &instances,
                                JobInstance instance) {
    // By slurmctld's word, not the database's, whose record may name its first node alone (JobInstance::start_recorded).
    if (auto nodes = expand_hostlist(ticket.nodes)) {
        instance.job.nodes = ticket.nodes;
        instance.job.node_names = std::move(*nodes);
    }
    PairingWindow window{.ticket_ns = ticket.time_ns};
    for (const auto &other : instances)
        if (other.ended && other.job.end <= instance.job.start && other.job.restart != instance.job.restart)
            window.not_before_ns = std::max(window.not_before_ns, other.job.end * second);

    bool judged = false;
    auto line = line_of_report(spool_, instance.job);
    auto spool_problem = line ? std::string() : index_problem_.empty() ? check_spool(spool_) : index_problem_;
    const bool silent = !line && spool_problem.empty() && left_nothing(instance, window);
    if (silent && was_taken_back(instance.job.state)) {
        log(Log::Level::warning, ticket, "no node left a record and it was taken back: its prologs never ran; no line");
        if (auto removed = remove_ticket(state_, ticket); !removed)
            return again(ticket, attempt, removed.error().message, backoff(attempt));
        return Step::done;
    }
    if (silent)
        spool_problem = "no node wrote to it during the job; was it away, are the hooks installed there?";
    if (!line)
        line = line_for(ticket, attempt, instance, window, spool_problem, &judged);
    if (!line)
        return Step::later;
    if (auto attached = attach(instance, *line); !attached) {
        const bool away = attached.error().code == Errc::unavailable;
        return again(ticket, attempt, attached.error().message,
                     away ? std::min(backoff(attempt), away_pause_max) : backoff(attempt));
    }
    log(Log::Level::info, ticket, (judged ? "" : "by an earlier report: ") + *line);
    if (auto removed = remove_ticket(state_, ticket); !removed)
        return again(ticket, attempt, removed.error().message, backoff(attempt));
    consume(ticket, instance, window);
    return Step::done;
}

bool Finisher::left_nothing(const JobInstance &instance, const PairingWindow &window) {
    const auto paired = pair_nodes(instance.job.node_names, records_[instance.job.id], window);
    return std::none_of(paired.begin(), paired.end(), [](const NodeRecords &node) { return node.any(); });
}

/// Judges the job and writes its report. Nothing: try again later.
std::optional<std::string> Finisher::line_for(const Ticket &ticket, Attempt &attempt, const JobInstance &instance,
                                              const PairingWindow &window, const std::string &spool_problem,
                                              bool *judged) {
    load_map();
    EvidenceSource source;
    source.job = instance.job;
    source.records = &records_[ticket.job_id];
    source.window = window;
    source.waited_s = static_cast<unsigned>(std::max<std::int64_t>((world_.now_ns() - ticket.time_ns) / second, 0));
    source.spool_problem = spool_problem;
    source.map = map_.get();
    source.map_problem = map_problem_;

    try {
        auto evidence = build_evidence(source, config_);
        add_samples(evidence, config_, *world_.signer, world_.slurm_uid);
        const auto &floods = floods_[ticket.job_id];
        evidence.problems.insert(evidence.problems.end(), floods.begin(), floods.end());
        auto sharing = world_.accounting->sharing(instance);
        if (sharing) {
            evidence.shared_with = std::move(*sharing);
        } else if (sharing.error().code == Errc::unavailable) {
            (void)again(ticket, attempt, sharing.error().message, std::min(backoff(attempt), away_pause_max));
            return std::nullopt;
        } else {
            evidence.problems.push_back({"slurmdbd", "", "other jobs on its nodes: " + sharing.error().message});
        }
        const auto verdict = judge_job(evidence, config_);
        const auto line = format_line(line_fields(evidence, verdict));
        const auto report =
            report_json(evidence, verdict).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
        if (auto written = write_report(spool_, instance.job, report + "\n", report_readers()); !written)
            log(Log::Level::error, ticket, "report: " + written.error().message);
        learn(evidence);
        *judged = true;
        return line;
    } catch (const std::exception &error) {
        (void)again(ticket, attempt, std::string("not judged: ") + error.what(), backoff(attempt));
        return std::nullopt;
    }
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

Status Finisher::attach(const JobInstance &instance, const std::string &line) {
    const auto which = comment_field(config_.finisher.field);
    const auto &existing = instance.field(which);
    const auto merged = merge_field(existing, line);
    if (merged == existing && !merged.empty())
        return {};
    if (merged.empty()) {
        world_.log->warning("finisher: job " + std::to_string(instance.job.id) + ": " + config_.finisher.field +
                            " is full of others' text; the line is in the report only");
        return {};
    }
    return world_.accounting->attach(instance, which, merged);
}

/// Verifies the files of this job that were not seen before. Errc::unavailable: munged is away, nothing is known.
Status Finisher::verify_new(const Ticket &ticket, std::size_t node_count) {
    if (!index_) {
        auto index = index_spool(spool_);
        index_problem_ = index ? std::string() : index.error().message;
        index_ = index ? std::move(*index) : SpoolIndex{};
    }
    auto &known = records_[ticket.job_id];
    const auto found = index_->find(ticket.job_id);
    if (found == index_->end())
        return {};
    // A job has six files for each node and run. Where somebody has put many more, those of ordinary users are left
    // alone: verifying each would hold up everybody's verdicts.
    const bool flood = found->second.size() > 1000 + 16 * node_count;
    for (const auto &name : found->second) {
        const auto file = name.file_name();
        if (known.contains(file))
            continue;
        if (flood) {
            const auto owner = record_owner(spool_, name);
            if (owner && *owner != 0 && *owner != world_.slurm_uid && *owner != nobody) {
                if (flooded_.insert(std::to_string(ticket.job_id) + "." + std::to_string(*owner)).second)
                    floods_[ticket.job_id].push_back(
                        {"spool", "",
                         "uid " + std::to_string(*owner) +
                             " owns many files that claim to be this job's records; all ignored"});
                continue;
            }
        }
        auto verified = verify_record(spool_, name, *world_.signer, trust_);
        if (!verified && verified.error().code == Errc::unavailable)
            return verified.error();
        if (!verified) // the file system's doing: perhaps at the next look
            continue;
        if (!verified->refused.empty())
            log(Log::Level::warning, ticket, verified->refused);
        known.emplace(file, std::move(*verified));
    }
    return {};
}

void Finisher::consume(const Ticket &ticket, const JobInstance &instance, const PairingWindow &window) {
    if (!index_ || !index_->contains(ticket.job_id))
        return;
    auto &known = records_[ticket.job_id];
    auto &listed = (*index_)[ticket.job_id];
    const auto consumed = consumed_by(pair_nodes(instance.job.node_names, known, window), listed, window);
    std::string problem;
    std::set<std::string> gone;
    for (const auto &name : consumed) {
        if (auto removed = remove_record(spool_, name); !removed && problem.empty())
            problem = removed.error().message;
        known.erase(name.file_name());
        gone.insert(name.file_name());
    }
    // Another run of the job may have its ticket in the same pass.
    std::erase_if(listed, [&](const RecordName &name) { return gone.contains(name.file_name()); });
    if (!problem.empty())
        log(Log::Level::warning, ticket,
            "records not removed: " + problem + "; SlurmUser should own " + spool_.records());
}

void Finisher::learn(const JobEvidence &evidence) {
    auto hosts = load_hosts(spool_.hosts_file());
    if (!hosts) {
        world_.log->warning("finisher: " + hosts.error().message + "; written anew");
        hosts = KnownHosts{};
    }
    bool changed = false;
    for (const auto &node : evidence.nodes)
        if (const auto &snapshot = node.end ? node.end : node.start)
            changed = learn_host(*hosts, *snapshot) || changed;
    if (!changed)
        return;
    const auto path = spool_.hosts_file();
    auto stored = make_spool_directory(spool_, path.substr(0, path.rfind('/')), 0755);
    if (stored)
        stored = write_file_atomic(path, encode_hosts(*hosts), 0644);
    if (!stored)
        world_.log->warning("finisher: " + stored.error().message);
}

void Finisher::load_map() {
    struct stat status {};
    const auto path = spool_.map_file();
    std::string stamp = "none";
    if (stat(path.c_str(), &status) == 0)
        stamp = std::to_string(status.st_ino) + "." + std::to_string(status.st_size) + "." +
                std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
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

void Finisher::expire() {
    const auto now = world_.now_ns();
    if (expired_ns_ != 0 && now - expired_ns_ < expire_every)
        return;
    expired_ns_ = now;
    // A job may run for longer than that, and needs its START to the end. When slurmdbd cannot tell, it is kept.
    const auto runs = [&](std::uint32_t job_id) {
        Ticket any;
        any.job_id = job_id;
        const auto instances = world_.accounting->instances(any);
        return !instances || std::any_of(instances->begin(), instances->end(),
                                         [](const JobInstance &instance) { return !instance.ended; });
    };
    if (auto removed = expire_spool(spool_, config_.finisher.keep_days, now / second, runs); !removed)
        world_.log->warning("finisher: " + removed.error().message);
    else if (*removed > 0)
        world_.log->info("finisher: " + std::to_string(*removed) + " files older than " +
                         std::to_string(config_.finisher.keep_days) + " days removed");
}

Status Finisher::run() {
    if (auto made = make_directories(state_.tickets(), 0700); !made)
        return made;
    if (auto prepared = prepare_records(spool_, world_.slurm_uid); !prepared)
        world_.log->warning("finisher: spool: " + prepared.error().message);
    while (true) {
        {
            const auto lock = FileLock::try_lock(state_.finisher_lock());
            if (!lock)
                return lock.error().code == Errc::unavailable ? Status() : Status(lock.error());
            if (auto drained = drain(); !drained)
                return drained;
            expire();
        }
        // A hook that found the lock taken has left its ticket to us.
        std::vector<std::string> problems;
        const auto tickets = list_tickets(state_, &problems);
        if (!tickets || tickets->empty())
            return {};
    }
}

Status Finisher::drain() {
    while (true) {
        const auto done = pass();
        if (!done)
            return done.error();
        if (done->left == 0)
            return {};
        const auto wait = std::clamp<std::int64_t>(done->next_ns - world_.now_ns(), second / 50, queue_poll);
        world_.sleep(std::chrono::milliseconds(wait / 1'000'000));
    }
}

} // namespace fabric_check
