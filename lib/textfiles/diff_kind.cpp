// SPDX-License-Identifier: GPL-2.0-or-later
#include "textfiles/diff_kind.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace fabric_check::textfiles {

namespace {

/// Drivers name their devices after themselves, unless udev renames them.
std::string_view driver_by_name(const std::string &port) {
    struct Known {
        std::string_view prefix, driver;
    };
    static constexpr std::array known{
        Known{"mlx5_", "mlx5_core"}, Known{"mlx4_", "mlx4_core"}, Known{"bnxt_re", "bnxt_en"}, Known{"hfi1_", "hfi1"},
        Known{"irdma", "irdma"},     Known{"i40iw", "i40iw"},     Known{"efa_", "efa"}};
    const std::string_view device = std::string_view(port).substr(port.rfind('/') + 1);
    const auto at =
        std::find_if(known.begin(), known.end(), [&](const Known &k) { return device.starts_with(k.prefix); });
    return at == known.end() ? std::string_view() : at->driver;
}

struct Module {
    Driver driver;
    std::string_view name;
};
constexpr std::array modules{Module{mlx5, "mlx5_core"}, Module{mlx4, "mlx4_core"}, Module{bnxt, "bnxt_en"},
                             Module{irdma, "irdma"},    Module{hfi1, "hfi1"},      Module{efa, "efa"}};

/// The one that most of the port's counters are of; statistics of single names may be of several drivers.
std::string_view driver_by_counters(const PortCounters &before, const PortCounters &after) {
    std::map<std::uint16_t, std::size_t> votes;
    for (const PortCounters *side : {&before, &after}) {
        for (const NamedReading &counter : side->counters) {
            const CounterInfo *row = find_counter(counter.name);
            if (row != nullptr && row->drivers != any_driver) {
                ++votes[row->drivers];
            }
        }
    }
    std::size_t most = 0;
    std::string_view driver;
    for (const Module &module : modules) {
        const auto at = votes.find(module.driver);
        const std::size_t count = at == votes.end() ? 0 : at->second;
        driver = count > most ? module.name : count == most ? std::string_view() : driver;
        most = std::max(most, count);
    }
    return driver;
}

} // namespace

std::string owner(const std::string &port) {
    return port.substr(0, port.rfind(':'));
}

std::set<std::string> switches(const Loaded &before, const Loaded &after) {
    // Names of nodes say nothing: a card with two ports has one.
    std::map<std::string, std::set<std::string>> ports_of;
    for (const Loaded *side : {&before, &after}) {
        for (const PortCounters &port : side->ports) {
            if (port.kind == KeyKind::lid) {
                ports_of[owner(port.port)].insert(port.port);
            }
        }
    }
    std::set<std::string> found;
    for (const auto &[name, ports] : ports_of) {
        const bool any_above_two = std::any_of(ports.begin(), ports.end(), [](const std::string &port) {
            return parse_u64(std::string_view(port).substr(port.rfind(':') + 1)).value_or(0) > 2;
        });
        const bool by_lid = name.find("lid ") != std::string::npos;
        if (any_above_two || (by_lid && ports.size() > 1)) {
            found.insert(name);
        }
    }
    return found;
}

std::string driver_of(const PortCounters &before, const PortCounters &after) {
    for (const PortCounters *side : {&after, &before}) {
        if (!side->driver.empty()) {
            return side->driver;
        }
    }
    for (const PortCounters *side : {&after, &before}) {
        if (side->kind == KeyKind::device && !driver_by_name(side->port).empty()) {
            return std::string(driver_by_name(side->port));
        }
    }
    return std::string(driver_by_counters(before, after));
}

TakenProfile profile_of(const PortCounters &before, const PortCounters &after, std::string_view driver) {
    const LinkLayer layer = after.link_layer != LinkLayer::unknown ? after.link_layer : before.link_layer;
    if (layer != LinkLayer::unknown) {
        return {layer == LinkLayer::ethernet ? Profile::roce : Profile::ib, "the port's link layer"};
    }
    bool errors = false;
    for (const PortCounters *side : {&after, &before}) {
        for (const NamedReading &counter : side->counters) {
            const CounterInfo *row = find_counter(counter.name);
            if (row != nullptr && row->source == CounterSource::ethtool) {
                return {Profile::roce, "its ethtool counters"};
            }
            errors = errors || (row != nullptr && row->source == CounterSource::pma && row->has(switch_ib));
        }
    }
    const Driver known = driver_from(driver);
    if (known == bnxt || known == irdma || known == efa) {
        return {Profile::roce, "its driver knows Ethernet only"};
    }
    if (known == hfi1) {
        return {Profile::ib, "its driver"};
    }
    return errors ? TakenProfile{Profile::ib, "its InfiniBand error counters"}
                  : TakenProfile{Profile::ib, "nothing that tells: taken for InfiniBand", false};
}

} // namespace fabric_check::textfiles
