// SPDX-License-Identifier: GPL-2.0-or-later
#include "mad/ceiling.hpp"

#include "base/file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <thread>
#include <utility>

namespace fabric_check::mad {

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t furthest = std::chrono::nanoseconds(FileCeiling::longest_wait).count() + second;
constexpr unsigned lock_tries = 20; // a millisecond apart
constexpr std::size_t longest = 20; // digits and a newline: written in full, so that nothing is left of before

bool trusted_owner(const struct stat &about, uid_t directorys_owner) {
    return about.st_uid == 0 || about.st_uid == directorys_owner || about.st_uid == squashed_root;
}

} // namespace

FileCeiling::FileCeiling(std::string path, unsigned max_per_second, std::function<std::int64_t()> now_ns)
    : path_(std::move(path)), max_per_second_(std::max(max_per_second, 1U)), now_ns_(std::move(now_ns)) {}

FileCeiling::~FileCeiling() {
    if (file_ >= 0)
        ::close(file_);
}

bool FileCeiling::trusted(std::uint32_t directorys_owner) const noexcept {
    struct stat about {};
    return ::fstat(file_, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 1 &&
           (about.st_mode & 022U) == 0 && trusted_owner(about, directorys_owner);
}

bool FileCeiling::open_file() noexcept {
    if (std::exchange(tried_, true))
        return file_ >= 0;
    struct stat directory {
    }, about{};
    if (::stat(path_.substr(0, path_.rfind('/') + 1).c_str(), &directory) != 0)
        return false;
    // In a directory of everybody's: what is no file, or a stranger's, is taken away, once.
    if (::lstat(path_.c_str(), &about) == 0 && (!S_ISREG(about.st_mode) || !trusted_owner(about, directory.st_uid)))
        (void)::unlink(path_.c_str());
    file_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file_ < 0 && errno == ENOENT) {
        file_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (file_ >= 0 && ::geteuid() == 0 && directory.st_uid != 0)
            (void)!::fchown(file_, directory.st_uid, static_cast<gid_t>(-1));
        if (file_ < 0) // somebody was quicker
            file_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    }
    // Looked at before it was opened it may have been another's since.
    if (file_ >= 0 && !trusted(directory.st_uid)) {
        ::close(file_);
        file_ = -1;
    }
    return file_ >= 0;
}

bool FileCeiling::lock() const noexcept {
    for (unsigned turn = 0; turn < lock_tries; ++turn) {
        if (::flock(file_, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

std::int64_t FileCeiling::read_next(std::int64_t now) const noexcept {
    char text[longest];
    const ssize_t got = ::pread(file_, text, sizeof text, 0);
    std::int64_t next = 0;
    if (got <= 0 || std::from_chars(text, text + got, next).ec != std::errc() || next > now + furthest)
        return 0;
    return next;
}

bool FileCeiling::write_next(std::int64_t next) const noexcept {
    char text[longest + 1];
    *fmt::format_to_n(text, longest, "{:019}\n", next).out = 0;
    return ::pwrite(file_, text, longest, 0) == static_cast<ssize_t>(longest);
}

std::optional<std::chrono::nanoseconds> FileCeiling::reserve(unsigned mads, std::chrono::nanoseconds most) noexcept {
    const bool locked = open_file() && lock();
    const std::int64_t now = now_ns_(), at = std::max({now, own_next_, locked ? read_next(now) : 0});
    const bool soon = at - now <= std::min<std::chrono::nanoseconds>(most, longest_wait).count();
    if (soon) {
        own_next_ = at + second * mads / max_per_second_;
        shared_ = locked && write_next(own_next_);
    }
    if (locked)
        (void)::flock(file_, LOCK_UN);
    return soon ? std::optional(std::chrono::nanoseconds(at - now)) : std::nullopt;
}

} // namespace fabric_check::mad
