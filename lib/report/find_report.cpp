// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/find_report.hpp"

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "record/spool.hpp"
#include "report/odd_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace fabric_check {

namespace {

using nlohmann::ordered_json;
using odd_json::at;
using odd_json::number;
using odd_json::whole;

constexpr std::size_t report_limit = 256U << 20;
constexpr std::int64_t second_ns = 1000000000;
constexpr std::string_view suffix = ".json";

std::optional<std::uint32_t> parse_id(std::string_view text) {
    const std::optional<std::uint64_t> value = parse_u64(text);
    return value && *value <= UINT32_MAX ? std::optional<std::uint32_t>(static_cast<std::uint32_t>(*value))
                                         : std::nullopt;
}

/// "123_4.2.json" of "123_4" -> 2.
std::optional<unsigned> restart_of(std::string_view name, const std::string &job) {
    if (!name.starts_with(job + ".") || !name.ends_with(suffix) || name.size() <= job.size() + 1 + suffix.size()) {
        return std::nullopt;
    }
    return parse_id(name.substr(job.size() + 1, name.size() - job.size() - 1 - suffix.size()));
}

Result<ordered_json> read_report(const std::string &path) {
    const Result<std::string> content = read_file(path, report_limit);
    if (!content) {
        return content.error();
    }
    ordered_json report = ordered_json::parse(*content, nullptr, false);
    if (!report.is_object()) {
        return Error{Errc::io, path + ": is no JSON object"};
    }
    return report;
}

bool is_about(const ordered_json &report, const JobRef &job) {
    const ordered_json &about = at(report, "job");
    const auto equals = [&about](const char *key, std::uint32_t value) {
        const ordered_json &found = at(about, key);
        return found.is_number_unsigned() && found.get<std::uint64_t>() == value;
    };
    if (job.task) {
        return equals("array_job_id", job.id) && equals("array_task_id", *job.task);
    }
    if (job.het) {
        return equals("het_job_id", job.id) && equals("het_job_offset", *job.het);
    }
    return equals("id", job.id);
}

/// Why there is no report, as far as the names in records/ tell. Errc::unavailable: they cannot be listed.
Result<std::string> reason_without(const Config &config, const SpoolLayout &spool, const JobRef &job) {
    if (job.task || job.het) {
        return fmt::format(
            "no report of job {}: it has not ended, ran with --fabric-check=off, or its report was removed "
            "(reports are kept {} days)",
            job.text(), config.finisher.keep_days);
    }
    std::set<std::string> started;
    std::set<std::string> ended;
    std::int64_t last = 0;
    const Result<SpoolIndex> index = index_spool(spool);
    if (!index) {
        return Error{Errc::unavailable, fmt::format("no report of job {}, and the records cannot be listed: {}",
                                                    job.text(), index.error().message)};
    }
    if (const auto records = index->find(job.id); records != index->end()) {
        for (const RecordName &record : records->second) {
            if (record.kind == RecordKind::start) {
                started.insert(record.node);
            } else if (record.kind == RecordKind::end) {
                ended.insert(record.node);
                last = std::max(last, record.time_ns);
            }
        }
    }
    if (ended.empty() && !started.empty()) {
        return fmt::format("job {} has not ended: there are START records of {} nodes and no END", job.text(),
                           started.size());
    }
    if (!ended.empty()) {
        const std::int64_t age = std::max<std::int64_t>(0, (wall_ns() - last) / second_ns);
        const unsigned most = config.finisher.end_wait_max_s;
        if (age <= most) {
            return fmt::format("job {} ended {} s ago and its report is being made; that takes at most {} s",
                               job.text(), age, most);
        }
        return fmt::format("job {} ended {} s ago and nobody made its report: does the finisher run on the controller "
                           "(EpilogSlurmctld, fabric-check-finisher), and is slurmdbd there?",
                           job.text(), age);
    }
    return fmt::format(
        "no report and no records of job {}: it has not started, ran with --fabric-check=off or before the "
        "hooks were installed, or its report was removed (reports are kept {} days)",
        job.text(), config.finisher.keep_days);
}

} // namespace

std::string JobRef::text() const {
    return std::to_string(id) + (task ? "_" + std::to_string(*task) : "") + (het ? "+" + std::to_string(*het) : "");
}

Result<JobRef> parse_job_ref(std::string_view text) {
    JobRef job;
    std::string_view rest = text;
    bool good = true;
    const auto take = [&rest, &good](char mark) -> std::optional<std::uint32_t> {
        const auto where = rest.find(mark);
        if (where == std::string_view::npos) {
            return std::nullopt;
        }
        const std::optional<std::uint32_t> value = parse_id(rest.substr(where + 1));
        good = good && value.has_value();
        rest = rest.substr(0, where);
        return value;
    };
    job.het = take('+');
    job.task = take('_');
    const std::optional<std::uint32_t> id = parse_id(rest);
    if (!good || !id || *id == 0 || (job.task && job.het)) {
        return Error{
            Errc::usage,
            fmt::format("'{}' is no job id; valid: 123, 123_4 (array task), 123+1 (het component)", printable(text))};
    }
    job.id = *id;
    return job;
}

Result<ordered_json> find_report(const Config &config, const JobRef &job, std::optional<unsigned> restart) {
    const SpoolLayout spool{config.spool};
    const Result<std::vector<std::string>> names = list_directory(spool.reports());
    if (!names && (names.error().code != Errc::not_found || !list_directory(spool.root))) {
        return Error{Errc::unavailable, names.error().message};
    }
    const std::vector<std::string> nothing;
    std::set<unsigned> runs;
    std::optional<std::pair<unsigned, std::string>> best;
    const auto offer = [&](unsigned run, const std::string &name) {
        runs.insert(run);
        if (restart ? run == *restart : !best || run > best->first) {
            best.emplace(run, name);
        }
    };
    for (const std::string &name : names ? *names : nothing) {
        if (const std::optional<unsigned> run = restart_of(name, job.text())) {
            offer(*run, name);
        }
    }
    if (runs.empty() && (job.task || job.het)) { // without the links, only the files themselves tell
        for (const std::string &name : names ? *names : nothing) {
            if (name.starts_with(".") || !name.ends_with(suffix)) {
                continue;
            }
            const Result<ordered_json> report = read_report(spool.reports() + "/" + name);
            if (report && is_about(*report, job)) {
                offer(static_cast<unsigned>(whole(number(at(*report, "job"), "restart"))), name);
            }
        }
    }
    if (best) {
        return read_report(spool.reports() + "/" + best->second);
    }
    if (!runs.empty()) {
        return Error{Errc::no_answer, fmt::format("job {} has no report of restart {}; there are: {}", job.text(),
                                                  *restart, fmt::join(runs, ", "))};
    }
    const Result<std::string> reason = reason_without(config, spool, job);
    return reason ? Error{Errc::no_answer, *reason} : reason.error();
}

int exit_of_report(const ordered_json &report) {
    const std::string verdict = odd_json::text(report, "verdict");
    if (verdict == "clean") {
        return exit_status::done;
    }
    const bool open = verdict.empty() || verdict == "unusable" || verdict == "incomplete" || verdict == "no-traffic";
    return open ? exit_status::no_answer : exit_status::finding;
}

} // namespace fabric_check
