// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fabric_check {

/// What a job asks for with --fabric-check[=MODE].
enum class Mode : std::uint8_t { report, off };

inline constexpr const char *valid_modes = "report, off";

const char *to_string(Mode mode) noexcept;
std::optional<Mode> parse_mode(std::string_view text) noexcept; ///< exact, lower case
/// The option's argument as Slurm hands it to a SPANK plugin: an option without argument arrives as a null pointer or as
/// "(null)", and means report; "" is `--fabric-check=`, and no mode.
std::optional<Mode> mode_from_option(const char *argument) noexcept;

} // namespace fabric_check
