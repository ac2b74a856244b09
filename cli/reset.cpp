// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/user.hpp"
#include "command.hpp"
#include "fabric/pegged.hpp"
#include "fabric/routes.hpp"
#include "mad/session.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>

namespace fabric_check::cli {

namespace {

constexpr std::chrono::seconds time_enough{60};

struct Options {
    bool pegged = false;
    bool apply = false;
    std::string reason;
};

std::string where_of(const fabric::Map &map, const fabric::PeggedCounter &counter) {
    return fmt::format("{}:{}", map.display_name(counter.node), counter.port);
}

std::string state_of(const fabric::PeggedCounter &counter, bool applied) {
    return !applied        ? "at its cap"
           : counter.reset ? "was at its cap, reset"
                           : "at its cap, not reset: " + counter.problem;
}

void print_text(const fabric::Map &map, const fabric::Pegged &pegged, bool applied) {
    for (const auto &counter : pegged.counters)
        std::cout << fmt::format("{:<24} {:<28} {:>6}  {}; link {}\n", printable(where_of(map, counter)),
                                 counter.counter, counter.value, state_of(counter, applied),
                                 printable(fabric::link_name(map, counter.node, counter.port)));
    if (pegged.counters.empty())
        std::cout << "No error counter of a switch port stands at its cap.\n";
    else if (!applied)
        std::cout
            << "Nothing was reset. Each of them makes every job over its link unusable; with --apply they,\n"
               "and nothing else, are set to zero, and their values are logged (--reason TEXT: and why).\n";
}

void print_json(const fabric::Map &map, const fabric::Pegged &pegged, bool applied) {
    nlohmann::ordered_json out{{"schema", "fabric-check/reset/1"}, {"applied", applied}};
    out["pegged"] = nlohmann::ordered_json::array();
    for (const auto &counter : pegged.counters)
        out["pegged"].push_back({{"where", printable(where_of(map, counter))},
                                 {"link", printable(fabric::link_name(map, counter.node, counter.port))},
                                 {"counter", counter.counter},
                                 {"value", counter.value},
                                 {"reset", counter.reset},
                                 {"problem", counter.problem}});
    out["unread"] = nlohmann::ordered_json::array();
    for (const auto &problem : pegged.problems)
        out["unread"].push_back({{"where", printable(problem.where)}, {"reason", problem.reason}});
    std::cout << out.dump(2) << '\n';
}

int run(const Options &options, const Context &context) {
    if (!options.pegged)
        return fail(exit_status::usage, "reset: say --pegged: counters at their cap are all it resets");
    const Result<Config> config = find_config(context.config_file);
    if (!config)
        return fail(exit_code(config.error().code), config.error().message);
    const Result<fabric::Map> map = open_map(context, *config);
    if (!map)
        return fail(exit_code(map.error().code), map.error().message);
    const auto session = mad::open_session(*config);
    if (!session)
        return fail(exit_code(session.error().code), session.error().message);
    mad::Engine &engine = *session->engine;
    fabric::Pegged pegged = fabric::find_pegged(engine, *map, Deadline::after(time_enough));
    if (engine.failure())
        return fail(exit_code(engine.failure()->code), engine.failure()->message);
    if (options.apply && !pegged.counters.empty()) {
        fabric::reset_pegged(engine, *map, pegged.counters, Deadline::after(time_enough));
        Log log({.ident = "fabric-check", .file = config->log_file, .syslog = config->syslog, .standard_error = false});
        const std::string who = who_runs_this();
        for (const auto &counter : pegged.counters)
            log.info(fmt::format("reset --pegged: {} {}: value was {}: {}; by {}: {}", where_of(*map, counter),
                                 counter.counter, counter.value,
                                 counter.reset ? "reset" : "not reset: " + counter.problem, who,
                                 printable(trim(options.reason).empty() ? "at its cap" : options.reason)));
    }
    context.json ? print_json(*map, pegged, options.apply) : print_text(*map, pegged, options.apply);
    for (const auto &problem : pegged.problems)
        fmt::print(stderr, "fabric-check: {}: {}\n", printable(problem.where), problem.reason);
    const bool failed = std::any_of(pegged.counters.begin(), pegged.counters.end(),
                                    [](const fabric::PeggedCounter &counter) { return !counter.reset; });
    if (options.apply)
        return failed ? exit_status::environment : exit_status::done;
    return !pegged.counters.empty()   ? exit_status::finding
           : !pegged.problems.empty() ? exit_status::no_answer
                                      : exit_status::done;
}

} // namespace

void add_reset(CLI::App &app, Context &context) {
    auto options = std::make_shared<Options>();
    CLI::App *command = app.add_subcommand("reset", "Reset, and only reset, switch counters that stand at their cap");
    command->add_flag("--pegged", options->pegged,
                      "Error counters at their cap, of all switch ports in the map; required");
    command->add_flag("--apply", options->apply, "Do it; without, they are only listed");
    command->add_option("--reason", options->reason, "Why, for the log (default: at its cap)")->type_name("TEXT");
    command->callback([options, &context] { context.exit_code = run(*options, context); });
}

} // namespace fabric_check::cli
