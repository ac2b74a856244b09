// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/text.hpp"

#include "base/text.hpp"
#include "sources/sysfs_text.hpp"
#include "textfiles/collector.hpp"
#include "textfiles/ibqueryerrors.hpp"
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
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

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
            if (content.starts_with(byte_order_mark)) { // at the start, and where files were joined
                content.remove_prefix(byte_order_mark.size());
                --line_;
                continue;
            }
            const std::string_view line = strip(content.substr(0, end));
            if (starts_json(line, content)) {
                content.remove_prefix(json(content));
                continue;
            }
            if (!line.empty()) {
                counted_ = false;
                if (last) {
                    collector_.last_line();
                }
                one_line(line);
                if (last && counted_ && std::isalnum(static_cast<unsigned char>(content.back())) != 0) {
                    problem("the last line has no end: its value may be cut off, and is not used");
                    collector_.spoil_last();
                }
            }
            content.remove_prefix(last ? content.size() : end + 1);
        }
        Parsed parsed = collector_.finish();
        if (parsed.ports.empty() && errors_.summarized()) {
            parsed.problems.insert(parsed.problems.begin(), errors_.no_errors(collector_.file()));
        }
        return parsed;
    }

private:
    using Port = Collector::Port;
    static constexpr Port no_port = ~Port{0};
    static constexpr std::uint64_t all_ports = 255;
    static constexpr const char *is_a_sum = "port 255 is a sum over all ports, cut off at the fields' width: not used";

    /// What the lines belong to.
    enum class Block { none, perfquery, skipped, ethtool, rdma, errors };

    void problem(std::string what) { collector_.problem(line_, std::move(what)); }

    void enter(Block block, Port port) {
        block_ = block;
        port_ = port;
    }

    Port unnamed(Tool tool) { return collector_.port(KeyKind::none, "", tool); }

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
        enter(Block::none, no_port);
        return start + size + behind_json(content.substr(start + size));
    }

    /// What follows a value on its line: nothing, a comma, another value (files joined without a line's end between
    /// them), or what nobody understands.
    std::size_t behind_json(std::string_view rest) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        const auto next = line.find_first_not_of(" \t\r,");
        if (next != npos && (line[next] == '{' || line[next] == '[') && starts_json(strip(line.substr(next)), rest.substr(next))) {
            --line_; // it is counted again with the value
            return next;
        }
        if (next != npos) {
            problem(fmt::format("behind JSON, not understood: \"{}\"", printable(strip(line).substr(0, 60))));
        }
        return std::min(line.size() + 1, rest.size());
    }

    void one_line(std::string_view line) {
        const bool path = line.front() == '/' || line.front() == '.' ||
                          (!directory_.empty() && line.starts_with(directory_));
        if (line.front() == '#') {
            errors_.comment(line);
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
            return unnamed(Tool::tree);
        }
        const Port found = collector_.port(
            KeyKind::device, node.empty() ? *port : fmt::format("{}/{}", printable(node), *port), Tool::tree);
        if (port->find(':') == std::string::npos) {
            collector_.is_card(found);
        }
        return found;
    }

    bool counted(Port port, std::string_view name, std::string_view value) {
        Names::Id id = collector_.names().find(name);
        if (id == Names::none) {
            if (!is_words(name)) {
                return false;
            }
            id = collector_.name(port, name, line_);
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
        if (!port || !is_words(path.substr(slash + 1))) {
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
        counted_ = collector_.keep(port, id, name, value, width, line_) || counted_;
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
                if (name == "PortSelect") {
                    selected(number(value));
                }
                return true;
            }
            if (block_ == Block::skipped) {
                return true;
            }
            if (block_ != Block::perfquery && find_counter(name) == nullptr) {
                return false;
            }
        }
        if (block_ == Block::skipped) {
            return true;
        }
        const Port port = block_ == Block::perfquery ? port_ : unnamed(Tool::perfquery);
        id = id == Names::none ? collector_.name(port, name, line_) : id;
        keep(port, id, name, value, block_ == Block::perfquery ? width_ : 0);
        if (block_ == Block::perfquery && classic_ && id != Names::none) {
            beyond_cap(id, value);
        }
        return true;
    }

    /// More than its field can hold: whatever this is, it is not what it says.
    void beyond_cap(Names::Id id, std::string_view value) {
        const Names::Name &known = collector_.names()[id];
        if (const auto count = number(value); count && *count > known.cap) {
            problem(fmt::format("{} is {}: its field holds {} at most, so these are no classic counters, or the file is damaged",
                                known.canonical, *count, known.cap));
        }
    }

    /// PortSelect tells where another port begins, also in output whose headers were cut off.
    void selected(std::optional<std::uint64_t> number) {
        const bool inside = block_ == Block::perfquery || block_ == Block::skipped;
        if (inside && (number == number_ || !number_)) {
            number_ = number;
            return;
        }
        width_ = 0;
        classic_ = false;
        number_ = number;
        if (number == all_ports) {
            enter(Block::skipped, no_port);
            problem(is_a_sum);
        } else if (!inside) {
            enter(Block::perfquery, unnamed(Tool::perfquery));
        } else {
            problem(fmt::format("PortSelect tells of another port, {}, and no header does", number.value_or(0)));
            enter(Block::perfquery, collector_.port(KeyKind::lid, fmt::format("no header:{}", number.value_or(0)),
                                                    Tool::perfquery));
        }
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
        const Port port = unnamed(Tool::tree);
        keep(port, collector_.name(port, name, line_), name, strip(value), 0);
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
                       (keep(port_, collector_.name(port_, name, line_), name, value, 0), true);
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
        keep(port_, collector_.name(port_, name, line_), name, value, 0);
        return true;
    }

    void ethtool() {
        enter(Block::ethtool, device_.empty() ? unnamed(Tool::ethtool)
                                              : collector_.port(KeyKind::netdev, device_, Tool::ethtool));
        device_.clear();
    }

    // ---- headings

    void header(std::string_view line) {
        const auto colon = line.find(" counters: ");
        if (colon == npos) {
            if (line.starts_with("# PortSamplesControl:")) {
                enter(Block::skipped, no_port); // settings of the sampling mechanism
                number_.reset();
            } else if (line.find("CapMask") != npos ||
                       (line.starts_with("# Port") && (line.find("ounter") != npos || line.find("Lid ") != npos))) {
                width_ = 0;
                classic_ = false;
                no_header();
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
        classic_ = title == "Port";
        if (!port) {
            no_header();
            return;
        }
        number_ = port;
        if (port == all_ports) {
            enter(Block::skipped, no_port);
            problem(is_a_sum);
            return;
        }
        std::string_view address = who.substr(0, port_at);
        const bool lid = address.starts_with("Lid ");
        address.remove_prefix(lid ? 4 : 0);
        enter(Block::perfquery, collector_.port(KeyKind::lid, fmt::format("{}{}:{}", lid ? "lid " : "",
                                                                          printable(address), *port),
                                              Tool::perfquery));
        collector_.link_layer(port_, LinkLayer::infiniband); // the fabric answered
    }

    /// Damaged: what follows is of a port nobody knows, and of none that the file names.
    void no_header() {
        problem("a header that names no port");
        enter(Block::perfquery, unnamed(Tool::perfquery));
        number_.reset();
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
        if (line.starts_with("Errors for ") || line.starts_with("GUID 0x")) {
            enter(Block::errors, no_port);
            return errors_.line(line, line_, counted_);
        }
        if (block_ == Block::errors && (line.starts_with("Link info:") || line.front() == '[')) {
            return errors_.line(line, line_, counted_);
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
                                                                        printable(who.substr(slash + 1))),
                                           Tool::tree));
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

    /// Is it a counter's name, or how one begins? ("CRC errors")
    static bool begins_name(std::string_view words) {
        const auto table = counter_table();
        return std::any_of(table.begin(), table.end(),
                           [words](const CounterInfo &row) { return row.name.starts_with(words); });
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
            if (is_word(word) && begins_name(fmt::format("{} {}", half_, word))) {
                half_ = fmt::format("{} {}", half_, word);
                continue;
            }
            keep(port_, collector_.name(port_, half_, line_), half_, word, 0);
            half_.clear();
        }
    }

    Collector collector_;
    std::size_t line_ = 0;
    Block block_ = Block::none;
    Port port_ = no_port;
    unsigned width_ = 0;         ///< of a perfquery block's fields
    std::optional<std::uint64_t> number_; ///< of the block's port, where it is known
    std::string directory_;      ///< of the last counter file, with its slash
    Port directory_port_ = no_port;
    std::string device_;         ///< from a heading, for the statistics that follow
    std::string half_;           ///< name whose value has not come yet
    ErrorReader errors_{collector_};
    bool classic_ = false;       ///< the block is "# Port counters:"
    bool counted_ = false;       ///< this line gave a value
};

} // namespace

Parsed parse_text(std::string_view content, const std::string &file) {
    return TextParser(file).parse(content);
}

} // namespace fabric_check::textfiles
