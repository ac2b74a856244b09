// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "job/ticket.hpp"
#include "verdict/job_verdict.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fabric_check {

/// Which of a job record's text fields the line goes to.
enum class CommentField : std::uint8_t { system_comment, admin_comment, comment };
/// "SystemComment", "AdminComment", "Comment"; anything else: SystemComment.
CommentField comment_field(const std::string &name) noexcept;

/// One record of a job in the accounting database: a job that was requeued has one for each time it ran.
struct JobInstance {
    JobInfo job; ///< restart is its index among the job's records
    std::int64_t submit = 0;
    bool ended = false; ///< the end is recorded, with a terminal state
    /// The start is recorded, too. Of a short job the database may hear of the end first; until the start's message has
    /// come, the record has neither partition, name, array nor heterogeneous ids, and its first node alone.
    bool start_recorded = true;
    std::string system_comment, admin_comment, comment;
    const std::string &field(CommentField which) const;
};

/// One line for one record.
struct Attachment {
    const JobInstance *instance = nullptr;
    CommentField field = CommentField::system_comment;
    std::string text; ///< the field's whole new content
    /// Set by attach(). Success: it is in the database for good. Errc::not_found: the database holds no such ended
    /// record (yet).
    Status done = Error{Errc::unavailable, "not tried"};
};

/// What the finisher needs of Slurm's accounting, for many jobs at a time. Errc::unavailable: slurmdbd is away, ask
/// again later.
class Accounting {
public:
    virtual ~Accounting() = default;
    /// Of each ticket's job (of exactly this array task or heterogeneous component) all instances, in the order they
    /// were submitted. None recorded yet: empty.
    virtual Result<std::vector<std::vector<JobInstance>>> instances(const std::vector<const Ticket *> &tickets) = 0;
    /// Replaces one field of exactly each instance's record. All that succeed become permanent together: after a
    /// failure in between none of them has changed, or all before it. One that fails costs no other unless slurmdbd is
    /// away.
    virtual void attach(std::vector<Attachment> &lines) = 0;
    /// Of each instance, the other jobs that held any of its nodes while it ran.
    virtual Result<std::vector<std::vector<std::uint32_t>>> sharing(const std::vector<const JobInstance *> &instances) = 0;
    /// Users may not see each other's jobs: PrivateData of slurm.conf has `jobs`, by slurmctld's word. Errc::unavailable:
    /// slurmctld is away.
    virtual Result<bool> jobs_are_private() = 0;
};

/// The instance a ticket is about: the one started last of those started by then. An empty result when there is none
/// (yet), or when it has not ended. Where Slurm told the hook the start time, it is the one with that start. Pure.
///
/// `patient` is for tickets that have waited long: it accepts an instance that ended long before the ticket was filed
/// (slurmctld runs EpilogSlurmctld again after a restart). Before that, such an instance may as well be the previous
/// one, with ours not yet in the database. It also accepts one whose start was never recorded.
const JobInstance *choose_instance(const std::vector<JobInstance> &instances, const Ticket &ticket, bool patient);

/// slurmdbd through libslurm, by this slurm.conf (empty: Slurm's own). One connection, reopened after a failure. The
/// only user of libslurm. Initialises it once for the process; libslurm ends the process when slurm.conf is unusable,
/// so what can be checked is checked before. `quick_socket` false leaves the connection as libslurm made it
/// (dbd_socket.hpp), for comparison.
Result<std::unique_ptr<Accounting>> slurm_accounting(const std::string &slurm_conf, bool quick_socket = true);

} // namespace fabric_check
