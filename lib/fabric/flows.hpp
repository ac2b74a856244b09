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
/// Destinations are taken in blocks of up to 64, best in the order of their LIDs. Each switch holds how many flows to each of
/// the block's destinations stand at it, and sends them on all at once, the switches in rounds away from the endpoints and
/// back: so a forwarding table is read once, where packets pass it and nowhere else, and a pair of endpoints costs
/// nothing of its own. A destination that some flow cannot reach is taken out of its block and walked by itself, so that a
/// loop or a dead end counts nowhere. Graph and view must outlive it. Not thread-safe.
class FlowCounter {
public:
    using Number = SwitchGraph::Number;

    struct Destination {
        const Endpoint *endpoint;
        Number at;          ///< the switch it is attached to
        std::uint8_t port;  ///< of that switch; 0: it is the switch
        std::uint32_t target; ///< that switch's place among the targets
        std::uint32_t column; ///< in the matrix of routes
    };
    struct Source {
        Number at;
        std::uint16_t flows; ///< to each destination; in all no more than InfiniBand has LIDs
    };
    /// What leaves a switch by one port, of one pattern of traffic, towards the targets behind one set of ports.
    struct Use {
        std::uint16_t pattern, set; ///< set: into sets(switch)
        std::uint8_t port;
        std::uint32_t flows, lids;
    };
    static constexpr std::uint8_t mark_flows = 0x80; ///< in count()'s mark: add the flows up in the matrix

    /// `targets`: the switches of all destinations; all switches where something takes part are among them, and come
    /// first and last in a round. Without `by_set` everything that leaves a switch is counted together, which takes no
    /// search for the shortest ways. With `columns` not 0 the matrix of routes is kept.
    FlowCounter(const SwitchGraph &graph, const LftView &lfts, std::span<const Number> targets, bool by_set,
                std::size_t columns);

    /// Counts the flows of one pattern from the sources to at most 64 destinations. `own` is taken off the source at a
    /// destination's own switch: the destination itself, where it is among the senders. Those that lose flows go to `lost`,
    /// with the switches whose packets do not arrive noted in `starts`. `mark` is put to what the matrix has.
    void count(std::uint16_t pattern, std::span<const Source> sources, std::span<const Destination> destinations,
               std::uint16_t own, std::uint8_t mark);

    /// The searches of the targets, Reach::width at a time; empty without `by_set`.
    std::span<const Reach> reaches() const { return reaches_; }
    /// The sets of output ports at equal remaining hops, of a switch that flows passed.
    const std::vector<PortSet> &sets(Number at) const { return switches_[at].sets; }
    /// What leaves a switch, by pattern, set and port.
    std::vector<Use> uses(Number at) const;
    /// Which of its sets leads from a switch that flows passed to a target.
    std::uint16_t set(Number at, std::size_t target) const { return switches_[at].set_of[target]; }
    /// Switches that some flow left or reached.
    const std::vector<Number> &passed() const { return passed_; }
    /// The matrix' rows of a switch, by column; null where no flow passed at all, or without a matrix. The port to which
    /// flows went on, no_route where none did; the marks of those whose flows passed; the flows of those with mark_flows.
    const std::uint8_t *ports(Number at) const { return rows_[at].ports.get(); }
    const std::uint8_t *marks(Number at) const { return rows_[at].marks.get(); }
    const std::uint16_t *flows(Number at) const { return rows_[at].flows.get(); }

    /// Flows that did not arrive, one for each destination: what its sources at a switch sent.
    struct NotArrived {
        std::uint16_t pattern;
        Number from;
        std::uint32_t target, flows;
    };
    const std::vector<NotArrived> &not_arrived() const { return not_arrived_; }
    const std::vector<Unreachable> &lost() const { return lost_; }
    const std::set<std::uint32_t> &starts() const { return starts_; } ///< nodes

private:
    static constexpr std::size_t width = 64;
    /// LIDs in the upper half, flows in the lower: both are counted by one addition, and neither can overflow.
    using Cell = std::uint64_t;
    static constexpr Cell one_lid = Cell(1) << 32;
    /// The cells of one pattern and one set, by port.
    struct Slot {
        std::uint16_t pattern, set;
        std::uint32_t first;
    };
    struct Switch {
        std::vector<PortSet> sets;
        std::vector<Slot> slots;
        std::vector<Cell> cells;
        std::vector<std::uint16_t> set_of; ///< by target
        std::vector<std::uint32_t> first;  ///< by set: cell for port 0 of the pattern at hand
        std::span<const std::uint8_t> table;
        bool opened = false;
        bool uniform = false; ///< one set for all targets but itself, whose first cell is first[its set]
        std::uint16_t only_set = 0;
    };

    void open(Number at);
    void prepare(Number at);
    void use_block(std::span<const Destination> destinations);
    std::uint64_t run(std::span<const Source> sources, std::uint16_t own, std::uint64_t columns, bool take_back);
    std::uint64_t send_on(Number at, bool take_back);
    std::uint64_t deliver(Number at, std::uint64_t here);
    template <bool uniform, bool matrix>
    std::uint64_t send_all(Number at, std::uint64_t left, std::uint64_t before, bool take_back);
    void note_hop(Number at, std::size_t j, std::uint8_t out, std::uint32_t amount);
    void take_hop_back(Number at, std::size_t j);
    void stand(Number at, std::uint64_t columns);
    void walk_alone(const Destination &to, std::span<const Source> sources, std::uint16_t own);

    const SwitchGraph &graph_;
    RouteTree tree_;
    std::vector<Reach> reaches_;
    const LftView &lfts_;
    std::vector<Number> targets_;
    std::size_t columns_;
    std::vector<Switch> switches_;
    struct Row {
        std::unique_ptr<std::uint8_t[]> ports, marks;
        std::unique_ptr<std::uint16_t[]> flows;
    };
    std::vector<Row> rows_; ///< the matrix; empty without columns
    std::vector<std::uint8_t> rank_;           ///< hops from the nearest target
    std::vector<std::vector<Number>> waiting_; ///< by rank: switches where flows stand
    std::vector<std::uint64_t> standing_, sent_; ///< by switch: destinations with flows here; that have left here
    std::vector<std::uint64_t> local_;           ///< by switch: destinations attached to it
    std::vector<std::uint16_t> flows_;           ///< by switch and destination
    std::vector<std::uint32_t> pattern_of_;      ///< by switch: what Switch::first is for
    std::uint32_t pattern_now_ = 0;
    std::uint16_t pattern_ = 0;
    std::uint8_t mark_ = 0;
    std::vector<Reach::Class> classes_;
    std::vector<Number> passed_;
    std::vector<Number> round_;
    /// The block at hand.
    std::span<const Destination> destinations_;
    std::vector<Number> block_at_; ///< switches with a bit in local_
    std::array<std::uint16_t, width> lid_{};
    std::array<std::uint32_t, width> target_{};
    std::uint16_t highest_lid_ = 0;
    std::array<std::uint64_t, 256> by_port_{};    ///< send_on: destinations by output port; zero in between
    std::vector<NotArrived> not_arrived_;
    std::vector<Unreachable> lost_;
    std::set<std::pair<std::uint16_t, std::uint32_t>> lost_seen_;
    std::set<std::uint32_t> starts_;
    std::vector<std::uint32_t> alone_; ///< walk_alone: flows by node
};

} // namespace fabric_check::fabric
