// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/guard.hpp"

#include "base/process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <link.h>
#include <malloc.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace fabric_check {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool shared_memory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool shared_memory = false;
#else
constexpr bool shared_memory = true;
#endif
#else
constexpr bool shared_memory = true;
#endif

constexpr std::size_t stack_size = std::size_t{1} << 20;
constexpr std::size_t stack_used = std::size_t{64} << 10; ///< by what a hook does
constexpr milliseconds dying{10};                         ///< what a killed child may take to be gone

int budget_signal() noexcept { return SIGRTMIN; }

struct Start {
    const GuardedWork *work;
    pid_t guard;
};

int child_main(void *argument) noexcept {
    const auto *start = static_cast<const Start *>(argument);
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != start->guard) {
        ::_exit(1);
    }
    null_standard_streams();
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::_exit(start->work->run(GuardLine(start->guard), start->work->context));
}

/// -1: errno.
pid_t start_child(Start &start, char *stack) noexcept {
    if (shared_memory) {
        return ::clone(child_main, stack + stack_size, CLONE_VM | SIGCHLD, &start);
    }
    const pid_t child = ::fork();
    if (child == 0) {
        child_main(&start);
    }
    return child;
}

/// The signals that wake the guard, blocked, and as they were again at the end.
class Wakers {
public:
    Wakers() noexcept {
        sigemptyset(&set_);
        sigaddset(&set_, SIGCHLD);
        sigaddset(&set_, budget_signal());
        ::sigprocmask(SIG_BLOCK, &set_, &before_);
        struct sigaction wanted {};
        wanted.sa_handler = SIG_DFL; // whoever started us may have had SIGCHLD ignored: then there would be nothing to wait for
        ::sigaction(SIGCHLD, &wanted, &action_);
    }
    Wakers(const Wakers &) = delete;
    Wakers &operator=(const Wakers &) = delete;
    ~Wakers() {
        const timespec now{0, 0};
        while (::sigtimedwait(&set_, nullptr, &now) > 0) {
        }
        ::sigaction(SIGCHLD, &action_, nullptr);
        ::sigprocmask(SIG_SETMASK, &before_, nullptr);
    }
    /// The signal that came, or 0 at the end of the time.
    int wait(Clock::time_point until, siginfo_t &info) const noexcept {
        const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now()).count();
        const std::int64_t nanoseconds = std::max<std::int64_t>(left, 0);
        const timespec time{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
        return std::max(::sigtimedwait(&set_, &info, &time), 0);
    }

private:
    sigset_t set_{}, before_{};
    struct sigaction action_ {};
};

class Stack {
public:
    Stack() noexcept {
        if (!shared_memory) {
            return;
        }
        void *memory = ::mmap(nullptr, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (memory != MAP_FAILED) {
            bottom_ = static_cast<char *>(memory);
            (void)::madvise(bottom_ + stack_size - stack_used, stack_used, MADV_POPULATE_WRITE);
        }
    }
    Stack(const Stack &) = delete;
    Stack &operator=(const Stack &) = delete;
    ~Stack() {
        if (bottom_ != nullptr && !in_use_) {
            ::munmap(bottom_, stack_size);
        }
    }
    char *bottom() const noexcept { return bottom_; }
    void keep() noexcept { in_use_ = true; } ///< somebody is left behind who stands on it

private:
    char *bottom_ = nullptr;
    bool in_use_ = false;
};

/// Until the child has ended or the time is over. True: ended, `result` says how.
bool ended_by(Clock::time_point begin, milliseconds &budget, pid_t child, const Wakers &wakers, Guarded &result) noexcept {
    while (true) {
        int status = 0;
        const pid_t done = ::waitpid(child, &status, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR)) {
            const bool died = done == child && WIFSIGNALED(status);
            result.end = died ? Guarded::End::died : Guarded::End::done;
            result.code = died ? WTERMSIG(status) : done == child ? WEXITSTATUS(status) : 0;
            return true;
        }
        siginfo_t info{};
        const int signal = wakers.wait(begin + budget, info);
        if (signal == 0 && Clock::now() >= begin + budget) {
            return false;
        }
        if (signal == budget_signal() && info.si_pid == child && info.si_value.sival_int > 0) {
            budget = milliseconds(info.si_value.sival_int);
        }
    }
}

} // namespace

void GuardLine::set_budget(milliseconds budget) const noexcept {
    sigval value{};
    value.sival_int = static_cast<int>(std::clamp<std::int64_t>(budget.count(), 1, 1'000'000'000));
    (void)::sigqueue(guard_, budget_signal(), value);
}

Guarded run_guarded(milliseconds budget, const GuardedWork &work) noexcept {
    const auto begin = Clock::now();
    Guarded result;
    const Wakers wakers;
    Stack stack;
    Start start{&work, ::getpid()};
    // With shared memory a child that dumps core would take its guard with it (before Linux 5.16).
    const int dumpable = shared_memory ? ::prctl(PR_GET_DUMPABLE) : 1;
    if (dumpable == 1 && shared_memory) {
        ::prctl(PR_SET_DUMPABLE, 0);
    }
    const pid_t child = shared_memory && stack.bottom() == nullptr ? -1 : start_child(start, stack.bottom());
    if (child < 0) {
        result.code = errno;
    } else {
        if (!ended_by(begin, budget, child, wakers, result)) {
            ::kill(-child, SIGKILL);
            ::kill(child, SIGKILL);
            Guarded last;
            milliseconds grace = dying;
            result.stuck = !ended_by(Clock::now(), grace, child, wakers, last);
            result.end = Guarded::End::timed_out;
            result.code = 0;
            if (result.stuck) {
                stack.keep();
            }
        }
    }
    if (dumpable == 1 && shared_memory && !result.stuck) {
        ::prctl(PR_SET_DUMPABLE, 1);
    }
    result.budget = budget;
    return result;
}

void populate_memory(std::size_t heap) noexcept {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto populate = [page](std::uintptr_t from, std::uintptr_t to, int how) {
        from &= ~(page - 1);
        if (to > from) {
            (void)::madvise(reinterpret_cast<void *>(from), to - from, how); // NOLINT(performance-no-int-to-ptr)
        }
    };
    // The program's own headers, as the kernel hands them over: not even a dynamic linker is asked.
    const auto *header = reinterpret_cast<const ElfW(Phdr) *>(::getauxval(AT_PHDR)); // NOLINT(performance-no-int-to-ptr)
    const auto count = ::getauxval(AT_PHNUM);
    std::uintptr_t base = 0, read_only_end = 0; // of what was writable until it was relocated
    for (unsigned long i = 0; header != nullptr && i < count; ++i) {
        if (header[i].p_type == PT_PHDR) {
            base = reinterpret_cast<std::uintptr_t>(header) - header[i].p_vaddr;
        } else if (header[i].p_type == PT_GNU_RELRO) {
            read_only_end = header[i].p_vaddr + header[i].p_memsz;
        }
    }
    for (unsigned long i = 0; header != nullptr && i < count; ++i) {
        const std::uintptr_t from = header[i].p_vaddr, to = from + header[i].p_memsz;
        if (header[i].p_type == PT_LOAD && (header[i].p_flags & PF_W) == 0) {
            populate(base + from, base + to, MADV_POPULATE_READ);
        } else if (header[i].p_type == PT_LOAD) {
            populate(base + std::max(from, std::min(read_only_end, to)), base + to, MADV_POPULATE_WRITE);
        }
    }
    // One piece, that malloc takes everything from and never gives back.
    ::mallopt(M_TOP_PAD, static_cast<int>(heap));
    ::mallopt(M_TRIM_THRESHOLD, static_cast<int>(heap * 16));
    ::mallopt(M_MMAP_THRESHOLD, static_cast<int>(heap * 4));
    const auto before = reinterpret_cast<std::uintptr_t>(::sbrk(0));
    void *volatile grown = std::malloc(heap / 2); // NOLINT(cppcoreguidelines-no-malloc)
    std::free(grown);                             // NOLINT(cppcoreguidelines-no-malloc)
    populate(before, reinterpret_cast<std::uintptr_t>(::sbrk(0)), MADV_POPULATE_WRITE);
}

} // namespace fabric_check
