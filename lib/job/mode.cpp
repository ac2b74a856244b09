// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/mode.hpp"

namespace fabric_check {

const char *to_string(Mode mode) noexcept {
    return !mode.on ? "off" : mode.steps ? "report,step" : "report";
}

std::optional<Mode> parse_mode(std::string_view text) noexcept {
    if (text == "off")
        return Mode::off;
    Mode mode;
    while (true) {
        const auto comma = text.find(',');
        const auto word = text.substr(0, comma);
        if (word == "step")
            mode.steps = true;
        else if (word != "report")
            return std::nullopt;
        if (comma == std::string_view::npos)
            return mode;
        text.remove_prefix(comma + 1);
    }
}

std::optional<Mode> mode_from_option(const char *argument) noexcept {
    if (argument == nullptr || std::string_view(argument) == "(null)")
        return Mode::report;
    return parse_mode(argument);
}

} // namespace fabric_check
