// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <functional>

namespace fabric_check {

/// Threads to work with: `configured`, or one for each processor this process may use where that is 0. At least 1, at
/// most 64.
unsigned worker_count(unsigned configured) noexcept;

/// Calls `work` once for each index below `count`, on up to `workers` threads (the caller's is one of them; with one, in
/// order). Returns when all are done. The first exception ends the rest early and is thrown again here; where threads
/// cannot be had, fewer do it all.
void parallel_for(unsigned workers, std::size_t count, const std::function<void(std::size_t)> &work);

} // namespace fabric_check
