// SPDX-License-Identifier: GPL-2.0-or-later
// Everything that depends on a release of Slurm. Written against 22.05; later releases rename the list types (auto
// takes whatever they are), put fields in front of others (all are set by name) and change structure sizes (one build
// for each major release).
#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "job/accounting.hpp"
#include "job/dbd_socket.hpp"
#include "job/sharing.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <dlfcn.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>
#include <unistd.h>
#include <unordered_map>

namespace fabric_check {
namespace {

std::string text(const char *value) {
    return value == nullptr ? std::string() : std::string(value);
}

/// The list of an API call; its elements are destroyed as the list was told when it was made.
template <class List> class OwnedList {
public:
    explicit OwnedList(List list) : list_(list) {}
    OwnedList(const OwnedList &) = delete;
    OwnedList &operator=(const OwnedList &) = delete;
    ~OwnedList() {
        if (list_ != nullptr)
            slurm_list_destroy(list_);
    }
    List get() const { return list_; }
    explicit operator bool() const { return list_ != nullptr; }
    int count() const { return list_ == nullptr ? 0 : slurm_list_count(list_); }

    template <class Element, class Each> void for_each(const Each &each) const {
        auto iterator = slurm_list_iterator_create(list_);
        while (auto *element = static_cast<Element *>(slurm_list_next(iterator)))
            each(*element);
        slurm_list_iterator_destroy(iterator);
    }

private:
    List list_;
};

/// A list that points to what it does not own.
auto borrowed_list() {
    return OwnedList(slurm_list_create(nullptr));
}

constexpr std::uint32_t terminal_states[] = {JOB_COMPLETE,  JOB_CANCELLED, JOB_FAILED,       JOB_TIMEOUT,
                                             JOB_NODE_FAIL, JOB_PREEMPTED, JOB_BOOT_FAIL,    JOB_DEADLINE,
                                             JOB_OOM,       JOB_REQUEUE,   JOB_REQUEUE_HOLD, JOB_SPECIAL_EXIT};

std::string state_name(std::uint32_t state) {
    if ((state & (JOB_REQUEUE | JOB_REQUEUE_HOLD | JOB_SPECIAL_EXIT)) != 0)
        return "REQUEUED";
    static constexpr const char *names[] = {"PENDING",   "RUNNING",   "SUSPENDED", "COMPLETED",
                                            "CANCELLED", "FAILED",    "TIMEOUT",   "NODE_FAIL",
                                            "PREEMPTED", "BOOT_FAIL", "DEADLINE",  "OUT_OF_MEMORY"};
    const auto base = state & JOB_STATE_BASE;
    return base < std::size(names) ? names[base] : "UNKNOWN";
}

bool is_terminal(std::uint32_t state) {
    return (state & (JOB_REQUEUE | JOB_REQUEUE_HOLD | JOB_SPECIAL_EXIT)) != 0 ||
           (state & JOB_STATE_BASE) > JOB_SUSPENDED;
}

std::uint32_t known(std::uint32_t value) {
    return value == NO_VAL || value == INFINITE ? 0 : value;
}

JobInstance instance_of(const slurmdb_job_rec_t &record) {
    JobInstance instance;
    auto &job = instance.job;
    job.id = record.jobid;
    job.array_job_id = known(record.array_job_id);
    if (job.array_job_id != 0 && record.array_task_id != NO_VAL)
        job.array_task_id = record.array_task_id;
    job.het_job_id = known(record.het_job_id);
    job.het_job_offset = known(record.het_job_offset);
    job.cluster = text(record.cluster);
    job.user = text(record.user);
    job.partition = text(record.partition);
    job.name = text(record.jobname);
    job.uid = record.uid;
    job.start = record.start;
    job.end = record.end;
    job.state = state_name(record.state);
    job.nodes = text(record.nodes);
    if (auto names = expand_hostlist(job.nodes); names && job.nodes != "None assigned")
        job.node_names = std::move(*names);
    instance.submit = record.submit;
    instance.ended = record.end > 0 && is_terminal(record.state);
    instance.start_recorded = !job.partition.empty(); // every started job has one
    instance.system_comment = text(record.system_comment);
    instance.admin_comment = text(record.admin_comment);
    instance.comment = text(record.derived_es);
    return instance;
}

/// By slurm.conf as libslurm has read it, whose copy is exported and in no header; 0: not known.
std::uint16_t slurmdbd_port() {
    const auto *conf = static_cast<const slurm_conf_t *>(dlsym(RTLD_DEFAULT, "slurm_conf"));
    return conf == nullptr ? std::uint16_t{0} : conf->accounting_storage_port;
}

/// A condition for jobs, with the lists it points to.
class JobCondition {
public:
    /// For exactly these jobs, added one by one.
    JobCondition() : steps_(borrowed_list()), states_(borrowed_list()), clusters_(borrowed_list()) {
        condition_.step_list = steps_.get();
        prepare();
    }
    /// With a task id the job id must be the array's: a plain id rewrites all tasks where it equals the array's.
    void add(std::uint32_t job_id, std::uint32_t array_job_id, std::optional<std::uint32_t> task) {
        const bool is_task = array_job_id != 0 && task;
        auto &step = step_storage_.emplace_back();
        step.array_task_id = is_task ? *task : NO_VAL;
        step.het_job_offset = NO_VAL;
        step.step_id.job_id = is_task ? array_job_id : job_id;
        step.step_id.step_id = NO_VAL;
        step.step_id.step_het_comp = NO_VAL;
        slurm_list_append(steps_.get(), &step);
    }
    /// For jobs of one cluster on these nodes.
    JobCondition(const std::string &cluster, const std::string &nodes)
        : steps_(borrowed_list()), states_(borrowed_list()), clusters_(borrowed_list()), cluster_(cluster),
          nodes_(nodes) {
        slurm_list_append(clusters_.get(), cluster_.data());
        condition_.cluster_list = clusters_.get();
        condition_.used_nodes = nodes_.data();
        prepare();
    }
    JobCondition(const JobCondition &) = delete;
    JobCondition &operator=(const JobCondition &) = delete;

    /// Only a record that has ended at `end`, which also means that the database has heard of the end. The comparisons
    /// are strict.
    void ended_at(std::int64_t end) {
        for (const auto state : terminal_states)
            state_texts_.push_back(std::to_string(state));
        for (auto &state : state_texts_)
            slurm_list_append(states_.get(), state.data());
        condition_.state_list = states_.get();
        window(end - 1, end + 1);
    }
    void window(std::int64_t start, std::int64_t end) {
        condition_.usage_start = start;
        condition_.usage_end = end;
    }
    slurmdb_job_cond_t *get() { return &condition_; }

private:
    void prepare() {
        condition_.db_flags = SLURMDB_JOB_FLAG_NOTSET; // zero would match nothing
        condition_.flags =
            JOBCOND_FLAG_DUP | JOBCOND_FLAG_NO_TRUNC | JOBCOND_FLAG_NO_STEP | JOBCOND_FLAG_NO_WHOLE_HETJOB;
    }

    decltype(borrowed_list()) steps_, states_, clusters_;
    std::vector<std::string> state_texts_;
    std::string cluster_, nodes_;
    std::deque<slurm_selected_step_t> step_storage_; ///< the list points to them
    slurmdb_job_cond_t condition_{};
};

class SlurmAccounting final : public Accounting {
public:
    explicit SlurmAccounting(bool quick_socket) : quick_socket_(quick_socket) {}
    ~SlurmAccounting() override { close(); }

    Result<std::vector<std::vector<JobInstance>>> instances(const std::vector<const Ticket *> &tickets) override {
        std::vector<std::vector<JobInstance>> result(tickets.size());
        std::unordered_map<std::uint32_t, std::vector<JobInstance>> by_job;
        for (std::size_t first = 0; first < tickets.size(); first += jobs_at_once) {
            const auto last = std::min(first + jobs_at_once, tickets.size());
            JobCondition condition;
            for (auto i = first; i < last; ++i) {
                condition.add(tickets[i]->job_id, tickets[i]->array_job_id, tickets[i]->array_task_id);
                by_job.try_emplace(tickets[i]->job_id);
            }
            const auto &one = *tickets[first];
            auto records = query(condition, last - first == 1 ? "job " + std::to_string(one.job_id)
                                                              : std::to_string(last - first) + " jobs");
            if (!records)
                return records.error();
            // By a plain id, a whole array comes whose last task has it.
            for (auto &record : *records)
                if (const auto asked = by_job.find(record.job.id); asked != by_job.end())
                    asked->second.push_back(std::move(record));
        }
        for (auto &[id, found] : by_job) {
            std::stable_sort(found.begin(), found.end(),
                             [](const JobInstance &a, const JobInstance &b) { return a.submit < b.submit; });
            unsigned restart = 0;
            for (auto &instance : found)
                instance.job.restart = restart++;
        }
        for (std::size_t i = 0; i < tickets.size(); ++i)
            result[i] = by_job[tickets[i]->job_id];
        return result;
    }

    void attach(std::vector<Attachment> &lines) override {
        for (std::size_t first = 0; first < lines.size(); first += lines_at_once) {
            const auto last = std::min(first + lines_at_once, lines.size());
            // What matches several records, as no instance should, takes its whole transaction with it: once more
            // without it.
            while (!attach_together(lines, first, last)) {
            }
            if (last - first > 1 && !attach_singly(lines, first, last))
                return;
        }
    }

    Result<std::vector<std::vector<std::uint32_t>>>
    sharing(const std::vector<const JobInstance *> &instances) override {
        std::vector<std::vector<std::uint32_t>> result(instances.size());
        for (const auto &group : sharing_groups(instances)) {
            JobCondition condition(group.cluster, group.nodes);
            condition.window(group.start, group.end);
            const auto records = query(condition, "jobs on " + group.nodes);
            if (!records)
                return records.error();
            auto others = others_of(group, instances, *records);
            for (std::size_t i = 0; i < group.members.size(); ++i)
                result[group.members[i]] = std::move(others[i]);
        }
        return result;
    }

    Result<bool> jobs_are_private() override {
        slurm_conf_t *conf = nullptr;
        if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS || conf == nullptr)
            return Error{Errc::unavailable, "slurmctld: " + text(slurm_strerror(errno))};
        const bool hidden = (conf->private_data & PRIVATE_DATA_JOBS) != 0;
        slurm_free_ctl_conf(conf);
        return hidden;
    }

private:
    static constexpr std::size_t jobs_at_once = 250; ///< in one question
    static constexpr std::size_t lines_at_once = 50; ///< in one transaction

    /// One transaction. False: it was taken back because of one, which says so, and the others are to be done again.
    bool attach_together(std::vector<Attachment> &lines, std::size_t first, std::size_t last) {
        const auto failed = [&](const Error &error) { // of all that is not permanent and not settled otherwise
            for (auto i = first; i < last; ++i)
                if (!settled(lines[i]))
                    lines[i].done = error;
            return true;
        };
        if (!connect())
            return failed(away());
        std::vector<std::size_t> changed;
        for (auto i = first; i < last; ++i) {
            if (settled(lines[i]))
                continue;
            const auto count = modify(lines[i]);
            if (!count)
                return failed(count.error());
            const auto &job = lines[i].instance->job;
            if (*count == 1) {
                changed.push_back(i);
            } else if (*count == 0) {
                lines[i].done = Error{Errc::not_found, "slurmdbd: no ended record of job " + std::to_string(job.id) +
                                                           " at " + format_time(job.end) + " yet"};
            } else {
                if (!commit(false))
                    return failed(failure("rollback", errno));
                lines[i].done =
                    Error{Errc::malformed, "slurmdbd: " + std::to_string(*count) + " records of job " +
                                               std::to_string(job.id) + " end at " + format_time(job.end) +
                                               "; none was changed"};
                return false;
            }
        }
        if (!commit(!changed.empty()))
            return failed(failure("commit", errno));
        for (const auto i : changed)
            lines[i].done = {};
        return true;
    }
    /// One transaction for each that a common one did not make permanent: the failure may be one line's own. False:
    /// slurmdbd is away.
    bool attach_singly(std::vector<Attachment> &lines, std::size_t first, std::size_t last) {
        unsigned in_a_row = 0;
        for (auto i = first; i < last; ++i) {
            if (lines[i].done || settled(lines[i]))
                continue;
            if (lines[i].done.error().code != Errc::unavailable || in_a_row == 2)
                return false;
            while (!attach_together(lines, i, i + 1)) {
            }
            in_a_row = lines[i].done || settled(lines[i]) ? 0 : in_a_row + 1;
        }
        return true;
    }
    static bool settled(const Attachment &line) {
        return !line.done && (line.done.error().code == Errc::not_found || line.done.error().code == Errc::malformed);
    }

    /// How many records were changed, not yet for good.
    Result<int> modify(const Attachment &line) {
        const auto &job = line.instance->job;
        JobCondition condition;
        condition.add(job.id, job.array_job_id, job.array_task_id);
        condition.ended_at(job.end);
        slurmdb_job_rec_t change{};
        change.derived_ec = NO_VAL;
        std::string copy = line.text;
        switch (line.field) {
        case CommentField::admin_comment:
            change.admin_comment = copy.data();
            break;
        case CommentField::comment:
            change.derived_es = copy.data();
            break;
        case CommentField::system_comment:
            change.system_comment = copy.data();
            break;
        }
        const DbdSocket::Call call(socket_);
        errno = 0;
        const OwnedList changed(slurmdb_job_modify(connection_, condition.get(), &change));
        // No match: an empty list up to 23.11, nothing and this errno from 24.11.
        const int error = errno;
        snapshot_open_ = true;
        if (!changed && error != SLURM_NO_CHANGE_IN_DATA)
            return failure("job " + std::to_string(job.id), error);
        return changed.count();
    }

    bool commit(bool keep) {
        const DbdSocket::Call call(socket_);
        errno = 0;
        if (slurmdb_connection_commit(connection_, keep) != SLURM_SUCCESS)
            return false;
        snapshot_open_ = false;
        return true;
    }

    Result<std::vector<JobInstance>> query(JobCondition &condition, const std::string &what) {
        if (!connect())
            return away();
        // slurmdbd holds one database transaction for the connection, and InnoDB shows a transaction the state of its
        // first read for ever (REPEATABLE READ): a job that ended since would never be seen.
        if (snapshot_open_ && !commit(false))
            return failure(what, errno);
        snapshot_open_ = true;
        const DbdSocket::Call call(socket_);
        errno = 0;
        const OwnedList list(slurmdb_jobs_get(connection_, condition.get()));
        if (!list)
            return failure(what, errno);
        std::vector<JobInstance> found;
        list.template for_each<slurmdb_job_rec_t>([&](const slurmdb_job_rec_t &record) {
            // A resized job leaves a record of its earlier size behind; it is no instance.
            if ((record.state & JOB_RESIZING) == 0)
                found.push_back(instance_of(record));
        });
        return found;
    }

    bool connect() {
        if (connection_ == nullptr) {
            if (quick_socket_)
                socket_.opening();
            std::uint16_t flags = 0;
            connection_ = slurmdb_connection_get(&flags); // also something when slurmdbd is down
            if (quick_socket_)
                socket_.opened(slurmdbd_port());
        }
        return connection_ != nullptr;
    }
    void close() {
        socket_.closed();
        if (connection_ != nullptr)
            slurmdb_connection_close(&connection_);
        connection_ = nullptr;
        snapshot_open_ = false;
    }
    static Error away() { return {Errc::unavailable, "slurmdbd: no connection; is it running?"}; }

    Error failure(const std::string &what, int error) {
        close();
        const std::string reason = error == 0 ? "no answer" : text(slurm_strerror(error));
        if (error == ESLURM_ACCESS_DENIED)
            return {Errc::denied,
                    "slurmdbd: " + what + ": " + reason + "; the finisher must run as SlurmUser, root or an Operator"};
        return {Errc::unavailable, "slurmdbd: " + what + ": " + reason + "; is it running?"};
    }

    bool quick_socket_;
    DbdSocket socket_;
    void *connection_ = nullptr;
    bool snapshot_open_ = false; ///< something was read since the last commit or rollback
};

} // namespace

Result<std::unique_ptr<Accounting>> slurm_accounting(const std::string &slurm_conf, bool quick_socket) {
    if (!slurm_conf.empty()) {
        if (access(slurm_conf.c_str(), R_OK) != 0)
            return errno_error("slurm.conf: " + slurm_conf, errno);
        // The plugins and the host list code read it again, each from the environment.
        setenv("SLURM_CONF", slurm_conf.c_str(), 1);
    }
    static const bool initialised = [&] {
        slurm_init(slurm_conf.empty() ? nullptr : slurm_conf.c_str());
        return true;
    }();
    (void)initialised;
    return std::unique_ptr<Accounting>(std::make_unique<SlurmAccounting>(quick_socket));
}

} // namespace fabric_check
