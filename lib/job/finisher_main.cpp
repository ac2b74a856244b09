// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"
#include "base/file.hpp"
#include "job/finisher.hpp"
#include "job/programs.hpp"

#include <functional>
#include <sys/stat.h> // umask
#include <thread>

namespace fabric_check {
namespace {

int run_finisher(const Config &config, Log &log, const std::function<bool()> &superseded) {
    const auto uid = slurm_uid(config);
    if (!uid) {
        log.error("finisher: " + uid.error().message);
        return exit_code(uid.error().code);
    }
    const auto accounting = slurm_accounting(config.slurm.conf);
    if (!accounting) {
        log.error("finisher: " + accounting.error().message);
        return exit_status::environment;
    }
    const auto signer = munge_signer(config.munge.socket);
    FinisherWorld world;
    world.signer = signer.get();
    world.accounting = accounting->get();
    world.log = &log;
    world.slurm_uid = *uid;
    world.now_ns = wall_ns;
    world.sleep = [](std::chrono::milliseconds pause) { std::this_thread::sleep_for(pause); };
    world.superseded = superseded;
    const auto done = Finisher(config, world).run();
    if (done)
        return exit_status::done;
    log.error("finisher: " + done.error().message);
    return exit_status::environment;
}

/// A finisher may run for days where jobs never stop ending: it takes up a new configuration as it comes. One with an error
/// ends it: with a default spool in place of the site's, jobs would get lines that are wrong for good.
int run_as_configured() {
    while (true) {
        const auto path = config_path();
        const auto stamp = file_stamp(path);
        std::string config_error;
        const auto config = config_or_defaults(path, &config_error);
        auto log = program_log("fabric-check-finisher", config);
        if (!config_error.empty()) {
            log.error("finisher: " + config_error + "; the tickets stay");
            return exit_status::usage;
        }
        const auto superseded = [&] { return file_stamp(path) != stamp; };
        try {
            if (const int code = run_finisher(config, log, superseded); code != exit_status::done || !superseded())
                return code;
        } catch (const std::exception &error) {
            log.error(std::string("finisher: ") + error.what());
            return exit_status::environment;
        }
    }
}

} // namespace

int finisher_main() noexcept {
    try {
        umask(022);
        return run_as_configured();
    } catch (...) { // no memory even for a message
        return exit_status::environment;
    }
}

} // namespace fabric_check
