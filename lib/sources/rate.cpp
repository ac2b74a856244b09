// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"
#include "sources/sysfs.hpp"
#include "sources/sysfs_text.hpp"

#include <array>
#include <charconv>

namespace fabric_check {

namespace {

/// Per lane, Gb/s. Data rates are net of coding: 8b/10b up to QDR, 64b/66b after that; from EDR on the quoted rate is
/// net already.
struct Speed {
    std::string_view name;
    double signalling, data;
};
constexpr std::array speeds{
    Speed{"SDR", 2.5, 2},
    Speed{"DDR", 5, 4},
    Speed{"QDR", 10, 8},
    Speed{"FDR10", 10.3125, 10},
    Speed{"FDR", 14.0625, 14.0625 * 64 / 66},
    Speed{"EDR", 25.78125, 25},
    Speed{"HDR", 53.125, 50},
    Speed{"NDR", 106.25, 100},
    Speed{"XDR", 212.5, 200},
};

bool valid_lanes(std::uint64_t lanes) noexcept {
    return lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8 || lanes == 12;
}

bool is_number(std::string_view text) noexcept {
    double value = 0;
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && stopped == text.data() + text.size() && value > 0;
}

} // namespace

LinkRate link_rate(unsigned lanes, std::string_view speed) {
    for (const Speed &known : speeds) {
        if (known.name == speed && valid_lanes(lanes)) {
            return {lanes, std::string(speed), known.data * lanes, known.signalling};
        }
    }
    return {};
}

std::optional<PcieLink> parse_pcie(std::string_view text) {
    text = trim(text);
    const auto cross = text.find('x');
    if (cross == std::string_view::npos) {
        return std::nullopt;
    }
    PcieLink link;
    link.lanes = sysfs::pcie_lanes_from(text.substr(0, cross));
    std::string_view speed = trim(text.substr(cross + 1));
    if (!speed.ends_with("GT/s")) {
        return std::nullopt;
    }
    link.gts = sysfs::pcie_speed_from(speed);
    return link.known() ? std::optional(link) : std::nullopt;
}

LinkRate parse_rate(std::string_view text) {
    text = trim(text);
    const auto open = text.find(" Gb/sec (");
    if (open == std::string_view::npos || !text.ends_with(')') || !is_number(text.substr(0, open))) {
        return {};
    }
    // The number in front is the signalling rate up to FDR and the data rate after that: the name is what counts.
    const std::string_view inside = text.substr(open + 9, text.size() - open - 10);
    const auto cross = inside.find('X');
    if (cross == std::string_view::npos) {
        return {};
    }
    const auto lanes = parse_u64(inside.substr(0, cross));
    if (!lanes || !valid_lanes(*lanes)) {
        return {};
    }
    const std::string_view speed = trim(inside.substr(cross + 1));
    // Kernels before 3.9 wrote no name for SDR: "10 Gb/sec (4X)".
    return link_rate(static_cast<unsigned>(*lanes), speed.empty() ? "SDR" : speed);
}

} // namespace fabric_check
