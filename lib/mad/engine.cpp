// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/engine.hpp"

#include "mad/wire.hpp"

#include <fmt/format.h>
#include <infiniband/mad.h>

#include <algorithm>
#include <utility>

namespace fabric_check::mad {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::chrono::hours longest_run{24};
// The layer below reports its timeouts first; this covers one that never does.
constexpr milliseconds timer_grace{100};
constexpr unsigned most_hops = 2;
constexpr unsigned rest_share = 8;    ///< of a timeout that a busy agent is let alone, for each try
constexpr unsigned most_too_busy = 3; ///< questions in a row that only ever had "busy" for an answer
constexpr unsigned most_at_once = 4; ///< answers taken before what they make room for is sent

// A transaction's low bits are its slot.
constexpr unsigned slot_bits = 10;
static_assert(1U << slot_bits >= Transport::most_outstanding);
constexpr std::uint32_t slot_mask = (1U << slot_bits) - 1;

// Round trips of patience before a question stops counting against the window, and what that is while none is known.
constexpr int patience_round_trips = 4;
constexpr milliseconds least_patience{1}, first_patience{50};

std::uint32_t flow_key(MadClass mad_class, std::uint16_t lid) {
    return static_cast<std::uint32_t>(mad_class) << 16U | lid;
}

} // namespace

const char *words(Outcome outcome) noexcept {
    switch (outcome) {
    case Outcome::unsupported:
        return "refused";
    case Outcome::malformed:
        return "answered with too few bytes";
    case Outcome::misdirected:
        return "redirected to where it cannot be followed";
    default:
        return "no answer";
    }
}

Absence absence_of(Outcome outcome) noexcept {
    switch (outcome) {
    case Outcome::unsupported:
        return Absence::unsupported;
    case Outcome::malformed:
        return Absence::unparsable;
    case Outcome::misdirected:
        return Absence::denied;
    case Outcome::ok:
    case Outcome::timed_out:
        break;
    }
    return Absence::timed_out;
}

EngineOptions engine_options(const Config::Mad &config) {
    EngineOptions options;
    options.window = config.window;
    options.smp_per_lid = config.smp_per_lid;
    options.gmp_per_lid = config.gmp_per_lid;
    options.timeout = milliseconds(config.timeout_ms);
    options.retries = config.retries;
    options.max_per_second = config.max_per_second;
    options.pkey_index = config.pkey_index;
    options.sl = config.sl == "auto" ? 0U : static_cast<unsigned>(std::stoul(config.sl));
    return options;
}

Engine::Engine(Transport &transport, EngineOptions options)
    : transport_(&transport), options_(std::move(options)),
      pace_(std::min({options_.window, max_window, transport.max_outstanding()}), options_.max_per_second,
            options_.ceiling),
      next_id_(static_cast<std::uint32_t>(transport.now().time_since_epoch().count())) {
    options_.smp_per_lid = std::max(options_.smp_per_lid, 1U);
    options_.gmp_per_lid = std::max(options_.gmp_per_lid, 1U);
    options_.timeout = std::max(options_.timeout, milliseconds(1));
    const unsigned most = std::clamp(transport.max_outstanding(), 1U, Transport::most_outstanding);
    slots_.resize(most);
    for (unsigned n = most; n > 0; --n)
        free_slots_.push_back(n - 1);
}

bool Engine::given_up(MadClass mad_class, std::uint16_t lid) const {
    const auto found = flows_.find(flow_key(mad_class, lid));
    return found != flows_.end() && found->second.dead;
}

// --- queues

Flow &Engine::flow_of(MadClass mad_class, std::uint16_t lid) {
    Flow &flow = flows_[flow_key(mad_class, lid)];
    flow.mad_class = mad_class;
    flow.lid = lid;
    return flow;
}

std::uint32_t Engine::new_job(const Request &request, Handler handler, bool counted) {
    std::uint32_t job = 0;
    if (free_jobs_.empty()) {
        job = static_cast<std::uint32_t>(jobs_.size());
        jobs_.emplace_back();
    } else {
        job = free_jobs_.back();
        free_jobs_.pop_back();
    }
    jobs_[job] = {request, std::move(handler), Flow::none, 0, 0, counted};
    if (counted)
        ++open_;
    return job;
}

void Engine::enqueue(Flow &flow, std::uint32_t job, bool front) {
    jobs_[job].next = front ? flow.first : Flow::none;
    if (flow.first == Flow::none)
        flow.first = flow.last = job;
    else if (front)
        flow.first = job;
    else
        flow.last = jobs_[flow.last].next = job;
    ++flow.queued;
    update(flow);
}

std::uint32_t Engine::dequeue(Flow &flow) {
    const std::uint32_t job = flow.first;
    flow.first = jobs_[job].next;
    if (flow.first == Flow::none)
        flow.last = Flow::none;
    --flow.queued;
    flow.urgent = false;
    return job;
}

unsigned Engine::limit(const Flow &flow) const noexcept {
    if (!flow.proven || flow.mad_class == MadClass::sa)
        return 1;
    return flow.mad_class == MadClass::smp ? options_.smp_per_lid : options_.gmp_per_lid;
}

bool Engine::may_send(const Flow &flow) const noexcept {
    return flow.queued > 0 && !flow.resting && flow.outstanding < limit(flow) &&
           !(sl_waits_ && flow.mad_class == MadClass::gmp);
}

void Engine::submit(const Request &request, Handler handler) {
    Flow &flow = flow_of(request.mad_class, request.lid);
    const std::uint32_t job = new_job(request, std::move(handler), true);
    if (flow.dead) {
        refused_.push_back(job);
        return;
    }
    sl_needed_ = sl_needed_ || request.mad_class == MadClass::gmp;
    if (request.mad_class == MadClass::gmp && options_.ask_sl && !sl_asked_)
        ask_sl(request.lid);
    enqueue(flow, job, false);
}

void Engine::finish(std::uint32_t job, const Reply &reply) {
    const Handler handler = std::move(jobs_[job].handler);
    jobs_[job].handler = nullptr;
    if (jobs_[job].counted)
        --open_;
    free_jobs_.push_back(job);
    if (handler)
        handler(reply);
}

void Engine::refuse_queued() {
    while (!refused_.empty()) {
        const std::uint32_t job = refused_.front();
        refused_.pop_front();
        finish(job, Reply{});
    }
}

// --- sending

void Engine::pump(TimePoint now) {
    while (!full_ && !failure_ && !ready_.empty() && holding_ < pace_.window() && !free_slots_.empty() &&
           pace_.ready(now, end_))
        send_best(now);
}

Address Engine::address_of(const Flow &flow) const {
    if (flow.redirected)
        return *flow.redirected;
    Address to;
    to.mad_class = flow.mad_class;
    to.lid = flow.lid;
    to.pkey_index = options_.pkey_index;
    if (flow.mad_class != MadClass::smp) { // SMPs have no SL: they are alone on VL15
        to.qp = 1;
        to.qkey = IB_DEFAULT_QP1_QKEY;
        to.sl = flow.mad_class == MadClass::sa ? options_.ask_sl->sm_sl : options_.sl;
    }
    return to;
}

void Engine::send_best(TimePoint now) {
    Flow &flow = ready_.best();
    const std::uint32_t job = dequeue(flow);
    const std::uint32_t number = free_slots_.back();
    next_id_ += 1U << slot_bits;
    std::uint32_t id = (next_id_ & ~slot_mask) | number;
    if (id == 0)
        id = (next_id_ += 1U << slot_bits) | number;
    const Request &request = jobs_[job].request;
    const Mad mad = request.mad_class == MadClass::sa
                        ? wire::build_path_query(options_.ask_sl->own_lid, static_cast<std::uint16_t>(request.modifier), id)
                        : wire::build(request, id, options_.m_key);
    const Status sent = transport_->send(address_of(flow), mad, options_.timeout);
    if (!sent && sent.error().code == Errc::unavailable && outstanding_ > 0) {
        full_ = true;
        enqueue(flow, job, true);
        return;
    }
    ++jobs_[job].tries;
    if (!sent) {
        ++stats_.timed_out;
        flow.proven = false;
        update(flow);
        lost(flow, job);
        return;
    }
    free_slots_.pop_back();
    slots_[number] = {id, job, &flow, now, true};
    unreleased_.push_back({now, id});
    unexpired_.push_back({now, id});
    ++outstanding_;
    ++holding_;
    ++flow.outstanding;
    update(flow);
    pace_.sent(now);
    ++stats_.sent;
    stats_.most_outstanding = std::max(stats_.most_outstanding, outstanding_);
}

// --- answers

Engine::Slot *Engine::slot_of(std::uint32_t id) {
    const std::uint32_t number = id & slot_mask;
    return id != 0 && number < slots_.size() && slots_[number].id == id ? &slots_[number] : nullptr;
}

std::uint32_t Engine::free_slot(Slot &slot) {
    free_slots_.push_back(slot.id & slot_mask);
    slot.id = 0;
    --outstanding_;
    if (slot.holds_window)
        --holding_;
    --slot.flow->outstanding;
    return slot.job;
}

void Engine::round_trip(nanoseconds took) {
    smoothed_ = smoothed_.count() == 0 ? took : smoothed_ + (took - smoothed_) / 8;
    smoothed_ = std::max(smoothed_, nanoseconds(1));
}

nanoseconds Engine::patience() const {
    if (smoothed_.count() == 0)
        return std::min<nanoseconds>(first_patience, options_.timeout / 4);
    return std::max<nanoseconds>(least_patience, smoothed_ * patience_round_trips);
}

/// Waits for what comes next; false: nothing did. `now`: when that was.
bool Engine::receive(milliseconds wait, TimePoint &now) {
    const Result<Received> received = transport_->receive(wait);
    now = transport_->now();
    if (!received)
        failure_ = received.error();
    else if (received->kind != Received::Kind::nothing)
        take(*received, now);
    else
        return false;
    return true;
}

void Engine::take(const Received &received, TimePoint now) {
    full_ = false;
    Slot *const slot = received.length >= wire::header_size ? slot_of(wire::transaction_of(received.mad)) : nullptr;
    if (!slot)
        ++stats_.ignored;
    else if (received.kind == Received::Kind::reply)
        reply_to(*slot, received, now);
    else
        lose(*slot, now);
}

void Engine::reply_to(Slot &slot, const Received &received, TimePoint now) {
    const Request request = jobs_[slot.job].request;
    if (!wire::answers(received.mad, request)) {
        ++stats_.ignored; // somebody else's transaction with our number
        return;
    }
    Flow &flow = *slot.flow;
    const TimePoint sent = slot.sent;
    round_trip(now - sent);
    const std::uint32_t job = free_slot(slot);
    Reply reply;
    reply.status = wire::status_of(received.mad);
    const bool busy = (reply.status & wire::status_busy) != 0;
    flow.answered = true;
    flow.proven = !busy;
    if (busy) {
        busy_reply(flow, job, sent, now);
        return;
    }
    flow.busy = flow.too_busy = 0;
    pace_.answered();
    ++stats_.answered;
    update(flow);
    if ((reply.status & wire::status_redirect) != 0 && request.mad_class == MadClass::gmp) {
        redirect(flow, job, received);
        return;
    }
    const std::size_t begin = wire::data_begin(request.mad_class), end = wire::data_end(request.mad_class);
    if (reply.status != 0) {
        reply.outcome = Outcome::unsupported;
    } else if (received.length < end) {
        reply.outcome = Outcome::malformed;
    } else {
        reply.outcome = Outcome::ok;
        reply.data = std::span<const std::uint8_t>(received.mad).subspan(begin, end - begin);
    }
    finish(job, reply);
}

/// Busy is alive, but what is busy whenever it is asked is of no more use than what is silent.
void Engine::busy_reply(Flow &flow, std::uint32_t job, TimePoint sent, TimePoint now) {
    ++stats_.timed_out;
    if (flow.busy++ == 0 && pace_.suffered(sent, now))
        ++stats_.slowed;
    rest(flow, jobs_[job].tries, now);
    update(flow);
    if (!jobs_[job].request.probe && jobs_[job].tries <= options_.retries) {
        lost(flow, job);
        return;
    }
    if (++flow.too_busy >= most_too_busy)
        give_up(flow);
    finish(job, Reply{});
}

void Engine::give_up(Flow &flow) {
    flow.dead = true;
    while (flow.queued > 0)
        refused_.push_back(dequeue(flow));
    update(flow);
}

void Engine::redirect(Flow &flow, std::uint32_t job, const Received &received) {
    const auto to = wire::redirection_of(received.mad, received.length);
    if (!to || jobs_[job].hops >= most_hops) {
        finish(job, {Outcome::misdirected, wire::status_of(received.mad), {}});
        return;
    }
    ++stats_.redirected;
    ++jobs_[job].hops;
    jobs_[job].tries = 0;
    // A P_Key that is not in our table cannot be used: the agent may answer under the one we have.
    flow.redirected = Address{MadClass::gmp,
                              to->lid,
                              to->qp,
                              to->qkey,
                              transport_->index_of_pkey(to->pkey).value_or(options_.pkey_index),
                              to->sl};
    enqueue(flow, job, true);
}

// --- silence

void Engine::lose(Slot &slot, TimePoint now) {
    Flow &flow = *slot.flow;
    const TimePoint sent = slot.sent;
    const std::uint32_t job = free_slot(slot);
    ++stats_.timed_out;
    if (!jobs_[job].request.probe) {
        flow.proven = false;
        // A LID that never answered is dead; one that did may be overloaded.
        if (flow.answered && pace_.suffered(sent, now))
            ++stats_.slowed;
    }
    update(flow);
    lost(flow, job);
}

void Engine::lost(Flow &flow, std::uint32_t job) {
    const unsigned tries = jobs_[job].request.probe ? 1 : options_.retries + 1;
    if (!flow.dead && jobs_[job].tries < tries) {
        enqueue(flow, job, true);
        return;
    }
    if (!jobs_[job].request.probe && !flow.dead)
        give_up(flow);
    finish(job, Reply{});
}

void Engine::rest(Flow &flow, unsigned tries, TimePoint now) {
    if (!flow.resting)
        resting_.push_back(&flow);
    flow.resting = true;
    flow.rests_until = std::max(flow.rests_until, now + options_.timeout * tries / rest_share);
}

void Engine::wake(TimePoint now) {
    std::erase_if(resting_, [&](Flow *flow) {
        if (flow->rests_until > now)
            return false;
        flow->resting = false;
        update(*flow);
        return true;
    });
}

void Engine::release_window(TimePoint now) {
    const nanoseconds limit_age = patience();
    for (; !unreleased_.empty() && unreleased_.front().sent + limit_age <= now; unreleased_.pop_front())
        if (Slot *const slot = slot_of(unreleased_.front().id)) {
            slot->holds_window = false;
            --holding_;
        }
}

void Engine::expire(TimePoint now) {
    while (!unexpired_.empty()) {
        Slot *const slot = slot_of(unexpired_.front().id);
        if (slot && unexpired_.front().sent + options_.timeout + timer_grace > now)
            return;
        unexpired_.pop_front();
        if (slot) {
            full_ = false;
            lose(*slot, now);
        }
    }
}

void Engine::abandon() {
    while (open_ > 0) {
        refuse_queued();
        std::vector<std::uint32_t> jobs;
        for (Slot &slot : slots_)
            if (slot.id != 0)
                jobs.push_back(free_slot(slot));
        unreleased_.clear();
        unexpired_.clear();
        for (auto &[key, flow] : flows_)
            while (flow.queued > 0)
                jobs.push_back(dequeue(flow));
        ready_.clear();
        for (const std::uint32_t job : jobs)
            finish(job, Reply{});
    }
}

// --- the loop

milliseconds Engine::how_long(TimePoint now, TimePoint end) {
    TimePoint next = end;
    while (!unexpired_.empty() && !slot_of(unexpired_.front().id))
        unexpired_.pop_front();
    if (!unexpired_.empty())
        next = std::min(next, unexpired_.front().sent + options_.timeout + timer_grace);
    for (const Flow *flow : resting_)
        next = std::min(next, flow->rests_until);
    if (watch_ && !watch_->open)
        next = std::min(next, watch_->next);
    if (!ready_.empty() && !full_ && !free_slots_.empty()) {
        while (!unreleased_.empty() && !slot_of(unreleased_.front().id))
            unreleased_.pop_front();
        if (holding_ >= pace_.window() && !unreleased_.empty())
            next = std::min(next, unreleased_.front().sent + patience());
        else if (holding_ < pace_.window() && !pace_.ready(now, end_))
            next = std::min(next, pace_.next());
    }
    return std::max(milliseconds(1), std::chrono::ceil<milliseconds>(next - now));
}

void Engine::run(Deadline deadline) {
    TimePoint now = transport_->now();
    const TimePoint end = end_ = now + std::min<milliseconds>(deadline.left(), longest_run);
    full_ = false;
    pace_.begin();
    while (open_ > 0) {
        refuse_queued();
        if (failure_ || now >= end) {
            abandon();
            return;
        }
        ask_watch(now);
        release_window(now);
        wake(now);
        pump(now);
        if (pace_.too_late() && outstanding_ == 0) {
            ceiling_problem_ =
                fmt::format("mad.max_per_second = {}, which all hosts share, did not allow the rest in time",
                            options_.max_per_second);
            abandon();
            return;
        }
        if (outstanding_ > 0 || !resting_.empty() || !pace_.ready(now, end_)) {
            // All that has come, then all that may be sent: whoever stands between us and the wire is woken less often.
            milliseconds wait = how_long(now, end);
            for (unsigned n = 0; n < most_at_once && !failure_; ++n, wait = milliseconds(0)) {
                if (!receive(wait, now))
                    break;
            }
        } else {
            now = transport_->now();
        }
        expire(now);
    }
    await_watch(end);
}

} // namespace fabric_check::mad
