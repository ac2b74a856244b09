// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report.hpp"

#include "base/text.hpp"
#include "counters/table.hpp"
#include "report/odd_json.hpp"
#include "report/report_words.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <exception>

namespace fabric_check {

namespace {

using nlohmann::ordered_json;
using odd_json::at;
using odd_json::flag;
using odd_json::list;
using odd_json::number;
using odd_json::text;

constexpr std::size_t columns = 100;
constexpr std::size_t findings_shown = 20;
constexpr std::size_t lines_shown = 30;
constexpr std::size_t bar_width = 30;

/// Numbers of odd JSON, kept within what the type holds.
std::uint64_t whole(double value) { return value > 0 ? static_cast<std::uint64_t>(std::min(value, 1e19)) : 0; }
std::int64_t seconds(double value) { return static_cast<std::int64_t>(std::clamp(value, -1e11, 1e11)); }

struct Style {
    const char *strong = "", *good = "", *bad = "", *open = "", *dim = "", *off = "";
    explicit Style(bool colour) {
        if (colour) {
            strong = "\x1b[1m";
            good = "\x1b[1;32m";
            bad = "\x1b[1;31m";
            open = "\x1b[1;33m";
            dim = "\x1b[2m";
            off = "\x1b[0m";
        }
    }
    const char *of(const std::string &verdict) const {
        if (verdict == "clean") {
            return good;
        }
        return verdict == "unusable" || verdict == "incomplete" || verdict == "no-traffic" ? open : bad;
    }
};

class Text {
public:
    Text(const ordered_json &report, bool colour) : report_(report), style_(colour), colour_(colour) {}

    std::string run() {
        if (!report_.is_object() || !at(report_, "verdict").is_string()) {
            return "This is no report: it has no verdict.\n";
        }
        header();
        verdict();
        findings("Because", at(report_, "because"), true);
        also_moved();
        lines("What to do next", list(report_, "advice"), true);
        hot();
        routes();
        lines("Routes that changed during the job", list(report_, "routes_changed"), false);
        unread();
        cover();
        lines("Notes", list(report_, "notes"), false);
        if (!text(report_, "line").empty()) {
            title("In the job's record");
            paragraph("  ", text(report_, "line"));
        }
        return std::move(out_);
    }

private:
    void title(const std::string &words) { out_ += fmt::format("\n{}{}{}\n", style_.strong, words, style_.off); }

    void paragraph(const std::string &indent, const std::string &words, const std::string &first = {}) {
        out_ += wrapped(words, columns, first.empty() ? indent : first, indent);
    }

    void header() {
        const ordered_json &job = at(report_, "job");
        std::string name = fmt::format("Job {:.0f}", number(job, "id"));
        if (at(job, "array_job_id").is_number()) {
            name += fmt::format(" ({:.0f}_{:.0f})", number(job, "array_job_id"), number(job, "array_task_id"));
        } else if (at(job, "het_job_id").is_number()) {
            name += fmt::format(" ({:.0f}+{:.0f})", number(job, "het_job_id"), number(job, "het_job_offset"));
        }
        if (!text(job, "name").empty()) {
            name += fmt::format(" \"{}\"", text(job, "name"));
        }
        out_ += fmt::format("{}{}{}", style_.strong, name, style_.off);
        for (const auto &[before, key] : {std::pair(" of ", "user"), std::pair(" in ", "partition"),
                                          std::pair(" on ", "cluster"), std::pair(": ", "state")}) {
            out_ += text(job, key).empty() ? std::string() : before + text(job, key);
        }
        out_ += "\n";
        if (number(job, "start") > 0) {
            out_ += fmt::format("{} to {}{}\n", format_time(seconds(number(job, "start"))),
                                format_time(seconds(number(job, "end"))),
                                number(job, "restart") > 0 ? fmt::format(", restart {:.0f}", number(job, "restart"))
                                                           : std::string());
        }
        paragraph("  ", fmt::format("{:.0f} {}: {}", number(job, "node_count"),
                                    number(job, "node_count") == 1 ? "node" : "nodes", text(job, "nodes")), "  ");
    }

    void verdict() {
        const std::string word = text(report_, "verdict");
        out_ += fmt::format("\n{}{}{}\n", style_.of(word), word, style_.off);
        paragraph("  ", verdict_sentence(report_));
    }

    void finding(const ordered_json &one, bool with_layer) {
        const std::string counter = text(one, "counter");
        std::string what = counter;
        if (counter == "hot") {
            what = fmt::format("{:.0f} % full", number(one, "delta"));
        } else if (number(one, "delta") > 0) {
            what += " +" + with_commas(whole(number(one, "delta")));
        }
        out_ += fmt::format("  {}{}{}  {}{}\n", style_.strong, text(one, "where"), style_.off, what,
                            with_layer ? fmt::format("  ({})", text(one, "layer")) : std::string());
        std::string words = counter_words(counter);
        const std::string end = text(one, "read_at");
        if (!end.empty() && end != text(one, "where") && counter != "hot") {
            words += fmt::format("{}counted at {}", words.empty() ? "" : "; ", end);
        }
        if (!text(one, "note").empty()) {
            words += fmt::format("{}{}", words.empty() ? "" : "; ", text(one, "note"));
        }
        if (!words.empty()) {
            paragraph("      ", words);
        }
    }

    void findings(const std::string &words, const ordered_json &all, bool leading) {
        if (!all.is_array() || all.empty()) {
            return;
        }
        title(words);
        std::size_t shown = 0;
        for (const ordered_json &one : all) {
            if (shown++ == findings_shown) {
                out_ += fmt::format("  and {} more; --json lists them all\n", all.size() - findings_shown);
                break;
            }
            finding(one, !leading);
        }
    }

    void also_moved() {
        const ordered_json &because = list(report_, "because");
        ordered_json others = ordered_json::array();
        for (const ordered_json &one : list(report_, "live")) {
            const bool said = std::any_of(because.begin(), because.end(), [&](const ordered_json &known) {
                return text(known, "where") == text(one, "where") && text(known, "counter") == text(one, "counter") &&
                       text(known, "read_at") == text(one, "read_at");
            });
            if (!said && text(one, "counter") != "hot") { // full cables have their own place below
                others.push_back(one);
            }
        }
        findings(because.empty() ? "What moved" : "What moved besides", others, false);
    }

    void lines(const std::string &words, const ordered_json &all, bool numbered) {
        if (all.empty()) {
            return;
        }
        title(words);
        std::size_t shown = 0;
        for (const ordered_json &one : all) {
            if (shown++ == lines_shown) {
                out_ += fmt::format("  and {} more; --json lists them all\n", all.size() - lines_shown);
                break;
            }
            if (one.is_string()) {
                const std::string mark = numbered ? fmt::format("  {}. ", shown) : std::string("  - ");
                paragraph(std::string(mark.size(), ' '), printable(one.get<std::string>()), mark);
            }
        }
    }

    void hot() {
        const ordered_json &all = list(report_, "hot");
        if (all.empty()) {
            return;
        }
        title("Full cables");
        std::size_t shown = 0;
        for (const ordered_json &one : all) {
            if (shown++ == findings_shown) {
                out_ += fmt::format("  and {} more; --json lists them all\n", all.size() - findings_shown);
                break;
            }
            const double share = number(one, "share");
            out_ += fmt::format("  {:<28} {}{:>4.0f} %{} {:<{}}  this job: at most {:.0f} %\n", text(one, "where"),
                                style_.bad, share * 100, style_.off, bar(share, 1), bar_width, number(one, "own") * 100);
            paragraph("      ", hot_words(text(one, "cause")) + ", sent by " + text(one, "sender") +
                                    (flag(one, "by_wait", false) ? "; it holds most of its group's waiting" : ""));
        }
    }

    static std::string bytes(double value) {
        return human_bytes(whole(value));
    }

    static std::string bar(double value, double most) {
        const double part = most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0;
        return std::string(static_cast<std::size_t>(std::lround(part * static_cast<double>(bar_width))), '#');
    }

    void routes() {
        const ordered_json &routes = at(report_, "routes");
        if (!routes.is_object()) {
            return;
        }
        out_ += "\n";
        out_ += routes_text(routes, colour_);
        for (const ordered_json &group : list(routes, "groups")) {
            if (measured(group)) {
                break; // the worst group that anything went through
            }
        }
        const ordered_json &before = at(report_, "routes_start");
        if (before.is_object()) {
            title("Routes at the start of the job");
            out_ += routes_text(before, colour_);
        }
    }

    bool measured(const ordered_json &group) {
        const ordered_json &ports = list(group, "ports");
        double most = 0;
        for (const ordered_json &port : ports) {
            most = std::max(most, number(port, "xmit_bytes"));
        }
        if (most <= 0) {
            return false;
        }
        const bool spread = at(group, "spread").is_number();
        title(fmt::format("Measured over {}{}", text(group, "name"),
                          spread ? fmt::format(": the busiest carried {:.1f} times the mean", number(group, "spread"))
                                 : std::string()));
        for (const ordered_json &port : ports) {
            const double sent = number(port, "xmit_bytes");
            const bool known = at(port, "xmit_bytes").is_number();
            out_ += fmt::format("  {:<28} {:>9}  {}\n", text(port, "link"),
                                known ? bytes(sent) : "not read",
                                sent > 0 ? bar(sent, most) : fmt::format("{}idle{}", style_.dim, style_.off));
        }
        return true;
    }

    void unread() {
        const ordered_json &all = list(report_, "unread");
        if (all.empty()) {
            return;
        }
        title("What could not be read");
        std::size_t shown = 0;
        for (const ordered_json &one : all) {
            if (shown++ == findings_shown) {
                out_ += fmt::format("  and {} more; --json lists them all\n", all.size() - findings_shown);
                break;
            }
            const std::string counter = text(one, "counter");
            const std::string end = text(one, "read_at");
            paragraph("      ", fmt::format("{}{}{}{}: {}", text(one, "where"), counter.empty() ? "" : "  ", counter,
                                            end.empty() ? "" : " at " + end, reason_words(text(one, "reason"))),
                      "  ");
        }
    }

    void cover() {
        const ordered_json &cover = at(report_, "cover");
        title("Cover");
        paragraph("  ", fmt::format("{:.0f} of {:.0f} nodes and {:.0f} of {:.0f} ports were read at both sides of the "
                                    "job; its nodes sent {} and received {}.",
                                    number(cover, "nodes_seen"), number(cover, "nodes_expected"),
                                    number(cover, "ports_seen"), number(cover, "ports_expected"),
                                    bytes(number(report_, "bytes_moved")), bytes(number(report_, "bytes_received"))));
        const ordered_json &missing = list(cover, "missing");
        if (!missing.empty()) {
            std::string names;
            std::size_t shown = 0;
            for (const ordered_json &one : missing) {
                if (shown++ == lines_shown) {
                    names += fmt::format(" and {} more", missing.size() - lines_shown);
                    break;
                }
                names += (names.empty() ? "" : ", ") + (one.is_string() ? printable(one.get<std::string>()) : "?");
            }
            paragraph("  ", "Missing: " + names);
        }
        const ordered_json &shared = list(report_, "shared_with");
        if (!shared.empty()) {
            std::string ids;
            for (std::size_t i = 0; i < shared.size() && i < lines_shown; ++i) {
                ids += (ids.empty() ? "" : ", ") + shared[i].dump();
            }
            paragraph("  ", fmt::format("Other jobs on its nodes meanwhile: {}{}", ids,
                                        shared.size() > lines_shown ? ", ..." : ""));
        }
    }

    const ordered_json &report_;
    Style style_;
    bool colour_;
    std::string out_;
};

} // namespace

std::string report_text(const ordered_json &report, bool colour) {
    try {
        return Text(report, colour).run();
    } catch (const std::exception &error) {
        return fmt::format("This report cannot be shown: {}\n", error.what());
    }
}

} // namespace fabric_check
