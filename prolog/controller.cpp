// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/controller_hook.hpp"
#include "job/programs.hpp"

int main(int argc, char **argv) {
    if (fabric_check::answer_about_program(argc, argv, "PrologSlurmctld of slurm.conf, run by slurmctld: with scout = "
                                                         "\"controller\" starts fabric-check-scout\nfor a job.")) {
        return 0;
    }
    return fabric_check::controller_hook_main(fabric_check::Phase::start, argc, argv);
}
