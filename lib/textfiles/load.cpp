// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/load.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "sources/sysfs_text.hpp"
#include "textfiles/collector.hpp"
#include "textfiles/paths.hpp"
#include "textfiles/unite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>

namespace fabric_check::textfiles {

namespace {

constexpr std::size_t longest_file = std::size_t{256} << 20;
constexpr std::size_t longest_value = 4096;
constexpr std::size_t most_problems = 1000;
constexpr unsigned deepest = 8;

bool is_directory(const std::string &path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// What is no regular file: a pipe, standard input. The caller waits for whoever writes it.
Result<std::string> read_stream(int fd, const std::string &name) {
    std::string content;
    std::vector<char> buffer(std::size_t{1} << 16);
    while (true) {
        const ssize_t n = ::read(fd, buffer.data(), buffer.size());
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno_error(name, errno);
        }
        if (n == 0) {
            return content;
        }
        content.append(buffer.data(), static_cast<std::size_t>(n));
        if (content.size() > longest_file) {
            return Error{Errc::malformed, fmt::format("{}: longer than {} MiB", name, longest_file >> 20)};
        }
    }
}

Result<std::string> read_stream(const std::string &path) {
    if (path == standard_input) {
        return read_stream(STDIN_FILENO, "standard input");
    }
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return errno_error(path, errno);
    }
    auto content = read_stream(fd, path);
    ::close(fd);
    return content;
}

std::vector<PortCounters>::iterator same_port(std::vector<PortCounters> &ports, const PortCounters &port) {
    return std::find_if(ports.begin(), ports.end(), [&](const PortCounters &known) {
        return known.kind == port.kind && known.port == port.port;
    });
}

class Loader {
public:
    Loader(std::string name, const LoadLimits &limits) : name_(std::move(name)), limits_(limits) {}

    /// A file, alone or in a directory.
    void file(const std::string &path, std::vector<PortCounters> &ports) {
        if (++files_ > limits_.files) {
            stop(path, fmt::format("more than {} files", limits_.files));
            return;
        }
        struct stat info {};
        if (::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode) && ::stat(path.c_str(), &info) != 0) {
            problem(path, "a link that leads nowhere: copy trees of sysfs with cp -rL");
            return;
        }
        const auto content = read_file(path, longest_file);
        if (!content) {
            problem(path, content.error().message);
            return;
        }
        bytes_ += content->size();
        if (bytes_ > limits_.bytes) {
            stop(path, fmt::format("more than {} MiB of files", limits_.bytes >> 20));
            return;
        }
        text(*content, path, ports);
    }

    void text(const std::string &content, const std::string &path, std::vector<PortCounters> &ports) {
        take(parse_text(content, path), ports, path);
    }

    /// Files and cards of one directory belong together; its other sub-directories each for themselves, and their names
    /// become part of the ports' names: "node07/mlx5_0:1".
    std::vector<PortCounters> directory(const std::string &path, unsigned depth) {
        std::vector<PortCounters> here, below;
        Unnamed unnamed;
        if (!enter(path)) {
            return here;
        }
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
            if (stopped_) {
                break;
            }
            const std::string inner = fmt::format("{}/{}", path, name);
            if (!is_directory(inner)) {
                one_file(inner, name, here, unnamed);
            } else if (is_directory(inner + "/ports")) {
                card(inner, name, here);
            } else if (depth == deepest) {
                problem(inner, "too deep: not read");
            } else {
                std::vector<PortCounters> found = directory(inner, depth + 1);
                if (is_tree_part(name)) { // node07/infiniband/mlx5_0 is node07's
                    take(std::move(found), here, inner);
                    continue;
                }
                for (PortCounters &found_port : found) {
                    found_port.port = found_port.port.empty() ? name : name + "/" + found_port.port;
                }
                take(std::move(found), below, inner);
            }
        }
        take(of_unnamed(std::move(unnamed), here, problems_, path), here, path);
        settle_cards(here, problems_, path);
        unite(here, problems_, path);
        take(std::move(below), here, path);
        return here;
    }

    std::vector<TextProblem> &problems() { return problems_; }

    /// Not more than anybody reads.
    void shorten_problems() {
        if (problems_.size() > most_problems) {
            const std::size_t more = problems_.size() - most_problems;
            problems_.resize(most_problems);
            problems_.push_back({name_, 0, fmt::format("and {} more problems", more)});
        }
    }

private:
    /// Links may lead round and round, and a directory may hold the whole machine.
    bool enter(const std::string &path) {
        struct stat info {};
        if (::stat(path.c_str(), &info) == 0 && !visited_.insert({info.st_dev, info.st_ino}).second) {
            if (!told_again_) {
                told_again_ = true;
                problem(path, "a link to a directory that was read already: not read again, nor are others of that kind");
            }
            return false;
        }
        if (visited_.size() > limits_.directories) {
            stop(path, fmt::format("more than {} directories", limits_.directories));
        }
        return !stopped_;
    }

    void stop(const std::string &path, const std::string &why) {
        if (!stopped_) {
            problem(path, why + ": the rest is not read");
            stopped_ = true;
        }
    }

    void one_file(const std::string &path, const std::string &name, std::vector<PortCounters> &ports,
                  Unnamed &unnamed) {
        if (sysfs::is_setting(name)) {
            return;
        }
        if (find_counter(name) != nullptr && ++files_ <= limits_.files) { // hw_counters/ copied under another name
            Collector one(path);
            value(path, name, one, one.port(KeyKind::none, "", Tool::tree));
            take(one.finish(), ports, path);
            return;
        }
        std::vector<PortCounters> found;
        file(path, found);
        const auto of_none = std::find_if(found.begin(), found.end(),
                                          [](const PortCounters &port) { return port.kind == KeyKind::none; });
        if (of_none != found.end()) {
            unnamed.emplace_back(name, std::move(*of_none));
            found.erase(of_none);
        }
        take(std::move(found), ports, path);
    }

    void value(const std::string &path, const std::string &name, Collector &counters, Collector::Port port) {
        std::string content;
        const int error = read_file_errno(path, longest_value, false, content);
        const Reading reading = sysfs::counter_from(error, content);
        if (error != 0) {
            problem(path, errno_error(path, error).message);
        } else if (!reading.value && reading.absence != Absence::unsupported) {
            problem(path, fmt::format("not a number: \"{}\"", printable(trim(content).substr(0, 40))));
        }
        counters.add(port, name, reading, 0);
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
        if (!is_directory(path + "/hw_counters")) {
            return;
        }
        if (numbers->size() > 1) {
            problem(path, counts_all_ports);
        } else if (numbers->size() == 1 && !is_directory(path + "/ports/" + numbers->front() + "/hw_counters")) {
            counter_directories(path, stem + ":" + numbers->front(), ports);
        }
    }

    /// counters/ and its like: one value a file.
    void counter_directories(const std::string &path, const std::string &name, std::vector<PortCounters> &ports) {
        Collector counters(path);
        const Collector::Port port = counters.port(name.empty() ? KeyKind::none : KeyKind::device, name,
                                                   Tool::tree);
        for (const char *kind : {"counters", "counters_ext", "hw_counters"}) {
            const std::string directory = path + "/" + kind;
            const auto files = list_directory(directory);
            if (!files) {
                continue;
            }
            for (const std::string &file : *files) {
                if (!sysfs::is_setting(file)) {
                    value(fmt::format("{}/{}", directory, file), file, counters, port);
                }
            }
        }
        std::string layer;
        if (read_file_errno(path + "/link_layer", longest_value, false, layer) == 0) {
            counters.link_layer(port, sysfs::link_layer_from(layer));
        }
        take(counters.finish(), ports, path);
    }

    void problem(const std::string &path, std::string what) {
        if (what.starts_with(path + ": ")) {
            what.erase(0, path.size() + 2);
        }
        problems_.push_back({path, 0, std::move(what)});
    }

    void take(Parsed parsed, std::vector<PortCounters> &ports, const std::string &where) {
        problems_.insert(problems_.end(), parsed.problems.begin(), parsed.problems.end());
        take(std::move(parsed.ports), ports, where);
    }

    void take(std::vector<PortCounters> found, std::vector<PortCounters> &ports, const std::string &where) {
        if (ports.empty()) {
            ports = std::move(found);
            return;
        }
        std::unordered_map<std::string, std::size_t> index;
        const auto key = [](const PortCounters &port) {
            return static_cast<char>('0' + static_cast<int>(port.kind)) + port.port;
        };
        if (found.size() > 1) {
            for (std::size_t at = 0; at < ports.size(); ++at) {
                index.emplace(key(ports[at]), at);
            }
        }
        for (PortCounters &port : found) {
            if (!index.empty() && !index.contains(key(port))) {
                index.emplace(key(port), ports.size());
                ports.push_back(std::move(port));
                continue;
            }
            const auto first = same_port(ports, port);
            if (first == ports.end()) {
                ports.push_back(std::move(port));
                continue;
            }
            const std::string who = port.port, second = port.file, first_file = first->file;
            for (const std::string &twice : merge(ports, std::move(port))) {
                problem(second.empty() ? where : second,
                        given_twice(who.empty() ? twice : fmt::format("{} of {}", twice, who), first_file));
            }
        }
    }

    std::string name_;
    LoadLimits limits_;
    std::vector<TextProblem> problems_;
    std::size_t files_ = 0, bytes_ = 0;
    std::set<std::pair<dev_t, ino_t>> visited_; ///< directories
    bool stopped_ = false, told_again_ = false;
};

} // namespace

Result<Loaded> load(const std::string &path, const LoadLimits &limits) {
    struct stat info {};
    const bool input = path == standard_input;
    if (!input && ::stat(path.c_str(), &info) != 0) {
        return Error{Errc::usage, errno_error(path, errno).message};
    }
    const std::string name = input ? "standard input" : path;
    Loader loader(name, limits);
    std::vector<PortCounters> ports;
    if (!input && S_ISDIR(info.st_mode)) {
        ports = loader.directory(path, 0);
    } else if (!input && S_ISREG(info.st_mode)) {
        loader.file(path, ports);
        settle_cards(ports, loader.problems(), name);
        unite(ports, loader.problems(), name);
    } else {
        const auto content = read_stream(path);
        if (!content) {
            return Error{Errc::usage, content.error().message};
        }
        loader.text(*content, name, ports);
        settle_cards(ports, loader.problems(), name);
        unite(ports, loader.problems(), name);
    }
    for (PortCounters &port : ports) {
        port.counters.mark_widths();
    }
    loader.shorten_problems();
    if (ports.empty()) {
        const std::string why =
            loader.problems().empty() ? name + ": holds no counters" : loader.problems().front().text();
        return Error{Errc::malformed, why};
    }
    return Loaded{name, std::move(ports), std::move(loader.problems())};
}

} // namespace fabric_check::textfiles
