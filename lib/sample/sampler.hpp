// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "base/clock.hpp"
#include "base/log.hpp"
#include "config/config.hpp"
#include "fabric/map.hpp"
#include "sample/differ.hpp"
#include "sample/lease.hpp"
#include "sample/pass.hpp"
#include "sample/ring.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace fabric_check::sample {

/// What one pass came to.
struct PassReport {
    std::int64_t time_ns = 0;      ///< when it began
    std::int64_t took_ns = 0;
    std::size_t ports = 0;         ///< with a cable, by the map
    std::size_t silent = 0;        ///< of them, that did not answer
    std::int64_t interval_ns = 0;  ///< length of the interval that was kept; 0: none
    std::size_t events = 0;        ///< errors, resets and gaps in it
    std::string problem;           ///< why there was no pass, or no interval
    std::string other;             ///< who else runs a sampler: then nothing was done
};

/// The outside world of the sampler.
struct SamplerWorld {
    Signer *signer = nullptr;
    Log *log = nullptr;
    std::uint32_t slurm_uid = 0;                                 ///< owns samples/ where it has to be made
    std::function<std::int64_t()> now_ns;                        ///< wall clock
    std::function<bool(std::chrono::milliseconds)> sleep;        ///< false: told to end
    /// Reads all ports of a layout; a real one opens umad first.
    std::function<Result<Pass>(const fabric::Map &, const Layout &, const Deadline &)> read;
    std::function<void(const PassReport &)> told;                ///< after each pass; may be empty
    LeaseHolder::World lease;
};

/// Reads the whole fabric every config.sample.interval_s and keeps what happened between two readings in the ring. One at
/// a time in a spool.
class Sampler {
public:
    Sampler(const Config &config, SamplerWorld world);
    ~Sampler();
    /// Until sleep() says to end. Passes begin at multiples of the interval. An error: another sampler runs
    /// (Errc::unavailable), or samples/ cannot be made; whatever else fails is logged once and tried again.
    Status run();
    /// One pass, against what the last one, of whatever process, left in the spool.
    Result<PassReport> once();

private:
    Status begin();
    PassReport pass();
    Status load_map();
    void take_up();
    void say(const std::string &problem);
    std::chrono::seconds lease_length() const;

    const Config &config_;
    SamplerWorld world_;
    SpoolLayout spool_;
    Trust trust_;
    LeaseHolder lease_;
    RingWriter ring_;
    std::optional<fabric::Map> map_;
    std::string map_stamp_;
    std::optional<Differ> differ_;
    std::string said_;
};

} // namespace fabric_check::sample
