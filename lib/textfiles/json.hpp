// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "textfiles/collector.hpp"

#include <string_view>

namespace fabric_check::textfiles {

/// How many bytes of `text`, which starts with { or [, belong to that value; all of it when its end is missing.
std::size_t json_extent(std::string_view text) noexcept;

/// One of our own snapshots, or what `rdma -j statistic` writes. Of a value that breaks off, what came before is used.
/// `line`: where it starts in its file.
void parse_json(std::string_view text, std::size_t line, Collector &collector);

} // namespace fabric_check::textfiles
