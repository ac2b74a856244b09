/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scout in the lab: a client of the simulated fabric as its host, with the preload that makes it one. In place of the
 * lab's shell script, whose start costs more than a hook does. FABRIC_CHECK_BENCH_* are compiled in. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char path[256];
    const char *host = argc > 2 && strncmp(argv[2], "node", 4) == 0 ? argv[2] : "stor03";
    setenv("SIM_HOST", host, 1);
    setenv("LD_PRELOAD", UMAD2SIM, 1);
    setenv("IBSIM_SOCKNAME", SOCKNAME, 1);
    for (int try = 0; try < 1000; ++try) {
        for (int slot = 1; slot <= 6; ++slot) {
            snprintf(path, sizeof path, LAB "/sim/slots/%d", slot);
            const int fd = open(path, O_RDWR);
            if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
                (void)!chdir(LAB "/sim/scratch");
                execv(SCOUT, argv);
                return 127;
            }
            close(fd);
        }
        usleep(1000);
    }
    return 1;
}
