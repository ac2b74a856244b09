// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/parts.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "record/spool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <unistd.h>

namespace fabric_check {

namespace {

constexpr std::string_view suffix = ".json";
constexpr std::size_t most_named = 8;

/// "9_4.0.json" of 9 and '_' -> 4.
std::optional<std::uint64_t> part_of(std::string_view name, const std::string &head) {
    if (!name.starts_with(head) || !name.ends_with(suffix)) {
        return std::nullopt;
    }
    const std::string_view rest = name.substr(head.size());
    return parse_u64(rest.substr(0, rest.find('.')));
}

/// The part whose raw id is the job's own: its alias is a link to JOBID.RESTART.json.
std::string own_part(const std::string &directory, const std::vector<std::string> &names, const JobRef &job) {
    for (const std::string &name : names) {
        char target[64];
        const ssize_t length = ::readlink((directory + "/" + name).c_str(), target, sizeof target);
        if (length > 0 && std::string_view(target, static_cast<std::size_t>(length)).starts_with(job.text() + ".")) {
            return name.substr(0, name.find('.'));
        }
    }
    return {};
}

} // namespace

std::vector<std::string> parts_with_report(const Config &config, const JobRef &job) {
    std::vector<std::string> out;
    if (job.task || job.het) {
        return out;
    }
    const auto names = list_directory(SpoolLayout{config.spool}.reports());
    if (!names) {
        return out;
    }
    for (const char mark : {'_', '+'}) {
        std::set<std::uint64_t> parts;
        for (const std::string &name : *names) {
            if (const auto part = part_of(name, job.text() + mark)) {
                parts.insert(*part);
            }
        }
        for (const std::uint64_t part : parts) {
            out.push_back(fmt::format("{}{}{}", job.text(), mark, part));
        }
    }
    return out;
}

std::string describe_parts(const Config &config, const JobRef &job) {
    std::vector<std::string> parts = parts_with_report(config, job);
    if (parts.empty()) {
        return {};
    }
    const bool het = parts.front().find('+') != std::string::npos;
    const std::string directory = SpoolLayout{config.spool}.reports();
    std::vector<std::string> links;
    if (const auto names = list_directory(directory)) {
        std::copy_if(names->begin(), names->end(), std::back_inserter(links), [&job](const std::string &name) {
            return name.starts_with(job.text() + "_") || name.starts_with(job.text() + "+");
        });
    }
    const std::string own = own_part(directory, links, job);
    std::erase(parts, own);
    if (parts.empty()) {
        return {};
    }
    std::string others = "fabric-check report " + parts.front();
    for (std::size_t i = 1; i < parts.size() && i < most_named; ++i) {
        others += ", " + parts[i];
    }
    if (parts.size() > most_named) {
        others += fmt::format(" and {} more, to {}", parts.size() - most_named, parts.back());
    }
    const char *kind = het ? "a heterogeneous job" : "an array";
    if (own.empty()) {
        return fmt::format("job {} is {}, with a report for each part: {}", job.text(), kind, others);
    }
    return fmt::format("job {} is {}; this is the report of {} alone, the others are: {}", job.text(), kind, own, others);
}

} // namespace fabric_check
