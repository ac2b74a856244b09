// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/guard.hpp"

namespace fabric_check {

/// What a hook of Slurm's is made of.
struct HookProgram {
    const char *ident; ///< in syslog: "fabric-check-prolog"
    /// The hook's work, in a process of its own. It tells the line the configured budget once it knows it.
    int (*work)(const GuardLine &line, void *) noexcept;
    /// Says in the log what became of it when it was cut short, and tidies up after it; in a fresh process.
    void (*late)(const char *reason) noexcept;
};

/// A whole hook: the work, for its budget at the longest, whatever in it hangs: the configuration, the log file, a counter,
/// the spool. The budget is the default one until the work has told its own. Always 0: to Slurm a failing Prolog is a node
/// to drain and a job to hold.
///
/// What is to be said of a hook that was cut short is said by this program run anew ("--late REASON"), which has 50 ms for it;
/// when it cannot, a datagram to syslog is all that is left.
int run_hook(int argc, char **argv, const HookProgram &program) noexcept;

} // namespace fabric_check
