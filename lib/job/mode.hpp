// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fabric_check {

/// What a job asks for with --fabric-check[=MODE[,MODE]].
struct Mode {
    bool on = true;     ///< false: no records, no line
    bool steps = false; ///< a verdict for each step beside the job's
    bool operator==(const Mode &) const = default;

    static const Mode report, off, report_step;
};
inline constexpr Mode Mode::report{};
inline constexpr Mode Mode::off{false, false};
inline constexpr Mode Mode::report_step{true, true};

inline constexpr const char *valid_modes = "report | step | report,step | off";

/// In its one form: "report", "report,step", "off".
const char *to_string(Mode mode) noexcept;
/// Lower case, in any order; step alone is report,step; off stands alone.
std::optional<Mode> parse_mode(std::string_view text) noexcept;
/// The option's argument as Slurm hands it to a SPANK plugin: an option without argument arrives as a null pointer or as
/// "(null)", and means report; "" is `--fabric-check=`, and no mode.
std::optional<Mode> mode_from_option(const char *argument) noexcept;

} // namespace fabric_check
