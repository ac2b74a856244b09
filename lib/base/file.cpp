// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fabric_check {

namespace {

/// Closes on every way out.
class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    ~Descriptor() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }
    int get() const noexcept { return fd_; }
    int close() noexcept {
        const int fd = fd_;
        fd_ = -1;
        return ::close(fd);
    }

private:
    int fd_;
};

std::string parent_of(const std::string &path) {
    const auto slash = path.find_last_of('/');
    if (slash == std::string::npos) {
        return ".";
    }
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string temporary_name(const std::string &path) {
    std::uint64_t noise = 0;
    if (::getrandom(&noise, sizeof noise, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof noise)) {
        noise = static_cast<std::uint64_t>(::getpid()); // O_EXCL still keeps two writers apart
    }
    const auto slash = path.find_last_of('/');
    const std::string base = slash == std::string::npos ? path : path.substr(slash + 1);
    return fmt::format("{}/.{}.{:016x}.tmp", parent_of(path), base.substr(0, 200), noise);
}

int write_all(int fd, std::string_view content) noexcept {
    while (!content.empty()) {
        const ssize_t n = ::write(fd, content.data(), content.size());
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno;
        }
        content.remove_prefix(static_cast<std::size_t>(n));
    }
    return 0;
}

int write_and_sync(int fd, std::string_view content, unsigned mode) noexcept {
    if (::fchmod(fd, static_cast<mode_t>(mode)) != 0) {
        return errno;
    }
    if (const int error = write_all(fd, content); error != 0) {
        return error;
    }
    return ::fsync(fd) == 0 ? 0 : errno;
}

} // namespace

int read_file_errno(const std::string &path, std::size_t limit, bool no_follow, std::string &content) {
    content.clear();
    const Descriptor file(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (no_follow ? O_NOFOLLOW : 0)));
    if (file.get() < 0) {
        return errno;
    }
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) {
        return errno;
    }
    if (S_ISDIR(info.st_mode)) {
        return EISDIR;
    }
    if (!S_ISREG(info.st_mode)) {
        return ENXIO;
    }
    char buffer[16384];
    while (true) {
        const std::size_t room = std::min(sizeof buffer, limit + 1 - content.size());
        const ssize_t n = ::read(file.get(), buffer, room);
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno;
        }
        if (n == 0) {
            return 0;
        }
        content.append(buffer, static_cast<std::size_t>(n));
        if (content.size() > limit) {
            return EFBIG;
        }
    }
}

Result<std::string> read_file(const std::string &path, std::size_t limit, bool no_follow) {
    std::string content;
    const int error = read_file_errno(path, limit, no_follow, content);
    switch (error) {
    case 0:
        return content;
    case EFBIG:
        return Error{Errc::malformed, fmt::format("{}: longer than {} bytes", path, limit)};
    case ENXIO:
        return Error{Errc::malformed, path + ": not a regular file"};
    case ELOOP:
        return Error{Errc::denied, path + ": a symbolic link is not followed here"};
    default:
        return errno_error(path, error);
    }
}

Status write_file_atomic(const std::string &path, std::string_view content, unsigned mode) {
    // rename(2) replaces whatever is there: as root also /dev/null, when somebody names it for output.
    struct stat there {};
    if (::lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISLNK(there.st_mode)) {
        return Error{Errc::denied, path + ": not a regular file, not replaced"};
    }
    const std::string temporary = temporary_name(path);
    Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.get() < 0) {
        return errno_error(path, errno);
    }
    int error = write_and_sync(file.get(), content, mode);
    // NFS reports a full disk or a lost server only here.
    if (file.close() != 0 && error == 0) {
        error = errno;
    }
    if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) {
        error = errno;
    }
    if (error != 0) {
        ::unlink(temporary.c_str());
        return errno_error(path, error);
    }
    const Descriptor directory(::open(parent_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.get() >= 0) {
        // Not every file system can sync a directory; the file itself is safe already.
        (void)::fsync(directory.get());
    }
    return {};
}

std::string file_stamp(const std::string &path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return "none";
    }
    std::string stamp;
    for (const auto part : {static_cast<std::int64_t>(status.st_ino), static_cast<std::int64_t>(status.st_size),
                            std::int64_t{status.st_mtim.tv_sec}, std::int64_t{status.st_mtim.tv_nsec}}) {
        stamp += std::to_string(part) + ".";
    }
    return stamp;
}

Result<std::vector<std::string>> list_directory(const std::string &path) {
    const std::unique_ptr<DIR, int (*)(DIR *)> directory(::opendir(path.c_str()), ::closedir);
    if (!directory) {
        return errno_error(path, errno);
    }
    std::vector<std::string> names;
    while (true) {
        errno = 0;
        const dirent *entry = ::readdir(directory.get());
        if (entry == nullptr) {
            if (errno != 0) {
                return errno_error(path, errno);
            }
            break;
        }
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

Status make_directories(const std::string &path, unsigned mode) {
    std::size_t end = 0;
    while (end < path.size()) {
        end = path.find('/', end + 1);
        const std::string part = path.substr(0, end);
        end = std::min(end, path.size());
        const bool last = path.find_first_not_of('/', end) == std::string::npos;
        if (::mkdir(part.c_str(), last ? static_cast<mode_t>(mode) : 0755) == 0) {
            if (last && ::chmod(part.c_str(), static_cast<mode_t>(mode)) != 0) {
                return errno_error(part, errno);
            }
        } else {
            const int error = errno;
            struct stat info {};
            if (::stat(part.c_str(), &info) != 0) {
                return errno_error(part, error);
            }
            if (!S_ISDIR(info.st_mode)) {
                return errno_error(part, ENOTDIR);
            }
        }
        if (last) {
            break;
        }
    }
    return {};
}

Result<FileLock> FileLock::try_lock(const std::string &path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (fd < 0) {
        return errno_error(path, errno);
    }
    FileLock lock(fd);
    while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) {
            continue;
        }
        if (errno == EWOULDBLOCK) {
            return Error{Errc::unavailable, path + ": held by another process"};
        }
        return errno_error(path, errno);
    }
    return lock;
}

FileLock &FileLock::operator=(FileLock &&other) noexcept {
    if (this != &other) {
        if (fd_ >= 0) {
            ::close(fd_);
        }
        fd_ = other.fd_;
        other.fd_ = -1;
    }
    return *this;
}

FileLock::~FileLock() {
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

} // namespace fabric_check
