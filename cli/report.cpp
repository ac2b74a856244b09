// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.hpp"

#include "config/config.hpp"
#include "report/find_report.hpp"
#include "report/parts.hpp"
#include "report/report.hpp"

#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace fabric_check::cli {

namespace {

struct Options {
    std::string job;
    int restart = -1;
};

int run(const Options &options, const Context &context) {
    const Result<JobRef> job = parse_job_ref(options.job);
    if (!job) {
        return fail(exit_status::usage, job.error().message);
    }
    const Result<Config> config = find_config(context.config_file);
    if (!config) {
        return fail(exit_code(config.error().code), config.error().message);
    }
    const Result<nlohmann::ordered_json> report =
        find_report(*config, *job, options.restart < 0 ? std::nullopt : std::optional<unsigned>(options.restart));
    const std::string parts = describe_parts(*config, *job);
    if (!report) {
        // Of a whole array, or het job, there is no one report.
        return fail(exit_code(report.error().code), parts.empty() ? report.error().message : parts);
    }
    if (!parts.empty()) {
        fail(0, parts);
    }
    if (context.json) {
        std::cout << report->dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    } else {
        std::cout << report_text(*report, use_colour(STDOUT_FILENO), text_columns(STDOUT_FILENO));
    }
    return exit_of_report(*report);
}

} // namespace

void add_report(CLI::App &app, Context &context) {
    auto options = std::make_shared<Options>();
    CLI::App *command = app.add_subcommand("report", "The whole story of a job");
    command->add_option("JOBID", options->job, "Job id; 123_4 for an array task, 123+1 for a het component")
        ->required()
        ->type_name("JOBID[_TASK][+HET]");
    command->add_option("--restart", options->restart, "Which run of a requeued job (default: the latest)")
        ->check(whole_number())
        ->type_name("N");
    command->callback([options, &context] { context.exit_code = run(*options, context); });
}

} // namespace fabric_check::cli
