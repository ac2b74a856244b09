// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "textfiles/text.hpp"

#include <string>
#include <vector>

namespace fabric_check::textfiles {

/// All counters found below one path.
struct Loaded {
    std::string path;                ///< as given; "standard input" for "-"
    std::vector<PortCounters> ports; ///< as found: order of the files
    std::vector<TextProblem> problems;
};

inline const std::string standard_input = "-";

/// Where reading stops, with a problem.
struct LoadLimits {
    std::size_t files = 20000;
    std::size_t directories = 20000;
    std::size_t bytes = std::size_t{1} << 30; ///< of all files together
};

/// Reads a file of anything parse_text understands, standard input ("-"), a pipe, or a directory of such files and of
/// trees copied from /sys/class/infiniband, eight levels deep, each
/// directory once, and not without end: a problem tells where reading stopped. What was found of one port is merged; a counter
/// with different values has none. Where a directory (or file) holds one port by LID, one by device name and one by network
/// device, they are taken for the same port, named by device, unless something speaks against it (see unite.hpp). Files
/// that name no port and have the same counters are ports named by the files. Nodes are told apart by their directories. An Error when the path cannot be read, or when nothing in it is a counter: names file and
/// line. Waits for whoever writes into a pipe.
Result<Loaded> load(const std::string &path, const LoadLimits &limits = {});

} // namespace fabric_check::textfiles
