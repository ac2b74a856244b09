// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/process.hpp"

#include "base/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fabric_check {

namespace {

using std::chrono::milliseconds;

/// slurmd and others may start us with SIGCHLD ignored; then there would be nothing to wait for.
class ChildSignal {
public:
    ChildSignal() {
        struct sigaction wanted {};
        wanted.sa_handler = SIG_DFL;
        sigemptyset(&wanted.sa_mask);
        ::sigaction(SIGCHLD, &wanted, &before_);
    }
    ChildSignal(const ChildSignal &) = delete;
    ChildSignal &operator=(const ChildSignal &) = delete;
    ~ChildSignal() { ::sigaction(SIGCHLD, &before_, nullptr); }

private:
    struct sigaction before_ {};
};

struct Pipe {
    int read_end = -1, write_end = -1;
    Pipe() {
        std::array<int, 2> ends{-1, -1};
        if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
            read_end = ends[0];
            write_end = ends[1];
        }
    }
    Pipe(const Pipe &) = delete;
    Pipe &operator=(const Pipe &) = delete;
    ~Pipe() {
        close(read_end);
        close(write_end);
    }
    static void close(int &fd) {
        if (fd >= 0) {
            ::close(fd);
        }
        fd = -1;
    }
};

void sleep_for(milliseconds duration) noexcept {
    const timespec time{duration.count() / 1000, static_cast<long>(duration.count() % 1000) * 1'000'000};
    ::nanosleep(&time, nullptr);
}

/// Waits for a child until the deadline. 0: not yet; -1: errno; else the pid.
pid_t wait_until(pid_t child, const Deadline &deadline, int &status) noexcept {
    milliseconds pause(1);
    while (true) {
        const pid_t done = ::waitpid(child, &status, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR)) {
            return done;
        }
        if (deadline.passed()) {
            return 0;
        }
        sleep_for(std::min(pause, deadline.left()));
        pause = std::min(pause * 2, milliseconds(10));
    }
}

std::string read_all(int fd) {
    std::string text;
    char buffer[512];
    ssize_t n = 0;
    while (text.size() < 4096 && (n = ::read(fd, buffer, sizeof buffer)) != 0) {
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            break;
        }
        text.append(buffer, static_cast<std::size_t>(n));
    }
    return text;
}

[[noreturn]] void child_of_run_within(pid_t parent, int report, const std::function<int()> &work) noexcept {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
        ::_exit(1);
    }
    null_standard_streams();
    try {
        std::exit(work()); // not _exit: what the libraries do at their end (hand back a MAD agent) has to be done
    } catch (const std::exception &error) {
        (void)!::write(report, error.what(), std::min<std::size_t>(std::strlen(error.what()), 1024));
    } catch (...) {
        (void)!::write(report, "unknown exception", 17);
    }
    ::_exit(1);
}

std::vector<std::string> merged_environment(const std::vector<std::string> &extra) {
    std::vector<std::string> all = extra;
    for (char **entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto name = text.substr(0, std::min(text.find('='), text.size() - 1) + 1);
        if (std::none_of(extra.begin(), extra.end(), [&](const std::string &e) { return e.starts_with(name); })) {
            all.emplace_back(text);
        }
    }
    return all;
}

std::vector<char *> pointers_to(std::vector<std::string> &texts) {
    std::vector<char *> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string &text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

[[noreturn]] void become(char *const *arguments, char *const *environment, int report) noexcept {
    null_standard_streams();
    constexpr int kept = 3;
    if (report != kept) {
        ::dup3(report, kept, O_CLOEXEC);
    }
    if (::close_range(kept + 1, ~0U, 0) != 0) {
        const long most = std::min(::sysconf(_SC_OPEN_MAX), 65536L);
        for (int fd = kept + 1; fd < most; ++fd) {
            ::close(fd);
        }
    }
    default_signals();
    ::execvpe(arguments[0], arguments, environment);
    const int error = errno;
    (void)!::write(kept, &error, sizeof error);
    ::_exit(127);
}

} // namespace

void null_standard_streams() noexcept {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2; ++fd) {
        if (null >= 0) {
            ::dup2(null, fd);
        } else {
            ::close(fd);
        }
    }
    if (null > 2) {
        ::close(null);
    }
}

void default_signals() noexcept {
    struct sigaction wanted {};
    wanted.sa_handler = SIG_DFL;
    sigemptyset(&wanted.sa_mask);
    for (int signal = 1; signal < NSIG; ++signal) {
        ::sigaction(signal, &wanted, nullptr);
    }
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

Result<int> run_within(milliseconds budget, const std::function<int()> &work) {
    const Deadline deadline = Deadline::after(budget);
    const ChildSignal signal;
    Pipe report;
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        return errno_error("fork", errno);
    }
    if (child == 0) {
        child_of_run_within(parent, report.write_end, work);
    }
    ::setpgid(child, child); // also here: whoever comes first
    Pipe::close(report.write_end);
    int status = 0;
    pid_t done = wait_until(child, deadline, status);
    if (done < 0) {
        return errno_error("waitpid", errno);
    }
    if (done == 0) {
        ::kill(-child, SIGKILL);
        done = wait_until(child, Deadline::after(milliseconds(100)), status);
        return Error{Errc::timed_out, fmt::format("not done within {} ms{}", budget.count(),
                                                  done == child ? "" : ", and stuck in the kernel")};
    }
    if (WIFSIGNALED(status)) {
        return Error{Errc::io, fmt::format("died of signal {}", WTERMSIG(status))};
    }
    if (const int code = WEXITSTATUS(status); code != 1) {
        return code;
    }
    // Descendants may hold the pipe open: never wait for them.
    if (report.read_end >= 0) {
        ::fcntl(report.read_end, F_SETFL, O_NONBLOCK);
        if (const std::string what = read_all(report.read_end); !what.empty()) {
            return Error{Errc::io, what};
        }
    }
    return 1;
}

Status start_detached(const std::vector<std::string> &command, const std::vector<std::string> &environment) {
    if (command.empty()) {
        return Error{Errc::usage, "no command to start"};
    }
    const ChildSignal signal;
    Pipe report;
    if (report.read_end < 0) {
        return errno_error("pipe", errno);
    }
    // Everything is allocated before the fork: the child may be a copy of a process with other threads.
    std::vector<std::string> arguments = command;
    std::vector<std::string> variables = merged_environment(environment);
    const std::vector<char *> argument_pointers = pointers_to(arguments);
    const std::vector<char *> variable_pointers = pointers_to(variables);
    const pid_t child = ::fork();
    if (child < 0) {
        return errno_error("fork", errno);
    }
    if (child == 0) {
        ::setsid();
        const pid_t grandchild = ::fork();
        if (grandchild != 0) {
            const int error = errno;
            if (grandchild < 0) {
                (void)!::write(report.write_end, &error, sizeof error);
            }
            ::_exit(0);
        }
        become(argument_pointers.data(), variable_pointers.data(), report.write_end);
    }
    Pipe::close(report.write_end);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    const std::string answer = read_all(report.read_end);
    if (int error = 0; answer.size() >= sizeof error) {
        std::memcpy(&error, answer.data(), sizeof error);
        return errno_error(command[0], error);
    }
    return {};
}

} // namespace fabric_check
