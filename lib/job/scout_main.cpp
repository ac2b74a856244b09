// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/scout_main.hpp"

#include "base/text.hpp"
#include "job/hook_environment.hpp"
#include "job/own_node.hpp"
#include "job/programs.hpp"
#include "job/scout_pass.hpp"
#include "job/scout_requests.hpp"
#include "record/record_name.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

namespace fabric_check {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_budget{3'600'000};
constexpr milliseconds serve_pause{150}, trouble_pause{2000}; ///< between looks for requests; after a failure
constexpr milliseconds overtime{50}; ///< beyond its deadline before it is ended in mid-call

volatile std::sig_atomic_t told_to_end = 0;

/// For those that nobody watches over: on the controller.
void end_after(milliseconds budget) {
    const auto all = budget + overtime;
    itimerval timer{};
    timer.it_value.tv_sec = all.count() / 1000;
    timer.it_value.tv_usec = all.count() % 1000 * 1000;
    (void)setitimer(ITIMER_REAL, &timer, nullptr);
}

int scout_once(const ScoutOrder &order) {
    const auto deadline = Deadline::after(order.budget);
    end_after(order.budget);
    const auto config = config_or_defaults(config_path(), nullptr);
    auto log = program_log("fabric-check-scout", config);
    const auto variables = [&](const char *name) -> const char * {
        if (std::string_view(name) == "SLURMD_NODENAME")
            return order.host.c_str();
        return std::getenv(name); // NOLINT(concurrency-mt-unsafe): before any thread
    };
    const auto environment = node_hook_environment(variables, Mode::report);
    if (!environment) {
        log.error("scout: " + environment.error().message);
        return 1;
    }
    const auto signer = munge_signer(config.munge.socket);
    auto world = real_scout_world(config, *signer, log);
    const ScoutTask task{environment->job_id, order.phase, order.host, environment->nodes,
                         hook_prefix(order.phase, *environment)};
    return run_scout_pass(task, config, world, deadline) ? 0 : 1;
}

void pause(milliseconds time) {
    for (const auto end = Deadline::after(time); told_to_end == 0 && !end.passed();)
        std::this_thread::sleep_for(std::min(end.left(), serve_pause));
}

int serve() {
    struct sigaction action {};
    action.sa_handler = [](int) { told_to_end = 1; };
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
    const auto config = config_or_defaults(config_path(), nullptr);
    auto log =
        program_log("fabric-check-scout", config, isatty(STDERR_FILENO) == 1); // a service's has gone to syslog already
    const auto host = own_node_name();
    if (config.scout != host) {
        log.error("scout: this host is " + host + ", and the configuration says scout = \"" + config.scout +
                  "\": nothing to serve; set scout = \"" + host + "\" on all hosts");
        return 1;
    }
    log.info("scout: serving the requests for " + host);
    const auto signer = munge_signer(config.munge.socket);
    auto world = real_scout_world(config, *signer, log);
    std::string last;
    while (told_to_end == 0) {
        const auto served =
            serve_scout_request(config, host, world, Deadline::after(milliseconds(config.hooks.budget_ms)));
        const auto problem = served ? std::string() : served.error().message;
        if (problem != last && !problem.empty())
            log.error("scout: " + problem);
        last = problem;
        if (!served)
            pause(trouble_pause);
        else if (!*served)
            pause(serve_pause);
    }
    return 0;
}

} // namespace

std::optional<ScoutOrder> parse_scout_order(const std::vector<std::string_view> &arguments) {
    ScoutOrder order;
    if (arguments.size() == 1 && arguments[0] == "--serve") {
        order.serve = true;
        return order;
    }
    if (arguments.size() != 3 || (arguments[0] != "start" && arguments[0] != "end") || !valid_node_name(arguments[1]))
        return std::nullopt;
    order.phase = arguments[0] == "end" ? Phase::end : Phase::start;
    order.host = arguments[1];
    const auto budget = parse_u64(arguments[2]);
    if (!budget || *budget == 0 || *budget > static_cast<std::uint64_t>(longest_budget.count()))
        return std::nullopt;
    order.budget = milliseconds(*budget);
    return order;
}

int scout_main(int argc, char **argv) noexcept {
    try {
        const auto order = argc < 1 ? std::nullopt : parse_scout_order({argv + 1, argv + argc});
        if (!order)
            return exit_status::usage;
        return order->serve ? serve() : scout_once(*order);
    } catch (...) { // out of memory
        return exit_status::environment;
    }
}

} // namespace fabric_check
