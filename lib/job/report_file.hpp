// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "record/spool.hpp"
#include "verdict/job_verdict.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fabric_check {

/// "<job>.<restart>.json": the report's file in the spool's reports/.
std::string report_name(const JobInfo &job);
/// Names under which users know the job: "<array>_<task>.<restart>.json", "<hetjob>+<offset>.<restart>.json".
std::vector<std::string> report_aliases(const JobInfo &job);

/// Who may read a report.
enum class ReportReaders : std::uint8_t { everybody, owner };

/// Links the report's aliases and writes it, creating reports/ where it is missing: once it is there, all is. For everybody: 0644; for the
/// job's owner: 0600 with an ACL entry of his, or, where the file system has no ACLs and we are root, as his own file.
/// Errc::denied: written, but the owner cannot read it.
Status write_report(const SpoolLayout &spool, const JobInfo &job, const std::string &json,
                    ReportReaders readers = ReportReaders::everybody);

/// The line of a report of exactly this instance (same job, start and end) that an earlier finisher wrote.
std::optional<std::string> line_of_report(const SpoolLayout &spool, const JobInfo &job);

/// Why reports cannot be written or records not be read; empty: all is well. Writes nothing.
std::string check_spool(const SpoolLayout &spool);

} // namespace fabric_check
