// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/plugin.hpp"

#include <string_view>

namespace fabric_check {
namespace {

/// Straight into a user's terminal: nothing but printable ASCII, and not too much of it.
std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text.substr(0, 64))
        result += c >= ' ' && c <= '~' ? c : '?';
    return result + (text.size() > 64 ? "...\"" : "\"");
}

} // namespace

std::string check_plugstack_arguments(int count, char **arguments) {
    for (int i = 0; i < count && arguments != nullptr; ++i) {
        const std::string_view argument = arguments[i] == nullptr ? "" : arguments[i];
        if (!argument.starts_with("config=") || argument.size() == std::string_view("config=").size())
            return "plugstack.conf: unknown argument " + quoted(argument) + " (valid: config=FILE)";
    }
    return {};
}

std::string choose_mode(const char *argument, std::optional<Mode> &mode) {
    if (const auto chosen = mode_from_option(argument)) {
        mode = chosen;
        return {};
    }
    return "unknown mode " + quoted(argument) + " for --fabric-check (valid: " + valid_modes + ")";
}

} // namespace fabric_check
