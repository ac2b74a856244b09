// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check {

/// "node[01-03,7],login,rack[1-2]n[1-4]" -> names in the order written, duplicates kept. The node hooks read Slurm's
/// lists without loading libslurm; a test proves agreement with slurm_hostlist_create. More than `limit` names or
/// brackets that do not close are Errc::malformed. Fuzzed.
Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t limit = 65536);

/// Names -> "login,node[01-03,07]": sorted, distinct, numeric tails folded where prefix and zero padding agree
/// (node9, node10 -> node[9-10]; node09, node10 -> node[09-10]). Expands to the same set again.
std::string fold_hostlist(const std::vector<std::string> &names);

} // namespace fabric_check
