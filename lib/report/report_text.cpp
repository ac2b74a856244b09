// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/report.hpp"

#include "base/text.hpp"
#include "counters/table.hpp"
#include "report/fold_links.hpp"
#include "report/odd_json.hpp"
#include "report/report_words.hpp"
#include "report/routes_style.hpp"
#include "report/steps_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <set>
#include <sys/ioctl.h>
#include <unistd.h>

namespace fabric_check {

namespace {

using nlohmann::ordered_json;
using odd_json::at;
using odd_json::flag;
using odd_json::list;
using odd_json::number;
using odd_json::text;
using odd_json::whole;

constexpr std::size_t findings_shown = 20;
constexpr std::size_t lines_shown = 30;
constexpr std::size_t bar_most = 30, bar_least = 6;
constexpr std::size_t groups_shown = 12;
constexpr double considerable = 0.1; ///< of the bytes of the group that carried most
constexpr double similar = 0.1;      ///< shares of one entry

/// Numbers of odd JSON, kept within what the type holds.
std::int64_t seconds(double value) {
    return static_cast<std::int64_t>(std::clamp(value, -1e11, 1e11));
}

/// Verdicts stand out more than figures.
struct Style : RoutesStyle {
    const char *good = "", *open = "";
    explicit Style(bool colour) : RoutesStyle(colour) {
        if (colour) {
            good = "\x1b[1;32m";
            bad = "\x1b[1;31m";
            open = "\x1b[1;33m";
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
    Text(const ordered_json &report, bool colour, std::size_t columns)
        : report_(report), style_(colour), colour_(colour), columns_(columns) {}

    std::string run() {
        if (!report_.is_object() || !at(report_, "verdict").is_string()) {
            return "This is no report: it has no verdict.\n";
        }
        header();
        verdict();
        because();
        also_moved();
        if (const std::string steps = steps_text(report_); !steps.empty()) {
            title("Steps");
            out_ += steps;
        }
        lines("What to do next", list(report_, "advice"), true);
        hot();
        routes();
        lines("Routes that changed", list(report_, "routes_changed"), false);
        unread();
        cover();
        notes();
        if (!text(report_, "line").empty()) {
            title("In the job's record");
            paragraph("  ", text(report_, "line"));
        }
        return std::move(out_);
    }

private:
    void title(const std::string &words) { out_ += fmt::format("\n{}{}{}\n", style_.strong, words, style_.off); }

    void paragraph(const std::string &indent, const std::string &words, const std::string &first = {}) {
        out_ += wrapped(words, columns_, first.empty() ? indent : first, indent);
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
        for (const auto &[before, key] : {std::pair(" of user ", "user"), std::pair(", partition ", "partition"),
                                          std::pair(", cluster ", "cluster"), std::pair(": ", "state")}) {
            out_ += text(job, key).empty() ? std::string() : before + text(job, key);
        }
        out_ += "\n";
        if (number(job, "start") > 0) {
            out_ += fmt::format("{} to {}{}\n", format_local_time(seconds(number(job, "start"))),
                                format_local_time(seconds(number(job, "end"))),
                                number(job, "restart") > 0 ? fmt::format(", restart {:.0f}", number(job, "restart"))
                                                           : std::string());
        }
        if (number(job, "restart") > 0) {
            paragraph("  ", fmt::format("The run before: fabric-check report {:.0f} --restart {:.0f}", number(job, "id"),
                                        number(job, "restart") - 1));
        }
        paragraph("  ",
                  fmt::format("{:.0f} {}: {}", number(job, "node_count"),
                              number(job, "node_count") == 1 ? "node" : "nodes", text(job, "nodes")),
                  "  ");
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

    const ordered_json *hot_of(const ordered_json &finding) const {
        for (const ordered_json &one : list(report_, "hot")) {
            if (text(finding, "counter") == "hot" && text(finding, "where") == text(one, "where") &&
                text(finding, "read_at") == text(one, "sender")) {
                return &one;
            }
        }
        return nullptr;
    }

    void because() {
        ordered_json others = ordered_json::array();
        std::vector<const ordered_json *> full;
        for (const ordered_json &one : list(report_, "because")) {
            if (const ordered_json *cable = hot_of(one)) {
                full.push_back(cable);
                shown_.insert(cable);
            } else {
                others.push_back(one);
            }
        }
        findings("Because", others, true);
        if (others.empty() && !full.empty()) {
            title("Because");
        }
        cables(full);
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
        findings("What moved and is not judged", list(report_, "not_judged"), false);
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
        std::vector<const ordered_json *> full;
        for (const ordered_json &one : list(report_, "hot")) {
            if (!shown_.contains(&one)) {
                full.push_back(&one);
            }
        }
        if (!full.empty()) {
            title("Full cables");
            cables(full);
        }
    }

    static bool alike(const ordered_json &a, const ordered_json &b) {
        return text(a, "cause") == text(b, "cause") && text(a, "direction") == text(b, "direction") &&
               flag(a, "by_wait", false) == flag(b, "by_wait", false) &&
               std::abs(number(a, "share") - number(b, "share")) <= similar;
    }

    /// Hot links, those of one cause and a similar share in one entry.
    void cables(const std::vector<const ordered_json *> &all) {
        std::vector<std::vector<const ordered_json *>> entries;
        for (const ordered_json *one : all) {
            const auto same = std::find_if(entries.begin(), entries.end(),
                                           [one](const auto &entry) { return alike(*entry.front(), *one); });
            if (same != entries.end()) {
                same->push_back(one);
            } else {
                entries.push_back({one});
            }
        }
        std::size_t left = all.size();
        for (std::size_t i = 0; i < entries.size() && i < findings_shown; ++i) {
            cable(entries[i]);
            left -= entries[i].size();
        }
        if (left > 0) {
            out_ += fmt::format("  and {} more; --json lists them all\n", left);
        }
    }

    /// "94-97 %"
    static std::string percents(const std::vector<const ordered_json *> &links, const char *key) {
        const auto [low, high] = std::minmax_element(links.begin(), links.end(), [key](const auto *a, const auto *b) {
            return number(*a, key) < number(*b, key);
        });
        const std::string least = fmt::format("{:.0f}", std::clamp(number(**low, key) * 100, -1e6, 1e6));
        const std::string most = fmt::format("{:.0f}", std::clamp(number(**high, key) * 100, -1e6, 1e6));
        return least == most ? most + " %" : least + "-" + most + " %";
    }

    static std::string senders(const std::vector<const ordered_json *> &links) {
        const std::string first = text(*links.front(), "sender");
        if (links.size() == 1) {
            return ", sent by " + first;
        }
        const std::string name = first.substr(0, first.rfind(':'));
        const bool one = std::all_of(links.begin(), links.end(), [&name](const ordered_json *link) {
            const std::string sender = text(*link, "sender");
            return sender.substr(0, sender.rfind(':')) == name;
        });
        return one ? ", sent by " + name : std::string();
    }

    /// When it was so: the sampler's fullest interval, and how long in all.
    static std::string when(const std::vector<const ordered_json *> &links) {
        const ordered_json &first = *links.front();
        const std::string interval = text(first, "interval");
        if (interval.empty() || interval == "job") {
            return {};
        }
        const bool same = std::all_of(links.begin(), links.end(), [&interval](const ordered_json *link) {
            return text(*link, "interval") == interval;
        });
        std::string words = fmt::format("; {} {} UTC", same ? "fullest" : "the first fullest", interval);
        if (links.size() == 1 && at(first, "hot_seconds").is_number()) {
            words += fmt::format(", full for {:.0f} s in all", number(first, "hot_seconds"));
        }
        return words;
    }

    void cable(const std::vector<const ordered_json *> &links) {
        const ordered_json &first = *links.front();
        const double share = number(first, "share");
        const std::string name = links.size() == 1 ? text(first, "where") : fmt::format("{} links", links.size());
        const std::size_t room = bar_room(71);
        out_ += fmt::format("  {:<28} {}{:>9}{} {:<{}}  this job: at most {}\n", name, style_.bad,
                            percents(links, "share"), style_.off, bar(share, 1, room), room, percents(links, "own"));
        std::string words = hot_words(text(first, "cause")) + senders(links);
        const std::string direction = text(first, "direction");
        words += direction.empty() ? "" : fmt::format(" ({})", direction_words(direction));
        words += when(links);
        words += flag(first, "by_wait", false) ? "; it holds most of its group's waiting" : "";
        if (std::any_of(links.begin(), links.end(), [](const auto *one) { return number(*one, "share") > 1.005; })) {
            words += "; above the ceiling: the interval was too short to measure, or payload_ceilings is too low";
        }
        if (links.size() > 1) {
            std::vector<std::string> names;
            names.reserve(links.size());
            for (const ordered_json *one : links) {
                names.push_back(text(*one, "where"));
            }
            paragraph("      ", fold_links(names));
        }
        paragraph("      ", words);
    }

    std::size_t bar_room(std::size_t taken) const {
        return std::clamp(columns_ > taken ? columns_ - taken : 0, bar_least, bar_most);
    }

    static std::string bytes(double value) { return human_bytes(whole(value), " "); }

    static std::string bar(double value, double most, std::size_t room) {
        const double part = most > 0 ? std::clamp(value / most, 0.0, 1.0) : 0;
        return std::string(static_cast<std::size_t>(std::lround(part * static_cast<double>(room))), '#');
    }

    void routes() {
        const ordered_json &routes = at(report_, "routes");
        if (!routes.is_object()) {
            return;
        }
        out_ += "\n";
        out_ += routes_text(routes, colour_, columns_);
        all_measured(routes);
        const ordered_json &before = at(report_, "routes_start");
        if (before.is_object()) {
            title("Routes at the start of the job");
            out_ += routes_text(before, colour_, columns_);
        }
        if (const ordered_json &by_map = at(report_, "routes_map"); by_map.is_object()) {
            title("Routes by the map's tables, from which they had changed");
            out_ += routes_text(by_map, colour_, columns_);
        }
    }

    static double sum(const ordered_json &group, const char *key) {
        double all = 0;
        for (const ordered_json &port : list(group, "ports")) {
            all += std::max(0.0, number(port, key));
        }
        return all;
    }

    /// The worst group, and every other that carried a considerable part of what the busiest one did.
    void all_measured(const ordered_json &routes) {
        const ordered_json &worst = at(routes, "worst");
        std::vector<const ordered_json *> groups;
        double most = 0;
        for (const ordered_json &group : list(routes, "groups")) {
            groups.push_back(&group);
            most = std::max(most, sum(group, "xmit_bytes"));
        }
        const auto is_worst = [&worst](const ordered_json *group) {
            return text(*group, "name") == text(worst, "name") && text(*group, "direction") == text(worst, "direction");
        };
        std::stable_sort(groups.begin(), groups.end(), [&](const auto *a, const auto *b) {
            return is_worst(a) != is_worst(b) ? is_worst(a) : sum(*a, "xmit_bytes") > sum(*b, "xmit_bytes");
        });
        std::size_t shown = 0;
        std::size_t left = 0;
        std::set<std::string> switches; // one switch's links once, though two directions pass them
        for (const ordered_json *group : groups) {
            const double carried = sum(*group, "xmit_bytes");
            if (carried <= 0 || (!is_worst(group) && carried < considerable * most) ||
                !switches.insert(links_of(*group)).second) {
                continue;
            }
            if (shown == groups_shown) {
                ++left;
                continue;
            }
            measured(*group, carried);
            ++shown;
        }
        if (left > 0) {
            out_ += fmt::format("\n{} more {} carried a considerable part; --json lists them all.\n", left,
                                left == 1 ? "group" : "groups");
        }
    }

    static std::string links_of(const ordered_json &group) {
        std::string names;
        for (const ordered_json &port : list(group, "ports")) {
            names += text(port, "link") + " ";
        }
        return names;
    }

    void measured(const ordered_json &group, double carried) {
        const ordered_json &ports = list(group, "ports");
        double most = 0;
        double waited = sum(group, "xmit_wait");
        for (const ordered_json &port : ports) {
            most = std::max(most, number(port, "xmit_bytes"));
        }
        const bool spread = at(group, "spread").is_number();
        title(fmt::format("Measured over {}: {}{}", text(group, "name"), bytes(carried),
                          spread ? fmt::format(", the busiest link {:.1f} times the mean", number(group, "spread"))
                                 : std::string()));
        if (at(group, "hot_spread").is_number()) {
            out_ += fmt::format("  at {} UTC the busiest link carried {:.1f} times the mean\n", text(group, "hot_interval"),
                                number(group, "hot_spread"));
        }
        const std::size_t room = bar_room(58);
        for (const ordered_json &port : ports) {
            const double sent = number(port, "xmit_bytes");
            const bool known = at(port, "xmit_bytes").is_number();
            const std::string size = known ? bytes(sent) : "not read";
            std::string line = fmt::format("  {:<28} {:>9}  ", text(port, "link"), size);
            line += sent > 0
                        ? fmt::format("{:<{}}", bar(sent, most, room), room)
                        : fmt::format("{}idle{}{}", style_.dim, style_.off, std::string(room > 4 ? room - 4 : 0, ' '));
            if (waited > 0 && at(port, "xmit_wait").is_number()) {
                line +=
                    fmt::format("  {:>3.0f} % of wait", std::clamp(number(port, "xmit_wait") / waited, 0.0, 1.0) * 100);
            }
            line.resize(line.find_last_not_of(' ') + 1);
            out_ += line + "\n";
        }
    }

    void unread() {
        const ordered_json &all = list(report_, "unread");
        if (all.empty()) {
            return;
        }
        title("What could not be read");
        std::size_t shown = 0;
        std::set<std::string> explained;
        for (const ordered_json &one : all) {
            if (shown++ == findings_shown) {
                out_ += fmt::format("  and {} more; --json lists them all\n", all.size() - findings_shown);
                break;
            }
            const std::string counter = text(one, "counter");
            const std::string end = text(one, "read_at");
            paragraph("      ",
                      fmt::format("{}{}{}{}: {}", text(one, "where"), counter.empty() ? "" : "  ", counter,
                                  end.empty() ? "" : " at " + end, reason_words(text(one, "reason"))),
                      "  ");
            if (const std::string words = counter_words(counter); !words.empty() && explained.insert(counter).second) {
                paragraph("      ", fmt::format("({})", words));
            }
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
            const char *words = shared.size() == 1 ? "Another job on its nodes meanwhile: job {}{}; counters belong to "
                                                     "ports, not to jobs."
                                                   : "Other jobs on its nodes meanwhile: jobs {}{}; counters belong to "
                                                     "ports, not to jobs.";
            paragraph("  ",
                      printable(fmt::format(fmt::runtime(words), ids, shared.size() > lines_shown ? ", ..." : "")));
        }
    }

    /// Without those that say again why something could not be read.
    void notes() {
        ordered_json shown = ordered_json::array();
        for (const ordered_json &note : list(report_, "notes")) {
            const std::string words = note.is_string() ? note.get<std::string>() : std::string();
            const bool said = std::any_of(list(report_, "unread").begin(), list(report_, "unread").end(),
                                          [&words](const ordered_json &one) {
                                              const std::string reason = text(one, "reason");
                                              return reason.size() > 12 && words.ends_with(reason);
                                          });
            if (!said && !words.empty()) {
                shown.push_back(words);
            }
        }
        lines("Notes", shown, false);
    }

    const ordered_json &report_;
    Style style_;
    bool colour_;
    std::size_t columns_;
    std::set<const ordered_json *> shown_; ///< hot links that the verdict's reasons name already
    std::string out_;
};

} // namespace

std::size_t text_columns(int descriptor) noexcept {
    constexpr std::size_t least = 40;
    constexpr std::size_t most = 160;
    constexpr std::size_t most_asked = 500;
    winsize size{};
    if (::isatty(descriptor) != 1 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        const char *asked = std::getenv("COLUMNS"); // NOLINT(concurrency-mt-unsafe)
        const auto columns = parse_u64(asked == nullptr ? "" : asked);
        return columns && *columns >= least && *columns <= most_asked ? static_cast<std::size_t>(*columns) : usual_columns;
    }
    return std::clamp<std::size_t>(size.ws_col, least, most);
}

std::string report_text(const ordered_json &report, bool colour, std::size_t columns) {
    try {
        return Text(report, colour, columns).run();
    } catch (const std::exception &error) {
        return fmt::format("This report cannot be shown: {}\n", error.what());
    }
}

} // namespace fabric_check
