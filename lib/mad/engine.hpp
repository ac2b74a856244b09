// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "config/config.hpp"
#include "counters/reading.hpp"
#include "mad/transport.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>

namespace fabric_check::mad {

/// How a question ended.
enum class Outcome : std::uint8_t {
    ok,
    unsupported, ///< answered with a status other than success
    timed_out,   ///< no answer to any try, or the LID was given up, or the deadline passed
    malformed,   ///< an answer too short to hold its attribute
};
Absence absence_of(Outcome outcome) noexcept; ///< not for Outcome::ok
const char *words(Outcome outcome) noexcept;  ///< "refused", "no answer", ...: for reports; not for Outcome::ok

/// An attribute to Get. Payload fields other than those named here are zero.
struct Request {
    MadClass mad_class = MadClass::smp;
    std::uint16_t lid = 0;
    std::uint16_t attribute = 0;
    std::uint32_t modifier = 0;
    std::uint8_t port_select = 0; ///< GMPs: PortSelect of the PMA attributes
    /// A question that the other side may well drop (vendor attributes): one try, and silence does not give up the LID.
    bool probe = false;
    /// Of PortCounters: a Set that zeroes the counters of these CounterSelect bits, and nothing else; 0: a Get.
    std::uint16_t reset = 0;
};

struct Reply {
    Outcome outcome = Outcome::timed_out;
    std::uint16_t status = 0;           ///< of the MAD, when unsupported
    std::span<const std::uint8_t> data; ///< when ok: 64 bytes (SMP) or 192 (GMP), valid during the call only
};
using Handler = std::function<void(const Reply &)>;

struct EngineOptions {
    unsigned window = 64; ///< outstanding in all; more than max_window is cut to it
    unsigned smp_per_lid = 2;
    unsigned gmp_per_lid = 4;
    std::chrono::milliseconds timeout{500};
    unsigned retries = 1; ///< after the first try
    unsigned pkey_index = 0;
    unsigned sl = 0;
};
EngineOptions engine_options(const Config::Mad &config);

/// umad2sim deadlocks above about 320 outstanding MADs, and a card's VL15 buffers are no deeper.
inline constexpr unsigned max_window = 128;

/// Asks many questions at once. Every submitted request gets exactly one reply, through its handler, from inside run();
/// handlers may submit more. A LID and class whose reply stays away after all retries is not asked again: what else is
/// queued for it ends as timed_out at once, so that a dead switch costs one timeout (SMPs and GMPs are judged apart, as
/// an M_Key silences only the former). Not thread-safe.
class Engine {
public:
    explicit Engine(Transport &transport, EngineOptions options = {});

    void submit(const Request &request, Handler handler);
    /// Returns when every request has its reply, at the latest at the deadline: what is open then ends as timed_out.
    /// Answers that come later are dropped by a later run().
    void run(Deadline deadline = Deadline::never());

    struct Stats {
        std::uint64_t sent = 0;
        std::uint64_t answered = 0;  ///< replies that were used
        std::uint64_t timed_out = 0; ///< tries without an answer
        std::uint64_t ignored = 0;   ///< duplicates, late or foreign replies
        unsigned most_outstanding = 0;
    };
    const Stats &stats() const noexcept { return stats_; }
    /// Set once the transport failed for good; all replies are timed_out from then on.
    const std::optional<Error> &failure() const noexcept { return failure_; }
    /// Was this LID given up?
    bool given_up(MadClass mad_class, std::uint16_t lid) const;

private:
    using TimePoint = Transport::Clock::time_point;
    struct Job {
        Request request;
        Handler handler;
        unsigned tries = 0;
    };
    struct Flow { ///< everything for one LID and class
        MadClass mad_class = MadClass::smp;
        std::deque<Job> queue;
        unsigned outstanding = 0;
        bool listed = false; ///< in ready_
        bool dead = false;
    };
    struct Outstanding {
        Flow *flow = nullptr;
        Job job;
    };

    unsigned limit(const Flow &flow) const;
    void list(Flow &flow);
    void pump();
    bool send_one(Flow &flow);
    void take(const Received &received);
    void reply_to(std::unordered_map<std::uint32_t, Outstanding>::iterator at, const Received &received);
    void lost(Flow &flow, Job job);
    void expire(TimePoint now);
    void refuse_queued();
    void abandon();
    void finish(Job &job, const Reply &reply);

    Transport *transport_;
    EngineOptions options_;
    std::unordered_map<std::uint32_t, Flow> flows_; ///< key: class << 16 | LID; nodes do not move
    std::deque<Flow *> ready_;                      ///< flows that may have something to send
    std::deque<Job> refused_;                       ///< of dead flows, to be told so
    std::unordered_map<std::uint32_t, Outstanding> outstanding_; ///< by transaction id
    std::deque<std::pair<TimePoint, std::uint32_t>> timers_;     ///< in order, as all wait equally long
    std::size_t open_ = 0;                                       ///< submitted and not yet replied to
    std::uint32_t next_id_;
    bool full_ = false; ///< the transport had no room
    Stats stats_;
    std::optional<Error> failure_;
};

} // namespace fabric_check::mad
