// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "report/report_words.hpp"
#include "textfiles/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace fabric_check::textfiles {

namespace {

/// Counters that only tell how much was moved say nothing about faults.
bool is_traffic(std::string_view counter) {
    const CounterInfo *row = find_counter(counter);
    if (row == nullptr || row->layer != Layer::ungraded) {
        return false;
    }
    const bool says_so = counter.find("packets") != std::string::npos || counter.find("Pkts") != std::string::npos ||
                         counter.find("pkts") != std::string::npos;
    return row->unit == Unit::octets_div_4 || row->unit == Unit::octets ||
           (row->unit == Unit::packets && row->source != CounterSource::hw_counters && says_so);
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

std::string name_of(const DiffPort &port) {
    return port.port.empty() ? "port" : printable(port.port);
}

std::string detail_text(const Diff &diff, const std::string &verdict) {
    constexpr std::size_t most = 8;
    std::string detail;
    std::size_t count = 0;
    for (const DiffPort &port : diff.ports) {
        for (const std::string &counter : blamed(port, verdict)) {
            if (++count <= most) {
                detail += fmt::format("{}{}{}", detail.empty() ? "" : ", ",
                                      diff.ports.size() > 1 ? name_of(port) + " " : "", printable(counter));
            }
        }
    }
    return count > most ? detail + fmt::format(", and {} more", count - most) : detail;
}

class Text {
public:
    Text(const Diff &diff, bool colour, std::size_t columns) : diff_(diff), colour_(colour), columns_(columns) {}

    std::string run() {
        headline();
        for (const DiffPort &port : diff_.ports) {
            add(port);
        }
        for (const std::string &step : next_steps(diff_)) {
            out_ += wrapped("Next: " + step, columns_, "", "      ");
        }
        return std::move(out_);
    }

private:
    void headline() {
        const std::string detail = detail_text(diff_, diff_.verdict);
        const std::string line = wrapped(diff_.verdict + (detail.empty() ? "" : ": " + detail), columns_, "", "  ");
        const char *start = !colour_                   ? ""
                            : diff_.verdict == "clean" ? "\033[32m"
                            : exit_code(diff_) == 1    ? "\033[31m"
                                                       : "\033[33m";
        // The colour is the verdict's alone, and counts for no columns.
        out_ += start + diff_.verdict + (colour_ ? "\033[0m" : "") + line.substr(diff_.verdict.size());
        if (!diff_.rest.empty()) {
            out_ += wrapped(fmt::format("All the same {} is live: {}", diff_.rest, detail_text(diff_, diff_.rest)),
                            columns_, "", "  ");
        }
    }

    void row(const std::string &name, const std::string &value, const std::string &words) {
        const std::string start = fmt::format("  {:<28} {:>14}  ", printable(name), value);
        out_ += wrapped(words, std::max(columns_, start.size() + 30), start, std::string(8, ' '));
    }

    void counter(const std::string &name, const std::string &value, const std::string &judged) {
        const CounterInfo *known = find_counter(name);
        const std::string meaning = known == nullptr ? std::string() : std::string(known->meaning);
        row(name, value, judged + (meaning.empty() ? "" : ": " + meaning));
    }

    void add(const DiffPort &port) {
        std::string line = fmt::format("{}: {}, {}, judged as {} ({})", name_of(port), port.verdict.word(),
                                       bytes_text(port), to_string(port.profile), port.profile_from);
        if (!port.counts) {
            line += "; does not count: " + printable(port.use);
        }
        out_ += wrapped(line, columns_, "", "  ");
        std::set<std::string> said;
        for (const LiveCounter &live : port.verdict.live) {
            said.insert(live.counter);
            const auto note = port.notes.find(live.counter);
            const std::string more = note == port.notes.end() ? std::string() : printable(note->second);
            if (live.delta == 0) {
                row(live.counter, "", "physical: " + more);
            } else {
                counter(
                    live.counter, fmt::format("+{}", live.delta),
                    fmt::format("{} ({}{}{})", to_string(live.layer), bar_text(live), more.empty() ? "" : "; ", more));
            }
        }
        for (const KnownFault &fault : port.known) {
            said.insert(fault.counter);
            counter(fault.counter,
                    !fault.delta        ? "?"
                    : *fault.delta == 0 ? ""
                                        : fmt::format("+{}", *fault.delta),
                    printable(fault.note));
        }
        for (const Unread &unread : port.verdict.unread) {
            said.insert(unread.counter);
            // The meaning is not what happened here.
            const std::string meaning = counter_words(unread.counter);
            row(unread.counter, "?", unread.reason + (meaning.empty() ? "" : " (would tell: " + meaning + ")"));
        }
        rest(port, said);
    }

    void rest(const DiffPort &port, const std::set<std::string> &said) {
        const bool judged = port.counts && port.verdict.outcome != Outcome::incomplete;
        std::size_t unknown = 0;
        for (const auto &[view, delta] : port.deltas) {
            const std::string name(view);
            if (!delta.value || *delta.value == 0 || is_traffic(name) || said.contains(name)) {
                continue;
            }
            const CounterInfo *known = find_counter(name);
            if (known == nullptr) {
                ++unknown;
            } else {
                const bool graded = known->graded(port.profile);
                counter(name, fmt::format("+{}", *delta.value),
                        graded && judged ? "below its bar"
                        : graded         ? "moved, not judged"
                                         : "not judged");
            }
        }
        if (unknown > 0) {
            out_ += fmt::format("  {} more that moved are not known here: see --json\n", unknown);
        }
    }

    const Diff &diff_;
    bool colour_;
    std::size_t columns_;
    std::string out_;
};

} // namespace

std::string diff_text(const Diff &diff, bool colour, std::size_t columns) {
    return Text(diff, colour, columns).run();
}

} // namespace fabric_check::textfiles
