// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/programs.hpp"
#include "job/scout_main.hpp"

int main(int argc, char **argv) {
    if (fabric_check::answer_about_program(argc, argv, "Started by the hooks: reads the switches of a job. With --serve: "
                                                         "reads them for all jobs whose nodes\nask this host to (scout = HOST).")) {
        return 0;
    }
    return fabric_check::scout_main(argc, argv);
}
