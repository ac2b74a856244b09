// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"
#include "record/credential.hpp"
#include "record/spool.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::sample {

/// samples/ in the spool: readings that jobs share, and the sampler's ring. Mode 1777, as records/: root may be squashed
/// to nobody. Nothing in it is trusted for its place: what is not signed by root or SlurmUser is ignored.
std::string samples_directory(const SpoolLayout &spool);
Status prepare_samples(const SpoolLayout &spool, std::uint32_t owner_uid);

/// What a file of samples/ is, by its name.
enum class FileKind : std::uint8_t {
    ring,   ///< "ring.<time>.<id>.fcs": an hour of samples
    pass,   ///< "pass.<time>.<id>.fcp": what one scout read; short-lived
    claim,  ///< "claim.<time>.<id>": what a scout is about to read; its pass will have the same time and id
};
struct FileName {
    FileKind kind = FileKind::ring;
    std::int64_t time_ns = 0; ///< since the epoch
    std::uint64_t id = 0;     ///< keeps two writers apart
    std::string text() const;
    auto operator<=>(const FileName &) const = default; ///< by kind, then time
};
/// Nothing for what is none of them, or not in the one form that text() writes.
std::optional<FileName> parse_file_name(std::string_view name);
/// The sampler's last pass.
inline constexpr std::string_view newest_name = "newest.fcp";
std::string newest_file(const SpoolLayout &spool); ///< its path
inline constexpr std::string_view lease_name = "sampler.lease";

std::uint64_t random_id();

/// The names in samples/, at most `most` of each kind: of rings all, of others the newest. Missing: none.
std::vector<FileName> list_samples(const SpoolLayout &spool, std::size_t most);

/// Whom to believe.
struct Trust {
    std::vector<std::uint32_t> signers{0}; ///< uids: root, SlurmUser
    bool owns(std::uint32_t uid) const noexcept; ///< may be the owner of a file of theirs (nobody: squashed root)
};

/// Signs so that everybody may verify: scouts run as root, the finisher as SlurmUser.
Result<std::string> sign_for_all(Signer &signer, const std::string &text);
/// Is it a credential of one of the signers for exactly this text? Errc::unavailable: munge is away; Errc::denied: no.
Status verify_signed(Signer &signer, const Trust &trust, const std::string &credential, const std::string &text);

/// Under a temporary name, then renamed; mode 0644. Unlike write_file_atomic it does not wait for the disk: what is
/// written so is worthless after a crash.
Status write_unsynced(const std::string &path, std::string_view content);

/// A regular file of one of the trusted owners, open for reading; no link is followed.
class TrustedFile {
public:
    static Result<TrustedFile> open(const std::string &path, const Trust &trust);
    TrustedFile(TrustedFile &&other) noexcept : fd_(other.fd_), size_(other.size_) { other.fd_ = -1; }
    TrustedFile(const TrustedFile &) = delete;
    TrustedFile &operator=(const TrustedFile &) = delete;
    TrustedFile &operator=(TrustedFile &&) = delete;
    ~TrustedFile();
    std::uint64_t size() const noexcept { return size_; }
    /// Exactly `size` bytes, or an error.
    Result<std::string> read(std::uint64_t offset, std::size_t size) const;

private:
    TrustedFile(int fd, std::uint64_t size) : fd_(fd), size_(size) {}
    int fd_;
    std::uint64_t size_;
};

} // namespace fabric_check::sample
