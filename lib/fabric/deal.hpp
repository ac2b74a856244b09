// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/hops.hpp"
#include "fabric/routes.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace fabric_check::fabric {

/// A host port's LID in the order in which opensm's minhop and up/down hand out links.
struct DealtLid {
    std::uint16_t lid = 0;
    std::uint32_t at = no_node; ///< its switch
    std::uint64_t guid = 0;     ///< port GUID
};

/// All base LIDs of hosts, as opensm orders them without a guid_routing_order_file: switches with most end ports first,
/// those of one size by GUID; of one switch by port number. Hosts on no switch are left out.
std::vector<DealtLid> deal_order(const Map &map);

/// A small random generator that gives the same numbers everywhere.
class Lots {
public:
    explicit Lots(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

private:
    std::uint64_t state_;
};

/// The job's part of all switches' tables, dealt anew: every LID of the job and its services, at every switch that packets
/// to it can pass when each switch takes any of its shortest ways. Nothing else of the tables changes.
class Deal {
public:
    /// `limit`: so many entries (switches times LIDs) at most; too many make entries() exceed it and the rest useless.
    /// The map must outlive it.
    Deal(const Map &map, const Query &query, std::size_t limit);
    Deal(const Deal &) = delete;
    Deal &operator=(const Deal &) = delete;

    std::size_t entries() const { return entries_; }
    bool too_many() const { return too_many_; }

    /// The job's LIDs first, each to the least used of its ports, the lowest of equals: guid_routing_order_file.
    std::vector<LftBlock> first_in_turn() const;
    /// Each LID by lot among its ports, whatever others got.
    std::vector<LftBlock> by_lot(Lots &lots) const;
    /// scatter_ports: the LIDs of the whole fabric in opensm's order, each by lot among the least used of its ports.
    std::vector<LftBlock> by_lot_among_least_used(Lots &lots) const;

    /// The hot LIDs' port GUIDs in the order that first_in_turn() deals in; 0 where the map has none.
    const std::vector<std::uint64_t> &guids() const { return guids_; }

private:
    struct Item {
        std::uint16_t lid;
        std::uint32_t set;   ///< of Hops
        std::uint32_t round; ///< how often each port of the set was dealt before, in opensm's order
        std::uint32_t block; ///< index into base_
    };
    struct Table {
        std::uint32_t node;
        std::vector<Item> items;         ///< in the order of guids_
        std::vector<std::uint32_t> deal; ///< indexes into items by set and round
    };
    struct Hot {
        std::uint16_t lid;
        std::uint32_t at; ///< its switch
        std::uint64_t guid;
    };
    using Choose = std::function<void(const Table &table, std::span<std::uint8_t> ports)>;
    std::vector<LftBlock> blocks(const Choose &choose) const;
    void collect(const Query &query);
    void spread(std::size_t limit);
    void place_in_rounds();
    void take_blocks();

    const Map *map_;
    LftView lfts_;
    Hops hops_;
    std::vector<std::uint32_t> sources_;
    std::vector<Hot> hot_;
    std::vector<std::uint64_t> guids_;
    std::vector<Table> tables_;
    std::vector<LftBlock> base_; ///< every block that holds one of the entries, as it is now
    std::size_t entries_ = 0;
    bool too_many_ = false;
};

} // namespace fabric_check::fabric
