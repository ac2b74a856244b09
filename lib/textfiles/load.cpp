// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/load.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "record/codec.hpp"
#include "sources/sysfs_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

namespace fabric_check::textfiles {

namespace {

constexpr std::size_t longest_file = std::size_t{256} << 20;
constexpr std::size_t longest_value = 4096;
constexpr std::size_t most_files = 20000;
constexpr unsigned deepest = 8;

bool is_directory(const std::string &path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_counter_directory(std::string_view name) noexcept {
    return name == "counters" || name == "hw_counters" || name == "counters_ext";
}

/// One port by LID and one by device: the same port, seen with two tools.
void unite(std::vector<PortCounters> &ports, std::vector<TextProblem> &problems, const std::string &where) {
    const auto count = [&](KeyKind kind) {
        return std::count_if(ports.begin(), ports.end(), [&](const PortCounters &p) { return p.kind == kind; });
    };
    if (ports.size() < 2 || count(KeyKind::device) > 1 || count(KeyKind::lid) > 1 || count(KeyKind::none) > 1) {
        return;
    }
    std::stable_sort(ports.begin(), ports.end(), [](const PortCounters &a, const PortCounters &b) {
        const auto rank = [](KeyKind kind) { return kind == KeyKind::device ? 0 : kind == KeyKind::lid ? 1 : 2; };
        return rank(a.kind) < rank(b.kind);
    });
    std::vector<PortCounters> one{ports.front()};
    for (auto other = ports.begin() + 1; other != ports.end(); ++other) {
        other->kind = one.front().kind;
        other->port = one.front().port;
        for (const std::string &twice : merge(one, std::move(*other))) {
            problems.push_back(
                {where, 0, fmt::format("{} is given twice with different values: the first is used", twice)});
        }
    }
    ports = std::move(one);
}

class Loader {
public:
    /// A file, alone or in a directory.
    void file(const std::string &path, std::vector<PortCounters> &ports) {
        if (++files_ > most_files) {
            if (files_ == most_files + 1) {
                problem(path, fmt::format("more than {} files: the rest is not read", most_files));
            }
            return;
        }
        const auto content = read_file(path, longest_file);
        if (!content) {
            problem(path, content.error().message);
            return;
        }
        if (trim(std::string_view(*content).substr(0, 256)).starts_with('{')) {
            snapshot(*content, path, ports);
            return;
        }
        Parsed parsed = parse_text(*content, path);
        problems_.insert(problems_.end(), parsed.problems.begin(), parsed.problems.end());
        take(std::move(parsed.ports), ports, path);
    }

    /// Files and cards of one directory belong together; its other sub-directories each for themselves, and their names
    /// become part of the ports' names: "node07/mlx5_0:1".
    std::vector<PortCounters> directory(const std::string &path, unsigned depth) {
        std::vector<PortCounters> here, below;
        const auto names = list_directory(path);
        if (!names) {
            problem(path, names.error().message);
            return here;
        }
        const bool device = is_directory(path + "/ports");
        const bool port = std::any_of(names->begin(), names->end(), [&](const std::string &name) {
            return is_counter_directory(name) && is_directory(path + "/" + name);
        });
        if (device || port) {
            card(path, "", here);
            return here;
        }
        for (const std::string &name : *names) {
            const std::string inner = fmt::format("{}/{}", path, name);
            if (!is_directory(inner)) {
                one_file(inner, name, here);
            } else if (is_directory(inner + "/ports")) {
                card(inner, name, here);
            } else if (depth == deepest) {
                problem(inner, "too deep: not read");
            } else {
                std::vector<PortCounters> found = directory(inner, depth + 1);
                for (PortCounters &found_port : found) {
                    found_port.port = found_port.port.empty() ? name : name + "/" + found_port.port;
                }
                take(std::move(found), below, inner);
            }
        }
        unite(here, problems_, path);
        take(std::move(below), here, path);
        return here;
    }

    std::vector<TextProblem> &problems() { return problems_; }

private:
    void one_file(const std::string &path, const std::string &name, std::vector<PortCounters> &ports) {
        if (sysfs::is_setting(name)) {
            return;
        }
        if (find_counter(name) != nullptr) { // hw_counters/ copied under another name
            PortCounters one;
            value(path, name, one.counters);
            add(std::move(one), ports, path);
            return;
        }
        file(path, ports);
    }

    void add(PortCounters port, std::vector<PortCounters> &ports, const std::string &where) {
        std::vector<PortCounters> list;
        list.push_back(std::move(port));
        take(std::move(list), ports, where);
    }

    void value(const std::string &path, const std::string &name, Counters &counters) {
        std::string content;
        const int error = read_file_errno(path, longest_value, false, content);
        const Reading reading = sysfs::counter_from(error, content);
        if (error != 0) {
            problem(path, errno_error(path, error).message);
        } else if (!reading.value && reading.absence != Absence::unsupported) {
            problem(path, fmt::format("not a number: \"{}\"", printable(trim(content).substr(0, 40))));
        }
        sysfs::add_counter(counters, name, reading);
    }

    /// A copied /sys/class/infiniband/DEVICE, or one of its ports.
    void card(const std::string &path, const std::string &device, std::vector<PortCounters> &ports) {
        const auto numbers = list_directory(path + "/ports");
        if (!numbers) {
            counter_directories(path, "", ports);
            return;
        }
        const std::string stem = device.empty() ? "port" : device;
        for (const std::string &number : *numbers) {
            counter_directories(fmt::format("{}/ports/{}", path, number), fmt::format("{}:{}", stem, number), ports);
        }
        if (numbers->size() == 1 && !is_directory(path + "/ports/" + numbers->front() + "/hw_counters")) {
            counter_directories(path, stem + ":" + numbers->front(), ports);
        }
    }

    /// counters/ and its like: one value a file.
    void counter_directories(const std::string &path, const std::string &name, std::vector<PortCounters> &ports) {
        PortCounters one;
        one.port = name;
        one.kind = name.empty() ? KeyKind::none : KeyKind::device;
        for (const char *kind : {"counters", "counters_ext", "hw_counters"}) {
            const std::string directory = path + "/" + kind;
            const auto files = list_directory(directory);
            if (!files) {
                continue;
            }
            for (const std::string &file : *files) {
                if (!sysfs::is_setting(file)) {
                    value(fmt::format("{}/{}", directory, file), file, one.counters);
                }
            }
        }
        if (!one.counters.empty()) {
            sysfs::mark_widths(one.counters);
            add(std::move(one), ports, path);
        }
    }

    void problem(const std::string &path, std::string what) {
        if (what.starts_with(path + ": ")) {
            what.erase(0, path.size() + 2);
        }
        problems_.push_back({path, 0, std::move(what)});
    }

    void take(std::vector<PortCounters> found, std::vector<PortCounters> &ports, const std::string &where) {
        for (PortCounters &port : found) {
            for (const std::string &twice : merge(ports, std::move(port))) {
                problem(where,
                        fmt::format("{} was given by another file with another value: the first is used", twice));
            }
        }
    }

    void snapshot(const std::string &content, const std::string &path, std::vector<PortCounters> &ports) {
        const auto decoded = decode_snapshot(content);
        if (!decoded) {
            problem(path, decoded.error().message);
            return;
        }
        std::vector<PortCounters> found;
        for (const HcaPort &port : decoded->ports) {
            found.push_back({KeyKind::device, decoded->node.empty() ? port.name() : decoded->node + "/" + port.name(),
                             port.driver, port.counters});
        }
        if (found.empty()) {
            problem(path, "a snapshot without ports");
        }
        take(std::move(found), ports, path);
    }

    std::vector<TextProblem> problems_;
    std::size_t files_ = 0;
};

} // namespace

Result<Loaded> load(const std::string &path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
        return Error{Errc::usage, errno_error(path, errno).message};
    }
    Loader loader;
    std::vector<PortCounters> ports;
    if (S_ISDIR(info.st_mode)) {
        ports = loader.directory(path, 0);
    } else {
        loader.file(path, ports);
    }
    unite(ports, loader.problems(), path);
    for (PortCounters &port : ports) {
        sysfs::mark_widths(port.counters);
    }
    if (ports.empty()) {
        const std::string why =
            loader.problems().empty() ? path + ": holds no counters" : loader.problems().front().text();
        return Error{Errc::malformed, why};
    }
    return Loaded{std::move(ports), std::move(loader.problems())};
}

} // namespace fabric_check::textfiles
