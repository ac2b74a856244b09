// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/text.hpp"

#include "base/text.hpp"
#include "sources/sysfs_text.hpp"
#include "textfiles/collector.hpp"
#include "textfiles/json.hpp"
#include "textfiles/paths.hpp"
#include "textfiles/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

namespace fabric_check::textfiles {

namespace {

constexpr auto npos = std::string_view::npos;

class TextParser {
public:
    explicit TextParser(const std::string &file) : collector_(file) {}

    Parsed parse(std::string_view content) {
        while (!content.empty()) {
            const void *at = std::memchr(content.data(), '\n', content.size());
            const bool last = at == nullptr;
            const std::size_t end =
                last ? content.size() : static_cast<std::size_t>(static_cast<const char *>(at) - content.data());
            ++line_;
            const std::string_view line = strip(content.substr(0, end));
            if (starts_json(line, content)) {
                content.remove_prefix(json(content));
                continue;
            }
            if (!line.empty()) {
                counted_ = false;
                one_line(line);
                if (last && counted_) {
                    problem("the last line has no end: its value may be cut off");
                }
            }
            content.remove_prefix(last ? content.size() : end + 1);
        }
        return collector_.finish();
    }

private:
    using Port = Collector::Port;
    static constexpr Port no_port = ~Port{0};

    /// What the lines belong to.
    enum class Block { none, perfquery, skipped, ethtool, rdma, errors };

    void problem(std::string what) { collector_.problem(line_, std::move(what)); }

    void enter(Block block, Port port) {
        block_ = block;
        port_ = port;
    }

    Port unnamed() { return collector_.port(KeyKind::none, ""); }

    static bool starts_json(std::string_view line, std::string_view content) noexcept {
        if (line.empty() || (line.front() != '{' && line.front() != '[')) {
            return false;
        }
        if (line.front() == '{') {
            return true;
        }
        const auto next = content.find_first_not_of(" \t\r\n", content.find('[') + 1);
        return next != npos && (content[next] == '{' || content[next] == ']') &&
               (content[next] == '{' || line.size() <= 2);
    }

    std::size_t json(std::string_view content) {
        const std::size_t start = content.find_first_not_of(" \t\r");
        const std::size_t size = json_extent(content.substr(start));
        const std::string_view text = content.substr(start, size);
        parse_json(text, line_, collector_);
        line_ += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
        // Up to the end of that line: a comma, a carriage return.
        const auto end = content.find('\n', start + size);
        enter(Block::none, no_port);
        return end == npos ? content.size() : end + 1;
    }

    void one_line(std::string_view line) {
        const bool path = line.front() == '/' || line.front() == '.' ||
                          (!directory_.empty() && line.starts_with(directory_));
        if (line.front() == '#') {
            header(line);
        } else if (!(path && counter_file(line)) && !field(line) && !(!path && counter_file(line)) && !other(line)) {
            problem(fmt::format("not understood: \"{}\"", printable(line.substr(0, 60))));
        }
    }

    // ---- grep -H over files of one value

    /// "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err:12"; neighbours share their directory.
    bool counter_file(std::string_view line) {
        if (!directory_.empty() && line.starts_with(directory_)) {
            const auto colon = line.find(':', directory_.size());
            if (colon != npos &&
                counted(directory_port_, line.substr(directory_.size(), colon - directory_.size()),
                        line.substr(colon + 1))) {
                return true;
            }
        }
        const auto colon = line.rfind(':');
        const auto slash = colon == npos ? npos : line.substr(0, colon).rfind('/');
        if (slash == npos || line.starts_with("grep: ")) {
            return false;
        }
        const auto port = place(line.substr(0, slash));
        if (!port) {
            return false;
        }
        directory_ = line.substr(0, slash + 1);
        directory_port_ = *port;
        return counted(*port, line.substr(slash + 1, colon - slash - 1), line.substr(colon + 1));
    }

    /// Of a directory of counters, with what pdsh and its like put in front: "node07: /sys/...".
    std::optional<Port> place(std::string_view directory) {
        std::string_view node;
        if (const auto colon = directory.find(':'); colon != npos && directory.find('/') > colon) {
            node = directory.substr(0, colon);
            directory = strip(directory.substr(colon + 1));
            if (node.find_first_of(" \t\"") != npos) {
                return std::nullopt;
            }
        }
        const auto port = port_of_directory(directory);
        if (!port) {
            return std::nullopt;
        }
        if (port->empty()) {
            return unnamed();
        }
        return collector_.port(KeyKind::device, node.empty() ? *port : fmt::format("{}/{}", printable(node), *port));
    }

    bool counted(Port port, std::string_view name, std::string_view value) {
        Names::Id id = collector_.names().find(name);
        if (id == Names::none) {
            if (!is_word(name)) {
                return false;
            }
            id = collector_.names().add(name);
        }
        keep(port, id, name, strip(value), 0);
        return true;
    }

    /// "grep: /sys/…/hw_counters/rx_dct_connect: Invalid argument" is how grep tells what the kernel answered.
    bool grep_complaint(std::string_view line) {
        const auto colon = line.rfind(": ");
        if (!line.starts_with("grep: ") || colon <= 6) {
            return false;
        }
        const std::string_view path = line.substr(6, colon - 6);
        const auto slash = path.rfind('/');
        const auto port = slash == npos ? std::nullopt : place(path.substr(0, slash));
        if (!port || !is_word(path.substr(slash + 1))) {
            return false;
        }
        const std::string_view why = line.substr(colon + 2);
        const int error = why == "Invalid argument" || why == "Operation not supported" ? EINVAL
                          : why == "Permission denied"                                  ? EACCES
                          : why == "No such file or directory"                          ? ENOENT
                          : why == "Connection timed out"                               ? ETIMEDOUT
                                                                                        : EIO;
        collector_.add(*port, path.substr(slash + 1), sysfs::counter_from(error, ""), line_);
        return true;
    }

    // ---- "name: value" of perfquery and ethtool

    void keep(Port port, Names::Id id, std::string_view name, std::string_view value, unsigned width) {
        Reading reading;
        if (const auto parsed = decimal(value)) {
            reading = Reading::of(*parsed, static_cast<std::uint8_t>(width));
            counted_ = true;
        } else if (const auto other = number(value)) {
            reading = Reading::of(*other, static_cast<std::uint8_t>(width));
        } else {
            reading = sysfs::counter_from(0, value);
            if (reading.absence == Absence::unparsable && !collector_.names()[id].setting) {
                problem(fmt::format("{}: not a number: \"{}\"", printable(name), printable(value.substr(0, 40))));
            }
        }
        collector_.add(port, id, reading, line_);
    }

    bool field(std::string_view line) {
        const auto colon = line.find(':');
        if (colon == npos || colon == 0 || colon + 1 == line.size()) {
            return false;
        }
        const std::string_view name = line.substr(0, colon);
        const char after = line[colon + 1];
        if (after == '.') {
            return perfquery_field(name, line.substr(colon + 1));
        }
        return is_blank(after) ? statistic(name, line, line.substr(colon + 2)) : bare(name, line.substr(colon + 1));
    }

    /// "SymbolErrorCounter:..............65535"
    bool perfquery_field(std::string_view name, std::string_view value) {
        value.remove_prefix(std::min(value.find_first_not_of('.'), value.size()));
        value = strip(value);
        Names::Id id = collector_.names().find(name);
        if (id == Names::none) {
            if (!is_word(name)) {
                return false;
            }
            if (is_selector(name)) {
                if (name == "PortSelect" && block_ != Block::perfquery && block_ != Block::skipped) {
                    // Output whose header was cut off.
                    enter(number(value) == 255U ? Block::skipped : Block::perfquery, unnamed());
                    width_ = 0;
                }
                return true;
            }
            if (block_ == Block::skipped) {
                return true;
            }
            if (block_ != Block::perfquery && find_counter(name) == nullptr) {
                return false;
            }
            id = collector_.names().add(name);
        }
        if (block_ == Block::skipped) {
            return true;
        }
        keep(block_ == Block::perfquery ? port_ : unnamed(), id, name, value, block_ == Block::perfquery ? width_ : 0);
        return true;
    }

    /// "packet_seq_err:4", as grep writes it from inside the tree.
    bool bare(std::string_view name, std::string_view value) {
        if (!is_word(name) || sysfs::is_setting(name)) {
            return sysfs::is_setting(name);
        }
        if (block_ == Block::perfquery || block_ == Block::skipped) {
            return perfquery_field(name, value);
        }
        if (find_counter(name) == nullptr) {
            return false;
        }
        keep(unnamed(), collector_.names().add(name), name, strip(value), 0);
        return true;
    }

    /// "     rx_prio3_pause: 41927" of ethtool; the name may have colons: "[0]: rx_ucast_packets: 10".
    bool statistic(std::string_view name, std::string_view line, std::string_view value) {
        value = strip(value);
        const auto parsed = decimal(value);
        if (block_ == Block::ethtool && parsed) {
            if (const Names::Id id = collector_.names().find(name); id != Names::none) {
                counted_ = true;
                collector_.add(port_, id, Reading::of(*parsed), line_);
                return true;
            }
        }
        if (!parsed) {
            const auto colon = line.rfind(':');
            if (colon == name.size()) {
                // "rx_bytes: n/a"
                return block_ == Block::ethtool && find_counter(name) != nullptr &&
                       (keep(port_, collector_.names().add(name), name, value, 0), true);
            }
            name = line.substr(0, colon);
            value = strip(line.substr(colon + 1));
            if (name.front() != '[' || !decimal(value)) {
                return false;
            }
        }
        if (!is_statistic(name)) {
            return false;
        }
        if (block_ == Block::perfquery && std::isupper(static_cast<unsigned char>(name.front())) != 0) {
            return perfquery_field(name, value);
        }
        if (block_ != Block::ethtool) {
            // Without the line "NIC statistics:": only what looks like one.
            if (find_counter(name) == nullptr && name.front() != '[' && (!is_word(name) || name.find('_') == npos)) {
                return false;
            }
            ethtool();
        }
        keep(port_, collector_.names().add(name), name, value, 0);
        return true;
    }

    void ethtool() {
        enter(Block::ethtool, device_.empty() ? unnamed() : collector_.port(KeyKind::netdev, device_));
        device_.clear();
    }

    // ---- headings

    void header(std::string_view line) {
        const auto colon = line.find(" counters: ");
        if (colon == npos) {
            if (line.starts_with("# PortSamplesControl:")) {
                enter(Block::skipped, no_port); // settings of the sampling mechanism
            } else {
                comment(line);
            }
            return;
        }
        // "# Port extended counters: Lid 19 port 1 (CapMask: 0x1300 CapMask2: 0x0000000)"
        const std::string_view title = strip(line.substr(1, colon - 1));
        std::string_view who = line.substr(colon + 11);
        who = strip(who.substr(0, who.find(" (")));
        const auto port_at = who.rfind(" port ");
        const auto port = port_at == npos ? std::nullopt : parse_u64(strip(who.substr(port_at + 6)));
        width_ = title == "Port extended" ? 64 : 0;
        if (!port) {
            enter(Block::none, no_port);
            problem("a header that names no port");
            return;
        }
        if (*port == 255) {
            enter(Block::skipped, no_port);
            problem("port 255 is a sum over all ports, cut off at the fields' width: not used");
            return;
        }
        std::string_view address = who.substr(0, port_at);
        const bool lid = address.starts_with("Lid ");
        address.remove_prefix(lid ? 4 : 0);
        enter(Block::perfquery, collector_.port(KeyKind::lid, fmt::format("{}{}:{}", lid ? "lid " : "",
                                                                          printable(address), *port)));
        collector_.link_layer(port_, LinkLayer::infiniband); // the fabric answered
    }

    /// A comment, or a heading for what follows: "# eth0", "# ethtool -S eth0", "==> eth0 <==".
    void comment(std::string_view line) {
        if (const auto call = line.find("ethtool "); call != npos) {
            std::string_view rest = line.substr(call + 8);
            std::string_view word;
            while (!(word = next_word(rest)).empty() && (word.front() == '-' || word == "sudo")) {
            }
            heading(word);
            return;
        }
        const auto first = line.find_first_not_of("#=->*< \t");
        if (first != npos) {
            heading(strip(line.substr(first, line.find_last_not_of("#=->*<: \t") - first + 1)));
        }
    }

    void heading(std::string_view name) {
        if (is_netdev_name(name)) {
            device_ = name;
            if (block_ == Block::ethtool) {
                enter(Block::none, no_port);
            }
        }
    }

    static bool is_prompt(std::string_view line) noexcept {
        if (line.starts_with("$ ")) {
            return true;
        }
        const auto end = std::min(line.find("# "), line.find("$ "));
        return end != npos && line.find('@') < end;
    }

    /// Lines that come once or twice in a file.
    bool other(std::string_view line) {
        if (block_ == Block::skipped && line.find(':') != npos && is_word(line.substr(0, line.find(':')))) {
            return true;
        }
        if (line.starts_with("NIC statistics")) {
            if (line.starts_with("NIC statistics for ")) {
                heading(strip(line.substr(19, line.find_last_not_of(": ") - 18)));
            }
            ethtool();
            return true;
        }
        if (line.starts_with("link ")) {
            return rdma_link(line.substr(5));
        }
        if (line.starts_with("Errors for ")) {
            errors_for(strip(line.substr(11)));
            return true;
        }
        if (line.starts_with("GUID 0x")) {
            return errors_at(line);
        }
        if (block_ == Block::errors && (line.starts_with("Link info:") || line.front() == '[')) {
            return line.front() == 'L' || error_fields(line);
        }
        if (line.back() == ':' && find_counter(line.substr(0, line.size() - 1)) == nullptr &&
            is_netdev_name(line.substr(0, line.size() - 1))) {
            heading(line.substr(0, line.size() - 1));
            return true;
        }
        if (line.find_first_not_of("=-*_+~ ") == npos || line.starts_with("==") || line.starts_with("--") ||
            is_prompt(line)) {
            comment(line);
            return true;
        }
        if (line.starts_with("ibwarn:") || line.starts_with("ibpanic:") || line.starts_with("iberror:")) {
            problem(fmt::format("the tool itself says \"{}\"", printable(line.substr(0, 100))));
            return true;
        }
        return grep_complaint(line) || (block_ == Block::rdma && rdma_pairs(line));
    }

    // ---- rdma statistic

    /// "link mlx5_0/1 rx_write_requests 0 rx_read_requests 0 ..."; with -p the pairs follow on lines of their own.
    bool rdma_link(std::string_view line) {
        const std::string_view who = next_word(line);
        const auto slash = who.find('/');
        if (slash == npos || slash == 0 || slash + 1 == who.size()) {
            return false;
        }
        enter(Block::rdma, collector_.port(KeyKind::device, fmt::format("{}:{}", printable(who.substr(0, slash)),
                                                                        printable(who.substr(slash + 1)))));
        half_.clear();
        std::string_view rest = line;
        const std::string_view first = next_word(rest);
        if (first == "cntn" || first == "lqpn" || first == "pid" || first == "state") {
            enter(Block::skipped, no_port);
            problem("not the counters of the port: take `rdma statistic show`");
            return true;
        }
        return rdma_pairs(line);
    }

    /// Lines of it may have been wrapped anywhere between words.
    bool rdma_pairs(std::string_view line) {
        while (true) {
            const std::string_view word = next_word(line);
            if (word.empty()) {
                return true;
            }
            if (word == "\\") {
                continue;
            }
            if (half_.empty()) {
                if (!is_word(word)) {
                    enter(Block::none, no_port);
                    return false;
                }
                half_ = word;
                continue;
            }
            keep(port_, collector_.names().add(half_), half_, word, 0);
            half_.clear();
        }
    }

    // ---- ibqueryerrors

    /// `Errors for 0x200002 "SwitchA"`, `Errors for "node07 mlx5_0"`
    void errors_for(std::string_view who) {
        const auto open = who.find('"'), close = who.rfind('"');
        node_ = printable(open != npos && close > open ? who.substr(open + 1, close - open - 1) : who);
        enter(Block::errors, no_port);
        if (!errors_seen_) {
            errors_seen_ = true;
            collector_.problem(0, "ibqueryerrors shows only counters above its thresholds: what it does not show is "
                                  "taken for absent, not for zero");
        }
    }

    /// "GUID 0x200002 port 33: [SymbolErrorCounter == 250] [PortXmitData == 500 (0.002KB)]"
    bool errors_at(std::string_view line) {
        const auto port_at = line.find(" port ");
        const auto colon = port_at == npos ? npos : line.find(':', port_at);
        if (colon == npos) {
            return false;
        }
        const std::string_view guid = line.substr(5, port_at - 5);
        const std::string_view port = strip(line.substr(port_at + 6, colon - port_at - 6));
        block_ = Block::errors;
        port_ = no_port;
        if (port == "ALL") {
            return true; // a sum, beside the ports themselves
        }
        if (!decimal(port)) {
            return false;
        }
        std::string name = node_;
        if (name.empty()) {
            name = fmt::format("guid {}", printable(guid));
        } else if (guid_of_.try_emplace(name, guid).first->second != guid) {
            name += fmt::format(" {}", printable(guid)); // two nodes of one name
        }
        port_ = collector_.port(KeyKind::lid, fmt::format("{}:{}", name, port));
        collector_.link_layer(port_, LinkLayer::infiniband);
        return error_fields(line.substr(colon + 1));
    }

    bool error_fields(std::string_view line) {
        for (auto equals = line.find(" == "); equals != npos; equals = line.find(" == ")) {
            const auto start = line.substr(0, equals).find_last_of("[( \t");
            const std::string_view name = line.substr(start == npos ? 0 : start + 1, equals - (start == npos ? 0 : start + 1));
            line.remove_prefix(equals + 4);
            const auto end = std::min(line.find_first_of("]) \t"), line.size());
            if (!is_word(name)) {
                return false;
            }
            if (end == line.size()) {
                problem(fmt::format("{}: the line breaks off", printable(name)));
            } else if (port_ != no_port) {
                keep(port_, collector_.names().add(name), name, line.substr(0, end), 0);
            }
            line.remove_prefix(end);
        }
        return true;
    }

    Collector collector_;
    std::size_t line_ = 0;
    Block block_ = Block::none;
    Port port_ = no_port;
    unsigned width_ = 0;         ///< of a perfquery block's fields
    std::string directory_;      ///< of the last counter file, with its slash
    Port directory_port_ = no_port;
    std::string device_;         ///< from a heading, for the statistics that follow
    std::string half_;           ///< name whose value has not come yet
    std::string node_;           ///< of ibqueryerrors
    std::unordered_map<std::string, std::string> guid_of_;
    bool errors_seen_ = false;
    bool counted_ = false;       ///< this line gave a value
};

} // namespace

std::string TextProblem::text() const {
    return line == 0 ? fmt::format("{}: {}", file, what) : fmt::format("{}:{}: {}", file, line, what);
}

std::vector<std::string> merge(std::vector<PortCounters> &ports, PortCounters more) {
    // Lines of one port follow each other: look from the back.
    const auto same = std::find_if(ports.rbegin(), ports.rend(), [&](const PortCounters &known) {
        return known.kind == more.kind && known.port == more.port;
    });
    if (same == ports.rend()) {
        ports.push_back(std::move(more));
        return {};
    }
    same->driver = same->driver.empty() ? more.driver : same->driver;
    same->boot_id = same->boot_id.empty() ? more.boot_id : same->boot_id;
    same->time_ns = same->time_ns == 0 ? more.time_ns : same->time_ns;
    same->link_layer = same->link_layer == LinkLayer::unknown ? more.link_layer : same->link_layer;
    same->node = same->node.empty() ? more.node : same->node;
    same->card = same->card == nullptr ? more.card : same->card;
    return same->counters.merge(more.counters);
}

Parsed parse_text(std::string_view content, const std::string &file) {
    return TextParser(file).parse(content);
}

} // namespace fabric_check::textfiles
