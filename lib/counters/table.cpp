// SPDX-License-Identifier: GPL-2.0-or-later
#include "counters/table.hpp"

#include "counters/rows_ethtool.hpp"
#include "counters/rows_mlx5.hpp"
#include "counters/rows_other.hpp"
#include "counters/rows_pma.hpp"

#include <algorithm>
#include <array>

namespace fabric_check {

namespace {

constexpr std::string_view priority_mark = "<n>", lane_mark = "<l>";
constexpr unsigned lanes = 12;
constexpr std::size_t longest = 64; ///< of a name that may be of a family

constexpr auto table = [] {
    std::array<CounterInfo, rows::pma_rows.size() + rows::mlx5_rows.size() + rows::ethtool_rows.size() +
                               rows::other_rows.size()> all{};
    auto at = all.begin();
    const auto add = [&at](const auto &rows) {
        for (const CounterInfo &row : rows) {
            *at++ = row;
        }
    };
    add(rows::pma_rows);
    add(rows::mlx5_rows);
    add(rows::ethtool_rows);
    add(rows::other_rows);
    std::sort(all.begin(), all.end(), [](const CounterInfo &a, const CounterInfo &b) { return a.name < b.name; });
    return all;
}();
static_assert(std::adjacent_find(table.begin(), table.end(), [](const CounterInfo &a, const CounterInfo &b) {
                  return a.name == b.name;
              }) == table.end());

struct Alias {
    std::string_view alias;
    std::uint16_t row = 0;
};

/// Calls `each` with every alias of a row.
template <class Each> constexpr void for_each_alias(std::string_view aliases, const Each &each) {
    while (!aliases.empty()) {
        const auto end = std::min(aliases.find(' '), aliases.size());
        each(aliases.substr(0, end));
        aliases.remove_prefix(std::min(end + 1, aliases.size()));
    }
}

constexpr std::size_t alias_count = [] {
    std::size_t count = 0;
    for (const CounterInfo &row : table) {
        for_each_alias(row.aliases, [&count](std::string_view) { ++count; });
    }
    return count;
}();

constexpr auto aliases = [] {
    std::array<Alias, alias_count> all{};
    auto at = all.begin();
    for (std::size_t row = 0; row < table.size(); ++row) {
        for_each_alias(table[row].aliases, [&](std::string_view alias) {
            *at++ = {alias, static_cast<std::uint16_t>(row)};
        });
    }
    std::sort(all.begin(), all.end(), [](const Alias &a, const Alias &b) { return a.alias < b.alias; });
    return all;
}();
static_assert(std::adjacent_find(aliases.begin(), aliases.end(),
                                 [](const Alias &a, const Alias &b) { return a.alias == b.alias; }) == aliases.end());

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// The row of `name` with `mark` in place of its digits at [at, end).
const CounterInfo *find_pattern(std::string_view name, std::size_t at, std::size_t end, std::string_view mark) noexcept {
    std::array<char, longest + priority_mark.size()> pattern{};
    auto next = std::copy_n(name.begin(), at, pattern.begin());
    next = std::copy(mark.begin(), mark.end(), next);
    next = std::copy(name.begin() + static_cast<std::ptrdiff_t>(end), name.end(), next);
    return find_counter_named({pattern.data(), static_cast<std::size_t>(next - pattern.begin())});
}

/// "rx_prio3_pause" is of the family "rx_prio<n>_pause", "FECCorrectableBlockCtrLane11" of "FECCorrectableBlockCtrLane<l>".
const CounterInfo *find_family(std::string_view name) noexcept {
    if (name.size() > longest) {
        return nullptr;
    }
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (!is_digit(name[at])) {
            continue;
        }
        const std::size_t begin = at;
        while (at + 1 < name.size() && is_digit(name[at + 1])) {
            ++at;
        }
        const std::size_t end = at + 1;
        unsigned number = 0;
        for (std::size_t digit = begin; digit < end; ++digit) {
            number = std::min(number * 10 + static_cast<unsigned>(name[digit] - '0'), lanes);
        }
        const bool plain = begin > 0 && (end == begin + 1 || name[begin] != '0'); // "01" is no lane's number
        if (plain && number < priorities && end == begin + 1) {
            if (const CounterInfo *row = find_pattern(name, begin, end, priority_mark)) {
                return row;
            }
        }
        if (plain && number < lanes) {
            if (const CounterInfo *row = find_pattern(name, begin, end, lane_mark)) {
                return row;
            }
        }
    }
    return nullptr;
}

constexpr std::uint16_t needed_by(Profile profile) noexcept {
    return profile == Profile::ib ? std::uint16_t{switch_ib | hca_ib} : std::uint16_t{hca_roce};
}

} // namespace

std::string_view to_string(Layer layer) noexcept {
    switch (layer) {
    case Layer::physical:
        return "physical";
    case Layer::pause_storm:
        return "pause-storm";
    case Layer::lossless_broken:
        return "lossless-broken";
    case Layer::transport_retry:
        return "transport-retry";
    case Layer::routing_imbalance:
        return "routing-imbalance";
    case Layer::congestion:
        return "congestion";
    case Layer::ungraded:
        break;
    }
    return "ungraded";
}

std::string_view to_string(Profile profile) noexcept {
    return profile == Profile::ib ? "ib" : "roce";
}

Driver driver_from(std::string_view module) noexcept {
    struct Module {
        std::string_view name;
        Driver driver;
    };
    // By PCI, for subfunctions, and on the auxiliary bus.
    static constexpr std::array modules{
        Module{"bnxt_en", bnxt},   Module{"bnxt_re", bnxt},      Module{"ena", efa},      Module{"efa", efa},
        Module{"hfi1", hfi1},      Module{"i40e", irdma},        Module{"i40iw", irdma},  Module{"ice", irdma},
        Module{"irdma", irdma},    Module{"mlx4_core", mlx4},    Module{"mlx4_en", mlx4}, Module{"mlx4_ib", mlx4},
        Module{"mlx5_core", mlx5}, Module{"mlx5_core.sf", mlx5}, Module{"mlx5_ib", mlx5}, Module{"mlx5_ib.rdma", mlx5},
    };
    const auto at =
        std::find_if(modules.begin(), modules.end(), [module](const Module &known) { return known.name == module; });
    return at == modules.end() ? any_driver : at->driver;
}

std::string CounterInfo::of_priority(unsigned priority) const {
    std::string member(name);
    if (const auto at = member.find(priority_mark); at != std::string::npos) {
        member.replace(at, priority_mark.size(), std::to_string(priority));
    }
    return member;
}

std::span<const CounterInfo> counter_table() noexcept {
    return table;
}

const CounterInfo *find_counter_named(std::string_view name) noexcept {
    const auto at = std::lower_bound(table.begin(), table.end(), name,
                                     [](const CounterInfo &row, std::string_view wanted) { return row.name < wanted; });
    return at != table.end() && at->name == name ? &*at : nullptr;
}

const CounterInfo *find_counter(std::string_view name) noexcept {
    if (const CounterInfo *row = find_counter_named(name)) {
        return row;
    }
    const auto at = std::lower_bound(aliases.begin(), aliases.end(), name,
                                     [](const Alias &a, std::string_view wanted) { return a.alias < wanted; });
    return at != aliases.end() && at->alias == name ? &table[at->row] : find_family(name);
}

std::string canonical_name(std::string_view name) {
    const CounterInfo *row = find_counter(name);
    return std::string(row == nullptr || row->is_family() ? name : row->name);
}

std::uint64_t saturation_cap(std::uint8_t width) noexcept {
    switch (width) {
    case 4:
    case 8:
    case 16:
    case 32:
        return (std::uint64_t{1} << width) - 1;
    case 64:
        return ~std::uint64_t{0};
    default:
        return 0;
    }
}

bool required(const CounterInfo &counter, Profile profile, PortKind kind, std::string_view driver) noexcept {
    if (kind == PortKind::switch_port) {
        return profile == Profile::ib && counter.has(switch_ib);
    }
    return counter.has(profile == Profile::ib ? hca_ib : hca_roce) &&
           (counter.drivers == any_driver || (counter.drivers & driver_from(driver)) != 0);
}

bool required_by_profile(const CounterInfo &counter, Profile profile) noexcept {
    return counter.has(profile == Profile::ib ? profile_ib : profile_roce);
}

bool required_somewhere(const CounterInfo &counter, Profile profile) noexcept {
    return counter.has(needed_by(profile));
}

bool driver_has_retry_counters(std::string_view driver) noexcept {
    const Driver known = driver_from(driver);
    return known != any_driver && std::any_of(table.begin(), table.end(), [known](const CounterInfo &row) {
               return row.layer == Layer::transport_retry && row.has(hca_ib | hca_roce) && (row.drivers & known) != 0;
           });
}

} // namespace fabric_check
