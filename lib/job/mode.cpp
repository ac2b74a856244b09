// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/mode.hpp"

namespace fabric_check {

const char *to_string(Mode mode) noexcept {
    return mode == Mode::off ? "off" : "report";
}

std::optional<Mode> parse_mode(std::string_view text) noexcept {
    for (const auto mode : {Mode::report, Mode::off})
        if (text == to_string(mode))
            return mode;
    return std::nullopt;
}

std::optional<Mode> mode_from_option(const char *argument) noexcept {
    if (argument == nullptr || std::string_view(argument) == "(null)")
        return Mode::report;
    return parse_mode(argument);
}

} // namespace fabric_check
