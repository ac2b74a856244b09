// SPDX-License-Identifier: GPL-2.0-or-later
#include "config/config.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check;
    const auto config = parse_config(std::string(reinterpret_cast<const char *>(data), size), "fuzz");
    if (!config) {
        if (!config.error().message.starts_with("fuzz:")) {
            std::abort(); // every complaint names file and line
        }
    } else if (config->scouts < 1 || config->scouts > 16 || config->spool.empty() || config->spool.front() != '/' ||
               !(config->thresholds.spread >= 1)) {
        std::abort();
    }
    return 0;
}
