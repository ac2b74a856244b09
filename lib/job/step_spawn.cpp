// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/step_spawn.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fabric_check {
namespace {

using Clock = std::chrono::steady_clock;

// Slurm's own steps (SLURM_BATCH_SCRIPT, SLURM_EXTERN_CONT, SLURM_INTERACTIVE_STEP, SLURM_PENDING_STEP) count down from
// here.
constexpr std::uint32_t first_special_step = 0xfffffff0;
constexpr std::size_t longest_program = 255;

std::vector<char *> pointers_to(std::vector<std::string> &texts) {
    std::vector<char *> pointers;
    pointers.reserve(texts.size() + 1);
    for (auto &text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

[[noreturn]] void become(char *const *arguments, char *const *environment, pid_t parent) noexcept {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    struct sigaction wanted {};
    wanted.sa_handler = SIG_DFL;
    sigemptyset(&wanted.sa_mask);
    for (int signal = 1; signal < NSIG; ++signal)
        sigaction(signal, &wanted, nullptr);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2; ++fd)
        if (null < 0 || dup2(null, fd) < 0)
            close(fd);
    close_range(3, ~0U, 0);
    execve(arguments[0], arguments, environment);
    _exit(127);
}

void pause_a_moment() noexcept {
    const timespec moment{0, 500'000};
    nanosleep(&moment, nullptr);
}

/// 0: not done yet.
pid_t wait_until(pid_t child, Clock::time_point end, int &status) noexcept {
    while (true) {
        const pid_t done = waitpid(child, &status, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR))
            return done;
        if (Clock::now() >= end)
            return 0;
        pause_a_moment();
    }
}

} // namespace

bool is_plain_step(std::uint32_t step_id) noexcept { return step_id < first_special_step; }

std::vector<std::string> step_command(const std::string &program, const StepMoment &moment) {
    std::vector<std::string> command{program, moment.end ? "end" : "start", std::to_string(moment.job_id),
                                     std::to_string(moment.step_id), std::to_string(moment.nodes)};
    command.push_back("node=" + moment.node.substr(0, longest_program));
    const auto slash = moment.program.find_last_of('/');
    command.push_back("name=" + moment.program.substr(slash + 1, longest_program)); // npos + 1 is 0
    return command;
}

std::string find_step_recorder(const std::string &plugin_file) {
    const auto slash = plugin_file.find_last_of('/');
    if (slash != std::string::npos)
        if (auto built = plugin_file.substr(0, slash) + "/../bin/fabric-check-step"; access(built.c_str(), X_OK) == 0)
            return built;
    const std::string installed = FABRIC_CHECK_LIBEXECDIR "/fabric-check-step";
    return access(installed.c_str(), X_OK) == 0 ? installed : std::string();
}

bool run_recorder(const std::vector<std::string> &command, const std::string &config,
                  std::chrono::milliseconds budget) noexcept {
    try {
        if (command.empty())
            return false;
        // What of the budget it takes to end a child that is late.
        const auto reaping = std::min<std::chrono::milliseconds>(budget / 5, std::chrono::milliseconds(5));
        const auto end = Clock::now() + budget - reaping;
        auto arguments = command;
        std::vector<std::string> environment;
        if (!config.empty())
            environment.push_back("FABRIC_CHECK_CONFIG=" + config);
        const auto argv = pointers_to(arguments), envp = pointers_to(environment);
        const pid_t parent = getpid(), child = fork();
        if (child < 0)
            return false;
        if (child == 0)
            become(argv.data(), envp.data(), parent);
        int status = 0;
        const pid_t done = wait_until(child, end, status);
        if (done == child)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (done == 0) {
            kill(child, SIGKILL);
            (void)wait_until(child, end + reaping, status); // else stuck in the kernel
        }
    } catch (...) { // out of memory: the step goes on all the same
    }
    return false;
}

} // namespace fabric_check
