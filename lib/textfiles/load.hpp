// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "textfiles/text.hpp"

#include <string>
#include <vector>

namespace fabric_check::textfiles {

/// All counters found below one path.
struct Loaded {
    std::vector<PortCounters> ports; ///< as found: order of the files
    std::vector<TextProblem> problems;
};

/// Reads a file (our snapshot, perfquery or grep output), or a directory of such files and of trees copied from
/// /sys/class/infiniband, eight levels deep. Recognised by content. What was found of one port is merged; and where a
/// directory (or file) holds one port by LID and one by device name, they are taken for the same port, named by device.
/// An Error when the path cannot be read, or when nothing in it is a counter: names file and line.
Result<Loaded> load(const std::string &path);

} // namespace fabric_check::textfiles
