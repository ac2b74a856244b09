// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "textfiles/diff_kind.hpp"
#include "textfiles/diff_port.hpp"
#include "textfiles/diff_ruling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace fabric_check::textfiles {

namespace {

using ByName = std::map<std::string, const PortCounters *>;

ByName by_name(const Loaded &loaded) {
    ByName ports;
    for (const PortCounters &port : loaded.ports) {
        ports.emplace(port.port, &port);
    }
    return ports;
}

std::optional<std::uint64_t> all_bytes(const std::vector<DiffPort> &ports) {
    std::uint64_t sum = 0;
    for (const DiffPort &port : ports) {
        if (port.counts && (!port.bytes || __builtin_add_overflow(sum, *port.bytes, &sum))) {
            return std::nullopt;
        }
    }
    return sum;
}

/// "node07/" when all names of a side begin with it.
std::string shared_directory(const ByName &ports) {
    const auto slash = ports.begin()->first.find('/');
    const std::string directory = ports.begin()->first.substr(0, slash == std::string::npos ? 0 : slash + 1);
    const bool all =
        std::all_of(ports.begin(), ports.end(), [&](const auto &port) { return port.first.starts_with(directory); });
    return all ? directory : std::string();
}

ByName without(const ByName &ports, const std::string &directory) {
    ByName shorter;
    for (const auto &[name, port] : ports) {
        shorter.emplace(name.substr(directory.size()), port);
    }
    return shorter;
}

std::vector<PortPair> pair_ports(const Loaded &before, const Loaded &after, std::string &renamed) {
    if (before.ports.size() == 1 && after.ports.size() == 1) {
        const PortCounters &a = before.ports.front(), &b = after.ports.front();
        if (!a.port.empty() && !b.port.empty() && a.port != b.port) {
            renamed = "the files name different ports, " + a.port + " and " + b.port + ": compared all the same";
        }
        return {{b.port.empty() ? a.port : b.port, &a, &b}};
    }
    ByName first = by_name(before), second = by_name(after);
    const bool any =
        std::any_of(first.begin(), first.end(), [&](const auto &port) { return second.contains(port.first); });
    if (!any && !first.empty() && !second.empty()) {
        const std::string a = shared_directory(first), b = shared_directory(second);
        if (!a.empty() || !b.empty()) {
            renamed = fmt::format("the sides name different places, \"{}\" and \"{}\": compared all the same",
                                  printable(a), printable(b));
            first = without(first, a);
            second = without(second, b);
        }
    }
    std::set<std::string> names;
    for (const ByName *side : {&first, &second}) {
        for (const auto &[name, port] : *side) {
            names.insert(name);
        }
    }
    std::vector<PortPair> pairs;
    for (const std::string &name : names) {
        const auto a = first.find(name), b = second.find(name);
        pairs.push_back({name, a != first.end() ? a->second : nullptr, b != second.end() ? b->second : nullptr});
    }
    return pairs;
}

/// Of the ports that count; nullopt: they differ.
std::optional<Profile> common_profile(const std::vector<DiffPort> &ports) {
    std::optional<Profile> common;
    for (const DiffPort &port : ports) {
        if (port.counts && common && *common != port.profile) {
            return std::nullopt;
        }
        common = port.counts ? port.profile : common;
    }
    return common;
}

} // namespace

Status check_inputs(const std::string &before, const std::string &after) {
    const auto is_input = [](const std::string &path) { return path == standard_input; };
    const auto look = [&](const std::string &path, struct stat &info) {
        return (is_input(path) ? ::fstat(STDIN_FILENO, &info) : ::stat(path.c_str(), &info)) == 0;
    };
    struct stat a {
    }, b{}, input{};
    const bool same = look(before, a) && look(after, b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    const bool again = S_ISREG(a.st_mode) || S_ISDIR(a.st_mode); // opened by name it is read from its start
    if (!(is_input(before) && is_input(after)) && (!same || again)) {
        return {};
    }
    const bool from_input =
        is_input(before) || is_input(after) ||
        (::fstat(STDIN_FILENO, &input) == 0 && input.st_dev == a.st_dev && input.st_ino == a.st_ino);
    return Error{Errc::usage, from_input ? "diff: BEFORE and AFTER cannot both be standard input"
                                         : "diff: BEFORE and AFTER are the same pipe: " + printable(before)};
}

Status check_order(const Loaded &before, const Loaded &after) {
    const ByName first = by_name(before), second = by_name(after);
    const bool only = before.ports.size() == 1 && after.ports.size() == 1;
    for (const auto &[name, port] : second) {
        const auto other = only ? first.begin() : first.find(name);
        if (other != first.end() && other->second->time_ns != 0 && port->time_ns != 0 &&
            port->time_ns < other->second->time_ns) {
            return Error{Errc::usage, fmt::format("AFTER is older than BEFORE: swap them ({} was taken {}, {} {})",
                                                  before.path, format_time(other->second->time_ns / 1'000'000'000),
                                                  after.path, format_time(port->time_ns / 1'000'000'000))};
        }
    }
    return {};
}

Diff diff(const Loaded &before, const Loaded &after, const DiffOptions &options) {
    Diff result;
    for (const Loaded *side : {&before, &after}) {
        for (const TextProblem &problem : side->problems) {
            result.problems.push_back(problem.text());
        }
    }
    std::string renamed;
    const std::vector<PortPair> pairs = pair_ports(before, after, renamed);
    const std::set<std::string> of_switches = switches(before, after);
    for (const PortPair &pair : pairs) {
        result.ports.push_back(judge_pair(pair, options, of_switches));
    }
    const bool other =
        std::any_of(result.ports.begin(), result.ports.end(), [](const DiffPort &port) { return port.other; });
    if (!renamed.empty() && !other) {
        result.problems.push_back(std::move(renamed));
    }
    for (const DiffPort &port : result.ports) {
        if (port.rebooted) {
            result.problems.push_back(fmt::format("{}: the host rebooted between the readings (their boot ids differ): "
                                                  "its counters began anew",
                                                  port.port));
        }
    }
    choose_ports(pairs, options, result.ports);
    result.profile = common_profile(result.ports);
    result.bytes = options.bytes ? options.bytes : all_bytes(result.ports);
    rule_over_ports(result);
    return result;
}

int exit_code(const Diff &diff) noexcept {
    if (diff.verdict == "clean") {
        return exit_status::done;
    }
    const bool no_answer = diff.verdict == "unusable" || diff.verdict == "incomplete" || diff.verdict == "no-traffic";
    return no_answer ? exit_status::no_answer : exit_status::finding;
}

} // namespace fabric_check::textfiles
