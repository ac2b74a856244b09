// SPDX-License-Identifier: GPL-2.0-or-later
// A field that others write to, then our line into it: nothing of theirs is lost, and ours is there once.
#include "report/line.hpp"

#include <cstdint>
#include <cstdlib>

using namespace fabric_check;

namespace {
void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const std::string field(reinterpret_cast<const char *>(data), size);
    const std::string line = "fabric=clean cover=12/12 ports=48/48 moved=3.0TB route=ok nodes=node[01-12]";
    const std::string earlier = our_segment(field);
    require(field.find(earlier) != std::string::npos);
    const std::string merged = merge_field(field, line);
    if (merged.empty()) {
        require(field.size() + 3 + line.size() > 65535);
        return 0;
    }
    require(merged.size() <= 65535);
    require(our_segment(merged) == line);
    require(merge_field(merged, line) == merged);
    if (earlier.empty()) {
        require(merged.starts_with(field));
    }
    return 0;
}
