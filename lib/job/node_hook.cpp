// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/node_hook.hpp"

#include "base/hostlist.hpp"
#include "base/process.hpp"
#include "job/hosts.hpp"
#include "job/node_state.hpp"
#include "job/programs.hpp"
#include "job/step.hpp"
#include "mad/engine.hpp"
#include "record/spool.hpp"
#include "sample/board.hpp"
#include "sources/sysfs.hpp"
#include "verdict/port_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace fabric_check {
namespace {

using std::chrono::milliseconds;

// What signing and writing a record needs of the budget on a slow spool.
constexpr milliseconds reserve{250};
constexpr milliseconds sign_pause{100};
// The node's own state: another hook or `fabric-check mid` holds it for a moment only.
constexpr milliseconds state_wait{200};

class NodeHook {
public:
    NodeHook(Phase phase, const NodeHookEnvironment &environment, const Config &config, NodeHookWorld &world,
             const Deadline &deadline)
        : phase_(phase), environment_(environment), config_(config), world_(world),
          deadline_(deadline), spool_{config.spool}, store_(config.expand(config.node_state, environment.node)),
          prefix_(std::string(phase == Phase::start ? "prolog" : "epilog") + ": job " +
                  std::to_string(environment.job_id) + " " + environment.node + ": ") {}

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
        const auto time_ns = snapshot.time_ns;
        const bool sees_switches = may_see_switches(snapshot);
        Record record{environment_.job_id, environment_.node, phase_, time_ns, {}};
        if (phase_ == Phase::start)
            begin_state(snapshot);
        else
            end_state(snapshot, record);
        record.snapshot = std::move(snapshot);
        if (write(record))
            log(Log::Level::info, std::to_string(ports) + " ports recorded");
        if (sees_switches && environment_.index < config_.scouts && environment_.index < environment_.nodes.size())
            run_scout();
    }

private:
    void log(Log::Level level, const std::string &message) { world_.log->write(level, prefix_ + message); }

    /// What `fabric-check mid` starts from. Without it there are no records in mid-job, and nothing else is lost.
    void begin_state(const NodeSnapshot &snapshot) {
        NodeState state;
        state.job_id = environment_.job_id;
        state.node = environment_.node;
        state.boot_id = snapshot.boot_id;
        state.start_ns = state.last_ns = snapshot.time_ns;
        state.bases = bases_of(snapshot);
        auto kept = store_.prepare();
        if (kept) {
            const auto lock = store_.lock(Deadline::after(state_wait));
            kept = lock ? store_.save(state, true) : Status(lock.error());
        }
        if (!kept)
            log(Log::Level::warning, "node_state: " + kept.error().message);
    }

    /// Takes the job's state away, and into the record: its steps, and what happened since START if `fabric-check mid` ran
    /// meanwhile.
    void end_state(const NodeSnapshot &snapshot, Record &record) {
        const NodeJob job{environment_.job_id, environment_.node};
        const auto lock = store_.lock(Deadline::after(state_wait));
        auto state = store_.load(job);
        record.steps = recorded_steps(store_, job, config_.step_records);
        if (auto removed = store_.remove(job); !removed)
            log(Log::Level::warning, "node_state: " + removed.error().message);
        if (!state) {
            if (state.error().code != Errc::not_found)
                log(Log::Level::warning, "node_state: " + state.error().message);
            return;
        }
        const bool rebooted = !state->boot_id.empty() && state->boot_id != snapshot.boot_id;
        if (!state->intervals.empty() && !rebooted &&
            fold(state->intervals, state->bases, state->last_ns, snapshot, true))
            record.intervals = std::move(state->intervals);
    }

    bool write(const Record &record) {
        std::string payload;
        auto credential = sign_record(record, *world_.signer, reader_uid_, &payload);
        while (!credential && credential.error().code == Errc::unavailable && deadline_.left() > reserve + sign_pause) {
            std::this_thread::sleep_for(sign_pause);
            credential = sign_record(record, *world_.signer, reader_uid_, &payload);
        }
        if (!credential) {
            log(Log::Level::error, "record not signed: " + credential.error().message);
            if (auto noted = write_failed_note(spool_, record.job_id, record.node, record.phase, record.time_ns,
                                               credential.error().message);
                !noted)
                log(Log::Level::error, "spool: " + noted.error().message);
            return false;
        }
        if (auto stored = store_record(spool_, record, *credential, payload); !stored) {
            log(Log::Level::error, "record not written: " + stored.error().message);
            return false;
        }
        return true;
    }

    void run_scout() {
        ScoutSnapshot snapshot = read_switches();
        snapshot.node = environment_.node;
        if (snapshot.time_ns == 0)
            snapshot.time_ns = wall_ns();
        for (const auto &problem : snapshot.problems)
            log(Log::Level::warning, "scout: " + problem.where + ": " + problem.reason);
        const auto ports = snapshot.ports.size();
        const auto time_ns = snapshot.time_ns;
        if (write({environment_.job_id, environment_.node, phase_, time_ns, std::move(snapshot)}))
            log(Log::Level::info, "scout: " + std::to_string(ports) + " switch ports recorded");
    }

    /// A node whose cards are all Ethernet has nothing to send management packets through, and no need of them. One that
    /// shows no card at all is asked: its reader will say what is wrong.
    bool may_see_switches(const NodeSnapshot &snapshot) const {
        const auto is_ethernet = [this](const HcaPort &port) {
            return port.link_layer == LinkLayer::ethernet || excluded_by(port, config_.ports.exclude) != nullptr;
        };
        return snapshot.ports.empty() || !std::all_of(snapshot.ports.begin(), snapshot.ports.end(), is_ethernet);
    }

    static ScoutSnapshot failed(const std::string &where, const std::string &reason) {
        ScoutSnapshot snapshot;
        snapshot.problems.push_back({where, "", reason});
        return snapshot;
    }

    ScoutSnapshot read_switches() {
        const auto map = fabric::load_map(spool_.map_file());
        if (!map) {
            if (map.error().code != Errc::not_found)
                return failed("map", map.error().message + "; build it anew: fabric-check map build");
            const auto started = world_.start_map_build();
            return failed("map", "no map yet" + (started ? std::string("; one is being built for the next jobs")
                                                         : ", and none can be built: " + started.error().message));
        }
        ScoutRequest request;
        request.node = environment_.node;
        request.job_nodes = environment_.nodes;
        std::vector<Problem> problems;
        if (auto services = expand_hostlist(config_.services))
            request.services = std::move(*services);
        else
            problems.push_back({"services", "", services.error().message});
        if (auto hosts = load_hosts(spool_.hosts_file()))
            request.known_guids = std::move(*hosts);
        else
            problems.push_back({"map", "", hosts.error().message});
        request.deadline = Deadline::after(std::max(deadline_.left() - reserve, milliseconds(1)));
        auto snapshot = world_.scout(*map, request);
        if (!snapshot)
            return failed("switches", snapshot.error().message);
        snapshot->problems.insert(snapshot->problems.end(), problems.begin(), problems.end());
        return std::move(*snapshot);
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

Status start_map_build(const Config &config) {
    const auto program = find_program(config, "fabric-check");
    if (!program)
        return program.error();
    return start_detached({*program, "--config", config_path(), "map", "build"});
}

void hook_in_child(Phase phase, const NodeHookEnvironment &environment, const Config &config, Log &log,
                   const Deadline &deadline) {
    const auto signer = munge_signer(config.munge.socket);
    NodeHookWorld world;
    world.signer = signer.get();
    world.log = &log;
    world.scout = [&](const fabric::Map &map, const ScoutRequest &request) -> Result<ScoutSnapshot> {
        const auto transport = mad::UmadTransport::open(config.mad.device, config.mad.port);
        if (!transport)
            return transport.error();
        mad::Engine engine(**transport, mad::engine_options(config.mad));
        const auto uid = slurm_uid(config);
        sample::Board board(SpoolLayout{config.spool}, *signer, sample::board_options(config, uid ? *uid : 0));
        ScoutRequest shared = request;
        shared.phase = phase;
        shared.board = &board;
        auto snapshot = scout(engine, map, shared, config);
        log.info(fmt::format("scout: job {}: {} MADs sent, {} ports as others read them", environment.job_id,
                             engine.stats().sent, board.taken()));
        return snapshot;
    };
    world.start_map_build = [&] { return start_map_build(config); };
    run_node_hook(phase, environment, config, world, deadline);
}

} // namespace

void run_node_hook(Phase phase, const NodeHookEnvironment &environment, const Config &config, NodeHookWorld &world,
                   const Deadline &deadline) noexcept {
    try {
        NodeHook(phase, environment, config, world, deadline).run();
    } catch (const std::exception &error) {
        world.log->error(std::string("hook: ") + error.what());
    }
}

int node_hook_main(Phase phase) noexcept {
    try {
        const std::string name = phase == Phase::start ? "prolog" : "epilog";
        const auto deadline_base = Deadline::Clock::now();
        std::string config_error;
        const auto config = config_or_defaults(config_path(), &config_error);
        Log log({.ident = "fabric-check-" + name,
                 .file = config.log_file,
                 .syslog = config.syslog,
                 .standard_error = false,
                 .level = Log::Level::info});
        const auto fallback = parse_mode(config.default_mode).value_or(Mode::report);
        const auto environment = node_hook_environment([](const char *key) { return std::getenv(key); }, fallback);
        if (!environment) {
            log.error(name + ": " + environment.error().message);
            return 0;
        }
        if (environment->mode == Mode::off)
            return 0;
        const auto prefix = name + ": job " + std::to_string(environment->job_id) + " " + environment->node + ": ";
        if (!config_error.empty())
            log.error(prefix + "going on with defaults: " + config_error);
        for (const auto &remark : environment->remarks)
            log.warning(prefix + remark);
        const auto spent = std::chrono::duration_cast<milliseconds>(Deadline::Clock::now() - deadline_base);
        const auto budget = std::max(milliseconds(config.hooks.budget_ms) - spent, milliseconds(1));
        const auto done = run_within(budget, [&] {
            hook_in_child(phase, *environment, config, log, Deadline::after(budget));
            return 0;
        });
        if (phase == Phase::end) // also where the child was cut short: the job runs no more
            (void)NodeStateStore(config.expand(config.node_state, environment->node))
                .remove({environment->job_id, environment->node})
                .ok();
        if (done && *done != 0) // a library's exit(); umad2sim does that
            log.error(prefix + "ended early, with code " + std::to_string(*done));
        if (!done)
            log.error(prefix + done.error().message + " (hooks.budget_ms = " + std::to_string(config.hooks.budget_ms) +
                      ")");
    } catch (...) { // out of memory: the job goes on all the same
    }
    return 0;
}

} // namespace fabric_check
