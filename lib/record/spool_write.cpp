// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.hpp"
#include "base/text.hpp"
#include "record/digest.hpp"
#include "record/json_writer.hpp"
#include "record/spool.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace fabric_check {
namespace {

RecordName name_of(const Record &record) {
    RecordKind kind = RecordKind::start;
    if (record.is_scout())
        kind = record.phase == Phase::start ? RecordKind::scout_start : RecordKind::scout_end;
    else if (record.phase != Phase::start)
        kind = record.phase == Phase::mid ? RecordKind::mid : RecordKind::end;
    return {record.job_id, record.node, record.time_ns, kind};
}

} // namespace

Status make_spool_directory(const SpoolLayout &spool, const std::string &path, unsigned mode) {
    struct stat status {};
    if (stat(spool.root.c_str(), &status) != 0)
        return errno_error(spool.root, errno);
    return make_directories(path, mode);
}

Status prepare_records(const SpoolLayout &spool, std::uint32_t owner_uid) {
    const auto path = spool.records();
    struct stat status {};
    if (lstat(path.c_str(), &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return {};
        return Error{Errc::denied, path + ": not a directory; remove it"};
    }
    if (auto made = make_spool_directory(spool, path, 01777); !made)
        return made;
    // On a root-squashed export the owner stays nobody; then only expiry by an administrator removes the files.
    if (geteuid() == 0 && owner_uid != 0)
        (void)!lchown(path.c_str(), owner_uid, static_cast<gid_t>(-1));
    return {};
}

Result<std::string> sign_record(const Record &record, Signer &signer, std::uint32_t reader_uid, std::string *payload) {
    return sign_encoded(encode_record(record), signer, reader_uid, payload);
}

Result<std::string> sign_encoded(const std::string &text, Signer &signer, std::uint32_t reader_uid, std::string *payload) {
    payload->clear();
    if (text.size() <= credential_payload_limit)
        return signer.sign(text, reader_uid);
    std::string digest;
    JsonWriter json(digest);
    json.begin_object();
    json.member("schema", "fabric-check/digest/1");
    json.member("sha256", sha256_hex(text));
    json.member("size", std::uint64_t{text.size()});
    json.end_object();
    *payload = text;
    return signer.sign(digest, reader_uid);
}

Result<std::string> store_record(const SpoolLayout &spool, const Record &record, const std::string &credential,
                                 const std::string &payload) {
    const auto path = spool.records() + "/" + name_of(record).file_name();
    // The payload first: a reader that sees the record finds what it points to.
    if (!payload.empty())
        if (auto written = write_file_atomic(path + std::string(payload_suffix), payload, 0644); !written)
            return written.error();
    if (auto written = write_file_atomic(path, credential, 0644); !written)
        return written.error();
    return path;
}

Result<std::string> write_record(const SpoolLayout &spool, const Record &record, Signer &signer,
                                 std::uint32_t reader_uid) {
    std::string payload;
    const auto credential = sign_record(record, signer, reader_uid, &payload);
    if (!credential)
        return credential.error();
    return store_record(spool, record, *credential, payload);
}

Status write_failed_note(const SpoolLayout &spool, std::uint32_t job_id, const std::string &node, Phase phase,
                         std::int64_t time_ns, const std::string &reason) {
    const RecordName name{job_id, node, time_ns, RecordKind::failed};
    return write_file_atomic(spool.records() + "/" + name.file_name(),
                             std::string(to_string(phase)) + ": " + printable(reason).substr(0, 1024) + "\n", 0644);
}

Status remove_record(const SpoolLayout &spool, const RecordName &name) {
    const auto path = spool.records() + "/" + name.file_name();
    for (const auto &file : {path + std::string(payload_suffix), path})
        if (unlink(file.c_str()) != 0 && errno != ENOENT)
            return errno_error(file, errno);
    return {};
}

Result<unsigned> expire_spool(const SpoolLayout &spool, unsigned days, std::int64_t now,
                              const std::function<bool(std::uint32_t job_id)> &runs) {
    unsigned removed = 0;
    if (days == 0)
        return removed;
    const std::int64_t oldest = now - static_cast<std::int64_t>(days) * 86400;
    std::map<std::uint32_t, bool> running;
    const auto needed = [&](std::string_view name) {
        if (name.ends_with(payload_suffix))
            name.remove_suffix(payload_suffix.size());
        const auto record = parse_record_name(name);
        if (!record)
            return false;
        const auto [known, asked] = running.try_emplace(record->job_id, false);
        if (asked)
            known->second = runs(record->job_id);
        return known->second;
    };
    for (const auto &directory : {spool.records(), spool.reports()}) {
        const auto names = list_directory(directory);
        if (!names) {
            if (names.error().code == Errc::not_found)
                continue;
            return names.error();
        }
        for (const auto &name : *names) {
            const auto path = fmt::format("{}/{}", directory, name);
            struct stat status {};
            if (lstat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode) || status.st_mtime >= oldest)
                continue;
            if (directory == spool.records() && needed(name))
                continue;
            if (unlink(path.c_str()) == 0)
                ++removed;
        }
    }
    return removed;
}

} // namespace fabric_check
