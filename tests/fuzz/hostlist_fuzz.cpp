// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hostlist.hpp"

#include <cstdlib>
#include <set>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check;
    constexpr std::size_t limit = 2000;
    const auto names = expand_hostlist({reinterpret_cast<const char *>(data), size}, limit);
    if (!names) {
        return 0;
    }
    if (names->size() > limit) {
        std::abort();
    }
    const std::set<std::string> wanted(names->begin(), names->end());
    const auto again = expand_hostlist(fold_hostlist(*names), limit);
    if (!again || std::set<std::string>(again->begin(), again->end()) != wanted) {
        std::abort();
    }
    return 0;
}
