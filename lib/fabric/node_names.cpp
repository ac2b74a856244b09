// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/node_names.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>
#include <utility>

namespace fabric_check::fabric {
namespace {

constexpr std::string_view blanks = " \t\r\n";

/// The first word, and what follows it without blanks in front.
std::pair<std::string_view, std::string_view> first_word(std::string_view text) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    const std::size_t end = std::min(text.find_first_of(blanks), text.size());
    std::string_view rest = text.substr(end);
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    return {text.substr(0, end), rest};
}

bool factory_text(std::string_view description) noexcept {
    return description.find("Mellanox Technologies") != std::string_view::npos;
}

/// "MF0;leaf03:MQM9700/U1" -> "leaf03"; a chassis' "MF0;core:MCS8500/L02/U1" -> "core/L02", as all its switches share
/// the name before the colon.
std::string managed_name(std::string_view description) {
    const std::size_t semicolon = description.find(';');
    const std::size_t colon = description.rfind(':');
    if (!description.starts_with("MF") || semicolon == std::string_view::npos || colon == std::string_view::npos ||
        colon <= semicolon + 1)
        return {};
    std::string name(description.substr(semicolon + 1, colon - semicolon - 1));
    const auto parts = split(description.substr(colon + 1), '/');
    for (std::size_t i = 1; i < parts.size(); ++i)
        if (parts[i] != "U1" && !parts[i].empty())
            name.append("/").append(parts[i]);
    return name;
}

} // namespace

NodeKind classify_adapter(std::string_view description) noexcept {
    // SHARP's are called "Mellanox Technologies Aggregation Node" by every switch that has one.
    if (description.find("Aggregation Node") != std::string_view::npos)
        return NodeKind::other;
    // "skyway01 Gateway"; but a host may be called nfs-gateway07, or gateway.
    for (auto [word, rest] = first_word(first_word(description).second); !word.empty(); std::tie(word, rest) = first_word(rest))
        if (const auto bare = word.substr(0, word.find_last_not_of(",;:.") + 1); bare == "Gateway" || bare == "gateway")
            return NodeKind::other;
    return NodeKind::host;
}

std::string_view host_name_of(std::string_view description) noexcept {
    return factory_text(description) ? std::string_view() : first_word(description).first;
}

std::string_view card_name_of(std::string_view description) noexcept {
    const auto [second, rest] = first_word(first_word(description).second);
    return rest.empty() && !factory_text(description) ? second : std::string_view();
}

std::string guid_text(std::uint64_t guid) { return fmt::format("0x{:016x}", guid); }

std::string switch_name_of(std::string_view description, std::uint64_t guid) {
    description = trim(description);
    if (description.empty() || factory_text(description))
        return guid_text(guid);
    const std::string managed = managed_name(description);
    return managed.empty() ? printable(description) : printable(managed);
}

} // namespace fabric_check::fabric
