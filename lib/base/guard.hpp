// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <sys/types.h>

namespace fabric_check {

/// What guarded work can tell its guard.
class GuardLine {
public:
    explicit GuardLine(pid_t guard) noexcept : guard_(guard) {}
    /// The budget is another one, counted from the guard's own start. Where the message does not arrive, the first budget
    /// stays in force.
    void set_budget(std::chrono::milliseconds budget) const noexcept;

private:
    pid_t guard_;
};

/// How guarded work ended.
struct Guarded {
    enum class End : std::uint8_t {
        done,        ///< by itself, with `code`
        died,        ///< of the signal `code`
        timed_out,   ///< killed at the end of its budget
        not_started, ///< fork failed with errno `code`
    };
    End end = End::not_started;
    int code = 0;
    bool stuck = false;                 ///< timed out, and the kernel did not let it die: it is left behind
    std::chrono::milliseconds budget{}; ///< that was in force
};

/// A function and what it works on; it returns an exit code. It must not throw.
struct GuardedWork {
    int (*run)(const GuardLine &line, void *context) noexcept = nullptr;
    void *context = nullptr;
};

/// Runs `work` in a process of its own, a group leader whose standard streams are /dev/null and whose signals are not
/// blocked, and returns when it has ended, or at the end of the budget after killing it and whatever it started in its
/// group. A child that hangs in the kernel is left behind: the guard itself calls nothing between its start and its return
/// that touches a file, a lock or the heap, so that it leaves whatever hangs.
///
/// The child shares the caller's memory, as a thread does: copying it costs more than all that a hook does. So the caller
/// must have no other threads, what the work leaves in memory is there afterwards, and after any end but `done` the heap
/// must not be relied upon. Only built with sanitizers it is a copy. The work ends by _exit: nothing registered with
/// atexit runs.
Guarded run_guarded(std::chrono::milliseconds budget, const GuardedWork &work) noexcept;

/// Maps what this program is about to use at once, instead of by a page fault each: its code, its data and `heap` bytes
/// for malloc. A hint: where the kernel cannot do it (before Linux 5.14), the faults come as ever.
void populate_memory(std::size_t heap) noexcept;

} // namespace fabric_check
