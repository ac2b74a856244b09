// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/own_node.hpp"

#include "record/record_name.hpp"

#include <cstdlib>
#include <unistd.h>

namespace fabric_check {

std::string own_node_name() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread
    if (const char *name = std::getenv("SLURMD_NODENAME"); name != nullptr && valid_node_name(name))
        return name;
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0)
        return "localhost";
    const std::string_view text = name;
    return std::string(text.substr(0, text.find('.')));
}

} // namespace fabric_check
