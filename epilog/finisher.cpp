// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/finisher.hpp"
#include "job/programs.hpp"

int main(int argc, char **argv) {
    if (fabric_check::answer_about_program(argc, argv, "Judges the jobs that ended and attaches their lines; run on the "
                                                         "controller, as SlurmUser, by\nfabric-check-epilogctld or a timer.")) {
        return 0;
    }
    return fabric_check::finisher_main();
}
