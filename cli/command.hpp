// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"
#include "fabric/map.hpp"

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
void add_reset(CLI::App &app, Context &context);
void add_routes(CLI::App &app, Context &context);
void add_help(CLI::App &app, Context &context);
void add_mid(CLI::App &app, Context &context);
void add_sample(CLI::App &app, Context &context);

/// Human text may be coloured on this stream: a terminal, and NO_COLOR not set.
bool use_colour(int fd);
/// Prints "fabric-check: MESSAGE" on stderr, one line unless that is a terminal, and returns the code.
int fail(int exit_code, const std::string &message);
/// What is wrong with a command line that does not parse, on stderr: the word, what is valid, which --help tells more.
/// Returns exit_status::usage.
int fail_usage(const CLI::App &app, const CLI::ParseError &error);
/// --help within the terminal's width, of this and of subcommands added later.
void wrap_help(CLI::App &app);
/// Names of the subcommands right below, as "build, import, show".
std::string subcommand_names(const CLI::App &app);

/// Checks of options' values, in words; they add nothing to --help.
CLI::Validator whole_number();    ///< 0 to 2147483647
CLI::Validator positive_number(); ///< any number above 0

/// The map of --map, else the spool's. One named on the command line that cannot be had is Errc::usage; the spool's,
/// Errc::unavailable with what to do about it.
Result<fabric::Map> open_map(const Context &context, const Config &config);

} // namespace fabric_check::cli
