// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/engine.hpp"

#include <infiniband/mad.h>

#include <algorithm>
#include <utility>

namespace fabric_check::mad {

namespace {

constexpr std::size_t header_size = 24;
constexpr std::size_t data_offset = 64; // of SMPs (after M_Key and reserved) and of PMA attributes alike
constexpr std::size_t smp_data_size = 64;
constexpr std::chrono::hours longest_run{24};
// The layer below reports its timeouts first; this covers one that never does.
constexpr std::chrono::milliseconds timer_grace{100};

std::uint32_t flow_key(MadClass mad_class, std::uint16_t lid) {
    return static_cast<std::uint32_t>(mad_class) << 16U | lid;
}

int class_number(MadClass mad_class) { return mad_class == MadClass::smp ? IB_SMI_CLASS : IB_PERFORMANCE_CLASS; }

Mad build(const Request &request, std::uint32_t id) {
    Mad mad{};
    mad_set_field(mad.data(), 0, IB_MAD_BASEVER_F, 1);
    mad_set_field(mad.data(), 0, IB_MAD_MGMTCLASS_F, static_cast<std::uint32_t>(class_number(request.mad_class)));
    mad_set_field(mad.data(), 0, IB_MAD_CLASSVER_F, 1);
    mad_set_field(mad.data(), 0, IB_MAD_METHOD_F,
                  request.reset != 0 ? IB_MAD_METHOD_SET : IB_MAD_METHOD_GET);
    mad_set_field64(mad.data(), 0, IB_MAD_TRID_F, id);
    mad_set_field(mad.data(), 0, IB_MAD_ATTRID_F, request.attribute);
    mad_set_field(mad.data(), 0, IB_MAD_ATTRMOD_F, request.modifier);
    if (request.mad_class == MadClass::gmp)
        mad_set_field(mad.data(), static_cast<int>(data_offset), IB_PC_PORT_SELECT_F, request.port_select);
    if (request.reset != 0)
        mad_set_field(mad.data(), static_cast<int>(data_offset), IB_PC_COUNTER_SELECT_F, request.reset);
    return mad;
}

std::uint32_t transaction_of(const Received &received) {
    Mad header = received.mad;
    return static_cast<std::uint32_t>(mad_get_field64(header.data(), 0, IB_MAD_TRID_F));
}

} // namespace

const char *words(Outcome outcome) noexcept {
    switch (outcome) {
    case Outcome::unsupported:
        return "refused";
    case Outcome::malformed:
        return "answered with too few bytes";
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
    options.timeout = std::chrono::milliseconds(config.timeout_ms);
    options.retries = config.retries;
    options.pkey_index = config.pkey_index;
    options.sl = config.sl == "auto" ? 0U : static_cast<unsigned>(std::stoul(config.sl));
    return options;
}

Engine::Engine(Transport &transport, EngineOptions options)
    : transport_(&transport), options_(options),
      next_id_(static_cast<std::uint32_t>(transport.now().time_since_epoch().count())) {
    options_.window = std::clamp(options_.window, 1U, max_window);
    options_.smp_per_lid = std::max(options_.smp_per_lid, 1U);
    options_.gmp_per_lid = std::max(options_.gmp_per_lid, 1U);
    options_.timeout = std::max(options_.timeout, std::chrono::milliseconds(1));
}

unsigned Engine::limit(const Flow &flow) const {
    return flow.mad_class == MadClass::smp ? options_.smp_per_lid : options_.gmp_per_lid;
}

bool Engine::given_up(MadClass mad_class, std::uint16_t lid) const {
    const auto found = flows_.find(flow_key(mad_class, lid));
    return found != flows_.end() && found->second.dead;
}

void Engine::list(Flow &flow) {
    if (flow.listed || flow.queue.empty() || flow.outstanding >= limit(flow))
        return;
    flow.listed = true;
    ready_.push_back(&flow);
}

void Engine::submit(const Request &request, Handler handler) {
    Flow &flow = flows_[flow_key(request.mad_class, request.lid)];
    flow.mad_class = request.mad_class;
    ++open_;
    Job job{request, std::move(handler), 0};
    if (flow.dead) {
        refused_.push_back(std::move(job));
        return;
    }
    flow.queue.push_back(std::move(job));
    list(flow);
}

void Engine::finish(Job &job, const Reply &reply) {
    --open_;
    const Handler handler = std::move(job.handler);
    if (handler)
        handler(reply);
}

void Engine::refuse_queued() {
    while (!refused_.empty()) {
        Job job = std::move(refused_.front());
        refused_.pop_front();
        finish(job, Reply{});
    }
}

void Engine::pump() {
    while (!full_ && !failure_ && outstanding_.size() < options_.window && !ready_.empty()) {
        Flow &flow = *ready_.front();
        ready_.pop_front();
        flow.listed = false;
        if (flow.queue.empty() || flow.outstanding >= limit(flow))
            continue;
        if (send_one(flow))
            list(flow);
    }
}

bool Engine::send_one(Flow &flow) {
    Job job = std::move(flow.queue.front());
    flow.queue.pop_front();
    do
        ++next_id_;
    while (next_id_ == 0 || outstanding_.contains(next_id_));
    Address to;
    to.mad_class = job.request.mad_class;
    to.lid = job.request.lid;
    to.pkey_index = options_.pkey_index;
    if (to.mad_class == MadClass::gmp) {
        to.qp = 1;
        to.qkey = IB_DEFAULT_QP1_QKEY;
        to.sl = options_.sl; // SMPs have none: they are alone on VL15
    }
    const Status sent = transport_->send(to, build(job.request, next_id_), options_.timeout);
    if (!sent && sent.error().code == Errc::unavailable && !outstanding_.empty()) {
        full_ = true;
        flow.queue.push_front(std::move(job));
        list(flow);
        return false;
    }
    ++job.tries;
    if (!sent) {
        ++stats_.timed_out;
        lost(flow, std::move(job));
        return true;
    }
    ++stats_.sent;
    ++flow.outstanding;
    outstanding_.emplace(next_id_, Outstanding{&flow, std::move(job)});
    timers_.emplace_back(transport_->now() + options_.timeout + timer_grace, next_id_);
    stats_.most_outstanding = std::max(stats_.most_outstanding, static_cast<unsigned>(outstanding_.size()));
    return true;
}

void Engine::lost(Flow &flow, Job job) {
    const unsigned tries = job.request.probe ? 1 : options_.retries + 1;
    if (!flow.dead && job.tries < tries) {
        flow.queue.push_front(std::move(job));
        list(flow);
        return;
    }
    if (!job.request.probe && !flow.dead) {
        flow.dead = true;
        std::move(flow.queue.begin(), flow.queue.end(), std::back_inserter(refused_));
        flow.queue.clear();
    }
    finish(job, Reply{});
}

void Engine::take(const Received &received) {
    full_ = false;
    const auto at = received.length >= header_size ? outstanding_.find(transaction_of(received)) : outstanding_.end();
    if (at == outstanding_.end()) {
        ++stats_.ignored;
        return;
    }
    if (received.kind == Received::Kind::reply) {
        reply_to(at, received);
        return;
    }
    Outstanding gone = std::move(at->second);
    outstanding_.erase(at);
    --gone.flow->outstanding;
    ++stats_.timed_out;
    list(*gone.flow);
    lost(*gone.flow, std::move(gone.job));
}

void Engine::reply_to(std::unordered_map<std::uint32_t, Outstanding>::iterator at, const Received &received) {
    Mad mad = received.mad;
    const Request &request = at->second.job.request;
    if (mad_get_field(mad.data(), 0, IB_MAD_RESPONSE_F) == 0 ||
        mad_get_field(mad.data(), 0, IB_MAD_MGMTCLASS_F) !=
            static_cast<std::uint32_t>(class_number(request.mad_class)) ||
        mad_get_field(mad.data(), 0, IB_MAD_ATTRID_F) != request.attribute) {
        ++stats_.ignored; // somebody else's transaction with our number
        return;
    }
    Outstanding done = std::move(at->second);
    outstanding_.erase(at);
    --done.flow->outstanding;
    list(*done.flow);

    Reply reply;
    reply.status = static_cast<std::uint16_t>(mad_get_field(mad.data(), 0, IB_MAD_STATUS_F));
    if ((reply.status & IB_MAD_STS_BUSY) != 0 && !done.job.request.probe) {
        ++stats_.timed_out;
        if (done.job.tries <= options_.retries)
            lost(*done.flow, std::move(done.job));
        else
            finish(done.job, Reply{}); // busy is alive
        return;
    }
    ++stats_.answered;
    const std::size_t end = done.job.request.mad_class == MadClass::smp ? data_offset + smp_data_size : mad_size;
    if (reply.status != 0) {
        reply.outcome = Outcome::unsupported;
    } else if (received.length < end) {
        reply.outcome = Outcome::malformed;
    } else {
        reply.outcome = Outcome::ok;
        reply.data = std::span<const std::uint8_t>(mad).subspan(data_offset, end - data_offset);
    }
    finish(done.job, reply);
}

void Engine::expire(TimePoint now) {
    while (!timers_.empty() && timers_.front().first <= now) {
        const auto at = outstanding_.find(timers_.front().second);
        timers_.pop_front();
        if (at == outstanding_.end())
            continue; // answered
        Outstanding gone = std::move(at->second);
        outstanding_.erase(at);
        --gone.flow->outstanding;
        ++stats_.timed_out;
        full_ = false;
        list(*gone.flow);
        lost(*gone.flow, std::move(gone.job));
    }
}

void Engine::abandon() {
    while (open_ > 0) {
        refuse_queued();
        std::deque<Job> jobs;
        for (auto &[id, entry] : outstanding_) {
            --entry.flow->outstanding;
            jobs.push_back(std::move(entry.job));
        }
        outstanding_.clear();
        timers_.clear();
        ready_.clear();
        for (auto &[key, flow] : flows_) {
            flow.listed = false;
            std::move(flow.queue.begin(), flow.queue.end(), std::back_inserter(jobs));
            flow.queue.clear();
        }
        for (Job &job : jobs)
            finish(job, Reply{});
    }
}

void Engine::run(Deadline deadline) {
    using std::chrono::milliseconds;
    const TimePoint end = transport_->now() + std::min<milliseconds>(deadline.left(), longest_run);
    full_ = false;
    while (open_ > 0) {
        refuse_queued();
        const TimePoint now = transport_->now();
        if (failure_ || now >= end) {
            abandon();
            return;
        }
        pump();
        if (outstanding_.empty())
            continue;
        while (!outstanding_.contains(timers_.front().second))
            timers_.pop_front();
        const TimePoint next = std::min(end, timers_.front().first);
        const Result<Received> received =
            transport_->receive(std::max(milliseconds(1), std::chrono::ceil<milliseconds>(next - now)));
        if (!received)
            failure_ = received.error();
        else if (received->kind != Received::Kind::nothing)
            take(*received);
        expire(transport_->now());
    }
}

} // namespace fabric_check::mad
