// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fabric/reach.hpp"
#include "fabric/switch_graph.hpp"
#include "fabric/tree.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace fabric_check::fabric {

/// Counts flows and LIDs over forwarding tables: for every switch, by pattern of traffic and by set of output ports.
///
/// Destinations are taken in blocks of up to 64. Each switch holds how many flows to each of the block's destinations
/// stand at it, and sends them on all at once, the switches in rounds away from the endpoints and back: so a forwarding
/// table is read where packets pass it and nowhere else, and a pair of endpoints costs nothing of its own. A destination
/// that some flow cannot reach is taken out of its block and walked by itself, so that a loop or a dead end counts nowhere.
/// Graph and view must outlive it. Not thread-safe.
class FlowCounter {
public:
    using Number = SwitchGraph::Number;

    struct Destination {
        const Endpoint *endpoint;
        Number target;          ///< the switch it is attached to
        std::uint8_t port;      ///< of that switch; 0: it is the switch
        std::uint8_t place = 0; ///< of the target among the batch's targets
        std::uint32_t target_place = 0; ///< of the target among all targets
        std::uint32_t column = 0;       ///< in the matrix of routes
    };
    struct Source {
        Number at;
        std::uint32_t flows; ///< to each destination
    };
    /// What leaves a switch by one port, of one pattern and one set.
    struct Cell {
        std::uint32_t flows = 0, lids = 0;
    };
    /// What leaves a switch of one pattern towards the targets behind one set of ports.
    struct Slot {
        std::uint16_t pattern, set; ///< set: into sets(switch)
        std::uint32_t first;        ///< its cell for port 0
    };

    /// `targets`: the switches of all destinations, in the order in which they come in batches. `endpoints_at`: all
    /// switches where something takes part, which come first and last in a round. With `columns` not 0 the matrix of
    /// routes is kept.
    FlowCounter(const SwitchGraph &graph, const LftView &lfts, std::span<const Number> targets,
                std::span<const Number> endpoints_at, std::size_t columns);

    /// Begins a batch: what follows goes to `count` targets from the given one on, at most Reach::width. Without `by_set`
    /// everything that leaves a switch is counted together, which takes no search for the shortest ways.
    void batch(std::size_t first, std::size_t count, bool by_set = true);
    /// Counts the flows of one pattern from the sources to at most 64 destinations of the batch. `own` is taken off the
    /// source at a destination's own switch: the destination itself, where it is among the senders. Those that lose flows go
    /// to `lost`, with the switches whose packets do not arrive noted in `starts`. `mark` is put to what the matrix has.
    void count(std::uint16_t pattern, std::span<const Source> sources, std::span<const Destination> destinations,
               std::uint32_t own, std::uint8_t mark);

    const Reach &reach() const { return reach_; }
    /// The sets of output ports at equal remaining hops that a switch has been asked for.
    const std::vector<PortSet> &sets(Number at) const { return switches_[at].sets; }
    const std::vector<Slot> &slots(Number at) const { return switches_[at].slots; }
    const Cell &cell(Number at, const Slot &slot, std::uint8_t port) const { return switches_[at].cells[slot.first + port]; }
    /// Switches that some flow left or reached.
    const std::vector<Number> &passed() const { return passed_; }
    /// What the matrix has of a switch and a column.
    struct Hop {
        std::uint8_t port = no_route; ///< no_route: no flow passed
        std::uint8_t marks = 0;       ///< of those whose flows passed
    };
    /// By column. Null where no flow passed at all, or without a matrix.
    const Hop *hops(Number at) const { return switches_[at].hops.get(); }
    /// With a matrix: the set at a switch that flows passed, towards a target by its place among all targets.
    std::uint16_t set(Number at, std::size_t target) const { return switches_[at].set_by_target[target]; }

    const std::vector<Unreachable> &lost() const { return lost_; }
    const std::set<std::uint32_t> &starts() const { return starts_; } ///< nodes
    /// Most flows that one destination receives over links between switches.
    std::uint32_t most_received() const { return most_received_; }

private:
    static constexpr std::size_t width = 64;
    struct Switch {
        std::vector<PortSet> sets;
        std::vector<Slot> slots;
        std::vector<Cell> cells;
        std::unique_ptr<Hop[]> hops;
        std::vector<std::uint16_t> set_by_target;
        std::span<const std::uint8_t> table;
        bool opened = false;
    };

    void open(Number at);
    void classify(Number at);
    void prepare(Number at);
    std::uint64_t run(std::span<const Source> sources, std::uint32_t own, std::uint64_t columns, bool take_back);
    std::uint64_t send_on(Number at, bool take_back);
    void stand(Number at, std::uint64_t columns);
    void walk_alone(const Destination &to, std::span<const Source> sources, std::uint32_t own);

    const SwitchGraph &graph_;
    RouteTree tree_;
    Reach reach_;
    const LftView &lfts_;
    std::vector<Number> all_targets_;
    std::size_t columns_;
    std::vector<Switch> switches_;
    std::vector<std::uint8_t> rank_; ///< hops from the nearest endpoint
    std::vector<std::vector<Number>> waiting_; ///< by rank: switches where flows stand
    std::vector<std::uint64_t> standing_, sent_; ///< by switch: destinations with flows here; that have left here
    std::vector<std::uint32_t> flows_;           ///< by switch and destination
    std::vector<std::uint16_t> set_of_;          ///< by switch and target
    std::vector<std::uint32_t> cells_of_;        ///< by switch and target: first cell of the pattern at hand
    std::vector<std::uint32_t> batch_of_, pattern_of_; ///< by switch: what the two above are for
    std::uint32_t batch_ = 0, pattern_now_ = 0;
    std::uint16_t pattern_ = 0;
    std::vector<Reach::Class> classes_;
    std::vector<Number> passed_;
    std::vector<Number> round_;
    std::span<const Destination> destinations_;
    /// By destination of the block at hand: flows that came over its switch's links to other switches.
    std::array<std::uint32_t, width> received_{};
    std::size_t first_target_ = 0, targets_ = 0; ///< of the batch
    bool by_set_ = true;
    std::uint8_t mark_ = 0;
    std::vector<Unreachable> lost_;
    std::set<std::pair<std::uint16_t, std::uint32_t>> lost_seen_;
    std::set<std::uint32_t> starts_;
    std::uint32_t most_received_ = 0;
    std::vector<std::uint32_t> alone_; ///< walk_alone: flows by node
};

} // namespace fabric_check::fabric
