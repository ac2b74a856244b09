// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/programs.hpp"
#include "job/step.hpp"

int main(int argc, char **argv) {
    if (fabric_check::answer_about_program(argc, argv, "Started by the SPANK plugin in the step daemon: reads this node's "
                                                       "fabric counters at a step's ends.")) {
        return 0;
    }
    return fabric_check::step_main(argc, argv);
}
