// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/scout_pass.hpp"

#include "base/hostlist.hpp"
#include "base/process.hpp"
#include "job/hand_in.hpp"
#include "job/hosts.hpp"
#include "job/programs.hpp"
#include "mad/session.hpp"
#include "sample/board.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabric_check {
namespace {

using std::chrono::milliseconds;

ScoutSnapshot failed(const std::string &where, const std::string &reason) {
    ScoutSnapshot snapshot;
    snapshot.problems.push_back({where, "", reason});
    return snapshot;
}

ScoutSnapshot read_switches(const ScoutTask &task, const Config &config, ScoutWorld &world, const Deadline &deadline) {
    const SpoolLayout spool{config.spool};
    const auto map = fabric::load_map(spool.map_file());
    if (!map) {
        if (map.error().code != Errc::not_found)
            return failed("map", map.error().message + "; build it anew: fabric-check map build");
        const auto started = world.start_map_build();
        return failed("map", "no map yet" + (started ? std::string("; one is being built for the next jobs")
                                                     : ", and none can be built: " + started.error().message));
    }
    ScoutRequest request;
    request.node = task.host;
    request.phase = task.phase;
    request.job_nodes = task.nodes;
    std::vector<Problem> problems;
    if (auto services = expand_hostlist(config.services))
        request.services = std::move(*services);
    else
        problems.push_back({"services", "", services.error().message});
    if (auto hosts = load_hosts(spool.hosts_file()))
        request.known_guids = std::move(*hosts);
    else
        problems.push_back({"map", "", hosts.error().message});
    request.deadline = Deadline::after(std::max(deadline.left() - hand_in_reserve, milliseconds(1)));
    auto snapshot = world.scout(*map, request);
    if (!snapshot)
        return failed("switches", snapshot.error().message);
    snapshot->problems.insert(snapshot->problems.end(), problems.begin(), problems.end());
    return std::move(*snapshot);
}

} // namespace

Status run_scout_pass(const ScoutTask &task, const Config &config, ScoutWorld &world, const Deadline &deadline) {
    const auto reader = slurm_uid(config);
    if (!reader)
        return reader.error();
    const SpoolLayout spool{config.spool};
    if (auto prepared = prepare_records(spool, *reader); !prepared)
        world.log->error(task.prefix + "spool: " + prepared.error().message);
    auto snapshot = read_switches(task, config, world, deadline);
    snapshot.node = task.host;
    if (snapshot.time_ns == 0)
        snapshot.time_ns = wall_ns();
    for (const auto &problem : snapshot.problems)
        world.log->warning(task.prefix + "scout: " + problem.where + ": " + problem.reason);
    Record record{task.job_id, task.host, task.phase, snapshot.time_ns, std::move(snapshot)};
    const auto text = encode_to_fit(record, record_limit);
    const auto ports = std::get<ScoutSnapshot>(record.snapshot).ports.size();
    auto done = hand_in(spool, record, text, *world.signer, *reader, deadline);
    if (done)
        world.log->info(task.prefix + "scout: " + std::to_string(ports) + " switch ports recorded");
    else
        world.log->error(task.prefix + "scout: " + done.error().message);
    return done;
}

ScoutWorld real_scout_world(const Config &config, Signer &signer, Log &log) {
    ScoutWorld world;
    world.signer = &signer;
    world.log = &log;
    world.scout = [&config, &signer, &log](const fabric::Map &map,
                                           const ScoutRequest &request) -> Result<ScoutSnapshot> {
        const auto session = mad::open_session(config);
        if (!session)
            return session.error();
        const auto uid = slurm_uid(config);
        sample::Board board(SpoolLayout{config.spool}, signer, sample::board_options(config, uid ? *uid : 0));
        ScoutRequest shared = request;
        shared.board = &board;
        auto snapshot = scout(*session->engine, map, shared, config);
        log.info(fmt::format("scout: {}: {} MADs sent, {} ports as others read them", request.node,
                             session->engine->stats().sent, board.taken()));
        return snapshot;
    };
    world.start_map_build = [&config]() -> Status {
        const auto program = find_program(config, "fabric-check");
        if (!program)
            return program.error();
        return start_detached({*program, "--config", config_path(), "map", "build"});
    };
    return world;
}

} // namespace fabric_check
