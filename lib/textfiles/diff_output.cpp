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
        append(object, clean(prefix + std::string(name)), delta.value ? Json(*delta.value) : Json(nullptr));
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

std::string note_of(const DiffPort &port, const std::string &counter) {
    const auto at = port.notes.find(counter);
    return at == port.notes.end() ? std::string() : printable(at->second);
}

Json known_faults(const DiffPort &port) {
    Json list = Json::array();
    for (const KnownFault &fault : port.known) {
        list.push_back(Json{{"counter", clean(fault.counter)},
                            {"delta", fault.delta ? Json(*fault.delta) : Json(nullptr)},
                            {"note", clean(fault.note)}});
    }
    return list;
}

Json live_details(const DiffPort &port) {
    Json list = Json::array();
    for (const LiveCounter &counter : port.verdict.live) {
        list.push_back(Json{{"counter", clean(counter.counter)},
                            {"delta", counter.delta},
                            {"layer", to_string(counter.layer)},
                            {"bar", counter.bar},
                            {"note", note_of(port, counter.counter)}});
    }
    return list;
}

void extend(Json &list, const Json &more) {
    list.insert(list.end(), more.begin(), more.end());
}

} // namespace

std::string diff_json(const Diff &diff) {
    const bool several = diff.ports.size() > 1;
    Json out{{"schema", "fabric-check/diff/1"},
             {"profile", profile_name(diff.profile)},
             {"verdict", diff.verdict},
             {"rest", diff.rest}};
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
                             {"counts", port.counts},
                             {"use", clean(port.use)},
                             {"kind", port.kind == PortKind::hca ? "hca" : "switch"},
                             {"driver", clean(port.driver)},
                             {"detail", names(port.verdict.detail(), "")},
                             {"live", live_names(port.verdict, "")},
                             {"live_details", live_details(port)},
                             {"unreadable", unreadable(port.verdict, "")},
                             {"known", known_faults(port)},
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

} // namespace fabric_check::textfiles
