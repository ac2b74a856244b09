// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "textfiles/diff.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace fabric_check::textfiles {

namespace {

using Json = nlohmann::ordered_json;

/// JSON takes UTF-8 only, and files hold what they like.
std::string clean(const std::string &text) {
    return printable(text);
}

Json names(const std::vector<std::string> &counters, const std::string &prefix) {
    Json list = Json::array();
    for (const std::string &counter : counters) {
        list.push_back(clean(prefix + counter));
    }
    return list;
}

Json live_names(const PortVerdict &verdict, const std::string &prefix) {
    Json list = Json::array();
    for (const LiveCounter &counter : verdict.live) {
        list.push_back(clean(prefix + counter.counter));
    }
    return list;
}

Json unreadable(const PortVerdict &verdict, const std::string &prefix) {
    Json list = Json::array();
    for (const Unread &counter : verdict.unread) {
        list.push_back(Json{{"counter", clean(prefix + counter.counter)}, {"reason", counter.reason}});
    }
    return list;
}

/// Names are distinct already: looking each one up again would take the square of 100,000 counters.
void append(Json &object, std::string key, Json value) {
    object.get_ref<Json::object_t &>().emplace_back(std::move(key), std::move(value));
}

void append(Json &object, const Deltas &all, const std::string &prefix) {
    for (const auto &[name, delta] : all) {
        append(object, clean(prefix + name), delta.value ? Json(*delta.value) : Json(nullptr));
    }
}

Json deltas(const Deltas &all) {
    Json object = Json::object();
    append(object, all, "");
    return object;
}

Json number(const std::optional<std::uint64_t> &value) {
    return value ? Json(*value) : Json(nullptr);
}

const char *profile_name(Profile profile) noexcept {
    return profile == Profile::ib ? "ib" : "roce";
}

/// Counters of the overall verdict: of the ports that share its word, or have live counters of its layer.
std::vector<std::string> blamed(const DiffPort &port, const std::string &verdict) {
    if (port.verdict.word() == verdict) {
        return port.verdict.detail();
    }
    std::vector<std::string> found;
    for (const LiveCounter &counter : port.verdict.live) {
        if (to_string(counter.layer) == verdict) {
            found.push_back(counter.counter);
        }
    }
    return found;
}

void extend(Json &list, const Json &more) {
    list.insert(list.end(), more.begin(), more.end());
}

std::string_view meaning_of(const std::string &counter) {
    const CounterInfo *row = find_counter(counter);
    return row != nullptr ? row->meaning : std::string_view();
}

/// Counters that only tell how much was moved say nothing about faults.
bool is_traffic(const std::string &counter) {
    const CounterInfo *row = find_counter(counter);
    return row != nullptr && (row->unit == Unit::octets_div_4 || row->unit == Unit::octets ||
                              (row->unit == Unit::packets && row->source != CounterSource::hw_counters));
}

std::string port_text(const DiffPort &port) {
    std::string out = fmt::format("{}: {}", port.port.empty() ? "port" : printable(port.port), port.verdict.word());
    out += port.bytes ? fmt::format(", {} moved\n", human_bytes(*port.bytes)) : ", bytes not known\n";
    const auto live = [&](const std::string &name) {
        return std::any_of(port.verdict.live.begin(), port.verdict.live.end(),
                           [&](const LiveCounter &counter) { return counter.counter == name; });
    };
    for (const auto &[name, delta] : port.deltas) {
        if (delta.value && *delta.value > 0 && !is_traffic(name)) {
            const CounterInfo *row = find_counter(name);
            const std::string_view layer = live(name) && row != nullptr ? to_string(row->layer) : "not judged";
            out += fmt::format("  {:<28} {:>12}  {:<16} {}\n", printable(name), fmt::format("+{}", *delta.value), layer,
                               meaning_of(name));
        }
    }
    for (const Unread &counter : port.verdict.unread) {
        out += fmt::format("  {:<28} {:>12}  {:<16} {}\n", printable(counter.counter), "?", counter.reason,
                           meaning_of(counter.counter));
    }
    return out;
}

std::string advice(const std::string &verdict) {
    if (verdict == "unusable") {
        return "Counters that were reset or stand at their cap say nothing. Take both readings again.\n";
    }
    if (verdict == "incomplete") {
        return "Counters that the profile needs were not read on both sides: take both readings with the same tools.\n";
    }
    if (verdict == "no-traffic") {
        return "No traffic, no evidence: move data between the readings.\n";
    }
    return {};
}

} // namespace

std::string diff_json(const Diff &diff) {
    const bool several = diff.ports.size() > 1;
    Json out{{"schema", "fabric-check/diff/1"}, {"profile", profile_name(diff.profile)}, {"verdict", diff.verdict}};
    Json detail = Json::array(), live = Json::array(), unread = Json::array(), all = Json::object(),
         ports = Json::array(), problems = Json::array();
    for (const DiffPort &port : diff.ports) {
        const std::string prefix = several ? port.port + " " : "";
        extend(detail, names(blamed(port, diff.verdict), prefix));
        extend(live, live_names(port.verdict, prefix));
        extend(unread, unreadable(port.verdict, prefix));
        append(all, port.deltas, prefix);
        ports.push_back(Json{{"port", clean(port.port)},
                             {"verdict", port.verdict.word()},
                             {"detail", names(port.verdict.detail(), "")},
                             {"live", live_names(port.verdict, "")},
                             {"unreadable", unreadable(port.verdict, "")},
                             {"bytes", number(port.bytes)},
                             {"deltas", deltas(port.deltas)}});
    }
    for (const std::string &problem : diff.problems) {
        problems.push_back(clean(problem));
    }
    out["detail"] = std::move(detail);
    out["live"] = std::move(live);
    out["unreadable"] = std::move(unread);
    out["bytes"] = number(diff.bytes);
    out["deltas"] = std::move(all);
    out["ports"] = std::move(ports);
    out["problems"] = std::move(problems);
    return out.dump(2) + "\n";
}

std::string diff_text(const Diff &diff, bool colour) {
    std::string detail;
    for (const DiffPort &port : diff.ports) {
        for (const std::string &counter : blamed(port, diff.verdict)) {
            detail += fmt::format("{}{}{}", detail.empty() ? "" : ", ",
                                  diff.ports.size() > 1 ? printable(port.port) + " " : "", printable(counter));
        }
    }
    const char *start = !colour                   ? ""
                        : diff.verdict == "clean" ? "\033[32m"
                        : exit_code(diff) == 1    ? "\033[31m"
                                                  : "\033[33m";
    std::string out =
        fmt::format("{}{}{}{}{}\n", start, diff.verdict, colour ? "\033[0m" : "", detail.empty() ? "" : ": ", detail);
    for (const DiffPort &port : diff.ports) {
        out += port_text(port);
    }
    return out + advice(diff.verdict);
}

} // namespace fabric_check::textfiles
