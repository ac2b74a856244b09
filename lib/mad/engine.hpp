// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "config/config.hpp"
#include "counters/reading.hpp"
#include "mad/flows.hpp"
#include "mad/pace.hpp"
#include "mad/transport.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace fabric_check::mad {

/// How a question ended.
enum class Outcome : std::uint8_t {
    ok,
    unsupported, ///< answered with a status other than success
    timed_out,   ///< no answer to any try, or the LID was given up, or the deadline passed
    malformed,   ///< an answer too short to hold its attribute
    misdirected, ///< redirected more than twice, or to where it cannot be followed
};
Absence absence_of(Outcome outcome) noexcept; ///< not for Outcome::ok
const char *words(Outcome outcome) noexcept;  ///< "refused", "no answer", ...: for reports; not for Outcome::ok

/// An attribute to Get. Payload fields other than those named here are zero.
struct Request {
    MadClass mad_class = MadClass::smp; ///< smp or gmp
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
    std::uint16_t status = 0;           ///< of the MAD, when unsupported or misdirected
    std::span<const std::uint8_t> data; ///< when ok: 64 bytes (SMP) or 192 (GMP), valid during the call only
};
using Handler = std::function<void(const Reply &)>;

/// Whom to ask for the service level, and for whose path.
struct SlQuery {
    std::uint16_t own_lid = 0;
    std::uint16_t sm_lid = 0;
    std::uint8_t sm_sl = 0;
};

struct EngineOptions {
    unsigned window = 64; ///< outstanding in all; cut to max_window, and to what the transport bears
    unsigned smp_per_lid = 2;
    unsigned gmp_per_lid = 4;
    std::chrono::milliseconds timeout{500};
    unsigned retries = 1;        ///< after the first try
    unsigned max_per_second = 0; ///< MADs; 0: no ceiling
    std::shared_ptr<SharedCeiling> ceiling; ///< who else sends some under that ceiling; null: it is this engine's own
    unsigned pkey_index = 0;
    unsigned sl = 0; ///< of GMPs, unless asked for
    /// Asks subnet administration for the SL, once, for the path to the first LID that a GMP goes to. GMPs wait for its
    /// answer, SMPs do not. Silence for one timeout, or a refusal: `sl`, and a problem.
    std::optional<SlQuery> ask_sl;
    std::uint64_t m_key = 0;    ///< of SMPs
    std::uint64_t own_guid = 0; ///< of the port that MADs leave through, for those who look for it in a map; 0: not known
};
/// All but ceiling, ask_sl, m_key and own_guid, which session.hpp finds out.
EngineOptions engine_options(const Config::Mad &config);

inline constexpr unsigned max_window = 512;

/// Asks many questions at once. Every submitted request gets exactly one reply, through its handler, from inside run();
/// handlers may submit more. Not thread-safe.
///
/// A LID and class gets one question until it has answered one, and then as many as its window holds. One whose reply
/// stays away after all retries is not asked again: what else is queued for it ends as timed_out at once, so that a
/// dead switch costs one timeout (SMPs and GMPs are judged apart, as an M_Key silences only the former). A question
/// older than four smoothed round trips no longer counts against the window of all, so that the dead do not occupy it;
/// the transport's max_outstanding() bounds them together.
///
/// A GMP redirected by its agent is asked again there, twice at most, and so is all that follows for its LID.
///
/// An agent that answers that it is busy is a sign of overload; it is let alone for an eighth of the timeout, longer
/// each time, and then asked again; after three questions that had no other answer it is given up as if it were silent.
///
/// Under a shared ceiling a run whose turn would come after its deadline ends at once, with a problem.
class Engine {
public:
    explicit Engine(Transport &transport, EngineOptions options = {});
    Engine(const Engine &) = delete;
    Engine &operator=(const Engine &) = delete;

    void submit(const Request &request, Handler handler);
    /// Returns when every request has its reply, at the latest at the deadline: what is open then ends as timed_out.
    /// Answers that come later are dropped by a later run().
    void run(Deadline deadline = Deadline::never());

    /// Asks this at the beginning of the next run() and, while a run() lasts, each time `every` has passed; run() waits
    /// for it four round trips at most. A probe. `handler` must outlive the engine. One at a time: a second call
    /// replaces the first.
    void watch(const Request &request, std::chrono::milliseconds every, Handler handler);
    /// The other side is overloaded: halves the window, which replies win back slowly.
    void slow_down();

    struct Stats {
        std::uint64_t sent = 0;
        std::uint64_t answered = 0;   ///< replies that were used
        std::uint64_t timed_out = 0;  ///< tries without an answer
        std::uint64_t ignored = 0;    ///< duplicates, late or foreign replies
        std::uint64_t redirected = 0; ///< questions asked again elsewhere
        unsigned slowed = 0;          ///< times that the window was halved
        unsigned most_outstanding = 0;
    };
    const Stats &stats() const noexcept { return stats_; }
    const EngineOptions &options() const noexcept { return options_; }
    unsigned window() const noexcept { return pace_.window(); } ///< as it stands now
    /// Set once the transport failed for good; all replies are timed_out from then on.
    const std::optional<Error> &failure() const noexcept { return failure_; }
    /// Why the SL that was to be asked for is not known; nothing: it is, or nobody needed it.
    std::optional<std::string> sl_problem() const { return sl_needed_ ? sl_problem_ : std::nullopt; }
    /// That a run ended because others had taken what the shared ceiling allows; nothing: none did.
    const std::optional<std::string> &ceiling_problem() const noexcept { return ceiling_problem_; }
    /// Both, where there are any: for those who list what kept a pass from being whole.
    std::vector<std::string> problems() const;
    /// Was this LID given up?
    bool given_up(MadClass mad_class, std::uint16_t lid) const;

private:
    using TimePoint = Transport::Clock::time_point;
    struct Job {
        Request request;
        Handler handler;
        std::uint32_t next = Flow::none;
        std::uint8_t tries = 0;
        std::uint8_t hops = 0;
        bool counted = true; ///< run() waits for it
    };
    struct Slot { ///< one MAD outstanding
        std::uint32_t id = 0; ///< transaction; 0: free
        std::uint32_t job = 0;
        Flow *flow = nullptr;
        TimePoint sent;
        bool holds_window = false;
    };
    struct Timer {
        TimePoint sent;
        std::uint32_t id;
    };

    Flow &flow_of(MadClass mad_class, std::uint16_t lid);
    std::uint32_t new_job(const Request &request, Handler handler, bool counted);
    void enqueue(Flow &flow, std::uint32_t job, bool front);
    std::uint32_t dequeue(Flow &flow);
    bool may_send(const Flow &flow) const noexcept;
    void update(Flow &flow) { ready_.update(flow, may_send(flow)); }
    unsigned limit(const Flow &flow) const noexcept;

    void pump(TimePoint now);
    void send_best(TimePoint now);
    Address address_of(const Flow &flow) const;
    std::uint32_t free_slot(Slot &slot);
    Slot *slot_of(std::uint32_t id);
    bool receive(std::chrono::milliseconds wait, TimePoint &now);
    void take(const Received &received, TimePoint now);
    void reply_to(Slot &slot, const Received &received, TimePoint now);
    void busy_reply(Flow &flow, std::uint32_t job, TimePoint sent, TimePoint now);
    void give_up(Flow &flow);
    void redirect(Flow &flow, std::uint32_t job, const Received &received);
    void lose(Slot &slot, TimePoint now);
    void lost(Flow &flow, std::uint32_t job);
    void release_window(TimePoint now);
    void expire(TimePoint now);
    void rest(Flow &flow, unsigned tries, TimePoint now);
    void wake(TimePoint now);
    void refuse_queued();
    void abandon();
    void finish(std::uint32_t job, const Reply &reply);
    void round_trip(std::chrono::nanoseconds took);
    std::chrono::nanoseconds patience() const;
    void ask_sl(std::uint16_t to_lid);
    void sl_answered(const Reply &reply);
    void ask_watch(TimePoint now);
    void await_watch(TimePoint end);
    std::chrono::milliseconds how_long(TimePoint now, TimePoint end);

    Transport *transport_;
    EngineOptions options_;
    Pace pace_;
    std::unordered_map<std::uint32_t, Flow> flows_; ///< key: class << 16 | LID; nodes do not move
    FlowHeap ready_;
    std::vector<Flow *> resting_;
    std::vector<Job> jobs_;
    std::vector<std::uint32_t> free_jobs_;
    std::deque<std::uint32_t> refused_; ///< jobs of dead flows, to be told so
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_slots_;
    std::deque<Timer> unreleased_, unexpired_; ///< of slots, oldest first
    std::uint32_t next_id_;
    std::size_t open_ = 0;      ///< submitted, counted and not yet replied to
    unsigned outstanding_ = 0;  ///< slots in use
    unsigned holding_ = 0;      ///< of them, those that count against the window
    std::chrono::nanoseconds smoothed_{0}; ///< round trip; 0: none yet
    TimePoint end_;                        ///< of the run
    std::optional<std::string> ceiling_problem_;
    bool full_ = false;         ///< the transport had no room
    bool sl_asked_ = false, sl_waits_ = false, sl_needed_ = false; ///< needed: by others than the watch
    std::optional<std::string> sl_problem_;
    struct Watch {
        Request request;
        std::chrono::milliseconds every{0};
        Handler handler;
        TimePoint next;
        bool open = false;
    };
    std::optional<Watch> watch_;
    Stats stats_;
    std::optional<Error> failure_;
};

} // namespace fabric_check::mad
