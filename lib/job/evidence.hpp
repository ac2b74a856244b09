// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "config/config.hpp"
#include "job/accounting.hpp"
#include "record/pairing.hpp"
#include "record/spool.hpp"
#include "verdict/job_verdict.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace fabric_check {

/// Verified files of one job's in the spool, by file name.
using JobRecords = std::map<std::string, VerifiedRecord>;

/// What the spool holds of one node for one ticket; points into JobRecords.
struct NodeRecords {
    const VerifiedRecord *start = nullptr, *end = nullptr;
    const VerifiedRecord *mid = nullptr; ///< the last between START and the job's end
    const VerifiedRecord *scout_start = nullptr, *scout_end = nullptr;
    std::string start_note, end_note;       ///< what the node's unsigned notes say; empty: none
    std::string start_refused, end_refused; ///< why a record was refused; empty: none was
    /// The node left something, be it a word without a signature: its prolog or epilog ran.
    bool any() const {
        return start != nullptr || end != nullptr || scout_start != nullptr || scout_end != nullptr ||
               !start_note.empty() || !end_note.empty() || !start_refused.empty() || !end_refused.empty();
    }
};

/// Pairs the records of each of `nodes`. Records that were refused take no part. Pure.
std::vector<NodeRecords> pair_nodes(const std::vector<std::string> &nodes, const JobRecords &records,
                                    const PairingWindow &window);

/// Hosts outside the job that read the switches for it, as config.scout has it: the controller, whichever it was, or the
/// host it names. None where the job's own nodes do. Pure.
std::vector<std::string> scout_hosts(const std::vector<std::string> &nodes, const JobRecords &records,
                                     const Config &config);

/// Is the END of every scout there that is to be waited for? `paired`: the records of the job's `nodes`. Pure.
bool scouts_ended(const std::vector<NodeRecords> &paired, const std::vector<std::string> &nodes,
                  const JobRecords &records, const PairingWindow &window, const Config &config);

/// The scout's readings to judge by: of a node that read both times if there is one with switch ports in both, else the
/// fullest START and the fullest END. Moved out of `take`, the records pointed to, where it is not null.
ScoutEvidence choose_scout(const std::vector<NodeRecords> &nodes, JobRecords *take = nullptr);

/// Ports of the job's nodes that the configuration excludes; what it excludes has no routes of the job either.
std::set<std::uint64_t> excluded_guids(const JobEvidence &evidence, const Config &config);
void drop_excluded(std::vector<HostMatch> &hosts, const std::set<std::uint64_t> &guids);

/// What build_evidence starts from.
struct EvidenceSource {
    JobInfo job; ///< node_names: one NodeEvidence each
    const JobRecords *records = nullptr;
    /// The same records, for good: what is judged is moved out of them and their names stay, which is what consumed_by()
    /// needs. Null: they are copied.
    JobRecords *take = nullptr;
    PairingWindow window;
    unsigned waited_s = 0;     ///< for END records, for the report
    std::string spool_problem; ///< empty: the spool is in order
    const fabric::Map *map = nullptr;
    std::string map_problem; ///< why there is no map; empty: there simply is none yet
};

/// Everything judge_job needs, routes by the LFT blocks live at start and end included.
JobEvidence build_evidence(const EvidenceSource &source, const Config &config);

/// The files that a finished ticket uses up: what was paired, and everything else of this instance's time. Pure.
std::vector<RecordName> consumed_by(const std::vector<NodeRecords> &nodes, const std::vector<RecordName> &all,
                                    const PairingWindow &window);

} // namespace fabric_check
