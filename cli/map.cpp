// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "fabric/discover.hpp"
#include "fabric/import.hpp"
#include "fabric/map.hpp"
#include "progress.hpp"
#include "record/spool.hpp"
#include "report/remedies_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <map>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace fabric_check::cli {

namespace {

constexpr std::int64_t ns_per_s = 1000000000;

struct Counts {
    std::size_t switches = 0, hosts = 0, others = 0, leaves = 0, host_links = 0, other_links = 0, switch_links = 0;
};

Counts count(const fabric::Map &map) {
    Counts counts;
    for (const fabric::MapNode node : map.nodes()) {
        if (node.kind == fabric::NodeKind::host)
            ++counts.hosts;
        else if (node.kind == fabric::NodeKind::other)
            ++counts.others;
        if (node.kind != fabric::NodeKind::switch_node)
            continue;
        ++counts.switches;
        bool leaf = false;
        for (const fabric::MapPort port : node.ports) {
            if (port.peer == fabric::no_node)
                continue;
            const fabric::NodeKind peer = map.nodes()[port.peer].kind;
            leaf = leaf || peer == fabric::NodeKind::host;
            ++(peer == fabric::NodeKind::switch_node ? counts.switch_links
               : peer == fabric::NodeKind::host      ? counts.host_links
                                                     : counts.other_links);
        }
        counts.leaves += leaf ? 1 : 0;
    }
    counts.switch_links /= 2; // seen from both ends
    return counts;
}

std::string age(std::int64_t built_ns) {
    const std::int64_t seconds = wall_ns() / ns_per_s - built_ns / ns_per_s;
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

/// A reason without what differs from case to case: numbers and what stands in quotes.
std::string kind_of(std::string_view reason) {
    std::string out;
    bool quoted = false;
    for (const char c : reason) {
        quoted = c == '\'' ? !quoted : quoted;
        if (!quoted && std::isxdigit(static_cast<unsigned char>(c)) == 0) {
            out += c;
        }
    }
    return out;
}

/// Of each kind the first few; --json has them all.
void show_problems(const std::vector<Problem> &problems) {
    constexpr std::size_t shown = 5;
    std::map<std::string, std::size_t> seen;
    for (const Problem &problem : problems) {
        if (++seen[kind_of(problem.reason)] <= shown) {
            fmt::print("problem:          {}: {}\n", printable(problem.where), printable(problem.reason));
        }
    }
    std::size_t more = 0;
    for (const auto &[kind, count] : seen) {
        more += count > shown ? count - shown : 0;
    }
    if (more > 0) {
        fmt::print("problem:          {} more like these; --json shows them all\n", more);
    }
}

/// A damaged table is a finding.
int show(const fabric::Map &map, const std::string &file, bool json) {
    const Counts counts = count(map);
    std::vector<Problem> problems = map.problems();
    for (const std::string &name : map.damaged_tables()) {
        problems.push_back({name, "", "its forwarding table does not match its checksum and is taken for none; build the map again"});
    }
    const int status = problems.size() > map.problems().size() ? exit_status::finding : exit_status::done;
    if (json) {
        nlohmann::ordered_json out;
        out["schema"] = "fabric-check/map/1";
        out["file"] = file;
        out["id"] = fmt::format("{:016x}", map.id());
        out["source"] = map.source();
        out["built"] = map.built_ns() / ns_per_s;
        out["age_s"] = (wall_ns() - map.built_ns()) / ns_per_s;
        out["switches"] = counts.switches;
        out["leaves"] = counts.leaves;
        out["hosts"] = counts.hosts;
        out["others"] = counts.others;
        out["links"] = {{"hosts", counts.host_links}, {"others", counts.other_links}, {"switches", counts.switch_links}};
        out["adaptive_routing"] = to_string(map.adaptive_routing());
        out["subnet_manager"] = subnet_manager_json(map);
        out["problems"] = nlohmann::ordered_json::array();
        for (const Problem &problem : problems)
            out["problems"].push_back({{"where", problem.where}, {"reason", problem.reason}});
        // Names come off the wire; what is not UTF-8 must not end the program.
        fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
        return status;
    }
    fmt::print("map:              {}\n", printable(file));
    fmt::print("built:            {}, {}, from {}\n", format_time(map.built_ns() / ns_per_s), age(map.built_ns()),
               printable(map.source()));
    fmt::print("switches:         {}, {} with hosts\n", counts.switches, counts.leaves);
    fmt::print("hosts:            {} (cards)\n", counts.hosts);
    if (counts.others)
        fmt::print("other nodes:      {}\n", counts.others);
    fmt::print("links:            {} to hosts, {}{} between switches\n", counts.host_links,
               counts.other_links ? fmt::format("{} to other nodes, ", counts.other_links) : "", counts.switch_links);
    fmt::print("adaptive routing: {}\n", to_string(map.adaptive_routing()));
    if (map.subnet_manager())
        fmt::print("subnet manager:   {}\n", subnet_manager_words(subnet_manager_json(map)));
    show_problems(problems);
    return status;
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

int save_and_show(const fabric::MapDraft &draft, const std::string &file, const Context &context) {
    const auto map = fabric::open_draft(draft, file);
    if (!map) {
        return fail(exit_status::usage, map.error().message);
    }
    struct stat about {};
    if (::lstat(file.c_str(), &about) == 0 && S_ISLNK(about.st_mode)) { // it would be replaced, not what it names
        return fail(exit_status::usage, file + ": is a symbolic link; name the file itself");
    }
    if (const auto saved = fabric::save_map(*map, file); !saved) {
        return fail(exit_status::environment, saved.error().message);
    }
    return show(*map, file, context.json);
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
        Progress progress("reading the fabric");
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
    return save_and_show(*map, output.empty() ? spool.map_file() : output, context);
}

/// No input is the output: a slip of the hand would cost it.
bool same_file(const std::string &one, const std::string &other) {
    struct stat a {}, b {};
    return ::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int import(const Context &context, const std::vector<std::string> &files, const std::string &output) {
    std::optional<SpoolLayout> spool;
    if (output.empty()) {
        const auto config = find_config(context.config_file);
        if (!config) {
            return fail(exit_code(config.error().code), config.error().message);
        }
        spool = SpoolLayout{config->spool};
        if (const auto there = list_directory(spool->root); !there && there.error().code == Errc::not_found) {
            return fail(exit_status::environment, there.error().message + " (the spool: is its file system mounted?)");
        }
    }
    const std::string file = spool ? spool->map_file() : output;
    for (const std::string &input : files) {
        if (same_file(input, file)) {
            return fail(exit_status::usage, input + ": is an input, and would be replaced by the map: name another -o");
        }
    }
    auto map = [&files] {
        Progress progress("importing " + fmt::format("{} file{}", files.size(), files.size() == 1 ? "" : "s"));
        return fabric::import_fabric(files);
    }();
    if (!map) { // whatever is wrong with a file that was named
        return fail(exit_status::usage, map.error().message);
    }
    std::optional<FileLock> lock;
    if (spool) {
        auto taken = lock_spool(*spool);
        if (!taken) {
            return fail(exit_code(taken.error().code), taken.error().message);
        }
        lock.emplace(std::move(*taken));
    }
    return save_and_show(*map, file, context);
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
    return show(*map, context.map_file.empty() ? SpoolLayout{config.spool}.map_file() : context.map_file, context.json);
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

    CLI::App *import_command =
        map->add_subcommand("import", "Make the map of what other tools wrote, without the fabric");
    auto files = std::make_shared<std::vector<std::string>>();
    auto imported = std::make_shared<std::string>();
    import_command
        ->add_option("FILE", *files,
                     "ibnetdiscover output (also -f, -p) and forwarding tables: opensm-lfts.dump, opensm.fdbs, dump_fts, "
                     "ibroute, ibdiagnet2.fdbs; and, for adaptive routing, ibdiagnet2.far or opensm's log. In any order, "
                     "plain or gzip; - is standard input")
        ->required()
        ->type_name("");
    import_command->add_option("-o,--output", *imported, "Where to write it (default: SPOOL/map/map.fcm)")
        ->type_name("FILE");
    import_command->callback([&context, files, imported] { context.exit_code = import(context, *files, *imported); });

    map->add_subcommand("show", "What the map holds, and its age")->callback([&context] {
        context.exit_code = show(context);
    });
}

} // namespace fabric_check::cli
