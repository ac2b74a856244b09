// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel, or a file in its place, says about a network device's statistics.
#include "sources/ethtool.hpp"
#include "sources/sysfs.hpp"
#include "sources/sysfs_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check;
    const std::span<const std::uint8_t> bytes(data, size);
    const std::string_view text(reinterpret_cast<const char *>(data), size);
    (void)ethtool::decode_count(bytes);
    // The first byte says where the names end and the values begin.
    if (size > 1) {
        const std::size_t cut = 1 + data[0] * (size - 1) / 255;
        if (const auto decoded = ethtool::decode_statistics(bytes.subspan(1, cut - 1), bytes.subspan(cut))) {
            for (const auto &[name, value] : *decoded) {
                if (name.empty() || name.size() > ethtool::name_size) {
                    __builtin_trap();
                }
            }
        }
    }
    (void)ethtool::parse_statistics(text);
    (void)ethtool::is_netdev_name(text);
    (void)parse_pcie(text);
    (void)sysfs::pcie_speed_from(text);
    (void)sysfs::pcie_lanes_from(text);
    return 0;
}
