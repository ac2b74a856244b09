// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/node_hook.hpp"

#include "job/hand_in.hpp"
#include "job/node_state.hpp"
#include "job/programs.hpp"
#include "job/scout_calls.hpp"
#include "job/step.hpp"
#include "record/spool.hpp"
#include "sources/sysfs.hpp"
#include "verdict/port_use.hpp"

#include <algorithm>

namespace fabric_check {
namespace {

using std::chrono::milliseconds;

// The node's own state: another hook or `fabric-check mid` holds it for a moment only.
constexpr milliseconds state_wait{200};

class NodeHook {
public:
    NodeHook(Phase phase, const NodeHookEnvironment &environment, const Config &config, NodeHookWorld &world,
             const Deadline &deadline)
        : phase_(phase), environment_(environment), config_(config), world_(world),
          deadline_(deadline), spool_{config.spool}, store_(config.expand(config.node_state, environment.node)),
          prefix_(hook_prefix(phase, environment)) {}

    void run() {
        const auto reader = slurm_uid(config_);
        if (!reader) {
            log(Log::Level::error, reader.error().message);
            return;
        }
        reader_uid_ = *reader;
        auto snapshot = read_node(environment_.node, config_.expand(config_.sysfs_root, environment_.node),
                                  config_.expand(config_.proc_root, environment_.node));
        snapshot.node = environment_.node;
        if (snapshot.time_ns == 0)
            snapshot.time_ns = wall_ns();
        for (const auto &problem : snapshot.problems)
            log(Log::Level::warning,
                problem.where + (problem.counter.empty() ? "" : " " + problem.counter) + ": " + problem.reason);
        if (auto prepared = prepare_records(spool_, reader_uid_); !prepared)
            log(Log::Level::error, "spool: " + prepared.error().message);
        const auto ports = snapshot.ports.size();
        const bool sees_switches = may_see_switches(snapshot);
        Record record{environment_.job_id, environment_.node, phase_, snapshot.time_ns, {}};
        if (phase_ == Phase::end)
            end_state(snapshot, record);
        record.snapshot = std::move(snapshot);
        const auto text = encode_record(record);
        if (phase_ == Phase::start)
            begin_state(text);
        if (hand_in(record, text))
            log(Log::Level::info, std::to_string(ports) + " ports recorded");
        if (sees_switches && environment_.index < config_.scouts && environment_.index < environment_.nodes.size())
            see_to_switches();
    }

private:
    void log(Log::Level level, const std::string &message) { world_.log->write(level, prefix_ + message); }

    bool hand_in(const Record &record, const std::string &text) {
        const auto done = fabric_check::hand_in(spool_, record, text, *world_.signer, reader_uid_, deadline_);
        if (!done)
            log(Log::Level::error, done.error().message);
        return done.ok();
    }

    /// What `fabric-check mid` starts from. Without it there are no records in mid-job, and nothing else is lost.
    void begin_state(const std::string &record) {
        auto kept = store_.prepare();
        if (kept) {
            const auto lock = store_.lock(Deadline::after(state_wait));
            kept = lock ? store_.begin({environment_.job_id, environment_.node}, record) : Status(lock.error());
        }
        if (!kept)
            log(Log::Level::warning, "node_state: " + kept.error().message);
    }

    /// Takes the job's state away, and into the record: its steps, and what happened since START if `fabric-check mid` ran
    /// meanwhile.
    void end_state(const NodeSnapshot &snapshot, Record &record) {
        const NodeJob job{environment_.job_id, environment_.node};
        const auto lock = store_.lock(Deadline::after(state_wait));
        if (!lock) // files are whole all the same; what `mid` is about to add is lost
            log(Log::Level::warning, "node_state: " + lock.error().message);
        const bool moved_on = store_.moved_on(job);
        auto state = moved_on ? store_.load(job) : Result<NodeState>(NodeState{});
        record.steps = recorded_steps(store_, job, config_.step_records);
        if (auto removed = store_.remove(job); !removed)
            log(Log::Level::warning, "node_state: " + removed.error().message);
        if (!state) {
            log(Log::Level::warning, "node_state: " + state.error().message);
            return;
        }
        const bool rebooted = !state->boot_id.empty() && state->boot_id != snapshot.boot_id;
        if (!state->intervals.empty() && !rebooted &&
            fold(state->intervals, state->bases, state->last_ns, snapshot, true))
            record.intervals = std::move(state->intervals);
    }

    /// A node whose cards are all Ethernet has nothing to send management packets through, and no need of them. One that
    /// shows no card at all is asked: its reader will say what is wrong.
    bool may_see_switches(const NodeSnapshot &snapshot) const {
        const auto is_ethernet = [this](const HcaPort &port) {
            return port.link_layer == LinkLayer::ethernet || excluded_by(port, config_.ports.exclude) != nullptr;
        };
        return snapshot.ports.empty() || !std::all_of(snapshot.ports.begin(), snapshot.ports.end(), is_ethernet);
    }

    void see_to_switches() {
        if (config_.scout == scout_on_controller)
            return;
        if (config_.scout != scout_on_head_node) {
            const ScoutCall call{environment_.job_id, phase_, environment_.node, config_.scout, wall_ns(),
                                 environment_.node_list};
            if (auto filed = file_scout_call(config_, call, *world_.signer); !filed)
                log(Log::Level::error, "scout " + config_.scout + " not asked: " + filed.error().message);
            return;
        }
        const auto started = world_.scout();
        if (started)
            return;
        log(Log::Level::error, "scout not started: " + started.error().message);
        ScoutSnapshot nothing;
        nothing.node = environment_.node;
        nothing.time_ns = wall_ns();
        nothing.problems.push_back({"switches", "", started.error().message});
        const Record record{environment_.job_id, environment_.node, phase_, nothing.time_ns, nothing};
        (void)hand_in(record, encode_record(record));
    }

    Phase phase_;
    const NodeHookEnvironment &environment_;
    const Config &config_;
    NodeHookWorld &world_;
    const Deadline &deadline_;
    SpoolLayout spool_;
    NodeStateStore store_;
    std::string prefix_;
    std::uint32_t reader_uid_ = 0;
};

} // namespace

void run_node_hook(Phase phase, const NodeHookEnvironment &environment, const Config &config, NodeHookWorld &world,
                   const Deadline &deadline) noexcept {
    try {
        NodeHook(phase, environment, config, world, deadline).run();
    } catch (const std::exception &error) {
        world.log->error(std::string("hook: ") + error.what());
    }
}

} // namespace fabric_check
