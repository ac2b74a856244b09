// SPDX-License-Identifier: GPL-2.0-or-later
// What the engine asks for its own sake: the service level, and how the other side bears it.
#include "mad/engine.hpp"

#include "mad/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fabric_check::mad {

using std::chrono::milliseconds;

void Engine::ask_sl(std::uint16_t to_lid) {
    sl_asked_ = true;
    if (options_.ask_sl->sm_lid == 0) {
        sl_problem_ = fmt::format("service level: this port knows no subnet manager to ask; SL {} was used", options_.sl);
        return;
    }
    sl_waits_ = true;
    const Request query{
        .mad_class = MadClass::sa, .lid = options_.ask_sl->sm_lid, .attribute = wire::path_record, .modifier = to_lid, .probe = true};
    Flow &flow = flow_of(MadClass::sa, query.lid);
    flow.urgent = true; // all GMPs wait for it
    enqueue(flow, new_job(query, [this](const Reply &reply) { sl_answered(reply); }, false), true);
}

void Engine::sl_answered(const Reply &reply) {
    sl_waits_ = false;
    if (reply.outcome == Outcome::ok)
        options_.sl = wire::path_sl(reply.data.data());
    else
        sl_problem_ = fmt::format("service level: subnet administration at LID {}: {}; SL {} was used (mad.sl sets one)",
                                  options_.ask_sl->sm_lid, words(reply.outcome), options_.sl);
    for (auto &[key, flow] : flows_)
        if (flow.mad_class == MadClass::gmp)
            update(flow);
}

void Engine::slow_down() {
    const TimePoint now = transport_->now();
    if (pace_.suffered(now, now))
        ++stats_.slowed;
}

void Engine::watch(const Request &request, milliseconds every, Handler handler) {
    watch_ = Watch{request, std::max(every, milliseconds(1)), std::move(handler), {}, false};
    watch_->request.probe = true;
}

void Engine::ask_watch(TimePoint now) {
    if (!watch_ || watch_->open || now < watch_->next)
        return;
    watch_->next = now + watch_->every;
    Flow &flow = flow_of(watch_->request.mad_class, watch_->request.lid);
    if (flow.dead)
        return;
    if (watch_->request.mad_class == MadClass::gmp && options_.ask_sl && !sl_asked_)
        ask_sl(watch_->request.lid);
    watch_->open = true;
    flow.urgent = true; // the longer the queues, the more it matters
    const auto told = [this](const Reply &reply) {
        watch_->open = false;
        if (watch_->handler)
            watch_->handler(reply);
    };
    enqueue(flow, new_job(watch_->request, told, false), true);
}

/// Who goes away from an answer that is on its way leaves the simulator with a dead client.
void Engine::await_watch(TimePoint end) {
    TimePoint now = transport_->now();
    const TimePoint limit = std::min(end, now + std::chrono::ceil<milliseconds>(patience()));
    while (watch_ && watch_->open && outstanding_ > 0 && !failure_ && now < limit) {
        (void)receive(std::chrono::ceil<milliseconds>(limit - now), now);
    }
}

std::vector<std::string> Engine::problems() const {
    std::vector<std::string> all;
    for (const auto &problem : {ceiling_problem_, sl_problem()})
        if (problem)
            all.push_back(*problem);
    return all;
}

} // namespace fabric_check::mad
