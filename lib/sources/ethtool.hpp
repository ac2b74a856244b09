// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Statistics of a network device, by the kernel's own interface (SIOCETHTOOL), not by the ethtool program. Reading them
/// needs no privilege.
namespace fabric_check::ethtool {

/// More than any driver has; what the kernel says is not trusted beyond it.
inline constexpr std::size_t most_statistics = 16384;
inline constexpr std::size_t name_size = 32; ///< ETH_GSTRING_LEN

using Statistics = std::map<std::string, std::uint64_t>;

/// ioctl(SIOCETHTOOL) with `data` on a network device: 0 or errno.
using Ioctl = std::function<int(const std::string &netdev, void *data)>;
/// The real one, on a socket of its own.
Ioctl kernel_ioctl();

/// All statistics of the device. Errors say why there are none: Errc::not_found (no such device), Errc::unsupported (its
/// driver has none), Errc::malformed (an answer that cannot be), Errc::unavailable otherwise.
Result<Statistics> read_statistics(const std::string &netdev, const Ioctl &ioctl);

/// The stand-in for trees that are no kernel's (tests, the lab): lines "name: value" as the ethtool program prints them.
/// Lines without a number are not taken.
Result<Statistics> parse_statistics(std::string_view text);

/// May this be the name of a network device (1 to 15 bytes, no blanks, slashes or control characters)?
bool is_netdev_name(std::string_view name) noexcept;

/// Pure decoders of the kernel's answers, safe for any bytes.
/// ETHTOOL_GSSET_INFO: how many statistics there are.
Result<std::uint32_t> decode_count(std::span<const std::uint8_t> answer);
/// ETHTOOL_GSTRINGS and ETHTOOL_GSTATS. Names that are empty or hold control characters are skipped, of equal ones the
/// first is taken. Errc::unavailable when the two differ in number: the driver changed them in between.
Result<Statistics> decode_statistics(std::span<const std::uint8_t> names, std::span<const std::uint8_t> values);

} // namespace fabric_check::ethtool
