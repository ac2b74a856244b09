// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/fabric_reader.hpp"

#include "fabric/own_switch.hpp"
#include "sources/switch_port.hpp"

#include <algorithm>
#include <utility>

namespace fabric_check::sample {

namespace {

constexpr std::size_t in_flight = 256;             // ports: some of them for each switch of a large fabric
constexpr std::chrono::milliseconds look_up{200};  // how long an end may wait to be noticed
constexpr std::chrono::milliseconds drain_pause{20};

class FabricReader {
public:
    FabricReader(mad::Engine &engine, const fabric::Map &map, const Layout &layout, const Config &config)
        : engine_(engine), map_(map), reader_(engine, {.info = true, .details = config.mad.details}) {
        for (const LayoutPort &port : layout.ports)
            order_.push_back(port.id);
        std::stable_sort(order_.begin(), order_.end(), [](const PortId &a, const PortId &b) { return a.port < b.port; });
    }

    Result<Pass> run(const Deadline &deadline, mad::Vl15Memory memory) {
        fabric::watch_own_switch(engine_, map_, std::move(memory));
        pass_.map_id = map_.id();
        pass_.from_ns = wall_ns();
        pass_.ports.reserve(order_.size());
        for (std::size_t i = 0; i < in_flight; ++i)
            ask_next();
        engine_.run(deadline);
        if (engine_.failure())
            return *engine_.failure();
        pass_.problem = engine_.ceiling_problem().value_or("");
        pass_.to_ns = pass_.from_ns;
        for (SwitchPort &port : pass_.ports) {
            port.time_ns = std::max(port.time_ns, pass_.from_ns); // a clock may be set back meanwhile
            pass_.to_ns = std::max(pass_.to_ns, port.time_ns);
        }
        return std::move(pass_);
    }

private:
    void ask_next() {
        std::uint32_t index = fabric::no_node;
        PortId id;
        while (index == fabric::no_node) { // a switch that has left the map is no reading
            if (next_ == order_.size())
                return;
            id = order_[next_++];
            index = map_.by_guid(id.guid);
        }
        SwitchPort port = switch_port(map_, index, id.port);
        const auto lid = port.switch_lid;
        reader_.ask(lid, id.port, [this, index, port = std::move(port)](mad::PortReading reading) mutable {
            take_reading(map_, index, std::move(reading), port);
            pass_.ports.push_back(std::move(port));
            ask_next();
        });
    }

    mad::Engine &engine_;
    const fabric::Map &map_;
    mad::PortReader reader_;
    std::vector<PortId> order_;
    std::size_t next_ = 0;
    Pass pass_;
};

} // namespace

Result<Pass> read_fabric(mad::Engine &engine, const fabric::Map &map, const Layout &layout, const Config &config,
                         const Deadline &deadline, mad::Vl15Memory memory) {
    return FabricReader(engine, map, layout, config).run(deadline, std::move(memory));
}

Status Interruptible::send(const mad::Address &to, const mad::Mad &mad, std::chrono::milliseconds timeout) {
    if (*ended_) // a send that fails is one switch's trouble to the engine; a receive that fails is everybody's
        return {};
    return inner_->send(to, mad, timeout);
}

Result<mad::Received> Interruptible::receive(std::chrono::milliseconds wait) {
    if (*ended_) {
        // What is on its way is let come, a moment: the simulator does not bear a client that goes away from its answers.
        const Deadline deadline = Deadline::after(look_up);
        while (!deadline.passed()) {
            const auto last = inner_->receive(drain_pause);
            if (!last || last->kind == mad::Received::Kind::nothing)
                break;
        }
        return Error{Errc::io, "told to end"};
    }
    return inner_->receive(std::min(wait, look_up));
}

} // namespace fabric_check::sample
