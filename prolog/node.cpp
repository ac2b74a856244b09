// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/node_hook.hpp"
#include "job/programs.hpp"

int main(int argc, char **argv) {
    if (fabric_check::answer_about_program(argc, argv, "Prolog of slurm.conf, run by slurmd: reads this node's fabric counters "
                                                         "before a job.")) {
        return 0;
    }
    return fabric_check::node_hook_main(fabric_check::Phase::start, argc, argv);
}
