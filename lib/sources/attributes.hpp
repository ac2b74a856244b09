// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fabric_check::sysfs {

/// A directory of the kernel's attribute files, each of one page at most, read with as few system calls as there can be: a
/// card has hundreds of counters, each a file. Files are opened relative to the directory and without blocking: a FIFO in
/// place of one reads as empty.
class AttributeDirectory {
public:
    explicit AttributeDirectory(const std::string &path);
    AttributeDirectory(const AttributeDirectory &) = delete;
    AttributeDirectory &operator=(const AttributeDirectory &) = delete;
    ~AttributeDirectory();

    int error() const noexcept { return error_; } ///< errno of opening it, or 0
    Result<std::vector<std::string>> names() const; ///< without . and .., sorted
    /// What the file holds, until the next read; 0 or errno (EFBIG: more than a page).
    int read(const char *name, std::string_view &content) noexcept;
    /// The same without blanks at its ends; empty where it cannot be read.
    std::string_view text(const char *name) noexcept;
    /// The name that a symbolic link's target ends with; empty where there is none.
    std::string link_name(const char *name) const;

private:
    void close_later(int fd) noexcept;
    void close_now() noexcept;

    std::string path_;
    int fd_ = -1, error_ = 0;
    int first_ = 0, count_ = 0; ///< descriptors still to be closed, one after the other
    std::array<char, 4097> buffer_{};
};

} // namespace fabric_check::sysfs
