// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "job/mode.hpp"

#include <optional>
#include <string>

namespace fabric_check {

/// What the SPANK plugin decides, without Slurm.

/// The plugin's own arguments in plugstack.conf.
struct PluginArguments {
    std::string config;    ///< "config=FILE": for the step recorder; the plugin itself reads no file
    unsigned step_ms = 50; ///< "step_ms=N": how long a step may wait for its reading
};
PluginArguments plugin_arguments(int count, char **arguments);
/// Empty: all is well; else the message, quoting the first argument that is not known or not valid.
std::string check_plugstack_arguments(int count, char **arguments);

/// Empty and `mode` set, or the message for the user who submits.
std::string choose_mode(const char *argument, std::optional<Mode> &mode);

} // namespace fabric_check
