// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/netdev.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "sources/attributes.hpp"
#include "sources/sysfs_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check::sysfs {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t longest_stand_in = std::size_t{1} << 21;
constexpr const char *kernel_root = "/sys";

std::string text_of(const std::string &path) {
    std::string content;
    return read_file_errno(path, page, false, content) == 0 ? std::string(trim(content)) : std::string();
}

/// "0000:3b:00.0"; domains may have more digits.
bool is_pci_address(std::string_view text) noexcept {
    return text.size() >= 12 && text[text.size() - 2] == '.' && text[text.size() - 5] == ':' &&
           text[text.size() - 8] == ':' && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' || c == '.';
           });
}

Result<ethtool::Statistics> statistics_of(const std::string &root, const std::string &card,
                                          const std::string &netdev) {
    if (root == kernel_root) {
        return ethtool::read_statistics(netdev, ethtool::kernel_ioctl());
    }
    const std::string path = fmt::format("{}/device/net/{}/ethtool_stats", card, netdev);
    const auto text = read_file(path, longest_stand_in);
    if (!text) {
        return text.error();
    }
    return ethtool::parse_statistics(*text);
}

std::vector<std::string> members_of(const std::string &root, const std::string &netdev) {
    std::vector<std::string> members;
    const std::string list = text_of(fmt::format("{}/class/net/{}/bonding/slaves", root, netdev));
    for (const std::string_view member : split(list, ' ')) {
        if (ethtool::is_netdev_name(member)) {
            members.emplace_back(member);
        }
    }
    return members;
}

} // namespace

std::string pci_address(const std::string &card) {
    const std::string name = AttributeDirectory(card).link_name("device");
    return is_pci_address(name) ? name : std::string();
}

PcieLink pcie_link(const std::string &card) {
    AttributeDirectory device(card + "/device");
    PcieLink link;
    link.lanes = pcie_lanes_from(device.text("current_link_width"));
    link.max_lanes = pcie_lanes_from(device.text("max_link_width"));
    link.gts = pcie_speed_from(device.text("current_link_speed"));
    link.max_gts = pcie_speed_from(device.text("max_link_speed"));
    return link;
}

std::string find_netdev(const std::string &card, unsigned port) {
    // The file of an entry that no GID stands in cannot be read.
    const std::string first = text_of(fmt::format("{}/ports/{}/gid_attrs/ndevs/0", card, port));
    if (ethtool::is_netdev_name(first)) {
        return first;
    }
    const auto netdevs = list_directory(card + "/device/net");
    if (!netdevs) {
        return {};
    }
    std::string found;
    for (const std::string &netdev : *netdevs) {
        const auto number = parse_u64(text_of(fmt::format("{}/device/net/{}/dev_port", card, netdev)));
        const bool only = netdevs->size() == 1 && !number;
        if (ethtool::is_netdev_name(netdev) && (only || (number && *number + 1 == port))) {
            // VLANs and representors follow with longer names.
            found = found.empty() || netdev.size() < found.size() ? netdev : found;
        }
    }
    return found;
}

Result<ethtool::Statistics> netdev_statistics(const std::string &root, const std::string &card,
                                              const std::string &netdev) {
    const auto members = members_of(root, netdev);
    if (members.empty()) {
        return statistics_of(root, card, netdev);
    }
    ethtool::Statistics sums;
    for (const std::string &member : members) {
        const auto statistics = statistics_of(root, card, member);
        if (!statistics) {
            return statistics.error(); // half a bond's sum would pass for the whole
        }
        for (const auto &[name, value] : *statistics) {
            sums[name] += value; // counters of 64 bits that wrap do so in the sum as well
        }
    }
    return sums;
}

} // namespace fabric_check::sysfs
