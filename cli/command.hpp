// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace fabric_check::cli {

/// Options all subcommands share.
struct Context {
    std::string config_file; ///< --config
    bool json = false;       ///< --json
    std::string map_file;    ///< --map
    int exit_code = 0;       ///< set by the subcommand that ran
};

/// One function per file cli/<name>.cpp: declares the subcommand; its callback runs it and sets exit_code.
void add_report(CLI::App &app, Context &context);
void add_snapshot(CLI::App &app, Context &context);
void add_diff(CLI::App &app, Context &context);
void add_map(CLI::App &app, Context &context);
void add_routes(CLI::App &app, Context &context);

/// Human text may be coloured on this stream: a terminal, and NO_COLOR not set.
bool use_colour(int fd);
/// Prints "fabric-check: MESSAGE" on stderr and returns the code.
int fail(int exit_code, const std::string &message);

} // namespace fabric_check::cli
