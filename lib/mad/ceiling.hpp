// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace fabric_check::mad {

/// A ceiling on MADs a second that all who send any share.
class SharedCeiling {
public:
    virtual ~SharedCeiling() = default;
    /// Takes the right to send `mads` of them; how long it is until that right begins. Nothing, and nothing taken: that
    /// is later than `most`.
    virtual std::optional<std::chrono::nanoseconds> reserve(unsigned mads, std::chrono::nanoseconds most) noexcept = 0;
};

/// Through a file of all nodes' spool that says when the next MAD may leave, in nanoseconds since the epoch by the
/// nodes' clocks; whoever sends moves it on, under flock(2). Where that cannot be (no spool, no lock within 20 ms, a
/// user who may not write it), the ceiling holds for this process alone. Nobody waits in line for longer than
/// longest_wait, so that a time further ahead is a wrong clock's and does not count; clocks should agree to a second.
/// The file is 0600 and its directory's owner's (SlurmUser), so that root and he share it; anybody else's there is
/// replaced. The directory must be there.
class FileCeiling final : public SharedCeiling {
public:
    FileCeiling(std::string path, unsigned max_per_second, std::function<std::int64_t()> now_ns);
    FileCeiling(const FileCeiling &) = delete;
    FileCeiling &operator=(const FileCeiling &) = delete;
    ~FileCeiling() override;
    std::optional<std::chrono::nanoseconds> reserve(unsigned mads, std::chrono::nanoseconds most) noexcept override;
    static constexpr std::chrono::seconds longest_wait{5};
    bool shared() const noexcept { return shared_; } ///< did the last reserve() hold for all?

private:
    bool open_file() noexcept;
    bool trusted(std::uint32_t directorys_owner) const noexcept;
    bool lock() const noexcept;
    std::int64_t read_next(std::int64_t now) const noexcept;
    bool write_next(std::int64_t next) const noexcept;

    std::string path_;
    unsigned max_per_second_;
    std::function<std::int64_t()> now_ns_;
    std::int64_t own_next_ = 0;
    int file_ = -1;
    bool tried_ = false, shared_ = false;
};

} // namespace fabric_check::mad
