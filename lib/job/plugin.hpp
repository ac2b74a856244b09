// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "job/mode.hpp"

#include <optional>
#include <string>

namespace fabric_check {

/// What the SPANK plugin decides, without Slurm.

/// The plugin's own arguments in plugstack.conf: "config=FILE" is accepted (hooks and tools read the file, the plugin
/// needs nothing of it). Empty: all is well; else the message, quoting the first argument that is not known.
std::string check_plugstack_arguments(int count, char **arguments);

/// Empty and `mode` set, or the message for the user who submits.
std::string choose_mode(const char *argument, std::optional<Mode> &mode);

} // namespace fabric_check
