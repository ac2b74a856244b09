// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "command.hpp"
#include "record/spool.hpp"
#include "report/report.hpp"
#include "report/report_words.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <unistd.h>

namespace fabric_check::cli {

bool use_colour(int fd) {
    const char *no_colour = std::getenv("NO_COLOR"); // NOLINT(concurrency-mt-unsafe)
    return ::isatty(fd) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

int fail(int exit_code, const std::string &message) {
    const std::string line = "fabric-check: " + message;
    // Whoever reads it from a log, or searches it, wants one line.
    const std::string shown = ::isatty(STDERR_FILENO) == 1 ? wrapped(line, text_columns(STDERR_FILENO), "", "  ") : line + "\n";
    std::fputs(shown.c_str(), stderr);
    return exit_code;
}

CLI::Validator whole_number() {
    return {[](std::string &text) -> std::string {
                const auto value = parse_u64(text);
                if (value && *value <= std::uint64_t(std::numeric_limits<int>::max())) {
                    return {};
                }
                return "'" + printable(text) + "' is no such number; valid: 0, 1, 2 and so on";
            },
            "", "whole number"};
}

CLI::Validator positive_number() {
    return {[](std::string &text) -> std::string {
                double value = 0;
                const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
                if (error == std::errc() && end == text.data() + text.size() && value > 0 && value <= 1e9) {
                    return {};
                }
                return "'" + printable(text) + "' is no number above 0 and up to 1e9; valid: 22.6, 100";
            },
            "", "positive number"};
}

Result<fabric::Map> open_map(const Context &context, const Config &config) {
    const bool named = !context.map_file.empty();
    auto map = fabric::load_map(named ? context.map_file : SpoolLayout{config.spool}.map_file());
    if (map) {
        return map;
    }
    if (named) {
        return Error{Errc::usage, map.error().message};
    }
    const bool hint = map.error().code == Errc::not_found;
    return Error{Errc::unavailable,
                 map.error().message + (hint ? "; build a map with: fabric-check map build, or map import; or name one with --map" : "")};
}

} // namespace fabric_check::cli
