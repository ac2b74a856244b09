// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/accounting.hpp"

namespace fabric_check {
namespace {

/// EpilogSlurmctld starts within moments of the recorded end, unless slurmctld was restarted meanwhile.
constexpr std::int64_t usual_delay_s = 60;

} // namespace

CommentField comment_field(const std::string &name) noexcept {
    if (name == "AdminComment")
        return CommentField::admin_comment;
    if (name == "Comment")
        return CommentField::comment;
    return CommentField::system_comment;
}

const std::string &JobInstance::field(CommentField which) const {
    switch (which) {
    case CommentField::admin_comment:
        return admin_comment;
    case CommentField::comment:
        return comment;
    case CommentField::system_comment:
        break;
    }
    return system_comment;
}

const JobInstance *choose_instance(const std::vector<JobInstance> &instances, const Ticket &ticket, bool patient) {
    const std::int64_t filed = ticket.time_ns / 1'000'000'000;
    const JobInstance *latest = nullptr;
    for (const auto &instance : instances) {
        // A requeued job's next record is there at once, not started.
        if (instance.job.start == 0 || instance.job.start > filed)
            continue;
        if (ticket.start != 0 && instance.job.start != ticket.start && !patient)
            continue;
        if (latest == nullptr || instance.job.start >= latest->job.start)
            latest = &instance;
    }
    if (latest == nullptr || !latest->ended || (!latest->start_recorded && !patient))
        return nullptr;
    const bool exact = ticket.start != 0;
    if (!exact && !patient && filed - latest->job.end > usual_delay_s)
        return nullptr;
    return latest;
}

} // namespace fabric_check
