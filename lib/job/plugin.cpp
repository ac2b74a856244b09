// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/plugin.hpp"

#include <charconv>
#include <string_view>

namespace fabric_check {
namespace {

constexpr unsigned longest_step_ms = 1000;

/// Straight into a user's terminal: nothing but printable ASCII, and not too much of it.
std::string in_quotes(std::string_view text) {
    std::string result = "\"";
    for (const char c : text.substr(0, 64))
        result += c >= ' ' && c <= '~' ? c : '?';
    return result + (text.size() > 64 ? "...\"" : "\"");
}

/// False: not known, or not valid.
bool take(std::string_view argument, PluginArguments &into) {
    constexpr std::string_view config = "config=", step_ms = "step_ms=";
    if (argument.starts_with(config)) {
        into.config = argument.substr(config.size());
        return !into.config.empty();
    }
    if (!argument.starts_with(step_ms))
        return false;
    argument.remove_prefix(step_ms.size());
    unsigned value = 0;
    const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), value);
    if (error != std::errc() || end != argument.data() + argument.size() || value < 1 || value > longest_step_ms)
        return false;
    into.step_ms = value;
    return true;
}

} // namespace

PluginArguments plugin_arguments(int count, char **arguments) {
    PluginArguments taken;
    for (int i = 0; i < count && arguments != nullptr; ++i)
        if (arguments[i] != nullptr)
            (void)take(arguments[i], taken);
    return taken;
}

std::string check_plugstack_arguments(int count, char **arguments) {
    PluginArguments ignored;
    for (int i = 0; i < count && arguments != nullptr; ++i) {
        const std::string_view argument = arguments[i] == nullptr ? "" : arguments[i];
        if (!take(argument, ignored))
            return "plugstack.conf: unknown argument " + in_quotes(argument) + " (valid: config=FILE, step_ms=1..." +
                   std::to_string(longest_step_ms) + ")";
    }
    return {};
}

std::string choose_mode(const char *argument, std::optional<Mode> &mode) {
    if (const auto chosen = mode_from_option(argument)) {
        mode = chosen;
        return {};
    }
    return "unknown mode " + in_quotes(argument) + " for --fabric-check (valid: " + valid_modes + ")";
}

} // namespace fabric_check
