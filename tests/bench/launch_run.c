/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch_run PROGRAM [ARGUMENT...]: runs it and prints wall and CPU milliseconds and the kilobytes resident at most, of it
 * and whatever it waited for. Small, and static: what a child had before its exec counts into its resident size. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double milliseconds(struct timeval time) { return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3; }

int main(int argc, char **argv) {
    struct timespec begin, end;
    struct rusage usage;
    int status = 0;
    if (argc < 2)
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const pid_t child = vfork();
    if (child == 0) {
        execv(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.4f %.4f %ld %ld\n", (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6,
           milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime), usage.ru_maxrss, usage.ru_minflt);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
