// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/sm_log.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const auto log = fabric_check::fabric::parse_sm_log({reinterpret_cast<const char *>(data), size}, "log");
    if (!log)
        return 0;
    if (log->used.size() > 512 || log->failed.size() > size)
        std::abort();
    for (const auto &failure : log->failed)
        if (failure.engine.empty() || failure.reason.size() > 1000)
            std::abort();
    return 0;
}
