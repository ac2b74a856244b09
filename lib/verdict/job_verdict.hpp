// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "config/config.hpp"
#include "fabric/routes.hpp"
#include "record/steps.hpp"
#include "sample/series.hpp"
#include "snapshot/model.hpp"
#include "verdict/port_verdict.hpp"
#include "verdict/times.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fabric_check {

/// The job as Slurm's accounting knows it.
struct JobInfo {
    std::uint32_t id = 0;
    std::uint32_t array_job_id = 0; ///< 0: not an array
    std::optional<std::uint32_t> array_task_id;
    std::uint32_t het_job_id = 0;   ///< 0: not heterogeneous
    std::uint32_t het_job_offset = 0;
    unsigned restart = 0;           ///< how many earlier instances of this job there were
    std::string cluster, user, partition, name;
    std::uint32_t uid = 0;
    std::int64_t start = 0, end = 0; ///< seconds since the epoch
    std::string state;              ///< "COMPLETED", "CANCELLED", "NODE_FAIL", "REQUEUED", ...
    std::string nodes;              ///< hostlist as Slurm writes it
    std::vector<std::string> node_names;
};

/// What the spool held of one node.
struct NodeEvidence {
    std::string node;
    std::optional<NodeSnapshot> start, end;
    std::string start_problem, end_problem; ///< why there is none: "no END record within 20 s", "refused: uid 1000", ...
    Intervals intervals; ///< from START to END, else to `mid`; empty: no records in mid-job
    std::optional<NodeSnapshot> mid; ///< only without `end`: its last reading in mid-job
    StepRecords steps; ///< as END, else the last MID, has them
    bool slurmd_died = false; ///< it was silent at the end, though the spool is in order
};

struct ScoutEvidence {
    std::optional<ScoutSnapshot> start, end;
    std::string start_problem, end_problem;
};

struct JobEvidence {
    JobInfo job;
    std::vector<NodeEvidence> nodes; ///< in the job's order, one per node of the allocation
    ScoutEvidence scout;
    const fabric::Map *map = nullptr;        ///< may be null: no map, the switch side is incomplete
    std::optional<fabric::Routes> routes_start, routes_end; ///< of query_from(that scout's hosts), by its LFT blocks
    bool routes_unchecked = false;           ///< they are by the map's tables, which nobody compared with the switches
    std::vector<Problem> problems;           ///< forged records, spool, configuration, ...
    std::vector<std::uint32_t> shared_with;  ///< other jobs on its nodes meanwhile
    std::optional<sample::Series> samples;   ///< of the switch ports on its routes; none: no sampler ran meanwhile
};

/// One thing found: a counter that moved, a hot link, a narrow port.
struct Finding {
    std::string where;   ///< "node07/mlx5_0:1" or "SwitchA:13<->SwitchB:25"
    /// The counter's own name; without one: "width", "speed", "pcie", "state" (was ACTIVE, is not), "rail" (missing, or
    /// not sharing the load), "hot" (delta: per cent).
    std::string counter;
    std::uint64_t delta = 0; ///< 0 for width, speed, pcie, state and rail
    Layer layer = Layer::ungraded;
    bool leads = true;   ///< false: shown, never decides
    std::string note;    ///< "teardown?", "route changed", ...; several joined with "; "
    std::string read_at; ///< the end of the link where the counter stands: "SwitchA:13", "node07/mlx5_0:1"
    std::vector<Movement> intervals = {}; ///< when it moved; empty: no records in mid-job
};

struct UnreadCounter {
    std::string where;
    std::string counter; ///< empty: the whole port, node or switch side
    std::string reason;
    Layer layer = Layer::physical; ///< lowest layer it hides
    bool incomplete = false; ///< true: missing (incomplete); false: there but no evidence (unusable)
    std::string read_at = {}; ///< of a link between switches, the end where it stands: "SwitchA:13"
};

struct HotPort {
    std::string where;  ///< link name
    std::string sender; ///< "SwitchB:25"; a host where the cause is "sender": "stor05/mlx5_0:1"
    std::uint32_t node = fabric::no_node; ///< the sender in the map
    std::uint8_t port = 0;
    bool facing = false; ///< towards a host: its port is what is full
    double share = 0;   ///< of the payload ceiling, 0..1
    double own = 0;     ///< upper bound of the job's part, 0..1
    bool by_wait = false; ///< not over the bar, but holding the group's XmitWait
    /// When it was: "10:02:00-10:02:30" (UTC, the sampler's fullest interval), or "job": averaged over the job.
    std::string interval;
    std::int64_t from_ns = 0, to_ns = 0; ///< of that interval; 0: the job
    double hot_seconds = 0; ///< how long it was hot in all, by the sampler; 0: not known
    std::string cause;    ///< why it is hot, one of: routing, capacity, others, incast, receiver, sender, load
    /// Of a link between switches, which of the job's traffic takes it most: "inside", "from" or "to" (the services);
    /// empty for hosts' links.
    std::string direction = {};
};

/// A group's spread in one of the sampler's intervals.
struct HotSpread {
    double spread = 1;
    std::string interval; ///< as HotPort's
};

struct GroupMeasure {
    int group = -1;          ///< index into routes_end (or routes_start) groups
    std::optional<HotSpread> hot_spread; ///< where routing-imbalance was found in an interval, and not over the job
    std::optional<double> spread; ///< busiest port's bytes over the mean, idle ports counted; none without every port
    std::vector<std::optional<std::uint64_t>> xmit_bytes, rcv_bytes, xmit_wait; ///< per group port
};

struct PortResult {
    std::string node;  ///< empty for switch ports
    std::string where; ///< host: "node07/mlx5_0:1"; switch port: link name
    std::string role;  ///< "host", "facing", "service", "isl"
    Profile profile = Profile::ib; ///< what it was judged by
    std::string use;   ///< host: why it counts, in plain words
    std::uint32_t map_node = fabric::no_node; ///< in the map; no_node: not found there
    std::uint8_t map_port = 0;
    int peer = -1;     ///< index of the result at the other end of the link; -1: not among the results
    double seconds = 0; ///< between the two readings; 0: not known (clocks)
    bool rebooted = false; ///< this host, or the one at the other end, rebooted or lost its slurmd during the job
    bool on_route = true; ///< false: a group's idle member, read for the spread only
    PortVerdict verdict;
    Deltas deltas;
    std::optional<std::uint64_t> xmit_bytes, rcv_bytes; ///< a host's without data counters: its switch port's, reversed
    PortTimes times; ///< of the two readings; totals: of a host's port, by its records in mid-job
    const HcaPort *host_start = nullptr, *host_end = nullptr;       ///< into the evidence; end: or the last in mid-job
    const SwitchPort *switch_start = nullptr, *switch_end = nullptr;
};

struct Cover {
    unsigned nodes_seen = 0, nodes_expected = 0, ports_seen = 0, ports_expected = 0;
    std::vector<std::string> missing; ///< nodes and ports not seen
};

enum class HwStatus : std::uint8_t { none, pass, fail, unknown };
enum class RouteStatus : std::uint8_t { unknown, ok, imbalanced, changed };

/// Everything decided about one job step, by the ports of its nodes alone.
struct StepVerdict {
    std::string id;   ///< "123.0"
    std::string name; ///< of its program; printable ASCII
    std::int64_t start = 0, end = 0; ///< seconds since the epoch; end 0: not known
    std::vector<std::string> nodes;  ///< that left a record
    std::size_t node_count = 0;      ///< that it had
    std::string verdict, rest;       ///< as the job's
    std::vector<Finding> because, live;
    std::vector<UnreadCounter> unread;
    std::uint64_t bytes_moved = 0, bytes_received = 0;
};

/// Everything decided about a job; points into the evidence, which must outlive it.
struct JobVerdict {
    std::string verdict; ///< one word of the contract
    std::string rest;    ///< verdict of what could be read; only with unusable / incomplete, and where a port was read
    std::vector<Finding> because; ///< what the verdict rests on, worst first
    std::vector<Finding> rest_because; ///< the same of `rest`
    std::vector<Finding> live;    ///< everything that moved
    std::vector<Finding> told;    ///< moved, and is not judged (or did not cross the site's bar): shown, decides nothing
    std::vector<UnreadCounter> unread;
    Cover cover;
    std::uint64_t bytes_moved = 0;    ///< transmitted by the job's host ports
    std::uint64_t bytes_received = 0; ///< by the same ports
    HwStatus hw = HwStatus::none;
    RouteStatus route = RouteStatus::unknown;
    AdaptiveRouting adaptive_routing = AdaptiveRouting::unknown; ///< as configured, else as the scout found it
    double seconds = 0; ///< between the scout's two readings; 0: not known, or no switch port was read
    fabric::PayloadCeilings payload_ceilings; ///< as configured
    bool host_scope = false; ///< RoCE alone: no switch was to be read, and the verdict is about host ports only
    std::vector<GroupMeasure> measures;
    int worst_group = -1; ///< index into the routes' groups, for isl= and spread=
    std::vector<HotPort> hot; ///< hottest first
    std::vector<PortResult> ports;
    std::vector<StepVerdict> steps; ///< that were recorded, by their starts
    /// Plain words: which switch, LID, old and new port; between start and end, then since the map was built.
    std::vector<std::string> routes_changed;
    bool changed_in_mid_job = false; ///< of the former there are some
    std::size_t intervals = 0; ///< of the sampler, by which rates were judged; 0: rates are averages over the job
    std::vector<std::string> advice;         ///< what to do next, plain words
    std::vector<std::string> notes;
};

/// Never throws on odd evidence: what does not fit together costs its part of the cover, with the reason.
JobVerdict judge_job(const JobEvidence &evidence, const Config &config);

const char *to_string(HwStatus hw) noexcept;
const char *to_string(RouteStatus route) noexcept;

} // namespace fabric_check
