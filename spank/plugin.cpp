// SPDX-License-Identifier: GPL-2.0-or-later
// The SPANK plugin: gives sbatch, salloc and srun the option --fabric-check and hands its value to all four hooks as
// SPANK_FABRIC_CHECK. In the step daemon it lets a recorder of ours read the node's ports at a step's start and end, where the
// user asked for that. Nothing here may fail on a node: there, a failing plugin drains it.
#include "job/plugin.hpp"
#include "job/step_spawn.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

extern "C" {
#include <slurm/spank.h>
}

#define EXPORTED __attribute__((visibility("default")))

// SPANK_PLUGIN would give these constants internal linkage in C++.
extern "C" {
extern EXPORTED const char plugin_name[] = "fabric_check";
extern EXPORTED const char plugin_type[] = "spank";
extern EXPORTED const unsigned int plugin_version = SLURM_VERSION_NUMBER;
extern EXPORTED const unsigned int spank_plugin_version = 1;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
extern EXPORTED const int slurm_spank_init_failure_mode = ESPANK_JOB_FAILURE;
#endif
}

namespace {

std::optional<fabric_check::Mode> chosen;
bool step_begun = false;

/// Where a user waits for an answer, and a refusal harms nobody else.
bool submitting() {
    return spank_context() == S_CTX_ALLOCATOR || spank_context() == S_CTX_LOCAL;
}

int refuse(const std::string &message) {
    slurm_error("fabric-check: %s", message.c_str());
    return submitting() ? -1 : 0;
}

/// Nothing is thrown into Slurm: what could only fails for want of memory.
template <class Work> int guarded(const Work &work) noexcept {
    try {
        return work();
    } catch (...) {
        return 0;
    }
}

/// The step daemon is root both when it has read the options and when it ends (22.05 to 25.05).
void record_step(spank_t spank, bool end, int argument_count, char **arguments) {
    fabric_check::StepMoment moment;
    moment.end = end;
    if (geteuid() != 0 || spank_get_item(spank, S_JOB_ID, &moment.job_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &moment.step_id) != ESPANK_SUCCESS ||
        !fabric_check::is_plain_step(moment.step_id))
        return;
    if (spank_get_item(spank, S_JOB_NNODES, &moment.nodes) != ESPANK_SUCCESS)
        moment.nodes = 1;
    int count = 0;
    char **program = nullptr;
    if (spank_get_item(spank, S_JOB_ARGV, &count, &program) == ESPANK_SUCCESS && count > 0 && program != nullptr &&
        program[0] != nullptr)
        moment.program = program[0];
    // The daemon's own environment, not the job's.
    const char *node = std::getenv("SLURMD_NODENAME");
    const char *config = std::getenv("FABRIC_CHECK_CONFIG");
    moment.node = node == nullptr ? "" : node;
    const auto taken = fabric_check::plugin_arguments(argument_count, arguments);
    moment.config = !taken.config.empty() ? taken.config : config == nullptr ? "" : config;
    Dl_info self{};
    const auto recorder = fabric_check::find_step_recorder(
        dladdr(reinterpret_cast<void *>(&record_step), &self) != 0 && self.dli_fname != nullptr ? self.dli_fname : "");
    if (!recorder.empty())
        (void)fabric_check::run_recorder(fabric_check::step_command(recorder, moment), moment.config,
                                         std::chrono::milliseconds(taken.step_ms));
}

int option_given(int /*value*/, const char *argument, int remote) noexcept {
    if (remote != 0 && spank_context() == S_CTX_REMOTE)
        return guarded([&] { // what srun refused does not come here; what does harms nobody
            (void)fabric_check::choose_mode(argument, chosen);
            return 0;
        });
    if (remote != 0 || !submitting())
        return 0;
    return guarded([&] {
        const auto message = fabric_check::choose_mode(argument, chosen);
        return message.empty() ? 0 : refuse(message);
    });
}

} // namespace

extern "C" EXPORTED int slurm_spank_init(spank_t spank, int argument_count, char *arguments[]) {
    // Registered here, not in a table: a table breaks spank_option_getopt in prologs and epilogs.
    static char name[] = "fabric-check";
    static char argument_name[] = "MODE";
    static char usage[] = "was the fabric the reason? a verdict in the job's record (MODE: report; step or report,step: and one for each step; off)";
    static spank_option option = {name, argument_name, usage, 2, 0, option_given};
    if (submitting() || spank_context() == S_CTX_REMOTE)
        if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
            slurm_error("fabric-check: cannot register --fabric-check");
    return guarded([&] {
        const auto message = fabric_check::check_plugstack_arguments(argument_count, arguments);
        return message.empty() ? 0 : refuse(message);
    });
}

extern "C" EXPORTED int slurm_spank_init_post_opt(spank_t spank, int argument_count, char *arguments[]) {
    if (spank_context() == S_CTX_REMOTE && chosen && chosen->steps)
        return guarded([&] {
            record_step(spank, false, argument_count, arguments);
            step_begun = true;
            return 0;
        });
    if (!submitting() || !chosen)
        return 0;
    if (const auto error = spank_job_control_setenv(spank, "FABRIC_CHECK", to_string(*chosen), 1);
        error != ESPANK_SUCCESS)
        slurm_error("fabric-check: the mode does not reach the hooks: %s", spank_strerror(error));
    return 0;
}

extern "C" EXPORTED int slurm_spank_exit(spank_t spank, int argument_count, char *arguments[]) {
    if (spank_context() != S_CTX_REMOTE || !step_begun)
        return 0;
    return guarded([&] {
        record_step(spank, true, argument_count, arguments);
        return 0;
    });
}
