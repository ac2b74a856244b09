// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/paths.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace fabric_check::textfiles {

bool is_counter_directory(std::string_view name) noexcept {
    return name == "counters" || name == "hw_counters" || name == "counters_ext";
}

bool is_tree_part(std::string_view name) noexcept {
    return name.empty() || name == "." || name == ".." || name == "sys" || name == "class" || name == "infiniband";
}

std::optional<std::string> port_of_directory(std::string_view directory) {
    const auto parts = split(directory, '/');
    const std::size_t n = parts.size();
    if (!is_counter_directory(parts[n - 1])) {
        return std::nullopt;
    }
    std::string port;
    std::size_t card = 0;
    if (n >= 4 && parts[n - 3] == "ports" && parse_u64(parts[n - 2])) {
        card = n - 4;
        port = fmt::format("{}:{}", printable(parts[card]), parts[n - 2]);
    } else if (n >= 2 && !is_tree_part(parts[n - 2]) && parts[n - 1] == "hw_counters" && !parse_u64(parts[n - 2])) {
        card = n - 2;
        port = printable(parts[card]);
    } else {
        return port;
    }
    if (is_tree_part(parts[card])) {
        return std::string();
    }
    if (card == 0 || parts[card - 1] != "infiniband") {
        return port;
    }
    std::size_t above = card - 1;
    while (above > 0 && is_tree_part(parts[above])) {
        --above;
    }
    // Below /sys/devices it is the card's PCI address.
    return is_tree_part(parts[above]) || parts[above].find(':') != std::string_view::npos
               ? port
               : fmt::format("{}/{}", printable(parts[above]), port);
}

bool is_netdev_name(std::string_view name) noexcept {
    return name.size() >= 2 && name.size() <= 15 && std::islower(static_cast<unsigned char>(name.front())) != 0 &&
           std::all_of(name.begin(), name.end(),
                       [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; }) &&
           std::any_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

} // namespace fabric_check::textfiles
