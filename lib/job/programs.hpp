// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/log.hpp"
#include "base/result.hpp"
#include "config/config.hpp"

#include <cstdint>
#include <string>

namespace fabric_check {

/// Absolute path of one of our programs ("fabric-check-finisher", "fabric-check"): in config.libexec when set, beside
/// the running program (also ../bin and ../libexec/fabric-check of it), or where it was configured to be installed.
Result<std::string> find_program(const Config &config, const std::string &name);

/// The uid of SlurmUser as configured (name or number; empty: root), who alone may read records.
Result<std::uint32_t> slurm_uid(const Config &config);

/// The log of one of our programs that nobody watches: where the configuration says, and not on standard error.
Log program_log(std::string ident, const Config &config, bool standard_error = false);

/// For the hooks and the finisher: answers --help and --version on standard output, `about` being what the program is for,
/// and says that it did: the program then ends with 0. Anything else is left alone: Slurm passes no arguments.
bool answer_about_program(int argc, char **argv, const char *about) noexcept;

} // namespace fabric_check
