// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.hpp"
#include "base/text.hpp"
#include "record/digest.hpp"
#include "record/json_reader.hpp"
#include "record/spool.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

namespace fabric_check {
namespace {

constexpr std::size_t credential_limit = 2UL * 1024 * 1024;
constexpr std::size_t note_limit = 4096;
constexpr std::size_t digest_limit = 512; ///< a signed digest is shorter, every record longer or no digest

struct Digest {
    std::string sha256;
    std::size_t size = 0;
};

Phase phase_of(RecordKind kind) {
    if (kind == RecordKind::mid)
        return Phase::mid;
    return kind == RecordKind::end || kind == RecordKind::scout_end ? Phase::end : Phase::start;
}

bool is_scout(RecordKind kind) {
    return kind == RecordKind::scout_start || kind == RecordKind::scout_end;
}

/// A file that somebody can place or spoil at will is a refusal; a failing file system is not.
bool is_refusal(Errc code) {
    return code == Errc::malformed || code == Errc::denied;
}

/// Empty: the payload says what the file's name says.
std::string mismatch(const Record &record, const RecordName &name) {
    if (record.node != name.node)
        return "it was signed for node " + record.node;
    if (record.job_id != name.job_id)
        return "it was signed for job " + std::to_string(record.job_id);
    if (record.time_ns != name.time_ns)
        return "it was signed for another time";
    if (record.phase != phase_of(name.kind) || record.is_scout() != is_scout(name.kind))
        return std::string("it was signed as a ") + (record.is_scout() ? "scout " : "") + to_string(record.phase) +
               " record";
    return {};
}

/// The record's JSON: the credential's payload itself, or the file beside it that the signed digest names.
Result<std::string> payload_of(const std::string &path, const std::string &signed_text) {
    if (signed_text.size() > digest_limit)
        return signed_text;
    const auto digest = decode_json<Digest>(signed_text, "digest", "fabric-check/digest/1", [](const JsonReader &json) {
        return Digest{json.text("sha256", 64), static_cast<std::size_t>(json.number("size", record_limit))};
    });
    if (!digest)
        return signed_text;
    auto payload = read_file(path + std::string(payload_suffix), record_limit, true);
    if (!payload)
        return payload;
    if (payload->size() != digest->size || sha256_hex(*payload) != digest->sha256)
        return Error{Errc::denied, "the payload beside it does not match its signed digest"};
    return payload;
}

} // namespace

Result<SpoolIndex> index_spool(const SpoolLayout &spool) {
    const auto names = list_directory(spool.records());
    if (!names)
        return names.error();
    SpoolIndex index;
    for (const auto &text : *names)
        if (auto name = parse_record_name(text))
            index[name->job_id].push_back(std::move(*name));
    return index;
}

Result<std::uint32_t> record_owner(const SpoolLayout &spool, const RecordName &name) {
    const auto path = spool.records() + "/" + name.file_name();
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0)
        return errno_error(path, errno);
    return static_cast<std::uint32_t>(status.st_uid);
}

Result<VerifiedRecord> verify_record(const SpoolLayout &spool, const RecordName &name, Signer &signer,
                                     const TrustPolicy &policy) {
    const auto path = spool.records() + "/" + name.file_name();
    VerifiedRecord result{name, {}, {}, {}, {}};
    const auto refused = [&](const std::string &why) {
        result.refused = "forged or copied record " + name.file_name() + ": " + printable(why).substr(0, 512);
        return result;
    };

    const bool note = name.kind == RecordKind::failed;
    const auto content = read_file(path, note ? note_limit : credential_limit, true);
    if (!content) {
        if (is_refusal(content.error().code))
            return refused(content.error().message);
        return content.error();
    }
    if (note) {
        result.note = printable(trim(*content));
        return result;
    }
    if (content->find('\0') != std::string::npos)
        return refused("not a munge credential");

    const auto credential = signer.verify(*content);
    if (!credential) {
        if (credential.error().code == Errc::unavailable)
            return credential.error();
        return refused(credential.error().message);
    }
    if (std::find(policy.signers.begin(), policy.signers.end(), credential->uid) == policy.signers.end())
        return refused("signed by uid " + std::to_string(credential->uid) + ", not by root or SlurmUser");

    const auto payload = payload_of(path, credential->payload);
    if (!payload) {
        if (is_refusal(payload.error().code) || payload.error().code == Errc::not_found)
            return refused(payload.error().message);
        return payload.error();
    }
    auto record = decode_record(*payload);
    if (!record)
        return refused(record.error().message);
    if (const auto why = mismatch(*record, name); !why.empty())
        return refused(why);

    const auto known = policy.addresses.find(name.node);
    if (known != policy.addresses.end() &&
        std::find(known->second.begin(), known->second.end(), credential->address) == known->second.end()) {
        const auto why = "signed at address " + credential->address + ", which is not one of " + name.node + "'s";
        if (policy.enforce_addresses)
            return refused(why);
        result.problems.push_back(
            {name.node, "", "record " + name.file_name() + " was " + why + " (believed: munge.address_policy = warn)"});
    }
    result.record = std::move(*record);
    return result;
}

} // namespace fabric_check
