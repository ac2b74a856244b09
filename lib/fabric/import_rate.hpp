// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sources/sysfs.hpp"

#include <cstdint>

namespace fabric_check::fabric {

inline constexpr std::uint64_t max_port_number = 254; ///< 255 means no port
inline constexpr std::uint64_t max_lanes = 12;

} // namespace fabric_check::fabric
