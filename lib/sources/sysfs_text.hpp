// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "snapshot/model.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace fabric_check::sysfs {

/// What a read of a counter file gave: `error` is errno or 0, `content` the file's text. "N/A (no PMA)" and EINVAL mean
/// that the port has no such counter.
Reading counter_from(int error, std::string_view content) noexcept;

/// "4: ACTIVE" -> "ACTIVE"; "5: LinkUp" -> "LinkUp"; text without a number as it is.
std::string state_from(std::string_view content);
LinkLayer link_layer_from(std::string_view content) noexcept;
/// "0x1a" -> 26; 0 for none: 0x0, 0xffff, and what does not parse.
std::uint16_t lid_from(std::string_view content) noexcept;
/// "fe80:0000:0000:0000:0002:c903:00fa:7941" -> 0x0002c90300fa7941; 0 when it does not parse.
std::uint64_t guid_from(std::string_view content) noexcept;

/// "16.0 GT/s PCIe" -> 16; 0 for what does not parse ("Unknown").
double pcie_speed_from(std::string_view content) noexcept;
/// "16" -> 16; 0 for what is no width ("255": the link is down).
unsigned pcie_lanes_from(std::string_view content) noexcept;

/// Files below hw_counters/ that set something and count nothing.
bool is_setting(std::string_view file) noexcept;

/// Adds a counter under its canonical name. `file` is the name in counters/, counters_ext/ or hw_counters/. A 64-bit
/// reading is never replaced by a narrower one.
void add_counter(Counters &counters, std::string_view file, Reading reading);
/// The kernel shows unicast counters only where it reads the 64-bit set; then data and packets are 64 bits wide too.
/// Nothing is concluded from values: the width must be the same on both sides of a job.
void mark_widths(Counters &counters);

} // namespace fabric_check::sysfs
