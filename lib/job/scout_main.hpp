// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "snapshot/model.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check {

/// What fabric-check-scout is asked: start|end HOST MILLISECONDS, the job in Slurm's variables; or --serve.
struct ScoutOrder {
    bool serve = false;
    Phase phase = Phase::start;
    std::string host; ///< where it runs
    std::chrono::milliseconds budget{};
};
/// Nothing for anything odd.
std::optional<ScoutOrder> parse_scout_order(const std::vector<std::string_view> &arguments);

/// A whole scout. 0: its record is in the spool, or it served until it was told to end.
int scout_main(int argc, char **argv) noexcept;

} // namespace fabric_check
