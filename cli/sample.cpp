// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "job/programs.hpp"
#include "mad/session.hpp"
#include "sample/fabric_reader.hpp"
#include "sample/sampler.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <csignal>
#include <iostream>
#include <memory>
#include <sys/stat.h>
#include <thread>

namespace fabric_check::cli {

namespace {

constexpr std::int64_t second = 1'000'000'000;

struct Options {
    bool once = false;
    bool verbose = false;
};

std::atomic<bool> ended{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void end(int) { ended = true; }

void end_on_signals() {
    struct sigaction action {};
    action.sa_handler = end;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP})
        ::sigaction(signal, &action, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
}

/// Short steps: nothing has to wake us.
bool sleep_until_told(std::chrono::milliseconds pause) {
    constexpr std::chrono::milliseconds step{100};
    const Deadline deadline = Deadline::after(pause);
    while (!ended && !deadline.passed())
        std::this_thread::sleep_for(std::min(step, deadline.left()));
    return !ended;
}

Result<sample::Pass> read_all(const Config &config, const fabric::Map &map, const sample::Layout &layout,
                              const Deadline &deadline, const mad::Vl15Memory &dropped) {
    const auto key = mad::read_m_key(config.mad.m_key_file);
    if (!key)
        return key.error();
    // A card may come and go while a sampler runs for months: opened for each pass.
    const auto transport = mad::UmadTransport::open(config.mad.device, config.mad.port);
    if (!transport)
        return transport.error();
    sample::Interruptible interruptible(**transport, ended);
    mad::Engine engine(interruptible, mad::session_options(config, **transport, *key));
    return sample::read_fabric(engine, map, layout, config, deadline, dropped);
}

std::string in_words(const sample::PassReport &report) {
    const std::string kept =
        report.interval_ns == 0 ? std::string("no interval yet")
                                : fmt::format("an interval of {:.1f} s kept, with {} events",
                                              static_cast<double>(report.interval_ns) / second, report.events);
    return fmt::format("{} {} of {} switch ports read in {:.0f} ms; {}{}{}\n", format_time(report.time_ns / second),
                       report.ports - report.silent, report.ports, static_cast<double>(report.took_ns) / 1e6, kept,
                       report.problem.empty() ? "" : "; ", printable(report.problem));
}

std::string in_json(const sample::PassReport &report) {
    return nlohmann::ordered_json{{"schema", "fabric-check/sample/1"},
                                  {"time_ns", report.time_ns},
                                  {"took_ns", report.took_ns},
                                  {"ports", report.ports},
                                  {"silent", report.silent},
                                  {"interval_ns", report.interval_ns},
                                  {"events", report.events},
                                  {"problem", printable(report.problem)}}
               .dump() +
           "\n";
}

int run_once(sample::Sampler &sampler, const std::function<void(const sample::PassReport &)> &tell) {
    const auto report = sampler.once();
    if (!report)
        return fail(exit_status::environment, report.error().message);
    if (!report->other.empty()) {
        fmt::print(stderr, "fabric-check: {}; it does this\n", report->other);
        return exit_status::done;
    }
    if (tell)
        tell(*report);
    if (report->problem.empty())
        return exit_status::done;
    return fail(report->ports > report->silent && report->took_ns > 0 ? exit_status::no_answer : exit_status::environment,
                report->problem);
}

int run(const Context &context, const Options &options) {
    const auto config = find_config(context.config_file);
    if (!config)
        return fail(exit_code(config.error().code), config.error().message);
    if (!context.map_file.empty())
        return fail(exit_status::usage, "sample: it follows the spool's map; --map does not apply");
    const auto uid = slurm_uid(*config);
    if (!uid)
        return fail(exit_code(uid.error().code), uid.error().message);
    Log log({.ident = "fabric-check-sample",
             .file = config->log_file,
             .syslog = config->syslog,
             .standard_error = !options.once,
             .level = Log::Level::info});
    const auto signer = munge_signer(config->munge.socket);
    end_on_signals();
    ::umask(022);
    sample::SamplerWorld world;
    world.signer = signer.get();
    world.log = &log;
    world.slurm_uid = *uid;
    world.now_ns = wall_ns;
    world.sleep = sleep_until_told;
    world.lease = sample::lease_world();
    world.read = [&config, dropped = std::make_shared<mad::Vl15Memory::element_type>()](
                     const fabric::Map &map, const sample::Layout &layout, const Deadline &deadline) {
        return read_all(*config, map, layout, deadline, dropped);
    };
    if (context.json || options.verbose)
        world.told = [json = context.json](const sample::PassReport &report) {
            std::cout << (json ? in_json(report) : in_words(report)) << std::flush;
        };
    const auto tell = world.told;
    sample::Sampler sampler(*config, std::move(world));
    if (options.once)
        return run_once(sampler, tell);
    const auto done = sampler.run();
    return done ? exit_status::done : fail(exit_status::environment, done.error().message);
}

} // namespace

void add_sample(CLI::App &app, Context &context) {
    auto options = std::make_shared<Options>();
    CLI::App *command = app.add_subcommand(
        "sample", "Keep what every switch port does, for the jobs' reports (a service on one host with a card)");
    command->add_flag("--once", options->once, "One pass, against the last one's; for a timer");
    command->add_flag("-v,--verbose", options->verbose, "Print a line for each pass");
    command->callback([&context, options] { context.exit_code = run(context, *options); });
}

} // namespace fabric_check::cli
