// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "record/codec.hpp"
#include "record/credential.hpp"
#include "record/record_name.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace fabric_check {

/// Where things lie in the spool, the directory that all nodes and the controller share.
struct SpoolLayout {
    std::string root;
    std::string records() const { return root + "/records"; } ///< flat; mode 1777: root may be squashed to nobody
    std::string reports() const { return root + "/reports"; } ///< written by the finisher only
    std::string map_file() const { return root + "/map/map.fcm"; }
    std::string hosts_file() const { return root + "/map/hosts.json"; }
    std::string build_lock() const { return root + "/map/build.lock"; }
};

inline constexpr std::size_t credential_payload_limit = 512UL * 1024; ///< larger payloads lie beside a signed digest
inline constexpr std::size_t record_limit = 64UL * 1024 * 1024;       ///< of a payload beside a digest

/// Creates a directory of the spool where it is missing, but never the spool itself: records in a directory that is not
/// shared would be lost.
Status make_spool_directory(const SpoolLayout &spool, const std::string &path, unsigned mode);

/// Creates records/ where it is missing: mode 1777, owned by `owner_uid` where the file system lets us, so that
/// SlurmUser may remove consumed records of others.
Status prepare_records(const SpoolLayout &spool, std::uint32_t owner_uid);

/// Signs and writes a record; readable by `reader_uid` only, mode 0644. Under a temporary name, then renamed. The path.
Result<std::string> write_record(const SpoolLayout &spool, const Record &record, Signer &signer,
                                 std::uint32_t reader_uid);
/// The same in two halves, for callers that retry only the first.
Result<std::string> sign_record(const Record &record, Signer &signer, std::uint32_t reader_uid, std::string *payload);
/// Of a record that encode_record() has written already.
Result<std::string> sign_encoded(const std::string &text, Signer &signer, std::uint32_t reader_uid, std::string *payload);
Result<std::string> store_record(const SpoolLayout &spool, const Record &record, const std::string &credential,
                                 const std::string &payload);
/// Leaves an unsigned note that a record could not be signed: "<phase>: <reason>".
Status write_failed_note(const SpoolLayout &spool, std::uint32_t job_id, const std::string &node, Phase phase,
                         std::int64_t time_ns, const std::string &reason);

/// Records by job, from the names alone: nothing in it is verified.
using SpoolIndex = std::unordered_map<std::uint32_t, std::vector<RecordName>>;
Result<SpoolIndex> index_spool(const SpoolLayout &spool);

/// Whom to believe.
struct TrustPolicy {
    std::vector<std::uint32_t> signers{0}; ///< uids: root, SlurmUser
    bool enforce_addresses = false;        ///< false: a foreign encode address is reported and believed
    std::map<std::string, std::vector<std::string>> addresses; ///< node -> encode addresses; a node not in it passes
};

/// What one file of the spool came to.
struct VerifiedRecord {
    RecordName name;
    std::optional<Record> record;  ///< empty: refused, or a note
    std::string refused;           ///< why it is not believed: "forged or copied record: signed by uid 1000, ..."
    std::string note;              ///< what an unsigned .failed note says
    std::vector<Problem> problems; ///< believed, but odd
};

/// Reads and verifies one file. Never follows a link. Errc::unavailable when munged is away and Errc::io when the file
/// could not be read for reasons of the system's: nothing is known then, ask again. Everything else is a result.
Result<VerifiedRecord> verify_record(const SpoolLayout &spool, const RecordName &name, Signer &signer,
                                     const TrustPolicy &policy);

/// The owner of a file in records/, not following links.
Result<std::uint32_t> record_owner(const SpoolLayout &spool, const RecordName &name);

/// Removes a record and what lies beside it. A file that is gone already is no error.
Status remove_record(const SpoolLayout &spool, const RecordName &name);

/// Removes records and reports not changed for `days` (0: none), and links in reports/ that point nowhere, but not the
/// records of a job of which `runs` is true: asked once for each job with a record that old. The number removed. `now`
/// in seconds since the epoch.
Result<unsigned> expire_spool(const SpoolLayout &spool, unsigned days, std::int64_t now,
                              const std::function<bool(std::uint32_t job_id)> &runs);

} // namespace fabric_check
