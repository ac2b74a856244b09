// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "verdict/job_verdict.hpp"

#include <string>
#include <utility>
#include <vector>

namespace fabric_check {

inline constexpr std::size_t line_limit = 512; ///< bytes

using LineFields = std::vector<std::pair<std::string, std::string>>; ///< in the contract's order, values encoded

LineFields line_fields(const JobEvidence &evidence, const JobVerdict &verdict);
/// "key=value key=value ...": printable ASCII without | " ' ; and newline, at most line_limit bytes. The node list
/// shortens first ("nodes=node[0001-0100]...(+900)"), then at=, why= and hot=.
std::string format_line(const LineFields &fields);

/// Puts our segment into a field that others use too: replaces our earlier segment, or appends after " ; ". Everything
/// else is kept as it is. Empty: the result would pass the column's 65,535 bytes and nothing may be lost.
std::string merge_field(const std::string &existing, const std::string &line);
/// Our segment of a field, or empty.
std::string our_segment(const std::string &field);

} // namespace fabric_check
