// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff.hpp"

#include <string_view>

/// Both sides of a diff out of one input, cut at the first form feed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check::textfiles;
    const std::string_view text(reinterpret_cast<const char *>(data), size);
    const auto cut = std::min(text.find('\f'), text.size());
    Parsed before = parse_text(text.substr(0, cut), "before");
    Parsed after = parse_text(text.substr(cut), "after");
    const Diff result = diff({std::move(before.ports), std::move(before.problems)},
                             {std::move(after.ports), std::move(after.problems)}, {});
    (void)diff_text(result, true);
    (void)diff_json(result); // throws on bytes that are not UTF-8: a finding
    return 0;
}
