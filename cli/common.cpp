// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.hpp"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace fabric_check::cli {

bool use_colour(int fd) {
    const char *no_colour = std::getenv("NO_COLOR"); // NOLINT(concurrency-mt-unsafe)
    return ::isatty(fd) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

int fail(int exit_code, const std::string &message) {
    std::fprintf(stderr, "fabric-check: %s\n", message.c_str());
    return exit_code;
}

} // namespace fabric_check::cli
