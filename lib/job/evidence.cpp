// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/evidence.hpp"

#include "fabric/routes.hpp"
#include "job/scout_calls.hpp"
#include "sources/scout.hpp"
#include "verdict/port_use.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace fabric_check {
namespace {

constexpr std::size_t refusals_listed = 50;

struct Candidates {
    std::vector<const VerifiedRecord *> starts, mids, ends, scout_starts, scout_ends, notes, refused;
};

void sort_in(Candidates &all, const VerifiedRecord &record) {
    if (!record.refused.empty()) {
        all.refused.push_back(&record);
        return;
    }
    switch (record.name.kind) {
    case RecordKind::start:
        all.starts.push_back(&record);
        break;
    case RecordKind::mid:
        all.mids.push_back(&record);
        break;
    case RecordKind::end:
        all.ends.push_back(&record);
        break;
    case RecordKind::scout_start:
        all.scout_starts.push_back(&record);
        break;
    case RecordKind::scout_end:
        all.scout_ends.push_back(&record);
        break;
    case RecordKind::failed:
        all.notes.push_back(&record);
        break;
    }
}

void pair_into(const std::vector<const VerifiedRecord *> &starts, const std::vector<const VerifiedRecord *> &ends,
               const PairingWindow &window, const VerifiedRecord *&start, const VerifiedRecord *&end) {
    const auto times = [](const std::vector<const VerifiedRecord *> &records) {
        std::vector<std::int64_t> result;
        result.reserve(records.size());
        for (const auto *record : records)
            result.push_back(record->name.time_ns);
        return result;
    };
    const auto pairing = pair_records(times(starts), times(ends), window);
    if (pairing.start)
        start = starts[*pairing.start];
    if (pairing.end)
        end = ends[*pairing.end];
}

/// "end: munge ..." -> the text after the phase, when the note is of that phase.
std::string note_of(const VerifiedRecord &record, Phase phase) {
    const auto prefix = std::string(to_string(phase)) + ": ";
    return record.note.starts_with(prefix) ? record.note.substr(prefix.size()) : std::string();
}

NodeRecords pair_node(const Candidates &of, const PairingWindow &window) {
    NodeRecords node;
    pair_into(of.starts, of.ends, window, node.start, node.end);
    pair_into(of.scout_starts, of.scout_ends, window, node.scout_start, node.scout_end);
    const auto latest = window.ticket_ns + window.skew_ns;
    for (const auto *record : of.mids) {
        const auto time = record->name.time_ns;
        if (node.start != nullptr && time > node.start->name.time_ns && time <= latest &&
            (node.mid == nullptr || time > node.mid->name.time_ns))
            node.mid = record;
    }
    for (const auto *record : of.notes) {
        const auto time = record->name.time_ns;
        if (time < window.not_before_ns)
            continue;
        if (node.start == nullptr && time <= latest)
            if (auto text = note_of(*record, Phase::start); !text.empty())
                node.start_note = std::move(text);
        if (node.end == nullptr && time >= window.ticket_ns - window.skew_ns)
            if (auto text = note_of(*record, Phase::end); !text.empty())
                node.end_note = std::move(text);
    }
    for (const auto *record : of.refused) {
        if (record->name.kind == RecordKind::start && node.start == nullptr)
            node.start_refused = record->refused;
        if (record->name.kind == RecordKind::end && node.end == nullptr)
            node.end_refused = record->refused;
    }
    return node;
}

std::string missing_because(const std::string &what, const std::string &note, const std::string &refused,
                            const std::string &spool_problem) {
    if (!note.empty())
        return what + "; the node says, unsigned: " + note;
    if (!refused.empty())
        return what + " to be believed; " + refused;
    if (!spool_problem.empty())
        return what + "; spool: " + spool_problem;
    return what;
}

const ScoutSnapshot *scout_of(const VerifiedRecord *record) {
    return record != nullptr && record->record ? std::get_if<ScoutSnapshot>(&record->record->snapshot) : nullptr;
}

const NodeSnapshot *node_of(const VerifiedRecord *record) {
    return record != nullptr && record->record ? std::get_if<NodeSnapshot>(&record->record->snapshot) : nullptr;
}

/// Copies out of records, or moves where they may be emptied (not by a conditional expression, which would copy). A
/// 10,000-node job's snapshots are hundreds of megabytes.
class Source {
public:
    explicit Source(JobRecords *take) : take_(take) {}

    NodeSnapshot node(const VerifiedRecord *record) const {
        if (auto *own = owned(record))
            return std::move(std::get<NodeSnapshot>(own->snapshot));
        return *node_of(record);
    }
    ScoutSnapshot scout(const VerifiedRecord *record) const {
        if (auto *own = owned(record))
            return std::move(std::get<ScoutSnapshot>(own->snapshot));
        return *scout_of(record);
    }
    Intervals intervals(const VerifiedRecord *record) const {
        if (auto *own = owned(record))
            return std::move(own->intervals);
        return record->record->intervals;
    }
    StepRecords steps(const VerifiedRecord *record) const {
        if (auto *own = owned(record))
            return std::move(own->steps);
        return record->record->steps;
    }

private:
    Record *owned(const VerifiedRecord *record) const {
        if (take_ == nullptr)
            return nullptr;
        const auto found = take_->find(record->name.file_name());
        return found != take_->end() && &found->second == record ? &*found->second.record : nullptr;
    }

    JobRecords *take_;
};

/// What happened between START and END, or the last MID where there is no END.
void add_intervals(const NodeRecords &records, const Source &source, NodeEvidence &node,
                   std::vector<Problem> &problems) {
    const auto *last = records.end != nullptr ? records.end : records.mid;
    if (!node.start || node_of(last) == nullptr)
        return;
    const auto last_ns = node_of(last)->time_ns; // also of one that was moved from
    node.steps = source.steps(last);
    if (auto intervals = source.intervals(last); spans(intervals, node.start->time_ns, last_ns))
        node.intervals = std::move(intervals);
    else if (!intervals.empty())
        problems.push_back({node.node, "", "the records in mid-job do not begin at its START; not used"});
    if (!node.end)
        node.mid = source.node(last);
}

std::size_t fullness(const ScoutSnapshot *snapshot) {
    return snapshot == nullptr ? 0 : snapshot->ports.size();
}

void list_problems(JobEvidence &evidence, const JobRecords &records, const PairingWindow &window) {
    std::size_t refusals = 0;
    for (const auto &[file, record] : records) {
        if (record.name.time_ns < window.not_before_ns)
            continue;
        if (!record.refused.empty() && ++refusals <= refusals_listed)
            evidence.problems.push_back({record.name.node, "", record.refused});
        evidence.problems.insert(evidence.problems.end(), record.problems.begin(), record.problems.end());
    }
    if (refusals > refusals_listed)
        evidence.problems.push_back(
            {"spool", "", std::to_string(refusals - refusals_listed) + " more forged or copied records"});
}

void add_routes(JobEvidence &evidence, const Config &config) {
    if (evidence.map == nullptr)
        return;
    const auto &map = *evidence.map;
    const auto view_of = [&](const std::optional<ScoutSnapshot> &scout) {
        return !scout || scout->hosts.empty()
                   ? std::nullopt
                   : std::optional<fabric::LftView>(std::in_place, map, scout->lfts, scout->ports);
    };
    const auto start = view_of(evidence.scout.start), end = view_of(evidence.scout.end);
    if (start)
        evidence.routes_start = fabric::analyse(*start, query_from(map, evidence.scout.start->hosts, config));
    // Nearly always: of the largest jobs it takes seconds.
    if (start && end && start->same_as(*end) && evidence.scout.start->hosts == evidence.scout.end->hosts)
        evidence.routes_end = evidence.routes_start;
    else if (end)
        evidence.routes_end = fabric::analyse(*end, query_from(map, evidence.scout.end->hosts, config));
    for (const auto *scout : {&evidence.scout.start, &evidence.scout.end})
        if (*scout && (*scout)->map_id != 0 && (*scout)->map_id != map.id()) {
            evidence.problems.push_back({"map", "", "it was rebuilt since the scout used it; routes by the new one"});
            break;
        }
}

} // namespace

std::set<std::uint64_t> excluded_guids(const JobEvidence &evidence, const Config &config) {
    std::set<std::uint64_t> guids;
    for (const auto &node : evidence.nodes)
        for (const auto *side : {&node.start, &node.end})
            if (*side)
                for (const auto &port : (*side)->ports)
                    if (port.guid != 0 && excluded_by(port, config.ports.exclude) != nullptr)
                        guids.insert(port.guid);
    return guids;
}

void drop_excluded(std::vector<HostMatch> &hosts, const std::set<std::uint64_t> &guids) {
    std::erase_if(hosts, [&](const HostMatch &host) { return guids.contains(host.port_guid); });
}

std::vector<NodeRecords> pair_nodes(const std::vector<std::string> &nodes, const JobRecords &records,
                                    const PairingWindow &window) {
    std::unordered_map<std::string, Candidates> by_node;
    for (const auto &[file, record] : records)
        sort_in(by_node[record.name.node], record);
    std::vector<NodeRecords> result;
    result.reserve(nodes.size());
    for (const auto &node : nodes) {
        const auto found = by_node.find(node);
        result.push_back(found == by_node.end() ? NodeRecords{} : pair_node(found->second, window));
    }
    return result;
}

std::vector<std::string> scout_hosts(const std::vector<std::string> &nodes, const JobRecords &records,
                                     const Config &config) {
    if (config.scout == scout_on_head_node)
        return {};
    std::set<std::string> hosts;
    for (const auto &[file, record] : records) {
        const bool scout = record.name.kind == RecordKind::scout_start || record.name.kind == RecordKind::scout_end;
        if (scout && record.refused.empty() &&
            (config.scout == scout_on_controller || config.scout == record.name.node))
            hosts.insert(record.name.node);
    }
    for (const auto &node : nodes)
        hosts.erase(node);
    return {hosts.begin(), hosts.end()};
}

bool scouts_ended(const std::vector<NodeRecords> &paired, const std::vector<std::string> &nodes,
                  const JobRecords &records, const PairingWindow &window, const Config &config) {
    const auto ended = [](const NodeRecords &host) { return host.scout_end != nullptr; };
    if (config.scout == scout_on_head_node) {
        const auto scouts = static_cast<std::ptrdiff_t>(std::min<std::size_t>(paired.size(), config.scouts));
        return std::all_of(paired.begin(), paired.begin() + scouts, ended);
    }
    const auto outside = pair_nodes(scout_hosts(nodes, records, config), records, window);
    return std::any_of(outside.begin(), outside.end(), ended) || // the host may be one of the job's own
           std::any_of(paired.begin(), paired.end(), ended);
}

ScoutEvidence choose_scout(const std::vector<NodeRecords> &nodes, JobRecords *take) {
    const VerifiedRecord *start = nullptr, *end = nullptr;
    const VerifiedRecord *fullest_start = nullptr, *fullest_end = nullptr;
    const auto full = [](const VerifiedRecord *record) { return fullness(scout_of(record)); };
    for (const auto &node : nodes) {
        const auto *first = scout_of(node.scout_start) != nullptr ? node.scout_start : nullptr;
        const auto *last = scout_of(node.scout_end) != nullptr ? node.scout_end : nullptr;
        if (first != nullptr && (fullest_start == nullptr || full(first) > full(fullest_start)))
            fullest_start = first;
        if (last != nullptr && (fullest_end == nullptr || full(last) > full(fullest_end)))
            fullest_end = last;
        if (std::min(full(first), full(last)) > std::min(full(start), full(end))) {
            start = first;
            end = last;
        }
    }
    if (start == nullptr) {
        start = fullest_start;
        end = fullest_end;
    }
    const Source source(take);
    ScoutEvidence evidence;
    if (start != nullptr)
        evidence.start = source.scout(start);
    else
        evidence.start_problem = "no START record of a scout";
    if (end != nullptr)
        evidence.end = source.scout(end);
    else
        evidence.end_problem = "no END record of a scout";
    if (take != nullptr) // a large job's are a hundred megabytes each
        for (const auto &node : nodes)
            for (const auto *other : {node.scout_start, node.scout_end})
                if (scout_of(other) != nullptr)
                    (void)source.scout(other);
    return evidence;
}

JobEvidence build_evidence(const EvidenceSource &source, const Config &config) {
    JobEvidence evidence;
    evidence.job = source.job;
    const Source from(source.take);
    const auto paired = pair_nodes(source.job.node_names, *source.records, source.window);
    evidence.nodes.reserve(paired.size());
    for (std::size_t i = 0; i < paired.size(); ++i) {
        const auto &records = paired[i];
        NodeEvidence node;
        node.node = source.job.node_names[i];
        if (node_of(records.start) != nullptr)
            node.start = from.node(records.start);
        else
            node.start_problem =
                missing_because("no START record", records.start_note, records.start_refused, source.spool_problem);
        if (node_of(records.end) != nullptr)
            node.end = from.node(records.end);
        else
            node.end_problem =
                missing_because("no END record within " + std::to_string(source.waited_s) + " s of the job's end",
                                records.end_note, records.end_refused, source.spool_problem);
        add_intervals(records, from, node, evidence.problems);
        // A node that wrote no END into a spool in order was not there at the end. Slurm's job state does not tell: the
        // job may have ended before Slurm noticed.
        // Anybody can leave a note or a forged record in the node's name: neither tells anything about it.
        node.slurmd_died = !node.end && source.spool_problem.empty();
        evidence.nodes.push_back(std::move(node));
    }
    auto scouts = paired;
    for (auto &host : pair_nodes(scout_hosts(source.job.node_names, *source.records, config), *source.records, source.window))
        scouts.push_back(std::move(host));
    evidence.scout = choose_scout(scouts, source.take);
    const auto excluded = excluded_guids(evidence, config);
    for (auto *scout : {&evidence.scout.start, &evidence.scout.end})
        if (*scout)
            drop_excluded((*scout)->hosts, excluded);
    list_problems(evidence, *source.records, source.window);
    if (!source.spool_problem.empty())
        evidence.problems.push_back({"spool", "", source.spool_problem});
    evidence.map = source.map;
    if (source.map == nullptr)
        evidence.problems.push_back(
            {"map", "", source.map_problem.empty() ? "no map yet: fabric-check map build" : source.map_problem});
    add_routes(evidence, config);
    return evidence;
}

std::vector<RecordName> consumed_by(const std::vector<NodeRecords> &nodes, const std::vector<RecordName> &all,
                                    const PairingWindow &window) {
    std::set<std::string> names;
    for (const auto &node : nodes)
        for (const auto *record : {node.start, node.end, node.scout_start, node.scout_end})
            if (record != nullptr)
                names.insert(record->name.file_name());
    std::vector<RecordName> consumed;
    for (const auto &name : all) {
        const bool of_its_time =
            name.time_ns >= window.not_before_ns && name.time_ns <= window.ticket_ns + window.skew_ns;
        if (of_its_time || names.contains(name.file_name()))
            consumed.push_back(name);
    }
    return consumed;
}

} // namespace fabric_check
