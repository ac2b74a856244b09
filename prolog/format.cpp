// SPDX-License-Identifier: GPL-2.0-or-later
// The formatting library, for programs that link no shared one: Debian has it as such only, and as headers. Compiled into
// every file they cost more than the file itself; here they are compiled once, with all of their functions kept
// (-fkeep-inline-functions), and the hooks' other files find them by name.
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY 1
#endif
#include <fmt/format.h>

#include <string>

namespace fabric_check {

/// Asks for those that are templates.
std::string format_everything(const char *text, fmt::format_args arguments);
std::string format_everything(const char *text, fmt::format_args arguments) {
    fmt::memory_buffer buffer;
    fmt::detail::vformat_to(buffer, fmt::string_view(text), arguments, {});
    return fmt::to_string(buffer) + fmt::vformat(text, arguments) + fmt::format("{} {} {}", 1.5, 1.5F, 1.5L);
}

} // namespace fabric_check
