// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/process.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "job/mid.hpp"
#include "job/own_node.hpp"
#include "sources/sysfs.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace fabric_check::cli {

namespace {

struct Options {
    std::string node;
    bool verbose = false;
};

/// What the child, whose output is /dev/null, has to say.
class Answer {
public:
    Answer() : fd_(::memfd_create("fabric-check-mid", MFD_CLOEXEC)) {}
    Answer(const Answer &) = delete;
    Answer &operator=(const Answer &) = delete;
    ~Answer() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }
    void say(const std::string &text) const { (void)!::write(fd_, text.data(), text.size()); }
    std::string text() const {
        std::string all;
        char buffer[4096];
        ssize_t n = 0;
        ::lseek(fd_, 0, SEEK_SET);
        while ((n = ::read(fd_, buffer, sizeof buffer)) > 0) {
            all.append(buffer, static_cast<std::size_t>(n));
        }
        return all;
    }

private:
    int fd_;
};

std::string in_words(const MidResult &result, const std::string &node) {
    std::string out;
    if (result.jobs.empty() && !result.busy) {
        return fmt::format("no job with a START record runs on {} (is that this node's name in Slurm? --node)\n", node);
    }
    if (result.busy) {
        return "another fabric-check mid is at it; nothing done\n";
    }
    for (const MidJob &job : result.jobs) {
        out += job.skipped.empty()
                   ? fmt::format("job {} {}: recorded; {} {} since {}\n", job.job_id, job.node, job.intervals,
                                 job.intervals == 1 ? "interval" : "intervals", format_time(job.start_ns / 1'000'000'000))
                   : fmt::format("job {} {}: no record: {}\n", job.job_id, job.node, job.skipped);
    }
    return out;
}

int run(const Context &context, const Options &options) {
    const auto config = find_config(context.config_file);
    if (!config) {
        return fail(exit_code(config.error().code), config.error().message);
    }
    const std::string node = options.node.empty() ? own_node_name() : options.node;
    const std::chrono::milliseconds budget(config->hooks.budget_ms);
    const Answer answer, trouble;
    // In a child: a spool or a card that hangs must not hold up the health check.
    const auto done = run_within(budget, [&] {
        const auto signer = munge_signer(config->munge.socket);
        MidWorld world;
        world.signer = signer.get();
        world.read = [&](const std::string &name) {
            return read_node(name, config->expand(config->sysfs_root, name), config->expand(config->proc_root, name));
        };
        const MidResult result = run_mid(*config, node, world, Deadline::after(budget));
        if (context.json || options.verbose) {
            answer.say(context.json ? mid_json(result) : in_words(result, node));
        }
        if (result.problem) {
            trouble.say(result.problem->message);
        }
        return result.problem ? exit_status::environment : exit_status::done;
    });
    std::cout << answer.text() << std::flush;
    if (!done) {
        return fail(exit_status::environment,
                    fmt::format("{} (hooks.budget_ms = {})", done.error().message, config->hooks.budget_ms));
    }
    if (const std::string message = trouble.text(); !message.empty()) {
        return fail(*done, ::geteuid() == 0 ? message : message + "; fabric-check mid needs root");
    }
    return *done == 0 ? exit_status::done : exit_status::environment;
}

} // namespace

void add_mid(CLI::App &app, Context &context) {
    auto options = std::make_shared<Options>();
    CLI::App *command = app.add_subcommand(
        "mid", "Record this node's counters for the jobs that run on it (from a timer or HealthCheckProgram)");
    command->add_flag("-v,--verbose", options->verbose, "Print a line for each job");
    command->add_option("--node", options->node, "This node's name in Slurm (default: SLURMD_NODENAME, else its host name)")
        ->type_name("NAME");
    command->callback([&context, options] { context.exit_code = run(context, *options); });
}

} // namespace fabric_check::cli
