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

std::string profile_name(std::optional<Profile> profile) {
    return profile ? std::string(to_string(*profile)) : "mixed";
}

/// What there is to say of a link; nullptr: `counter` is a counter.
const Finding *link_finding(const DiffPort &port, const std::string &counter) {
    const auto at = std::find_if(port.links.begin(), port.links.end(),
                                 [&](const Finding &finding) { return finding.counter == counter; });
    return at == port.links.end() ? nullptr : &*at;
}

Json live_details(const DiffPort &port) {
    Json list = Json::array();
    for (const LiveCounter &counter : port.verdict.live) {
        const Finding *link = link_finding(port, counter.counter);
        list.push_back(Json{{"counter", clean(counter.counter)},
                            {"delta", counter.delta},
                            {"layer", to_string(counter.layer)},
                            {"bar", counter.bar},
                            {"note", link != nullptr ? clean(link->note) : std::string()}});
    }
    return list;
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

std::string bytes_text(const DiffPort &port) {
    if (port.bytes) {
        return human_bytes(*port.bytes) + " moved";
    }
    return *port.no_bytes == '\0' ? "bytes not known" : fmt::format("bytes not known ({})", port.no_bytes);
}

std::string bar_text(const LiveCounter &counter) {
    return counter.bar == "0" ? "more than 0" : fmt::format("over {}", counter.bar);
}

std::string counter_text(const std::string &name, const std::string &value, const std::string &judged) {
    const std::string_view meaning = meaning_of(name);
    return fmt::format("  {:<28} {:>14}  {}{}{}\n", printable(name), value, judged, meaning.empty() ? "" : ": ", meaning);
}

std::string port_text(const DiffPort &port) {
    std::string out = fmt::format("{}: {}, {}, judged as {} ({})\n", port.port.empty() ? "port" : printable(port.port),
                                  port.verdict.word(), bytes_text(port), to_string(port.profile), port.profile_from);
    for (const LiveCounter &counter : port.verdict.live) {
        if (const Finding *link = link_finding(port, counter.counter)) {
            out += fmt::format("  {:<28} {:>14}  physical: {}\n", counter.counter, "", printable(link->note));
            continue;
        }
        out += counter_text(counter.counter, fmt::format("+{}", counter.delta),
                            fmt::format("{} ({})", to_string(counter.layer), bar_text(counter)));
    }
    for (const Unread &counter : port.verdict.unread) {
        out += counter_text(counter.counter, "?", counter.reason);
    }
    const auto listed = [&port](const std::string &name) {
        return std::any_of(port.verdict.live.begin(), port.verdict.live.end(),
                           [&](const LiveCounter &counter) { return counter.counter == name; }) ||
               std::any_of(port.verdict.unread.begin(), port.verdict.unread.end(),
                           [&](const Unread &counter) { return counter.counter == name; });
    };
    std::size_t unknown = 0;
    for (const auto &[name, delta] : port.deltas) {
        if (!delta.value || *delta.value == 0 || is_traffic(name) || listed(name)) {
            continue;
        }
        const CounterInfo *row = find_counter(name);
        if (row == nullptr) {
            ++unknown;
        } else {
            const bool below = row->graded(port.profile) && port.verdict.outcome != Outcome::incomplete;
            out += counter_text(name, fmt::format("+{}", *delta.value), below ? "below its bar" : "not judged");
        }
    }
    if (unknown > 0) {
        out += fmt::format("  {} more that moved are not known here: see --json\n", unknown);
    }
    return out;
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
                             {"profile", to_string(port.profile)},
                             {"profile_from", port.profile_from},
                             {"kind", port.kind == PortKind::hca ? "hca" : "switch"},
                             {"driver", clean(port.driver)},
                             {"detail", names(port.verdict.detail(), "")},
                             {"live", live_names(port.verdict, "")},
                             {"live_details", live_details(port)},
                             {"unreadable", unreadable(port.verdict, "")},
                             {"bytes", number(port.bytes)},
                             {"sent", number(port.sent)},
                             {"received", number(port.received)},
                             {"bytes_unknown", port.no_bytes},
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
    out["next"] = next_steps(diff);
    out["problems"] = std::move(problems);
    return out.dump(2) + "\n";
}

std::string diff_text(const Diff &diff, bool colour) {
    constexpr std::size_t most = 8;
    std::string detail;
    std::size_t count = 0;
    for (const DiffPort &port : diff.ports) {
        for (const std::string &counter : blamed(port, diff.verdict)) {
            if (++count <= most) {
                detail += fmt::format("{}{}{}", detail.empty() ? "" : ", ",
                                      diff.ports.size() > 1 ? printable(port.port) + " " : "", printable(counter));
            }
        }
    }
    if (count > most) {
        detail += fmt::format(", and {} more", count - most);
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
    for (const std::string &step : next_steps(diff)) {
        out += "Next: " + step + "\n";
    }
    return out;
}

} // namespace fabric_check::textfiles
