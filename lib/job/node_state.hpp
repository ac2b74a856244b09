// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/result.hpp"
#include "record/intervals.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fabric_check {

/// What a node knows of a job that runs on it, between its Prolog and its Epilog.
struct NodeState {
    std::uint32_t job_id = 0;
    std::string node;
    std::string boot_id;
    std::int64_t start_ns = 0; ///< time of the START record
    std::int64_t last_ns = 0;  ///< of the last reading that went into the intervals; start_ns: none did
    std::int64_t mid_ns = 0;   ///< of the MID record in the spool; 0: there is none
    Bases bases;
    Intervals intervals; ///< from start_ns to last_ns
    bool operator==(const NodeState &) const = default;
};

/// JSON, "schema": "fabric-check/node-state/1". Decoding is strict: the directory is root's, but a disk is a disk. Fuzzed.
std::string encode_node_state(const NodeState &state);
Result<NodeState> decode_node_state(const std::string &text);

/// A job on a node, by its directory's name "<job>.<node>"; the node is percent-encoded as in record names.
struct NodeJob {
    std::uint32_t job_id = 0;
    std::string node;
    bool operator==(const NodeJob &) const = default;
    std::string directory_name() const;
};

/// The directory Config::node_state: one directory for each job on this node. All of it is root's alone.
class NodeStateStore {
public:
    explicit NodeStateStore(std::string root) : root_(std::move(root)) {}

    /// Makes the directory where it is missing, and refuses one that somebody else owns or may write: Errc::denied.
    Status prepare() const;
    /// Held for a moment while a job's state is changed. Errc::unavailable when the deadline passes before.
    Result<FileLock> lock(const Deadline &deadline) const;

    Result<std::vector<NodeJob>> list() const; ///< nothing there: empty
    /// A job begins here: its START record as it was encoded is all that is kept, until `fabric-check mid` makes a state of
    /// it. What an earlier instance left goes.
    Status begin(const NodeJob &job, const std::string &start_record) const;
    /// Did anything happen to it since it began? If not, load() would tell nothing that the START record does not.
    bool moved_on(const NodeJob &job) const;
    /// Errc::not_found: no such job. Errc::malformed: damaged.
    Result<NodeState> load(const NodeJob &job) const;
    /// `fresh`: of a job that begins here; what an earlier instance left goes. Else the job must be there: Errc::not_found.
    Status save(const NodeState &state, bool fresh) const;
    Status remove(const NodeJob &job) const; ///< gone already: no error

    const std::string &root() const noexcept { return root_; }
    std::string directory(const NodeJob &job) const { return root_ + "/" + job.directory_name(); }
    std::string mid_lock() const { return root_ + "/mid.lock"; }

private:
    Status make_directory(const NodeJob &job) const; ///< empty

    std::string root_;
};

} // namespace fabric_check
