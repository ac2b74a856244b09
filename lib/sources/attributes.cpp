// SPDX-License-Identifier: GPL-2.0-or-later
#include "sources/attributes.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace fabric_check::sysfs {

namespace {

constexpr int most_open = 64;

} // namespace

AttributeDirectory::AttributeDirectory(const std::string &path)
    : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), error_(fd_ < 0 ? errno : 0) {}

AttributeDirectory::~AttributeDirectory() {
    close_now();
    if (fd_ >= 0) {
        ::close(fd_);
    }
}

Result<std::vector<std::string>> AttributeDirectory::names() const {
    if (fd_ < 0) {
        return errno_error(path_, error_);
    }
    (void)::lseek(fd_, 0, SEEK_SET);
    std::vector<std::string> names;
    alignas(dirent64) std::array<char, 8192> entries;
    while (true) { // not readdir, whose stream costs another descriptor and four system calls
        const ssize_t size = ::getdents64(fd_, entries.data(), entries.size());
        if (size < 0) {
            return errno_error(path_, errno);
        }
        if (size == 0) {
            break;
        }
        for (ssize_t at = 0; at < size;) {
            const auto *entry = reinterpret_cast<const dirent64 *>(entries.data() + at);
            const std::string_view name = entry->d_name;
            if (name != "." && name != "..") {
                names.emplace_back(name);
            }
            at += entry->d_reclen;
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

int AttributeDirectory::read(const char *name, std::string_view &content) noexcept {
    content = {};
    if (fd_ < 0) {
        return error_;
    }
    const int fd = ::openat(fd_, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return errno;
    }
    ssize_t size = 0;
    do {
        size = ::read(fd, buffer_.data(), buffer_.size());
    } while (size < 0 && errno == EINTR);
    const int error = size < 0 ? errno : static_cast<std::size_t>(size) == buffer_.size() ? EFBIG : 0;
    close_later(fd);
    if (error == 0) {
        content = {buffer_.data(), static_cast<std::size_t>(size)};
    }
    return error;
}

std::string_view AttributeDirectory::text(const char *name) noexcept {
    std::string_view content;
    return read(name, content) == 0 ? trim(content) : std::string_view();
}

std::string AttributeDirectory::link_name(const char *name) const {
    char target[PATH_MAX];
    const ssize_t length = fd_ < 0 ? -1 : ::readlinkat(fd_, name, target, sizeof target);
    if (length <= 0) {
        return {};
    }
    const std::string_view link(target, static_cast<std::size_t>(length));
    return std::string(link.substr(link.find_last_of('/') + 1)); // npos + 1 is 0
}

/// The kernel gives the lowest free number: they follow one another, and one call closes many.
void AttributeDirectory::close_later(int fd) noexcept {
    if (count_ > 0 && (fd != first_ + count_ || count_ == most_open)) {
        close_now();
    }
    if (count_ == 0) {
        first_ = fd;
    }
    ++count_;
}

void AttributeDirectory::close_now() noexcept {
    if (count_ > 1 && ::close_range(static_cast<unsigned>(first_), static_cast<unsigned>(first_ + count_ - 1), 0) == 0) {
        count_ = 0;
    }
    for (; count_ > 0; --count_) { // one only, or Linux before 5.9
        ::close(first_ + count_ - 1);
    }
}

} // namespace fabric_check::sysfs
