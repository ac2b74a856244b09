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
#include "report/map_report.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace fabric_check::cli {

namespace {

/// A damaged table is a finding.
int show(const fabric::Map &map, const std::string &file, bool json, bool hosts = false) {
    std::vector<Problem> problems = map.problems();
    for (const std::string &name : map.damaged_tables()) {
        problems.push_back({name, "", "its forwarding table does not match its checksum and is taken for none; build the map again"});
    }
    const int status = problems.size() > map.problems().size() ? exit_status::finding : exit_status::done;
    if (hosts && !json) {
        std::cout << host_ports_text(host_ports_json(map));
        return status;
    }
    nlohmann::ordered_json out = map_json(map, file, wall_ns(), problems);
    if (hosts) {
        out["host_ports"] = host_ports_json(map);
    }
    if (json) { // names come off the wire; what is not UTF-8 must not end the program
        std::cout << out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    } else {
        std::cout << map_text(out, text_columns(STDOUT_FILENO));
    }
    return status;
}

/// Root leaves nothing in the spool that its owner, SlurmUser, could not write later.
void give_to_owner_of(const std::string &parent, const std::string &path) {
    struct stat owner {};
    if (::geteuid() == 0 && ::stat(parent.c_str(), &owner) == 0)
        (void)!::lchown(path.c_str(), owner.st_uid, static_cast<gid_t>(-1)); // a squashed root cannot; nor did it make it
}

/// Not found: the spool, as a place for a map. Other troubles show when it is written to.
Status spool_there(const SpoolLayout &spool) {
    const auto there = list_directory(spool.root);
    if (there || there.error().code != Errc::not_found) {
        return {};
    }
    return Error{there.error().code,
                 there.error().message + " (the spool: is its file system mounted? -o FILE writes the map elsewhere)"};
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

/// A map is no text for a pipe, and a file of that name is a slip.
Status check_output(const char *command, const std::string &output) {
    return output != "-" ? Status()
                         : Error{Errc::usage, fmt::format("{}: -o - would not be standard output: name a file (./- for one of "
                                                          "that name)",
                                                          command)};
}

int build(const Context &context, const std::string &output) {
    if (const Status named = check_output("map build", output); !named)
        return fail(exit_status::usage, named.error().message);
    const auto config = find_config(context.config_file);
    if (!config)
        return fail(exit_code(config.error().code), config.error().message);
    const SpoolLayout spool{config->spool};
    if (output.empty())
        if (const Status there = spool_there(spool); !there)
            return fail(exit_status::environment, there.error().message);
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

/// Where a map goes without -o, and whether it can.
struct Destination {
    std::optional<SpoolLayout> spool;
    std::string file;
    int exit_code = exit_status::done; ///< else what is wrong
    std::string wrong;
};

Destination destination_of(const Context &context, const std::string &output) {
    Destination out;
    out.file = output;
    if (!output.empty()) {
        return out;
    }
    const auto config = find_config(context.config_file);
    if (!config) {
        out.exit_code = exit_code(config.error().code);
        out.wrong = config.error().message;
        return out;
    }
    out.spool = SpoolLayout{config->spool};
    out.file = out.spool->map_file();
    if (const Status there = spool_there(*out.spool); !there) {
        out.exit_code = exit_status::environment;
        out.wrong = there.error().message;
    }
    return out;
}

int import(const Context &context, const std::vector<std::string> &files, const std::string &output) {
    if (const Status named = check_output("map import", output); !named) {
        return fail(exit_status::usage, named.error().message);
    }
    const Destination to = destination_of(context, output);
    for (const std::string &input : files) {
        if (!to.file.empty() && same_file(input, to.file)) {
            return fail(exit_status::usage, input + ": is an input, and would be replaced by the map: name another -o");
        }
    }
    auto map = [&files] {
        Progress progress("importing " + fmt::format("{} file{}", files.size(), files.size() == 1 ? "" : "s"));
        return fabric::import_fabric(files);
    }();
    // What is wrong with the files comes first: it stays wrong wherever the map goes.
    int failed = map ? exit_status::done : fail(exit_status::usage, map.error().message);
    if (!to.wrong.empty()) {
        const int nowhere = fail(to.exit_code, to.wrong);
        return failed != exit_status::done ? failed : nowhere;
    }
    if (failed != exit_status::done) {
        return failed;
    }
    std::optional<FileLock> lock;
    if (to.spool) {
        auto taken = lock_spool(*to.spool);
        if (!taken) {
            return fail(exit_code(taken.error().code), taken.error().message);
        }
        lock.emplace(std::move(*taken));
    }
    return save_and_show(*map, to.file, context);
}

int show(const Context &context, bool hosts) {
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
    return show(*map, context.map_file.empty() ? SpoolLayout{config.spool}.map_file() : context.map_file, context.json, hosts);
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

    CLI::App *show_command = map->add_subcommand("show", "What the map holds, and its age");
    auto hosts = std::make_shared<bool>(false);
    show_command->add_flag("--hosts", *hosts, "Its hosts instead: one line a port, with LID, switch and rate");
    show_command->callback([&context, hosts] { context.exit_code = show(context, *hosts); });
}

} // namespace fabric_check::cli
