// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/result.hpp"
#include "command.hpp"

#include <exception>
#include <iostream>

#ifndef FABRIC_CHECK_BUILD_NOTE // CMakeLists.txt has it where this is not what should be installed
#define FABRIC_CHECK_BUILD_NOTE ""
#endif

namespace {

int run(int argc, char **argv) {
    CLI::App app{"Was the fabric the reason? Fabric verdicts for Slurm jobs.", "fabric-check"};
    fabric_check::cli::wrap_help(app);
    app.set_version_flag("--version", "fabric-check " FABRIC_CHECK_VERSION FABRIC_CHECK_BUILD_NOTE);
    app.require_subcommand(1);
    app.fallthrough(); // --json and its like are taken before and after the subcommand

    fabric_check::cli::Context context;
    app.add_option("--config", context.config_file,
                   "Configuration file (default: $FABRIC_CHECK_CONFIG, or /etc/fabric-check/fabric-check.toml)")
        ->type_name("FILE");
    app.add_flag("--json", context.json, "Print JSON instead of text");
    app.add_option("--map", context.map_file, "Fabric map to use instead of the spool's")->type_name("FILE");
    fabric_check::cli::add_report(app, context);
    fabric_check::cli::add_snapshot(app, context);
    fabric_check::cli::add_diff(app, context);
    fabric_check::cli::add_map(app, context);
    fabric_check::cli::add_reset(app, context);
    fabric_check::cli::add_routes(app, context);
    fabric_check::cli::add_mid(app, context);
    fabric_check::cli::add_sample(app, context);
    fabric_check::cli::add_help(app, context);
    app.footer(
        "Exit codes: 0 done or clean, 1 a finding, 2 usage or configuration, 3 no answer, 4 the environment failed.\n"
        "Text that goes to no terminal is as wide as COLUMNS in the environment says (40 to 500), or 98.");

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success &success) {
        return app.exit(success);
    } catch (const CLI::ParseError &error) {
        return fabric_check::cli::fail_usage(app, error);
    }
    if (!std::cout.flush()) {
        return fabric_check::cli::fail(fabric_check::exit_status::environment, "standard output: cannot be written");
    }
    return context.exit_code;
}

} // namespace

int main(int argc, char **argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception &error) {
        std::cerr << "fabric-check: " << error.what() << '\n';
        return fabric_check::exit_status::environment;
    }
}
