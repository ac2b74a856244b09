// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "fabric/discover.hpp"
#include "fabric/map.hpp"
#include "record/spool.hpp"
#include "report/remedies_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace fabric_check::cli {

namespace {

constexpr std::int64_t ns_per_s = 1000000000;

/// Says on stderr how far a build is, from the second second on.
class ProgressLine {
public:
    ProgressLine() : ticker_([this] { tick(); }) {}
    ~ProgressLine() {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
        }
        changed_.notify_all();
        ticker_.join();
    }
    ProgressLine(const ProgressLine &) = delete;
    ProgressLine &operator=(const ProgressLine &) = delete;

    void report(std::string_view stage, std::size_t done, std::size_t total) {
        const std::lock_guard lock(mutex_);
        text_ = total ? fmt::format("{}: {} of {}", stage, done, total) : std::string(stage);
    }

private:
    void tick() {
        std::unique_lock lock(mutex_);
        for (unsigned seconds = 1; !changed_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; });
             ++seconds)
            fmt::print(stderr, "fabric-check: reading the fabric, {} s: {}\n", seconds, text_);
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false;
    std::string text_ = "topology";
    std::thread ticker_; // last: it uses the others
};

struct Counts {
    std::size_t switches = 0, hosts = 0, others = 0, host_links = 0, switch_links = 0;
};

Counts count(const fabric::Map &map) {
    Counts counts;
    for (const fabric::MapNode &node : map.nodes) {
        if (node.kind == fabric::NodeKind::host)
            ++counts.hosts;
        else if (node.kind == fabric::NodeKind::other)
            ++counts.others;
        if (node.kind != fabric::NodeKind::switch_node)
            continue;
        ++counts.switches;
        for (const fabric::MapPort &port : node.ports) {
            if (port.peer == fabric::no_node)
                continue;
            const bool between = map.nodes[port.peer].kind == fabric::NodeKind::switch_node;
            ++(between ? counts.switch_links : counts.host_links);
        }
    }
    counts.switch_links /= 2; // seen from both ends
    return counts;
}

std::string age(std::int64_t built_ns) {
    const std::int64_t seconds = (wall_ns() - built_ns) / ns_per_s;
    if (seconds < 0)
        return "from the future";
    if (seconds < 120)
        return fmt::format("{} s old", seconds);
    if (seconds < 7200)
        return fmt::format("{} min old", seconds / 60);
    if (seconds < 172800)
        return fmt::format("{} h old", seconds / 3600);
    return fmt::format("{} days old", seconds / 86400);
}

void show(const fabric::Map &map, const std::string &file, bool json) {
    const Counts counts = count(map);
    if (json) {
        nlohmann::ordered_json out;
        out["schema"] = "fabric-check/map/1";
        out["file"] = file;
        out["id"] = fmt::format("{:016x}", map.id);
        out["source"] = map.source;
        out["built"] = map.built_ns / ns_per_s;
        out["age_s"] = (wall_ns() - map.built_ns) / ns_per_s;
        out["switches"] = counts.switches;
        out["hosts"] = counts.hosts;
        out["others"] = counts.others;
        out["links"] = {{"hosts", counts.host_links}, {"switches", counts.switch_links}};
        out["adaptive_routing"] = to_string(map.adaptive_routing);
        out["subnet_manager"] = subnet_manager_json(map);
        out["problems"] = nlohmann::ordered_json::array();
        for (const Problem &problem : map.problems)
            out["problems"].push_back({{"where", problem.where}, {"reason", problem.reason}});
        // Names come off the wire; what is not UTF-8 must not end the program.
        fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
        return;
    }
    fmt::print("map:              {}\n", printable(file));
    fmt::print("built:            {}, {}, from {}\n", format_time(map.built_ns / ns_per_s), age(map.built_ns),
               printable(map.source));
    fmt::print("switches:         {}\n", counts.switches);
    fmt::print("hosts:            {}\n", counts.hosts);
    if (counts.others)
        fmt::print("other nodes:      {}\n", counts.others);
    fmt::print("links:            {} to hosts, {} between switches\n", counts.host_links, counts.switch_links);
    fmt::print("adaptive routing: {}\n", to_string(map.adaptive_routing));
    if (map.subnet_manager)
        fmt::print("subnet manager:   {}\n", subnet_manager_words(subnet_manager_json(map)));
    for (const Problem &problem : map.problems)
        fmt::print("problem:          {}: {}\n", printable(problem.where), printable(problem.reason));
}

/// Root leaves nothing in the spool that its owner, SlurmUser, could not write later.
void give_to_owner_of(const std::string &parent, const std::string &path) {
    struct stat owner {};
    if (::geteuid() == 0 && ::stat(parent.c_str(), &owner) == 0)
        (void)!::lchown(path.c_str(), owner.st_uid, static_cast<gid_t>(-1)); // a squashed root cannot; nor did it make it
}

/// Only one build of the spool's map at a time. The spool itself is never made: where it is not mounted, a directory of
/// that name would hide that.
Result<FileLock> lock_spool(const SpoolLayout &spool) {
    const auto denied = [](const Error &error) {
        return error.code == Errc::denied
                   ? Error{error.code, error.message + "; building the spool's map needs write access to SPOOL/map: as "
                                                       "root where root is not squashed, or as SlurmUser"}
                   : error;
    };
    const std::string directory = spool.root + "/map";
    const bool there = ::access(directory.c_str(), F_OK) == 0;
    if (auto made = make_spool_directory(spool, directory, 0755); !made)
        return denied(made.error());
    if (!there)
        give_to_owner_of(spool.root, directory);
    auto taken = FileLock::try_lock(spool.build_lock());
    if (!taken && taken.error().code == Errc::unavailable)
        return Error{Errc::unavailable, "another build of this map is running (" + spool.build_lock() + " is locked)"};
    if (!taken)
        return denied(taken.error());
    give_to_owner_of(directory, spool.build_lock());
    return taken;
}

int build(const Context &context, const std::string &output) {
    const auto config = find_config(context.config_file);
    if (!config)
        return fail(exit_code(config.error().code), config.error().message);
    const SpoolLayout spool{config->spool};
    if (output.empty())
        if (const auto there = list_directory(spool.root); !there && there.error().code == Errc::not_found)
            return fail(exit_status::environment,
                        there.error().message + " (the spool: is its file system mounted?)");
    std::optional<FileLock> lock;
    const auto prepare = [&]() -> Status {
        if (!output.empty())
            return {};
        auto taken = lock_spool(spool);
        if (!taken)
            return taken.error();
        lock.emplace(std::move(*taken));
        return {};
    };
    auto map = [&] {
        ProgressLine progress;
        return fabric::discover(
            *config,
            [&progress](std::string_view stage, std::size_t done, std::size_t total) {
                progress.report(stage, done, total);
            },
            prepare);
    }();
    if (!map) // not_found is about the spool here, which is no more an input than umad is
        return fail(map.error().code == Errc::not_found ? exit_status::environment : exit_code(map.error().code),
                    map.error().message);
    const std::string file = output.empty() ? spool.map_file() : output;
    if (auto saved = fabric::save_map(*map, file); !saved)
        return fail(exit_status::environment, saved.error().message);
    show(*map, file, context.json);
    return exit_status::done;
}

int show(const Context &context) {
    Config config;
    if (context.map_file.empty()) {
        const auto found = find_config(context.config_file);
        if (!found)
            return fail(exit_code(found.error().code), found.error().message);
        config = *found;
    }
    const auto map = open_map(context, config);
    if (!map)
        return fail(exit_code(map.error().code), map.error().message);
    show(*map, context.map_file.empty() ? SpoolLayout{config.spool}.map_file() : context.map_file, context.json);
    return exit_status::done;
}

} // namespace

void add_map(CLI::App &app, Context &context) {
    CLI::App *map = app.add_subcommand("map", "The fabric map: switches, links and forwarding tables");
    map->require_subcommand(1);

    CLI::App *build_command = map->add_subcommand("build", "Read the fabric and write its map (needs umad: root)");
    auto output = std::make_shared<std::string>();
    build_command->add_option("-o,--output", *output, "Where to write it (default: SPOOL/map/map.fcm)")
        ->type_name("FILE");
    build_command->callback([&context, output] { context.exit_code = build(context, *output); });

    map->add_subcommand("show", "What the map holds, and its age")->callback([&context] {
        context.exit_code = show(context);
    });
}

} // namespace fabric_check::cli
