// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check {

/// Whole content, at most `limit` bytes (longer: Errc::malformed naming the file). Never follows a FIFO into a hang:
/// opens O_NONBLOCK and refuses what is not a regular file. `no_follow`: refuses a symbolic link (shared directories).
Result<std::string> read_file(const std::string &path, std::size_t limit, bool no_follow = false);
/// The same for callers to whom errno matters: 0, or errno (EFBIG: longer than `limit`, ENXIO: not a regular file, ELOOP:
/// a link that is not followed).
int read_file_errno(const std::string &path, std::size_t limit, bool no_follow, std::string &content);
/// Writes under a temporary name in the same directory (O_EXCL, never through a link), fsyncs, renames. `mode` exact.
Status write_file_atomic(const std::string &path, std::string_view content, unsigned mode = 0644);
/// Another text for every other file at that place, or other content of it; "none" where there is none.
std::string file_stamp(const std::string &path);
/// Entry names without . and .., sorted.
Result<std::vector<std::string>> list_directory(const std::string &path);
/// mkdir -p; existing directories are left as they are; `mode` applies to the last one, exactly (not through the umask).
Status make_directories(const std::string &path, unsigned mode = 0755);

/// Who owns root's files on a file system that does not trust it.
inline constexpr std::uint32_t squashed_root = 65534;

/// An exclusive flock(2) on a file, held until destroyed; the descriptor is close-on-exec.
class FileLock {
public:
    /// Errc::unavailable when somebody else holds it.
    static Result<FileLock> try_lock(const std::string &path);
    FileLock(FileLock &&other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    FileLock &operator=(FileLock &&other) noexcept;
    ~FileLock();

private:
    explicit FileLock(int fd) : fd_(fd) {}
    int fd_;
};

} // namespace fabric_check
