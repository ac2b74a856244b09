// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/text.hpp"

#include "base/text.hpp"
#include "sources/sysfs_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

namespace fabric_check::textfiles {

namespace {

constexpr std::size_t most_problems = 20; ///< per file; the rest is counted

bool is_word(std::string_view text) noexcept {
    return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// Fields of perfquery's output that select or describe and count nothing.
bool is_selector(std::string_view name) noexcept {
    return name == "PortSelect" || name == "CounterSelect" || name == "CounterSelect2";
}

std::optional<std::uint64_t> number(std::string_view text) noexcept {
    return parse_u64(text, text.starts_with("0x") ? 16 : 10);
}

/// "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err" taken apart.
struct CounterPath {
    std::string port; ///< "mlx5_0:1"; empty when the path does not say
    std::string_view file;
};

std::optional<CounterPath> parse_path(std::string_view path) {
    const auto parts = split(path, '/');
    if (parts.size() < 2) {
        return std::nullopt;
    }
    const std::string_view directory = parts[parts.size() - 2];
    if (directory != "hw_counters" && directory != "counters" && directory != "counters_ext") {
        return std::nullopt;
    }
    CounterPath found{"", parts.back()};
    const std::size_t n = parts.size();
    if (n >= 5 && parts[n - 4] == "ports" && parse_u64(parts[n - 3])) {
        found.port = fmt::format("{}:{}", parts[n - 5], parts[n - 3]);
    } else if (n >= 3 && parts[n - 3] != "." && parts[n - 3] != ".." && directory == "hw_counters" &&
               !parse_u64(parts[n - 3])) {
        found.port = fmt::format("{}:1", parts[n - 3]); // a card's own hw_counters/: only cards with one port have it
    }
    return found;
}

class TextParser {
public:
    explicit TextParser(std::string file) : file_(std::move(file)) {}

    Parsed parse(std::string_view content) {
        while (!content.empty()) {
            const auto end = content.find('\n');
            ++line_;
            one_line(trim(content.substr(0, end)));
            content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
        }
        for (PortCounters &port : parsed_.ports) {
            sysfs::mark_widths(port.counters);
        }
        if (problems_ > most_problems) {
            parsed_.problems.push_back({file_, 0, fmt::format("and {} more problems", problems_ - most_problems)});
        }
        return std::move(parsed_);
    }

private:
    void problem(std::string what) {
        if (++problems_ <= most_problems) {
            parsed_.problems.push_back({file_, line_, std::move(what)});
        }
    }

    void one_line(std::string_view line) {
        if (line.empty()) {
            return;
        }
        if (line.starts_with('#')) {
            header(line);
        } else if (!grep_complaint(line) && !grep_line(line) && !field(line)) {
            problem(fmt::format("not understood: \"{}\"", printable(line.substr(0, 60))));
        }
    }

    /// "# Port extended counters: Lid 19 port 1 (CapMask: 0x1300 CapMask2: 0x0000000)"
    void header(std::string_view line) {
        const auto colon = line.find(" counters: ");
        if (colon == std::string_view::npos) {
            return; // a comment
        }
        const std::string_view title = trim(line.substr(1, colon - 1));
        std::string_view who = line.substr(colon + 11);
        who = trim(who.substr(0, who.find(" (")));
        const auto port_at = who.rfind(" port ");
        const auto port = port_at == std::string_view::npos ? std::nullopt : parse_u64(trim(who.substr(port_at + 6)));
        block_ = PortCounters{};
        width_ = title == "Port extended" ? 64 : 0;
        in_block_ = port.has_value();
        if (!port) {
            problem("a header that names no port");
            return;
        }
        if (*port == 255) {
            in_block_ = false;
            skipping_ = true;
            problem("port 255 is a sum over all ports, cut off at the fields' width: not used");
            return;
        }
        skipping_ = false;
        std::string_view address = who.substr(0, port_at);
        if (address.starts_with("Lid ")) {
            address.remove_prefix(4);
            block_.port = fmt::format("lid {}:{}", printable(address), *port);
        } else {
            block_.port = fmt::format("{}:{}", printable(address), *port);
        }
        block_.kind = KeyKind::lid;
    }

    /// "SymbolErrorCounter:..............65535"
    bool field(std::string_view line) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || !is_word(line.substr(0, colon))) {
            return false;
        }
        const std::string_view name = line.substr(0, colon);
        std::string_view value = line.substr(colon + 1);
        value.remove_prefix(std::min(value.find_first_not_of('.'), value.size()));
        value = trim(value);
        if (name == "PortSelect" && !in_block_ && !skipping_) {
            in_block_ = true; // output whose header was cut off
            skipping_ = number(value) == 255U;
        }
        if (is_selector(name) || skipping_) {
            return true;
        }
        if (!in_block_ && find_counter(name) == nullptr) {
            return false;
        }
        Reading reading = sysfs::counter_from(0, value);
        if (const auto parsed = number(value)) {
            reading = Reading::of(*parsed, static_cast<std::uint8_t>(width_));
        } else if (reading.absence == Absence::unparsable) {
            problem(fmt::format("{}: not a number: \"{}\"", name, printable(value.substr(0, 40))));
        }
        PortCounters one = block_;
        add(std::move(one), name, reading);
        return true;
    }

    /// "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err:12"
    bool grep_line(std::string_view line) {
        const auto colon = line.rfind(':');
        const auto path = colon == std::string_view::npos ? std::nullopt : parse_path(line.substr(0, colon));
        if (!path || !is_word(path->file)) {
            return false;
        }
        const Reading reading = sysfs::counter_from(0, line.substr(colon + 1));
        if (!reading.value && reading.absence == Absence::unparsable) {
            problem(fmt::format("{}: not a number: \"{}\"", path->file, printable(line.substr(colon + 1, 40))));
        }
        add_path(*path, reading);
        return true;
    }

    /// "grep: /sys/…/hw_counters/rx_dct_connect: Invalid argument" is how grep tells what the kernel answered.
    bool grep_complaint(std::string_view line) {
        if (!line.starts_with("grep: ")) {
            return false;
        }
        const auto colon = line.rfind(": ");
        const auto path = colon > 6 ? parse_path(line.substr(6, colon - 6)) : std::nullopt;
        if (!path || !is_word(path->file)) {
            return false;
        }
        const std::string_view why = line.substr(colon + 2);
        const int error = why == "Invalid argument" || why == "Operation not supported" ? EINVAL
                          : why == "Permission denied"                                  ? EACCES
                          : why == "No such file or directory"                          ? ENOENT
                          : why == "Connection timed out"                               ? ETIMEDOUT
                                                                                        : EIO;
        add_path(*path, sysfs::counter_from(error, ""));
        return true;
    }

    void add_path(const CounterPath &path, Reading reading) {
        if (sysfs::is_setting(path.file)) {
            return;
        }
        PortCounters one;
        one.port = path.port;
        one.kind = path.port.empty() ? KeyKind::none : KeyKind::device;
        add(std::move(one), path.file, reading);
    }

    void add(PortCounters one, std::string_view name, Reading reading) {
        sysfs::add_counter(one.counters, name, reading);
        for (const std::string &twice : merge(parsed_.ports, std::move(one))) {
            problem(fmt::format("{} is given twice with different values: the first is used", twice));
        }
    }

    std::string file_;
    std::size_t line_ = 0, problems_ = 0;
    unsigned width_ = 0;
    bool in_block_ = false, skipping_ = false;
    PortCounters block_;
    Parsed parsed_;
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
    std::vector<std::string> twice;
    if (same->driver.empty()) {
        same->driver = more.driver;
    }
    for (const auto &[name, reading] : more.counters) {
        const auto [at, fresh] = same->counters.try_emplace(name, reading);
        if (fresh || at->second == reading || !reading.value) {
            continue;
        }
        if (!at->second.value || reading.width > at->second.width) {
            at->second = reading;
        } else if (reading.width == at->second.width) {
            twice.push_back(name);
        }
    }
    return twice;
}

Parsed parse_text(std::string_view content, const std::string &file) {
    return TextParser(file).parse(content);
}

} // namespace fabric_check::textfiles
