// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/sm_log.hpp"

#include "base/text.hpp"
#include "fabric/import_text.hpp"

#include <algorithm>

namespace fabric_check::fabric {

namespace {

constexpr std::size_t longest_word = 64;    ///< of an engine's name or a time: more is not one
constexpr std::size_t longest_reason = 200; ///< of the log's own words

bool has(std::string_view line, std::string_view words) { return line.find(words) != std::string_view::npos; }

/// The word that ends right before `at`, without quotes and the colon after it.
std::string word_before(std::string_view line, std::size_t at) {
    std::string_view head = trim(line.substr(0, at));
    head = head.substr(std::min(head.find_last_of(" \t>") + 1, head.size()));
    while (!head.empty() && (head.back() == ':' || head.back() == '\''))
        head.remove_suffix(1);
    while (!head.empty() && head.front() == '\'')
        head.remove_prefix(1);
    return head.size() <= longest_word ? printable(head) : std::string();
}

/// What stands in quotes right after `at`.
std::string quoted_after(std::string_view line, std::size_t at) {
    line.remove_prefix(at);
    const std::size_t begin = line.find('\'');
    if (begin == std::string_view::npos)
        return {};
    line.remove_prefix(begin + 1);
    const std::size_t end = line.find('\'');
    if (end > longest_word) // or none
        return {};
    return printable(line.substr(0, end));
}

/// "Nov 29 19:50:26 094436" of "Nov 29 19:50:26 094436 [2A4F56C0] 0x01 -> ...".
std::string time_of(std::string_view line) {
    const std::size_t bracket = line.find(" [");
    return bracket > longest_word ? std::string() : printable(trim(line.substr(0, bracket)));
}

/// "ERR AB2B: ..." of a routing engine: the code's first letters name the source file.
bool engine_complains(std::string_view said) {
    constexpr std::string_view mark = "ERR ";
    const std::size_t at = said.find(mark);
    if (at == std::string_view::npos)
        return false;
    const std::string_view code = said.substr(at + mark.size());
    for (const std::string_view engine : {"AA", "AB", "AC", "AD", "3A", "4D", "4E", "NUE"})
        if (code.starts_with(engine))
            return true;
    return false;
}

class LogReader {
public:
    explicit LogReader(SmLog &log) : log_(log) {}

    void line(std::string_view text) {
        const std::size_t arrow = text.find("-> ");
        const std::string_view said = trim(arrow == std::string_view::npos ? text : text.substr(arrow + 3));
        if (arrow != std::string_view::npos && text.substr(0, arrow).find("] 0x") != std::string_view::npos)
            known_ = true;
        if (said.starts_with("OpenSM ") && arrow != std::string_view::npos)
            restart();
        else if (constexpr std::string_view bound = "binding to port GUID 0x"; has(said, bound))
            log_.port_guid = Cursor(said.substr(said.find(bound) + bound.size())).take_number(16).value_or(0);
        else if (said.starts_with("Entering ") && said.ends_with(" state"))
            log_.state = word_before(said, said.size() - 6);
        else
            routing(text, said);
    }
    bool known() const { return known_; }

private:
    /// A new process: what the last one did is history.
    void restart() {
        const std::string name = log_.name;
        log_ = {};
        log_.name = name;
        not_set_up_.clear();
        reason_.clear();
        configured_ = false;
    }

    /// The first sign of a new routing after tables were configured.
    void begin() {
        if (!configured_)
            return;
        configured_ = false;
        log_.failed = not_set_up_; // said once, when the process starts
        log_.used.clear();
        log_.when.clear();
        log_.no_engine = log_.updn_without_roots = log_.ftree_with_lmc = false;
        log_.updn_roots_given = log_.updn_roots_guessed = false;
    }

    void fail(std::string engine, std::string_view text) {
        known_ = true;
        if (engine.empty())
            return;
        // A log of years repeats itself within one sweep at most by the number of engines.
        const bool told = std::any_of(log_.failed.begin(), log_.failed.end(),
                                      [&engine](const EngineFailure &one) { return one.engine == engine; });
        if (!told)
            log_.failed.push_back({std::move(engine), std::exchange(reason_, {}), time_of(text)});
    }

    void routing(std::string_view text, std::string_view said) {
        for (const std::string_view step : {": cannot build lid matrices", ": cannot build fwd tables"})
            if (const std::size_t at = said.find(step); at != std::string_view::npos) {
                begin();
                fail(word_before(said, at), text);
                return;
            }
        if (const std::size_t at = said.find(" tables configured on all switches"); at != std::string_view::npos) {
            begin();
            known_ = configured_ = true;
            reason_.clear();
            log_.used = word_before(said, at);
            log_.when = time_of(text);
        } else if (has(said, "No routing engine able to successfully configure")) {
            begin();
            known_ = configured_ = log_.no_engine = true;
        } else if (has(said, "disabling UPDN algorithm, no root nodes")) {
            begin();
            log_.updn_without_roots = true;
            keep(said);
        } else if (has(said, "Fetching root nodes from file")) {
            begin();
            log_.updn_roots_given = true;
        } else if (has(said, "cannot parse root guids file") || has(said, "all switches to collect Min Hop info")) {
            begin();
            log_.updn_roots_guessed = true;
            log_.updn_roots_given = false;
        } else if (has(said, "LMC > 0 is not supported by fat-tree")) {
            begin();
            log_.ftree_with_lmc = true;
            keep(said);
        } else if (const std::size_t setup = said.find("setup of routing engine '");
                   setup != std::string_view::npos && said.ends_with("failed")) {
            not_set_up(quoted_after(said, setup), text);
        } else if (const std::size_t missing = said.find("cannot find or setup routing engine '");
                   missing != std::string_view::npos) {
            not_set_up(quoted_after(said, missing), text);
        } else if (has(said, "not fat-tree") || has(said, "not a fat-tree") || has(said, "fat-tree -") || engine_complains(said)) {
            keep(said);
        }
    }

    void not_set_up(const std::string &engine, std::string_view text) {
        reason_ = "it could not be set up";
        const std::size_t before = log_.failed.size();
        fail(engine, text);
        if (log_.failed.size() > before && not_set_up_.size() < longest_word)
            not_set_up_.push_back(log_.failed.back());
        reason_.clear();
    }

    void keep(std::string_view said) { reason_ = printable(said.substr(0, longest_reason)); }

    SmLog &log_;
    std::vector<EngineFailure> not_set_up_;
    std::string reason_; ///< the last complaint, should an engine give up after it
    bool configured_ = false;
    bool known_ = false;
};

} // namespace

bool is_of_another_fabric(const SmLog &log, const Map &map) {
    return log.port_guid != 0 && !map.image().port_guids.empty() && map.by_port_guid(log.port_guid, nullptr) == no_node &&
           map.by_guid(log.port_guid) == no_node;
}

Result<SmLog> parse_sm_log(std::string_view text, const std::string &name) {
    SmLog log;
    log.name = name;
    LogReader reader(log);
    each_line(text, [&reader](std::string_view line, std::size_t) { reader.line(line); });
    if (!reader.known())
        return Error{Errc::malformed, name + ": no line of a subnet manager's log in it"};
    return log;
}

} // namespace fabric_check::fabric
