// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace fabric_check {

/// What a counter implicates, in order of causation: the lower, the earlier the cause.
enum class Layer : std::uint8_t {
    physical,
    pause_storm,
    lossless_broken,
    transport_retry,
    routing_imbalance, ///< a verdict of the job only; no counter has it
    congestion,
    ungraded, ///< recorded and shown, never judged
};
inline constexpr Layer last_graded_layer = Layer::congestion;

/// "physical", "pause-storm", ..., "ungraded".
std::string_view to_string(Layer layer) noexcept;

enum class Profile : std::uint8_t { ib, roce };

/// Where a counter is read.
enum class CounterSource : std::uint8_t {
    pma,          ///< PortCounters (0x12); in sysfs counters/
    pma_extended, ///< PortCountersExtended (0x1D); in sysfs counters/
    hw_counters,  ///< sysfs hw_counters/
    ethtool,
};

enum class Unit : std::uint8_t { events, packets, octets_div_4, octets, ticks };

/// What kind of port a counter may be required of.
enum class PortKind : std::uint8_t { switch_port, hca };

/// One row of the table of counters.
struct CounterInfo {
    std::string_view name;                ///< canonical: the specification's for PMA, the kernel's for hw_counters
    std::string_view sysfs;               ///< file name in sysfs counters/, empty if none
    CounterSource source;
    Unit unit;
    std::uint8_t width;                   ///< verified bits of the classic field; 0: not verified, no cap may be assumed
    Layer layer;
    bool required_ib_switch;              ///< must be there on a switch port under the ib profile
    bool required_ib_hca;                 ///< must be there on every InfiniBand HCA port
    bool required_ib_qp;                  ///< must be there on an HCA port whose driver exposes retry counters
    bool graded;                          ///< takes part in the verdict (where present)
    std::string_view meaning;             ///< one line of plain language
    std::string_view reference;           ///< specification, kernel or vendor document
};

/// All counters the product knows, sorted by name. Static storage.
std::span<const CounterInfo> counter_table() noexcept;

/// By canonical name, or by sysfs / hw_counters file name. nullptr: not known (shown as ungraded).
const CounterInfo *find_counter(std::string_view name_or_alias) noexcept;

/// The value at which a field of `width` bits saturates (4, 8, 16, 32 or 64 bits of ones); 0 for width 0: no cap.
std::uint64_t saturation_cap(std::uint8_t width) noexcept;

/// Does this kernel driver expose the three retry counters in hw_counters (mlx5_core does; mlx4_core, hfi1 do not)?
/// An unknown driver answers no.
bool driver_has_retry_counters(std::string_view driver) noexcept;

/// Is the counter required of this port under the ib profile? (The counter table's columns, applied.)
bool required_in_ib(const CounterInfo &counter, PortKind kind, std::string_view driver) noexcept;

} // namespace fabric_check
