// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "config/config.hpp"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fabric_check {

/// A job as people write it: 123, 123_4 (array task), 123+1 (het component).
struct JobRef {
    std::uint32_t id = 0;
    std::optional<std::uint32_t> task, het;
    std::string text() const;
};
/// Errc::usage quoting the text and listing the valid forms.
Result<JobRef> parse_job_ref(std::string_view text);

/// The report of a job's latest run, or of run `restart`, from the spool's reports/: by the file's name, else by what the
/// files say. Errc::no_answer with the reason when there is none (not ended, too young, no finisher, off);
/// Errc::unavailable without a spool.
Result<nlohmann::ordered_json> find_report(const Config &config, const JobRef &job, std::optional<unsigned> restart);

/// 0 clean, 1 a finding, 3 no answer.
int exit_of_report(const nlohmann::ordered_json &report);

} // namespace fabric_check
