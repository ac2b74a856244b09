// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "record/codec.hpp"
#include "sources/sysfs.hpp"

#include <iostream>
#include <memory>
#include <unistd.h>

namespace fabric_check::cli {

namespace {

struct Options {
    std::string output, sysfs_root, node;
};

std::string short_host_name() {
    char name[256] = "";
    if (::gethostname(name, sizeof name - 1) != 0) {
        return "localhost";
    }
    const std::string_view text = name;
    return std::string(text.substr(0, text.find('.')));
}

/// It becomes a part of file names and of the places that reports name.
bool is_node_name(const std::string &name) {
    return name != "." && name != ".." && name.find('/') == std::string::npos && printable(name) == name;
}

int run(const Context &context, const Options &options) {
    if (!options.node.empty() && !is_node_name(options.node)) {
        return fail(exit_status::usage, "snapshot: --node '" + printable(options.node) +
                                            "' is no node name; valid: a name as Slurm has it, without / or control "
                                            "characters");
    }
    if (!options.sysfs_root.empty()) {
        if (const auto there = list_directory(options.sysfs_root); !there) {
            return fail(exit_status::usage, "snapshot: --sysfs-root " + there.error().message);
        }
    }
    const auto config = find_config(context.config_file);
    if (!config) {
        return fail(exit_code(config.error().code), config.error().message);
    }
    const std::string node = options.node.empty() ? short_host_name() : options.node;
    const std::string root = options.sysfs_root.empty() ? config->expand(config->sysfs_root, node) : options.sysfs_root;
    const NodeSnapshot snapshot = read_node(node, root, config->expand(config->proc_root, node), NetdevStatistics::all);
    for (const Problem &problem : snapshot.problems) {
        fail(0, problem.where + (problem.counter.empty() ? "" : " " + problem.counter) + ": " + problem.reason);
    }
    const std::string text = encode_snapshot(snapshot) + '\n'; // files are joined with cat
    if (options.output.empty() || options.output == "-") {
        std::cout << text << std::flush;
        if (!std::cout) {
            return fail(exit_status::environment, "standard output: cannot be written");
        }
    } else if (const Status status = write_file_atomic(options.output, text); !status) {
        return fail(exit_status::environment, status.error().message);
    }
    return snapshot.ports.empty() ? exit_status::no_answer : exit_status::done;
}

} // namespace

void add_snapshot(CLI::App &app, Context &context) {
    auto options = std::make_shared<Options>();
    CLI::App *command = app.add_subcommand("snapshot", "Read this host's fabric counters, for diff (JSON)");
    command->add_option("-o,--output", options->output, "File to write (default: standard output)")->type_name("FILE");
    command->add_option("--sysfs-root", options->sysfs_root, "Where the kernel shows the cards")->type_name("DIR");
    command->add_option("--node", options->node, "Name to record for this host")->type_name("NAME");
    command->callback([&context, options] { context.exit_code = run(context, *options); });
}

} // namespace fabric_check::cli
