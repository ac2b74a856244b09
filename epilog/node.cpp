// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/node_hook.hpp"
#include "job/programs.hpp"

int main(int argc, char **argv) {
    if (fabric_check::answer_about_program(argc, argv, "Epilog of slurm.conf, run by slurmd: reads this node's fabric counters "
                                                         "after a job.")) {
        return 0;
    }
    return fabric_check::node_hook_main(fabric_check::Phase::end, argc, argv);
}
