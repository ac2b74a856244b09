// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/json_tree.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

/// Touches every value.
std::size_t walk(const fabric_check::JsonValue &value, unsigned depth) {
    std::size_t sum = value.text().size() + value.key().size() + value.whole().value_or(0) + (value.real() ? 1 : 0);
    auto from = value.begin();
    if (depth < 64)
        for (const auto inner : value) {
            sum += walk(inner, depth + 1);
            if (value.is_object() && (!value.find(inner.key()) || !value.find(inner.key(), from)))
                std::abort();
        }
    return sum;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const std::string text(reinterpret_cast<const char *>(data), size);
    fabric_check::JsonTree tree;
    const bool good = tree.parse(text);
    if (good)
        (void)walk(tree.root(), 0);
    // Numbers that no double has room for are no JSON there, and a NUL ends it; a byte order mark is none here.
    const auto other = nlohmann::json::parse(text, nullptr, false);
    if (!other.is_discarded() && !good && !text.starts_with("\xef\xbb\xbf") && text.find('\0') == text.npos)
        std::abort();
    return 0;
}
