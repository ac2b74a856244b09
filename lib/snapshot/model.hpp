// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "counters/counters.hpp"
#include "counters/table.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fabric_check {

enum class LinkLayer : std::uint8_t { unknown, infiniband, ethernet };
enum class Phase : std::uint8_t { start, mid, end };

/// Something that could not be read, or was odd. Goes into the report as it is.
struct Problem {
    std::string where;   ///< "node07", "node07/mlx5_0:1", "SwitchA:13", "map", "spool", ...
    std::string counter; ///< empty when not about one counter
    std::string reason;  ///< plain words, with the remedy where there is one
    bool operator==(const Problem &) const = default;
};

/// A link's width and speed as PortInfo or sysfs `rate` tells. Zero: not known.
struct LinkRate {
    unsigned lanes = 0;        ///< 1, 2, 4, 8, 12
    std::string speed;         ///< SDR DDR QDR FDR10 FDR EDR HDR NDR XDR
    double data_gbps = 0;      ///< net data rate of the link, Gb/s (4X HDR: 200)
    double signalling_gbps = 0;///< per lane, Gb/s (HDR: 53.125)
    bool operator==(const LinkRate &) const = default;
};

/// How a card sits on the PCI Express bus, as its device/ directory in sysfs tells. Zero: not known.
struct PcieLink {
    unsigned lanes = 0, max_lanes = 0; ///< in use; what the card itself could do
    double gts = 0, max_gts = 0;       ///< GT/s per lane, likewise
    bool known() const noexcept { return lanes != 0 && gts > 0; }
    /// Lanes times speed: what two links are compared by.
    double capacity() const noexcept { return lanes * gts; }
    double max_capacity() const noexcept { return max_lanes * max_gts; }
    bool operator==(const PcieLink &) const = default;
};

/// One port of a host's card at one moment.
struct HcaPort {
    std::string device; ///< "mlx5_0"
    std::string driver; ///< kernel driver, empty if not known
    unsigned number = 1;
    std::uint64_t guid = 0; ///< port GUID from the first GID; 0 not known
    std::uint16_t lid = 0;  ///< 0 or 0xffff: none
    std::uint8_t lmc = 0;
    LinkLayer link_layer = LinkLayer::unknown;
    std::string state;      ///< "ACTIVE", "DOWN", "INIT", ...; empty not known
    std::string phys_state; ///< "LinkUp", "Polling", ...
    LinkRate rate;
    std::string netdev; ///< network device of an Ethernet port: "ens1f0np0"; of IPoIB: "ib0"; empty: none found
    std::string pci;    ///< address of the card: "0000:3b:00.0"; empty: not known, or no PCI device
    std::string model;  ///< kind of card ("MT4123"), for comparing like with like; empty: not known
    PcieLink pcie;
    Counters counters;
    std::string name() const { return device + ":" + std::to_string(number); }
};

/// All readings of one node at one moment.
struct NodeSnapshot {
    std::string node;
    std::string boot_id;
    std::int64_t time_ns = 0; ///< wall clock, nanoseconds since the epoch, at the first reading
    std::int64_t took_ns = 0; ///< until the last
    std::vector<HcaPort> ports;
    std::vector<Problem> problems;
};

/// One switch port, read by MADs.
struct SwitchPort {
    std::int64_t time_ns = 0; ///< when it was read, where another reading than the snapshot's own serves; 0: the snapshot's
    std::uint64_t switch_guid = 0; ///< node GUID
    std::string switch_name;       ///< node description
    std::uint16_t switch_lid = 0;
    unsigned port = 0;
    std::string state;
    LinkRate rate;
    Counters counters;
};

/// Did the port answer anything? One that did not is not read, whatever else stands there.
bool was_read(const SwitchPort &port) noexcept;

/// 64 entries of a switch's linear forwarding table: entry i is the output port for LID block * 64 + i; 0xff none.
struct LftBlock {
    std::uint64_t switch_guid = 0;
    std::uint16_t block = 0;
    std::array<std::uint8_t, 64> ports{};
    bool operator==(const LftBlock &) const = default;
};

enum class AdaptiveRouting : std::uint8_t { unknown, off, on };

/// How a host's LIDs were found in the map.
enum class MatchedBy : std::uint8_t { guid, description };

/// One host's port as the scout found it in the map.
struct HostMatch {
    std::string node;
    std::uint64_t port_guid = 0;
    std::uint16_t lid = 0;
    bool service = false; ///< of the configured services, not of the job
    MatchedBy by = MatchedBy::guid;
    bool operator==(const HostMatch &) const = default;
};

/// What a scout read from the fabric at one moment.
struct ScoutSnapshot {
    std::string node;          ///< where the scout ran
    std::int64_t time_ns = 0;
    std::int64_t took_ns = 0;
    std::uint64_t map_id = 0;  ///< checksum of the map that was used; 0: there was none
    std::vector<HostMatch> hosts;
    std::vector<SwitchPort> ports;
    std::vector<LftBlock> lfts;
    AdaptiveRouting adaptive_routing = AdaptiveRouting::unknown;
    std::vector<Problem> problems;
};

const char *to_string(LinkLayer layer) noexcept; ///< "InfiniBand", "Ethernet", "unknown"
const char *to_string(Phase phase) noexcept;     ///< "start", "mid", "end"
const char *to_string(AdaptiveRouting ar) noexcept;
const char *to_string(MatchedBy by) noexcept;    ///< "guid", "description"

} // namespace fabric_check
