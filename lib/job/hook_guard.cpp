// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/hook_guard.hpp"

#include "base/log.hpp"
#include "config/config.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unistd.h>

namespace fabric_check {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t heap = std::size_t{256} << 10; ///< half as much again is what 640 counters take
constexpr milliseconds late_budget{50};
constexpr char late_option[] = "--late";

struct Late {
    const char *name;
    char reason[128];
};

/// The heap may be in any state, and is the child's too: nothing here may allocate.
int run_late(const GuardLine &, void *context) noexcept {
    auto *late = static_cast<Late *>(context);
    char *arguments[] = {const_cast<char *>(late->name), const_cast<char *>(late_option), late->reason, nullptr};
    ::execv("/proc/self/exe", arguments);
    return 127;
}

void describe(const Guarded &end, Late &late) noexcept {
    switch (end.end) {
    case Guarded::End::done:
        (void)std::snprintf(late.reason, sizeof late.reason, "ended early, with code %d", end.code);
        break;
    case Guarded::End::died:
        (void)std::snprintf(late.reason, sizeof late.reason, "died of signal %d", end.code);
        break;
    case Guarded::End::timed_out:
        (void)std::snprintf(late.reason, sizeof late.reason, "not done within %lld ms%s (hooks.budget_ms)",
                            static_cast<long long>(end.budget.count()), end.stuck ? ", and stuck in the kernel" : "");
        break;
    case Guarded::End::not_started:
        (void)std::snprintf(late.reason, sizeof late.reason, "not started: errno %d", end.code);
        break;
    }
}

const char *variable(const char *name) noexcept {
    const char *value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): there are no threads
    return value == nullptr ? "?" : value;
}

} // namespace

int run_hook(int argc, char **argv, const HookProgram &program) noexcept {
    if (argc == 3 && std::string_view(argv[1]) == late_option) {
        program.late(argv[2]);
        return 0;
    }
    populate_memory(heap);
    const auto end = run_guarded(milliseconds(Config::Hooks{}.budget_ms), {program.work, nullptr});
    if (end.end == Guarded::End::done && end.code == 0)
        return 0;
    Late late{argc > 0 ? argv[0] : program.ident, {}};
    describe(end, late);
    const auto said = run_guarded(late_budget, {run_late, &late});
    if (said.end != Guarded::End::done || said.code != 0) {
        char text[512];
        (void)std::snprintf(text, sizeof text, "error: job %.20s %.255s: %s; nor could it be written to the log file",
                            variable("SLURM_JOB_ID"), variable("SLURMD_NODENAME"), late.reason);
        syslog_without_memory(program.ident, text);
    }
    return 0;
}

} // namespace fabric_check
