// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/report_file.hpp"

#include "base/file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sys/acl.h>
#include <type_traits>
#include <unistd.h>

namespace fabric_check {
namespace {

constexpr std::size_t report_limit = 256UL * 1024 * 1024;

Status link_alias(const std::string &directory, const std::string &alias, const std::string &target) {
    const auto path = directory + "/" + alias;
    const auto temporary = directory + "/." + alias + ".new";
    (void)!unlink(temporary.c_str()); // left by one that was killed
    if (symlink(target.c_str(), temporary.c_str()) != 0)
        return errno_error(temporary, errno);
    if (std::rename(temporary.c_str(), path.c_str()) != 0)
        return errno_error(path, errno);
    return {};
}

/// Read access for one user more, on a file that is otherwise its owner's alone. 0, or errno.
int let_read(const std::string &path, std::uint32_t uid) {
    const auto entries = "u::rw-,u:" + std::to_string(uid) + ":r--,g::---,m::r--,o::---";
    const std::unique_ptr<std::remove_pointer_t<acl_t>, int (*)(void *)> acl(acl_from_text(entries.c_str()), acl_free);
    if (acl && acl_set_file(path.c_str(), ACL_TYPE_ACCESS, acl.get()) == 0)
        return 0;
    const int error = errno;
    return geteuid() == 0 && chown(path.c_str(), uid, static_cast<gid_t>(-1)) == 0 ? 0 : error;
}

/// Complete, and readable by the right people, before it has its name. A failure to let the owner read is left in
/// `unread` and keeps nothing else from being done.
Status put_report(const std::string &path, const std::string &json, std::uint32_t owner, Status &unread) {
    const auto private_file = path + ".private";
    if (auto written = write_file_atomic(private_file, json, 0600); !written)
        return written;
    if (const int error = let_read(private_file, owner); error != 0)
        unread = Error{Errc::denied, errno_error(path, error).message + "; uid " + std::to_string(owner) +
                                         ", whose job it was, cannot read it"};
    if (std::rename(private_file.c_str(), path.c_str()) != 0)
        return errno_error(path, errno);
    return {};
}

} // namespace

std::string report_name(const JobInfo &job) {
    return std::to_string(job.id) + "." + std::to_string(job.restart) + ".json";
}

std::vector<std::string> report_aliases(const JobInfo &job) {
    const auto tail = "." + std::to_string(job.restart) + ".json";
    std::vector<std::string> aliases;
    if (job.array_job_id != 0 && job.array_task_id)
        aliases.push_back(std::to_string(job.array_job_id) + "_" + std::to_string(*job.array_task_id) + tail);
    if (job.het_job_id != 0)
        aliases.push_back(std::to_string(job.het_job_id) + "+" + std::to_string(job.het_job_offset) + tail);
    return aliases;
}

Status write_report(const SpoolLayout &spool, const JobInfo &job, const std::string &json, ReportReaders readers) {
    const auto directory = spool.reports();
    if (auto made = make_spool_directory(spool, directory, 0755); !made)
        return made;
    const auto path = directory + "/" + report_name(job);
    // First: of a finisher that was killed in between, the next one finds the report there and links nothing.
    for (const auto &alias : report_aliases(job))
        if (auto linked = link_alias(directory, alias, report_name(job)); !linked)
            return linked;
    Status unread;
    if (auto written = readers == ReportReaders::everybody ? write_file_atomic(path, json, 0644)
                                                           : put_report(path, json, job.uid, unread);
        !written)
        return written;
    return unread;
}

std::optional<std::string> line_of_report(const SpoolLayout &spool, const JobInfo &job) {
    const auto text = read_file(spool.reports() + "/" + report_name(job), report_limit, true);
    if (!text)
        return std::nullopt;
    try {
        const auto report = nlohmann::json::parse(*text);
        const auto &about = report.at("job");
        // Job ids come round again.
        if (about.at("id") != job.id || about.at("start") != job.start || about.at("end") != job.end)
            return std::nullopt;
        return report.at("line").get<std::string>();
    } catch (const std::exception &) {
        return std::nullopt; // it is written anew
    }
}

std::string check_spool(const SpoolLayout &spool) {
    if (access(spool.records().c_str(), R_OK | X_OK) != 0)
        return errno_error(spool.records(), errno).message;
    const bool there = access(spool.reports().c_str(), F_OK) == 0;
    const auto &written = there ? spool.reports() : spool.root;
    if (access(written.c_str(), W_OK) != 0)
        return errno_error(written, errno).message;
    return {};
}

} // namespace fabric_check
