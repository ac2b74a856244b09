// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "mad/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fabric_check::mad {

/// Everything for one LID and class.
struct Flow {
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    MadClass mad_class = MadClass::smp;
    std::uint16_t lid = 0;
    std::uint32_t first = none, last = none; ///< queue of jobs, linked by Job::next
    unsigned queued = 0;
    unsigned outstanding = 0;
    bool answered = false; ///< ever
    bool proven = false;   ///< the last that is known of it is a reply, not silence
    bool dead = false;
    unsigned busy = 0;     ///< answers in a row that said so
    unsigned too_busy = 0; ///< questions in a row that had no other answer
    bool resting = false;  ///< it said that it is busy, and is let alone until rests_until
    Transport::Clock::time_point rests_until;
    bool urgent = false; ///< the first of the queue goes before all others' questions
    std::optional<Address> redirected; ///< where it wants to be asked
    std::size_t place = no_place;      ///< in FlowHeap

    static constexpr std::size_t no_place = ~std::size_t{0};
};

/// The flows that may send, best first: those with the fewest questions outstanding, as an agent works off one after the
/// other; of these the unknown ones, since a dead one's timeout is best begun early; of these the longest queue, so that
/// the busiest agent never waits for the others.
class FlowHeap {
public:
    bool empty() const noexcept { return heap_.empty(); }
    Flow &best() const noexcept { return *heap_.front(); }
    /// Puts in, moves after a change, or takes out.
    void update(Flow &flow, bool may_send) {
        if (flow.place == Flow::no_place) {
            if (!may_send)
                return;
            flow.place = heap_.size();
            heap_.push_back(&flow);
            up(flow.place);
        } else if (may_send) {
            down(up(flow.place));
        } else {
            remove(flow.place);
        }
    }
    void clear() noexcept {
        for (Flow *flow : heap_)
            flow->place = Flow::no_place;
        heap_.clear();
    }

private:
    static bool before(const Flow &a, const Flow &b) noexcept {
        if (a.urgent != b.urgent)
            return a.urgent;
        if (a.outstanding != b.outstanding)
            return a.outstanding < b.outstanding;
        if (a.answered != b.answered)
            return !a.answered;
        return a.queued > b.queued;
    }
    void put(std::size_t place, Flow *flow) noexcept {
        heap_[place] = flow;
        flow->place = place;
    }
    std::size_t up(std::size_t place) noexcept {
        Flow *const flow = heap_[place];
        while (place > 0 && before(*flow, *heap_[(place - 1) / 2])) {
            put(place, heap_[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        put(place, flow);
        return place;
    }
    void down(std::size_t place) noexcept {
        Flow *const flow = heap_[place];
        for (std::size_t child = 2 * place + 1; child < heap_.size(); child = 2 * place + 1) {
            if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child]))
                ++child;
            if (!before(*heap_[child], *flow))
                break;
            put(place, heap_[child]);
            place = child;
        }
        put(place, flow);
    }
    void remove(std::size_t place) noexcept {
        heap_[place]->place = Flow::no_place;
        Flow *const moved = heap_.back();
        heap_.pop_back();
        if (place < heap_.size()) {
            put(place, moved);
            down(up(place));
        }
    }

    std::vector<Flow *> heap_;
};

} // namespace fabric_check::mad
