// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.hpp"
#include "job/finisher.hpp"
#include "job/programs.hpp"

#include <sys/stat.h>
#include <thread>

namespace fabric_check {
namespace {

int run_finisher(const Config &config, Log &log) {
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
    const auto done = Finisher(config, world).run();
    if (done)
        return exit_status::done;
    log.error("finisher: " + done.error().message);
    return exit_status::environment;
}

} // namespace

int finisher_main() noexcept {
    try {
        std::string config_error;
        const auto config = config_or_defaults(config_path(), &config_error);
        Log log({.ident = "fabric-check-finisher",
                 .file = config.log_file,
                 .syslog = config.syslog,
                 .standard_error = false,
                 .level = Log::Level::info});
        if (!config_error.empty()) {
            // With a default spool in place of the site's, jobs would get lines that are wrong for good.
            log.error("finisher: " + config_error + "; the tickets stay");
            return exit_status::usage;
        }
        umask(022);
        try {
            return run_finisher(config, log);
        } catch (const std::exception &error) {
            log.error(std::string("finisher: ") + error.what());
        }
    } catch (...) { // no memory even for a message
    }
    return exit_status::environment;
}

} // namespace fabric_check
