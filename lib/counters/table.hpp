// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
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
std::string_view to_string(Profile profile) noexcept; ///< "ib", "roce"

/// Where a counter is read.
enum class CounterSource : std::uint8_t {
    pma,          ///< PortCounters (0x12); in sysfs counters/
    pma_extended, ///< PortCountersExtended (0x1D); in sysfs counters/
    pma_details,  ///< the optional attributes 0x15, 0x16 and 0x1F
    hw_counters,  ///< sysfs hw_counters/, also what `rdma statistic` shows
    ethtool,      ///< ethtool statistics of the port's network device
};

enum class Unit : std::uint8_t { events, packets, octets_div_4, octets, ticks, microseconds, milliseconds, blocks };

/// What kind of port a counter may be required of.
enum class PortKind : std::uint8_t { switch_port, hca };

/// Kernel drivers, as bits: which of them have a counter.
enum Driver : std::uint16_t {
    any_driver = 0, ///< the row does not depend on the driver
    mlx5 = 1 << 0,
    mlx4 = 1 << 1,
    bnxt = 1 << 2,  ///< bnxt_re and bnxt_en
    irdma = 1 << 3, ///< irdma and ice; i40iw and i40e before them
    hfi1 = 1 << 4,
    efa = 1 << 5, ///< efa and ena
};
/// By the name of the driver's module as sysfs shows it ("mlx5_core", "mlx5_core.sf", "bnxt_en", "ice", ...);
/// any_driver for others.
Driver driver_from(std::string_view module) noexcept;

/// What a row is for; several are or-ed.
enum Role : std::uint16_t {
    shown = 0,          ///< recorded and explained, never judged
    graded_ib = 1 << 0, ///< takes part in the verdict where present
    graded_roce = 1 << 1,
    switch_ib = 1 << 2,  ///< must be there on a switch port
    hca_ib = 1 << 3,     ///< must be there on an InfiniBand HCA port whose driver has it
    hca_roce = 1 << 4,   ///< must be there on a RoCE port whose driver has it
    profile_ib = 1 << 5, ///< must be there where a whole profile is asked for, whatever the port is
    profile_roce = 1 << 6,
    bit_errors = 1 << 7, ///< each event is one wrong bit at least: over the bits sent it is a bit-error rate
    capability = 1 << 8, ///< not every card has it: a gap only where one side has it, or with a whole profile
    told = 1 << 9,       ///< never judged, and worth telling when it moved
};

/// Which way an event points, for rates: pauses sent are set against bytes received, pauses received against bytes
/// sent.
enum class Against : std::uint8_t { both, received, sent };

/// One row of the table of counters. A name with "<n>" stands for a family, one counter for each priority 0 to 7; where
/// such a counter is required or graded, it is for the priorities with flow control. One with "<l>" stands for one
/// counter for each lane 0 to 11; none of those is graded.
struct CounterInfo {
    std::string_view name;    ///< canonical: the specification's for PMA, the kernel's for all others
    std::string_view aliases; ///< other names of the same counter, separated by blanks; sysfs counters/ file first
    CounterSource source = CounterSource::pma;
    Unit unit = Unit::events;
    std::uint8_t width = 0; ///< verified bits of the field; 0: not verified, no cap may be assumed
    Layer layer = Layer::ungraded;
    std::uint16_t roles = shown;
    Driver drivers = any_driver;
    Against against = Against::both;
    std::string_view meaning;   ///< one line of plain language
    std::string_view reference; ///< specification, kernel or vendor document

    bool has(std::uint16_t role) const noexcept { return (roles & role) != 0; }
    bool graded(Profile profile) const noexcept { return has(profile == Profile::ib ? graded_ib : graded_roce); }
    bool is_family() const noexcept { return name.find('<') != std::string_view::npos; } ///< of priorities or lanes
    /// The counter of one priority; the row's own name where it is no family.
    std::string of_priority(unsigned priority) const;
};
inline constexpr unsigned priorities = 8;

/// All counters the product knows, sorted by name. Static storage.
std::span<const CounterInfo> counter_table() noexcept;

/// By canonical name, by an alias, or by the name of a member of a family. nullptr: not known (shown as ungraded).
const CounterInfo *find_counter(std::string_view name) noexcept;
/// By the row's own name alone.
const CounterInfo *find_counter_named(std::string_view name) noexcept;
/// What a counter is called in snapshots and reports: its row's name, or for members of families and counters that are
/// not known the name itself.
std::string canonical_name(std::string_view name);

/// The value at which a field of `width` bits saturates (4, 8, 16, 32 or 64 bits of ones); 0 for width 0: no cap.
std::uint64_t saturation_cap(std::uint8_t width) noexcept;

/// Must this port have the counter? By the port's kind and, for cards, its driver (sysfs's name of it). A driver that
/// is not known is asked for what every card has.
bool required(const CounterInfo &counter, Profile profile, PortKind kind, std::string_view driver) noexcept;
/// Must it be there where the whole profile is asked for?
bool required_by_profile(const CounterInfo &counter, Profile profile) noexcept;
/// Is it required of any port at all under this profile?
bool required_somewhere(const CounterInfo &counter, Profile profile) noexcept;

/// Does this kernel driver expose counters of retries under this profile (mlx5_core does; mlx4_core, hfi1 do not)? An
/// unknown driver answers no.
bool driver_has_retry_counters(std::string_view driver) noexcept;

} // namespace fabric_check
