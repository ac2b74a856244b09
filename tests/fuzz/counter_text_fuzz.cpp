// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff.hpp"

#include <string_view>

/// Both sides of a diff out of one input, cut at the first form feed: all that a file or a pipe may hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check;
    using namespace fabric_check::textfiles;
    const std::string_view text(reinterpret_cast<const char *>(data), size);
    const auto cut = std::min(text.find('\f'), text.size());
    Parsed parsed_before = parse_text(text.substr(0, cut), "before");
    Parsed parsed_after = parse_text(text.substr(cut), "after");
    const Loaded before{"before", std::move(parsed_before.ports), std::move(parsed_before.problems)};
    const Loaded after{"after", std::move(parsed_after.ports), std::move(parsed_after.problems)};
    (void)check_order(before, after);
    for (const std::optional<Profile> profile : {std::optional<Profile>(), std::optional(Profile::roce)}) {
        DiffOptions options;
        options.profile = profile;
        const Diff result = diff(before, after, options);
        (void)diff_text(result, true);
        (void)diff_json(result); // throws on bytes that are not UTF-8: a finding
    }
    return 0;
}
