// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report_words.hpp"

#include "base/text.hpp"
#include "counters/table.hpp"
#include "report/odd_json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check {

namespace {

using nlohmann::ordered_json;
using odd_json::list;
using odd_json::text;

/// Of the paths in a text only the last components.
std::string without_folders(const std::string &text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool starts_word = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(';
        if (text[at] == '/' && starts_word) {
            const std::size_t end = std::min(text.find_first_of(":, ;)", at), text.size());
            at = text.rfind('/', end - 1);
            continue;
        }
        out += text[at];
    }
    return out;
}

std::string places(const ordered_json &because) {
    if (because.empty()) {
        return "a place the report does not name";
    }
    std::string out = text(because[0], "where");
    std::size_t others = 0;
    for (const ordered_json &one : because) {
        others += text(one, "where") != text(because[0], "where") ? 1 : 0;
    }
    return others > 0 ? fmt::format("{} and {} more", out, others) : out;
}

std::string first_unread(const ordered_json &report, bool missing) {
    for (const ordered_json &one : list(report, "unread")) {
        if (odd_json::flag(one, "missing", missing) == missing) {
            const std::string counter = text(one, "counter");
            return fmt::format("{}{}{}: {}", counter, counter.empty() ? "" : " of ", text(one, "where"),
                               short_reason(text(one, "reason")));
        }
    }
    return "the report does not say what";
}

/// Where the worst of that is, by the line's at=.
std::string rest_place(const ordered_json &report) {
    const std::string where = text(odd_json::at(report, "fields"), "at");
    return where.empty() ? where : ": " + where;
}

std::string rest_sentence(const ordered_json &report) {
    const std::string rest = text(report, "rest");
    if (rest.empty()) {
        return {};
    }
    return rest == "clean" ? " What could be read is clean, but that does not clear the fabric."
                           : fmt::format(" What could be read says {}{}.", rest, rest_place(report));
}

} // namespace

std::string verdict_sentence(const ordered_json &report) {
    const std::string verdict = text(report, "verdict");
    const ordered_json &because = list(report, "because");
    if (verdict == "clean" && text(report, "scope") == "host") {
        return "The hosts' ports were not the reason: everything that should be read there was read, and nothing that "
               "counts moved. Switches are not read on Ethernet.";
    }
    if (verdict == "clean") {
        return "The fabric was not the reason: everything that should be read was read, and nothing that counts moved.";
    }
    if (verdict == "physical") {
        const std::string hw = text(report, "hw");
        return fmt::format("A link is at fault: {}.{}", places(because),
                           hw == "pass"   ? " By its bit-error rate it is within the hardware's limit."
                           : hw == "fail" ? " Judged as hardware it fails, too."
                                          : "");
    }
    if (verdict == "pause-storm") {
        return fmt::format("A receiver stopped its senders: {}.", places(because));
    }
    if (verdict == "lossless-broken") {
        return fmt::format("Packets were dropped in a network that must not drop any: {}.", places(because));
    }
    if (verdict == "transport-retry") {
        return fmt::format("Packets had to be sent again, and no link shows why: {}.", places(because));
    }
    if (verdict == "routing-imbalance") {
        return fmt::format("Nothing is broken, but the forwarding tables led too much of this job over one cable: {}.",
                           places(because));
    }
    if (verdict == "congestion" && !because.empty() && text(because[0], "counter") != "hot") {
        return fmt::format("Nothing is broken, but senders were held back: {}.", places(because));
    }
    if (verdict == "congestion") {
        return fmt::format("Links were full: {}.", places(because));
    }
    if (verdict == "unusable") {
        return fmt::format("The counters cannot answer: {}.", first_unread(report, false)) + rest_sentence(report);
    }
    if (verdict == "incomplete") {
        return fmt::format("Not everything was read: {}.", first_unread(report, true)) + rest_sentence(report);
    }
    if (verdict == "no-traffic") {
        return "The job moved too little over the fabric to judge it.";
    }
    return "This version does not know that verdict.";
}

std::string counter_words(const std::string &counter) {
    if (counter == "width") {
        return "fewer lanes are in use than on the links beside it";
    }
    if (counter == "speed") {
        return "the link runs slower than those beside it";
    }
    if (counter == "pcie") {
        return "the card has fewer or slower PCI Express lanes than it should";
    }
    if (counter == "rail") {
        return "a port that should share the node's traffic does not";
    }
    if (counter == "state") {
        return "the port went down during the job";
    }
    const CounterInfo *info = find_counter(counter);
    return info != nullptr ? std::string(info->meaning) : std::string();
}

std::string hot_words(const std::string &cause) {
    if (cause == "routing") {
        return "the tables lead too many of the job's nodes over it";
    }
    if (cause == "capacity") {
        return "all links of its group were full";
    }
    if (cause == "others") {
        return "mostly other jobs' traffic";
    }
    if (cause == "incast") {
        return "its traffic leads to a host whose own port was full";
    }
    if (cause == "receiver") {
        return "the host behind it took all it can";
    }
    if (cause == "sender") {
        return "the host sent as fast as its link can";
    }
    return "filled by the job's own load";
}

std::string reason_words(const std::string &reason) {
    if (reason == "reset") {
        return "reset during the job: it went down, so what it counted is lost";
    }
    if (reason == "saturated") {
        return "saturated: it stands at its highest value and counts no further";
    }
    if (reason == "width changed") {
        return "read from fields of different width at start and end";
    }
    if (reason == "absent") {
        return "absent at both start and end, though this kind of port has it";
    }
    if (reason == "rebooted") {
        return "rebooted during the job";
    }
    return reason;
}

std::string short_reason(const std::string &reason) {
    constexpr std::size_t enough = 56;
    constexpr std::size_t short_tail = 32;
    const std::string plain = without_folders(reason);
    std::string head = plain.substr(0, std::min(plain.find(" ("), plain.find("; ")));
    if (head.size() > enough) {
        const auto blank = head.rfind(' ', enough);
        head.resize(blank == std::string::npos || blank < enough / 2 ? enough : blank);
    }
    // What the system said stands last: "...: Read-only file system".
    const auto colon = plain.rfind(": ");
    const std::string tail = colon == std::string::npos ? std::string() : plain.substr(colon + 2);
    const bool system = !tail.empty() && tail.size() <= short_tail && tail.find(')') == std::string::npos;
    if (system && head.size() < plain.size() && !head.ends_with(tail)) {
        return head.substr(0, std::min(head.size(), colon)) + "...: " + tail;
    }
    return head.size() == enough ? head + "..." : head;
}

const char *direction_words(const std::string &direction, bool of_job) {
    if (direction == "from")
        return of_job ? "services to the job" : "services to the nodes";
    if (direction == "to")
        return of_job ? "the job to services" : "the nodes to services";
    return of_job ? "inside the job" : "among the nodes";
}

std::string duration_words(double seconds) {
    constexpr double minute = 60, hour = 3600, day = 86400;
    if (!(seconds >= 2 * minute)) {
        return fmt::format("{:.0f} s", std::max(seconds, 0.0));
    }
    return seconds < 2 * hour ? fmt::format("{:.0f} min", seconds / minute)
           : seconds < 2 * day ? fmt::format("{:.0f} h", seconds / hour)
                               : fmt::format("{:.0f} days", seconds / day);
}

std::string with_commas(std::uint64_t value) {
    std::string digits = std::to_string(value);
    for (std::size_t at = digits.size(); at > 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string wrapped(const std::string &words, std::size_t columns, const std::string &first_indent,
                    const std::string &indent) {
    std::string out;
    std::string line = first_indent;
    bool empty = true;
    for (const std::string_view word : split(words, ' ')) {
        if (!empty && line.size() + 1 + word.size() > columns) {
            out += line + "\n";
            line = indent;
            empty = true;
        }
        line += empty ? "" : " ";
        line += word;
        empty = false;
    }
    return out + line + "\n";
}

} // namespace fabric_check
