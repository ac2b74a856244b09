// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/sysfs.hpp"
#include "sources/sysfs_text.hpp"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fabric_check;
    const std::string_view text(reinterpret_cast<const char *>(data), size);
    const LinkRate rate = parse_rate(text);
    if ((rate.lanes == 0) != rate.speed.empty() || (rate.lanes == 0) != (rate.data_gbps == 0)) {
        std::abort(); // known whole, or not at all
    }
    (void)sysfs::counter_from(0, text);
    (void)sysfs::state_from(text);
    (void)sysfs::link_layer_from(text);
    (void)sysfs::guid_from(text);
    if (sysfs::lid_from(text) == 0xffff) {
        std::abort();
    }
    return 0;
}
