// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "sample/files.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace fabric_check::sample {

/// Who runs the sampler, as it says in a file of the spool. flock(2) does not hold on every shared file system, and a
/// holder may die with its host: so a lease has an end, and is renewed.
struct Lease {
    std::string host;
    std::int64_t pid = 0;
    std::uint64_t born = 0; ///< that process's start, from /proc/PID/stat: another one may get its number
    std::uint64_t id = 0;
    std::int64_t since_ns = 0, until_ns = 0; ///< since the epoch
};
std::string encode_lease(const Lease &lease);
std::optional<Lease> decode_lease(std::string_view text); ///< nothing for what is none

/// The one sampler of a fabric.
class LeaseHolder {
public:
    struct World {
        std::string host;
        std::function<std::int64_t()> now_ns;
        std::function<void(std::chrono::milliseconds)> sleep;
        std::function<bool(const Lease &)> runs; ///< of a lease of this host: does that process still run?
    };
    LeaseHolder(const SpoolLayout &spool, const Trust &trust, World world);
    ~LeaseHolder(); ///< gives it up

    /// Errc::unavailable: somebody else has it, and the message says who. A lease whose end has passed, whose process on
    /// this host is gone, or that is of no trusted owner's file, is taken over.
    Status take(std::chrono::seconds length);
    /// Errc::unavailable: somebody else took it meanwhile, as our clock or we stood still.
    Status renew(std::chrono::seconds length);

private:
    std::optional<Lease> current() const;
    Status write(std::chrono::seconds length);
    Error held_by(const Lease &other) const;

    std::string path_;
    Trust trust_;
    World world_;
    Lease own_;
    bool held_ = false;
};

/// The real world of this process.
LeaseHolder::World lease_world();

} // namespace fabric_check::sample
