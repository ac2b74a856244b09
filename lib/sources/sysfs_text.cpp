// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/sysfs_text.hpp"

#include "base/text.hpp"

#include <cerrno>
#include <charconv>

namespace fabric_check::sysfs {

Reading counter_from(int error, std::string_view content) noexcept {
    switch (error) {
    case 0:
        break;
    case ENOENT:
    case ENOTDIR:
        return Reading::missing(Absence::absent);
    case EINVAL:
    case EOPNOTSUPP:
    case ENOSYS:
        return Reading::missing(Absence::unsupported);
    case EACCES:
    case EPERM:
        return Reading::missing(Absence::denied);
    case ETIMEDOUT:
        return Reading::missing(Absence::timed_out);
    default:
        return Reading::missing(Absence::unparsable);
    }
    const std::string_view text = trim(content);
    if (text.starts_with("N/A")) {
        return Reading::missing(Absence::unsupported);
    }
    if (const auto value = parse_u64(text)) {
        return Reading::of(*value);
    }
    return Reading::missing(Absence::unparsable);
}

std::string state_from(std::string_view content) {
    const std::string_view text = trim(content);
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || !parse_u64(text.substr(0, colon))) {
        return std::string(text);
    }
    return std::string(trim(text.substr(colon + 1)));
}

double pcie_speed_from(std::string_view content) noexcept {
    constexpr std::string_view unit = "GT/s"; // "PCIe" behind it since Linux 5.7
    const std::string_view text = trim(content);
    const std::string_view number = trim(text.substr(0, text.find(unit)));
    double speed = 0;
    const auto [stopped, error] = std::from_chars(number.data(), number.data() + number.size(), speed);
    const bool good = error == std::errc() && stopped == number.data() + number.size() && speed > 0 && speed < 1000;
    return good && text.find(unit) != std::string_view::npos ? speed : 0;
}

unsigned pcie_lanes_from(std::string_view content) noexcept {
    const auto lanes = parse_u64(trim(content));
    return lanes && *lanes >= 1 && *lanes <= 32 ? static_cast<unsigned>(*lanes) : 0;
}

LinkLayer link_layer_from(std::string_view content) noexcept {
    const std::string_view text = trim(content);
    if (text == "InfiniBand") {
        return LinkLayer::infiniband;
    }
    return text == "Ethernet" ? LinkLayer::ethernet : LinkLayer::unknown;
}

std::uint16_t lid_from(std::string_view content) noexcept {
    const auto lid = parse_u64(trim(content), 16);
    return lid && *lid < 0xffff ? static_cast<std::uint16_t>(*lid) : std::uint16_t{0};
}

std::uint64_t guid_from(std::string_view content) noexcept {
    const std::string_view text = trim(content);
    if (text.size() != 39) {
        return 0;
    }
    std::uint64_t guid = 0;
    for (std::size_t group = 0; group < 8; ++group) {
        const auto part = parse_u64(text.substr(group * 5, 4), 16);
        if (!part || (group < 7 && text[group * 5 + 4] != ':')) {
            return 0;
        }
        guid = guid << 16 | *part; // the upper half, the subnet prefix, is shifted out
    }
    return guid;
}

bool is_setting(std::string_view file) noexcept {
    return file == "lifespan";
}

void add_counter(Counters &counters, std::string_view file, Reading reading) {
    if (reading.value && file.ends_with("_64")) {
        reading.width = 64;
    }
    const auto [at, fresh] = counters.try_emplace(canonical_name(file), reading);
    if (!fresh && reading.value && (!at->second.value || reading.width > at->second.width)) {
        at->second = reading;
    }
}

void mark_widths(Counters &counters) {
    if (!counters.contains("PortUnicastRcvPkts")) {
        return;
    }
    for (const char *name : {"PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"}) {
        if (const auto at = counters.find(name); at != counters.end() && at->second.value) {
            at->second.width = 64;
        }
    }
}

} // namespace fabric_check::sysfs
