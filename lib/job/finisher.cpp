// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/finisher.hpp"

#include "base/file.hpp"
#include "base/hostlist.hpp"
#include "base/parallel.hpp"
#include "report/line.hpp"

#include <algorithm>

namespace fabric_check {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t queue_poll = second / 2; ///< for tickets that came meanwhile
constexpr std::int64_t patience = 600 * second; ///< until an instance that ended long before its ticket is accepted
/// slurmdbd's users shall have their lines within a minute of its return, and a refused connection costs it nothing.
constexpr std::int64_t away_pause_max = 10 * second;

/// Jobs that are taken on together. What the database is told of one is a moment old at most when its field is written.
constexpr std::size_t batch_jobs = 50;
constexpr std::size_t batch_nodes = 2048;
constexpr std::size_t small_job = 64; ///< nodes; those up to this are taken in the order they ended

/// Before its job began: a gate's requeue, nodes that did not boot. Then nothing was measured, and there is nothing to
/// say. A job that did run and left nothing is another matter.
bool was_taken_back(const std::string &state) {
    return state == "REQUEUED" || state == "CANCELLED" || state == "BOOT_FAIL" || state == "DEADLINE";
}

} // namespace

Finisher::Finisher(const Config &config, FinisherWorld world)
    : config_(config), world_(std::move(world)), spool_{config.spool}, state_{config.state},
      workers_(worker_count(config.finisher.workers)) {
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
    sliced_ = false;
    auto works = due_works(*tickets);
    work_through(works);
    hold_less(works);

    Pass result;
    result.more = sliced_;
    for (const auto &work : works)
        if (work.done)
            attempts_.erase(work.ticket->file_name());
    for (const auto &[file, attempt] : attempts_) {
        ++result.left;
        if (result.next_ns == 0 || attempt.next_ns < result.next_ns)
            result.next_ns = attempt.next_ns;
    }
    if (result.left == 0)
        records_.clear();
    return result;
}

std::vector<Finisher::Work> Finisher::due_works(const std::vector<Ticket> &tickets) {
    std::vector<Work> works;
    for (const auto &ticket : tickets) {
        auto &attempt = attempts_[ticket.file_name()];
        if (attempt.first_ns == 0)
            attempt.first_ns = world_.now_ns();
        if (attempt.next_ns > world_.now_ns())
            continue;
        Work work;
        work.ticket = &ticket;
        work.attempt = &attempt;
        work.window.ticket_ns = ticket.time_ns;
        work.over = !due(work);
        works.push_back(std::move(work));
    }
    std::stable_sort(works.begin(), works.end(), [](const Work &a, const Work &b) {
        return std::max(a.nodes.size(), small_job) < std::max(b.nodes.size(), small_job);
    });
    return works;
}

/// In batches. Two runs of one job are never in the same one: the second is judged by what the first has left.
void Finisher::work_through(std::vector<Work> &works) {
    while (true) {
        Batch batch;
        std::set<std::uint32_t> jobs;
        std::size_t nodes = 0;
        for (auto &work : works) {
            if (work.over || jobs.contains(work.ticket->job_id))
                continue;
            nodes += work.nodes.size();
            if (!batch.empty() && (batch.size() == batch_jobs || nodes > batch_nodes))
                break;
            batch.push_back(&work);
            jobs.insert(work.ticket->job_id);
        }
        if (batch.empty())
            return;
        take_on(batch);
        for (auto *work : batch)
            work->over = true;
    }
}

void Finisher::take_on(Batch batch) {
    const auto go_on = [&batch] {
        std::erase_if(batch, [](const Work *work) { return work->over; });
        return !batch.empty();
    };
    verify(batch);
    for (auto *work : batch)
        if (!work->over && !waited_enough(*work))
            work->over = true;
    if (!go_on())
        return;
    ask_for_instances(batch);
    for (auto *work : batch)
        if (!work->over)
            prepare(*work);
    if (!go_on())
        return;
    ask_for_neighbours(batch);
    if (!go_on())
        return;
    judge(batch);
    if (!go_on())
        return;
    attach(batch);
}

void Finisher::later(Work &work, std::int64_t at_ns) {
    work.attempt->next_ns = at_ns;
    work.over = true;
}

void Finisher::again(Work &work, const std::string &reason, std::int64_t pause_ns) {
    auto &attempt = *work.attempt;
    if (reason != attempt.last_reason && !reason.empty())
        log(Log::Level::warning, *work.ticket, reason + "; the ticket stays");
    attempt.last_reason = reason;
    ++attempt.tries;
    later(work, world_.now_ns() + pause_ns);
}

void Finisher::drop(Work &work) {
    if (auto removed = remove_ticket(state_, *work.ticket); !removed)
        return again(work, removed.error().message, backoff(*work.attempt));
    work.done = work.over = true;
}

std::int64_t Finisher::backoff(const Attempt &attempt) const {
    const auto most = std::max<std::int64_t>(config_.finisher.retry_max_s, 1) * second;
    return std::min(most, second << std::min(attempt.tries, 10U));
}

std::int64_t Finisher::pause_after(const Error &error, const Attempt &attempt) const {
    return error.code == Errc::unavailable ? std::min(backoff(attempt), away_pause_max) : backoff(attempt);
}

/// Is it worth reading its records, and asking for it? Costs no more than a look at the names in the spool.
bool Finisher::due(Work &work) {
    const auto &ticket = *work.ticket;
    const auto now = world_.now_ns();
    if (now - ticket.time_ns > static_cast<std::int64_t>(config_.finisher.give_up_h) * 3600 * second) {
        log(Log::Level::error, ticket,
            "given up after " + std::to_string(config_.finisher.give_up_h) + " h: " + work.attempt->last_reason);
        (void)remove_ticket(state_, ticket).ok();
        work.done = true;
        return false;
    }
    auto nodes = expand_hostlist(ticket.nodes);
    if (!nodes) {
        log(Log::Level::error, ticket, "ticket dropped: " + nodes.error().message);
        (void)remove_ticket(state_, ticket).ok();
        work.done = true;
        return false;
    }
    work.nodes = std::move(*nodes);
    if (!names_suffice(work))
        return false;
    if (now < accounting_next_ns_) {
        later(work, accounting_next_ns_);
        return false;
    }
    return true;
}

void Finisher::ask_for_instances(const Batch &batch) {
    const auto now = world_.now_ns();
    std::vector<const Ticket *> tickets;
    tickets.reserve(batch.size());
    for (const auto *work : batch)
        tickets.push_back(work->ticket);
    if (now < accounting_next_ns_) { // it went away during this pass
        for (auto *work : batch)
            later(*work, accounting_next_ns_);
        return;
    }
    auto answers = world_.accounting->instances(tickets);
    if (!answers) {
        std::optional<std::int64_t> pause;
        if (answers.error().code == Errc::unavailable) {
            pause = std::min({away_pause_max, config_.finisher.retry_max_s * second,
                              (config_.finisher.retry_s * second) << std::min(accounting_tries_++, 10U)});
            accounting_next_ns_ = now + *pause;
        }
        for (auto *work : batch)
            again(*work, answers.error().message, pause.value_or(backoff(*work->attempt)));
        return;
    }
    accounting_tries_ = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        auto &work = *batch[i];
        auto &attempt = *work.attempt;
        work.instances = std::move((*answers)[i]);
        const bool patient = attempt.asked_ns != 0 && now - attempt.asked_ns > patience;
        if (const auto *instance = choose_instance(work.instances, *work.ticket, patient)) {
            work.instance = *instance;
            continue;
        }
        if (attempt.asked_ns == 0)
            attempt.asked_ns = now;
        again(work, "its end is not in the accounting database yet", backoff(attempt));
    }
}

/// What is to be judged, or the line of an earlier report of it.
void Finisher::prepare(Work &work) {
    auto &instance = work.instance;
    // By slurmctld's word, not the database's, whose record may name its first node alone (JobInstance::start_recorded).
    instance.job.nodes = work.ticket->nodes;
    instance.job.node_names = work.nodes;
    for (const auto &other : work.instances)
        if (other.ended && other.job.end <= instance.job.start && other.job.restart != instance.job.restart)
            work.window.not_before_ns = std::max(work.window.not_before_ns, other.job.end * second);

    work.line = line_of_report(spool_, instance.job);
    if (work.line)
        return;
    work.spool_problem = index_problem_.empty() ? check_spool(spool_) : index_problem_;
    if (!work.spool_problem.empty() || !left_nothing(work))
        return;
    if (was_taken_back(instance.job.state)) {
        log(Log::Level::warning, *work.ticket,
            "no node left a record and it was taken back: its prologs never ran; no line");
        drop(work);
        return;
    }
    work.spool_problem = "no node wrote to it during the job; was it away, are the hooks installed there?";
}

void Finisher::ask_for_neighbours(const Batch &batch) {
    std::vector<const JobInstance *> instances;
    Batch asked;
    for (auto *work : batch)
        if (!work->line) {
            instances.push_back(&work->instance);
            asked.push_back(work);
        }
    if (asked.empty())
        return;
    auto answers = world_.accounting->sharing(instances);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        if (answers)
            asked[i]->shared_with = std::move((*answers)[i]);
        else if (answers.error().code == Errc::unavailable)
            again(*asked[i], answers.error().message, pause_after(answers.error(), *asked[i]->attempt));
        else
            asked[i]->sharing_problem = answers.error().message;
    }
}

void Finisher::attach(const Batch &batch) {
    const auto which = comment_field(config_.finisher.field);
    std::vector<Attachment> lines;
    Batch waiting;
    for (auto *work : batch) {
        const auto &existing = work->instance.field(which);
        auto merged = merge_field(existing, *work->line);
        if (merged.empty())
            log(Log::Level::warning, *work->ticket,
                config_.finisher.field + " is full of others' text; the line is in the report only");
        if (merged.empty() || merged == existing) {
            settle(*work);
            continue;
        }
        lines.push_back({&work->instance, which, std::move(merged)});
        waiting.push_back(work);
    }
    if (lines.empty())
        return;
    world_.accounting->attach(lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].done)
            settle(*waiting[i]);
        else
            again(*waiting[i], lines[i].done.error().message,
                  pause_after(lines[i].done.error(), *waiting[i]->attempt));
    }
}

/// Its line is in the database for good.
void Finisher::settle(Work &work) {
    log(Log::Level::info, *work.ticket, (work.judged ? "" : "by an earlier report: ") + *work.line);
    drop(work);
    if (work.done)
        consume(work);
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
        if (!tickets || tickets->empty() || superseded())
            return {};
    }
}

Status Finisher::drain() {
    while (true) {
        const auto done = pass();
        if (!done)
            return done.error();
        if (done->left == 0 || superseded())
            return {};
        if (done->more)
            continue;
        const auto wait = std::clamp<std::int64_t>(done->next_ns - world_.now_ns(), second / 50, queue_poll);
        world_.sleep(std::chrono::milliseconds(wait / 1'000'000));
    }
}

} // namespace fabric_check
