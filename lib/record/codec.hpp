// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "record/intervals.hpp"
#include "record/steps.hpp"
#include "snapshot/model.hpp"

#include <string>
#include <variant>

namespace fabric_check {

/// A record: one signed snapshot of one node or scout, of one job.
struct Record {
    std::uint32_t job_id = 0;
    std::string node;
    Phase phase = Phase::start;
    std::int64_t time_ns = 0; ///< equals the snapshot's, and the time in the file's name
    std::variant<NodeSnapshot, ScoutSnapshot> snapshot;
    /// Of a node's MID and END: what happened since START, where `fabric-check mid` ran meanwhile; else empty.
    Intervals intervals = {};
    StepRecords steps = {}; ///< of a node's MID and END, for jobs that asked for them
    bool is_scout() const { return std::holds_alternative<ScoutSnapshot>(snapshot); }
};

/// JSON, "schema": "fabric-check/record/1" first. Decoding refuses wrong types and ranges, naming the key; the bytes
/// are hostile until the credential has verified, and are treated so afterwards too.
std::string encode_record(const Record &record);
Result<Record> decode_record(const std::string &text);
/// The same encoding, of a scout's record cut down to what a reader takes: optional counters are left out first, then
/// forwarding tables, then the ports that come last; each is a problem in the record. `limit`: bytes (record_limit).
std::string encode_to_fit(Record &record, std::size_t limit);

/// The same encoding of a snapshot alone, "schema": "fabric-check/snapshot/1" (the CLI's `snapshot`).
std::string encode_snapshot(const NodeSnapshot &snapshot);
Result<NodeSnapshot> decode_snapshot(const std::string &text);

} // namespace fabric_check
