// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "report/report.hpp"

#include <ctime>
#include <iostream>
#include <memory>
#include <optional>
#include <unistd.h>

namespace fabric_check::cli {

namespace {

struct Options {
    std::string before, after, profile, kind;
    std::optional<std::string> bytes;
};

int run(const Context &context, const Options &options) {
    if (const Status inputs = textfiles::check_inputs(options.before, options.after); !inputs) {
        return fail(exit_status::usage, inputs.error().message);
    }
    const auto bytes = options.bytes ? parse_bytes(*options.bytes) : std::nullopt;
    if (options.bytes && !bytes) {
        return fail(exit_status::usage, "diff: --bytes '" + printable(*options.bytes) +
                                            "': not an amount; valid: 1000000000000, 1TB, 1.5G");
    }
    const auto config = find_config(context.config_file);
    if (!config) {
        return fail(exit_code(config.error().code), config.error().message);
    }
    const auto before = textfiles::load(options.before);
    if (!before) {
        return fail(exit_status::usage, before.error().message);
    }
    const auto after = textfiles::load(options.after);
    if (!after) {
        return fail(exit_status::usage, after.error().message);
    }
    if (const Status order = textfiles::check_order(*before, *after); !order) {
        return fail(exit_status::usage, order.error().message);
    }
    textfiles::DiffOptions rules;
    if (!options.profile.empty()) {
        rules.profile = options.profile == "roce" ? Profile::roce : Profile::ib;
    }
    if (!options.kind.empty()) {
        rules.kind = options.kind == "switch" ? PortKind::switch_port : PortKind::hca;
    }
    rules.bytes = bytes;
    rules.congestion_per_gb = config->thresholds.congestion_per_gb;
    rules.bars = &config->thresholds.counters;
    rules.site = &*config;
    rules.now = std::time(nullptr);
    const textfiles::Diff diff = textfiles::diff(*before, *after, rules);
    if (context.json) {
        std::cout << textfiles::diff_json(diff);
    } else {
        for (const std::string &problem : diff.problems) {
            fail(0, printable(problem));
        }
        std::cout << textfiles::diff_text(diff, use_colour(STDOUT_FILENO), text_columns(STDOUT_FILENO));
    }
    return textfiles::exit_code(diff);
}

} // namespace

void add_diff(CLI::App &app, Context &context) {
    auto options = std::make_shared<Options>();
    CLI::App *command = app.add_subcommand(
        "diff",
        "Judge ports' counters from two readings: snapshots, the output of perfquery, ibqueryerrors, ethtool -S, "
        "rdma statistic or grep, trees of sysfs");
    command
        ->add_option("BEFORE", options->before,
                     "File, directory or pipe with the earlier readings; - is standard input")
        ->required()
        ->type_name("");
    command->add_option("AFTER", options->after, "File, directory or pipe with the later readings; - is standard input")
        ->required()
        ->type_name("");
    command
        ->add_option_function<std::string>(
            "--bytes", [options](const std::string &given) { options->bytes = given; },
            "Bytes moved over each port in between (default: as the data counters say)")
        ->type_name("N");
    command
        ->add_option("--profile", options->profile,
                     "Require every counter of this profile: ib, roce (default: by each port's counters)")
        ->check(CLI::IsMember({"ib", "roce"}));
    command->add_option("--kind", options->kind, "What the ports belong to: switch, hca (default: by their numbers)")
        ->check(CLI::IsMember({"switch", "hca"}));
    command->callback([&context, options] { context.exit_code = run(context, *options); });
}

} // namespace fabric_check::cli
