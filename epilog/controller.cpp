// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/controller_hook.hpp"
#include "job/programs.hpp"

int main(int argc, char **argv) {
    if (fabric_check::answer_about_program(argc, argv, "EpilogSlurmctld of slurm.conf, run by slurmctld: files a ticket for a "
                                                         "job that ended and starts\nfabric-check-finisher.")) {
        return 0;
    }
    return fabric_check::controller_hook_main(fabric_check::Phase::end, argc, argv);
}
