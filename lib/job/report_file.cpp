// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/report_file.hpp"

#include "base/file.hpp"

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
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

Status write_report(const SpoolLayout &spool, const JobInfo &job, const std::string &json) {
    const auto directory = spool.reports();
    if (auto made = make_spool_directory(spool, directory, 0755); !made)
        return made;
    if (auto written = write_file_atomic(directory + "/" + report_name(job), json, 0644); !written)
        return written;
    for (const auto &alias : report_aliases(job))
        if (auto linked = link_alias(directory, alias, report_name(job)); !linked)
            return linked;
    return {};
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
