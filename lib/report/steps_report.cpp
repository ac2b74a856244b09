// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/steps_report.hpp"

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "report/odd_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace fabric_check {

namespace {

using nlohmann::ordered_json;
using odd_json::at;
using odd_json::list;
using odd_json::number;
using odd_json::text;

constexpr std::size_t steps_shown = 30;
constexpr std::size_t widest_name = 24;

/// "10:02:00": the date stands in the job's heading.
std::string clock_of(double seconds) {
    if (seconds <= 0 || seconds > 1e11) {
        return "?";
    }
    const std::string all = format_local_time(static_cast<std::int64_t>(seconds));
    return all.size() == std::string_view("2026-02-28T23:59:59+01:00").size() ? all.substr(11, 8) : all;
}

/// What the verdict rests on, in a few words.
std::string reason_of(const ordered_json &step) {
    const ordered_json &because = list(step, "because");
    if (!because.empty()) {
        const ordered_json &first = because.front();
        return fmt::format("{} {} +{:.0f}{}", text(first, "where"), text(first, "counter"), number(first, "delta"),
                           because.size() > 1 ? fmt::format(" (+{})", because.size() - 1) : std::string());
    }
    const std::string verdict = text(step, "verdict");
    const ordered_json &unread = list(step, "unread");
    if (unread.empty() || (verdict != "unusable" && verdict != "incomplete")) {
        return {};
    }
    const ordered_json &first = unread.front();
    const std::string counter = text(first, "counter");
    return fmt::format("{}{}{}: {}", text(first, "where"), counter.empty() ? "" : " ", counter, text(first, "reason"));
}

} // namespace

ordered_json steps_json(const std::vector<StepVerdict> &steps) {
    ordered_json out = ordered_json::array();
    for (const StepVerdict &step : steps) {
        ordered_json one;
        one["id"] = step.id;
        one["name"] = step.name;
        one["start"] = step.start;
        one["end"] = step.end != 0 ? ordered_json(step.end) : ordered_json();
        one["nodes"] = fold_hostlist(step.nodes);
        one["node_count"] = step.node_count;
        one["verdict"] = step.verdict;
        one["rest"] = step.rest.empty() ? ordered_json() : ordered_json(step.rest);
        one["because"] = findings_json(step.because);
        one["live"] = findings_json(step.live);
        one["unread"] = unread_json(step.unread);
        one["bytes_moved"] = step.bytes_moved;
        one["bytes_received"] = step.bytes_received;
        out.push_back(std::move(one));
    }
    return out;
}

std::string steps_text(const ordered_json &report) {
    std::string out;
    std::size_t shown = 0;
    const ordered_json &steps = list(report, "steps");
    for (const ordered_json &step : steps) {
        if (shown++ == steps_shown) {
            out += fmt::format("  and {} more; --json lists them all\n", steps.size() - steps_shown);
            break;
        }
        const std::string name = text(step, "name").substr(0, widest_name);
        out += fmt::format("  {:<12} {:<{}} {}-{}  {:>3.0f} {}  {:>8}  {}\n", text(step, "id"), name, widest_name,
                           clock_of(number(step, "start")), clock_of(number(step, "end")), number(step, "node_count"),
                           number(step, "node_count") == 1 ? "node " : "nodes",
                           human_bytes(static_cast<std::uint64_t>(
                               std::clamp(number(step, "bytes_moved") + number(step, "bytes_received"), 0.0, 1e19)), " "),
                           text(step, "verdict"));
        if (const std::string reason = reason_of(step); !reason.empty()) {
            out += fmt::format("      {}\n", reason);
        }
    }
    if (!out.empty()) {
        out += "  Bytes sent and received, by the nodes' own ports: no switch is read at a step's ends.\n";
    }
    return out;
}

} // namespace fabric_check
